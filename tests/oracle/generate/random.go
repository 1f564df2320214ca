// SPDX-License-Identifier: Apache-2.0

package generate

import "math/rand/v2"

// random is the only source of chance: the same seed, the same cluster.
type random struct{ *rand.Rand }

func newRandom(seed uint64) random {
	return random{rand.New(rand.NewPCG(seed, 0x6265727468))}
}

// chance is true with probability p.
func (r random) chance(p float64) bool { return r.Float64() < p }

// between is a number from low to high, both included.
func (r random) between(low, high int) int { return low + r.IntN(high-low+1) }

func pick[T any](r random, from []T) T { return from[r.IntN(len(from))] }

// some takes low to high different members, in random order.
func some[T any](r random, from []T, low, high int) []T {
	n := min(r.between(low, high), len(from))
	taken := make([]T, 0, n)
	for _, i := range r.Perm(len(from))[:n] {
		taken = append(taken, from[i])
	}
	return taken
}

// subset takes each member with probability p and keeps the order.
func subset[T any](r random, from []T, p float64) []T {
	var taken []T
	for _, member := range from {
		if r.chance(p) {
			taken = append(taken, member)
		}
	}
	return taken
}

func ptr[T any](value T) *T { return &value }

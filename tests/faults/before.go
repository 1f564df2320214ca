// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"berth.dev/tests/controlplane"
)

// Before puts a proxy before the API server of a control plane. It returns the kubeconfig, in the folder, of a daemon that
// comes through it.
func Before(c *controlplane.ControlPlane, dir string, seed uint64) (*Proxy, string, error) {
	ca, err := os.ReadFile(c.CAFile())
	if err != nil {
		return nil, "", err
	}
	cert, key, err := c.IssueServerCert("proxy")
	if err != nil {
		return nil, "", err
	}
	token := c.Token(controlplane.Berth)
	proxy, err := NewProxy(Options{Upstream: c.URL(), CA: ca, Token: token, CertFile: cert, KeyFile: key, Seed: seed})
	if err != nil {
		return nil, "", err
	}
	proxy.admitTokens(token)
	kubeconfig := filepath.Join(dir, "kubeconfig")
	return proxy, kubeconfig, c.WriteKubeconfig(kubeconfig, controlplane.Berth, proxy.URL())
}

// Trouble has one of the rules in force after the other until the context ends: each for at most `longest`, and before it
// none for at most `calm`. Which and for how long follows from the seed alone.
func (p *Proxy) Trouble(ctx context.Context, rules []Rule, longest, calm time.Duration, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 1))
	waitWithin := func(most time.Duration) {
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(random.Int64N(int64(most) + 1))):
		}
	}
	for ctx.Err() == nil {
		waitWithin(calm)
		lift := p.add(rules[random.IntN(len(rules))])
		waitWithin(longest)
		lift()
	}
}

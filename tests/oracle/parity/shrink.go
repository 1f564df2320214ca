// SPDX-License-Identifier: Apache-2.0

package parity

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"berth.dev/tests/oracle/generate"
)

// shrinkLimit is how long one case is worked on.
const shrinkLimit = 2 * time.Minute

// Shrink takes away objects, then members of objects and of the configuration, as long as the same kind of
// difference remains.
func (c *Checker) Shrink(ctx context.Context, kase generate.Case, difference *Difference) (generate.Case, *Difference) {
	ctx, cancel := context.WithTimeout(ctx, shrinkLimit)
	defer cancel()
	if strings.HasPrefix(difference.Kind, ofSimulation) {
		kase = kase.WithoutPreemption()
	}
	s := &shrinker{Checker: c, ctx: ctx, best: kase, difference: difference}
	for changed := true; changed && ctx.Err() == nil; {
		changed = s.dropObjects()
		for i := 0; i < len(s.best.Objects); i++ {
			changed = s.dropMembers(i, isIdentity) || changed
		}
		changed = s.dropMembers(configTree, isType) || changed
	}
	return s.best, s.difference
}

// A case is a forest: the objects by their index, and the configuration.
const configTree = -1

type shrinker struct {
	*Checker
	ctx        context.Context
	best       generate.Case
	difference *Difference
}

// try keeps the smaller case if it still differs in the same way.
func (s *shrinker) try(smaller generate.Case) bool {
	if slices.ContainsFunc(smaller.Objects, hasNoContainer) {
		return false
	}
	compare := s.compareVerdicts
	switch {
	case strings.HasPrefix(s.difference.Kind, ofSimulation):
		smaller, compare = smaller.Settled(), s.compareDecisions
	case strings.HasPrefix(s.difference.Kind, ofPreemption):
		smaller, compare = smaller.Settled(), s.compareFirstPreemption
	}
	difference, err := s.check(s.ctx, smaller, compare)
	if s.ctx.Err() != nil || err != nil || difference == nil || difference.Kind != s.difference.Kind {
		return false
	}
	s.best, s.difference = smaller, difference
	return true
}

// hasNoContainer is what an API server would not admit, and a scenario would repair.
func hasNoContainer(object map[string]any) bool {
	spec, _ := object["spec"].(map[string]any)
	containers, _ := spec["containers"].([]any)
	return object["kind"] == "Pod" && len(containers) == 0
}

// dropObjects removes halves, quarters and so on, down to single objects.
func (s *shrinker) dropObjects() bool {
	changed := false
	for size := max(1, len(s.best.Objects)/2); ; size /= 2 {
		for from := 0; from < len(s.best.Objects) && s.ctx.Err() == nil; {
			to := min(from+size, len(s.best.Objects))
			smaller := s.best
			smaller.Objects = slices.Concat(s.best.Objects[:from], s.best.Objects[to:])
			if s.try(smaller) {
				changed = true
			} else {
				from = to
			}
		}
		if size <= 1 {
			return changed
		}
	}
}

// dropMembers removes members and elements of one tree, from the root downwards.
func (s *shrinker) dropMembers(tree int, keep func(path []string) bool) bool {
	changed := false
	drop := func(where []any) bool {
		if s.ctx.Err() != nil || !s.try(without(s.best, tree, where)) {
			return false
		}
		changed = true
		return true
	}
	var walk func(path []string, where []any)
	walk = func(path []string, where []any) {
		switch value := at(treeOf(s.best, tree), where).(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(value)) {
				inner, there := append(slices.Clip(path), name), append(slices.Clip(where), any(name))
				if keep(inner) || !drop(there) {
					walk(inner, there)
				}
			}
		case []any:
			for i := len(value) - 1; i >= 0; i-- {
				if there := append(slices.Clip(where), any(i)); !drop(there) {
					walk(path, there)
				}
			}
		}
	}
	walk(nil, nil)
	return changed
}

// isIdentity is what an object cannot lose.
func isIdentity(path []string) bool {
	switch strings.Join(path, ".") {
	case "metadata", "metadata.name", "metadata.namespace":
		return true
	}
	return isType(path)
}

func isType(path []string) bool {
	return len(path) == 1 && (path[0] == "apiVersion" || path[0] == "kind")
}

func treeOf(kase generate.Case, tree int) map[string]any {
	if tree == configTree {
		return kase.Config
	}
	return kase.Objects[tree]
}

// at follows names of members and numbers of elements.
func at(value any, where []any) any {
	for _, step := range where {
		switch parent := value.(type) {
		case map[string]any:
			value = parent[step.(string)]
		case []any:
			value = parent[step.(int)]
		}
	}
	return value
}

// without copies the case but for what stands there. Trees are shared between cases and never changed.
func without(kase generate.Case, tree int, where []any) generate.Case {
	smaller := kase
	fresh := cut(treeOf(kase, tree), where).(map[string]any)
	if tree == configTree {
		smaller.Config = fresh
		return smaller
	}
	smaller.Objects = slices.Clone(kase.Objects)
	smaller.Objects[tree] = fresh
	return smaller
}

// cut copies the way to what is cut off and shares the rest.
func cut(value any, where []any) any {
	switch parent := value.(type) {
	case map[string]any:
		copied, name := maps.Clone(parent), where[0].(string)
		if len(where) == 1 {
			delete(copied, name)
		} else {
			copied[name] = cut(parent[name], where[1:])
		}
		return copied
	case []any:
		i := where[0].(int)
		if len(where) == 1 {
			return slices.Concat(parent[:i], parent[i+1:])
		}
		copied := slices.Clone(parent)
		copied[i] = cut(parent[i], where[1:])
		return copied
	}
	return value
}

// SPDX-License-Identifier: Apache-2.0

package generate

import (
	corev1 "k8s.io/api/core/v1"
)

// spread makes topology spread constraints, unique by key and what is done where they do not hold.
func (g *generator) spread(pod *corev1.Pod) []corev1.TopologySpreadConstraint {
	var constraints []corev1.TopologySpreadConstraint
	add := func(p float64, action corev1.UnsatisfiableConstraintAction) {
		if !g.chance(p) {
			return
		}
		taken := map[string]bool{}
		for range g.between(1, 2) {
			if c := g.constraint(pod, action); !taken[c.TopologyKey] {
				taken[c.TopologyKey] = true
				constraints = append(constraints, c)
			}
		}
	}
	add(g.mood.hardSpread, corev1.DoNotSchedule)
	add(g.mood.softSpread, corev1.ScheduleAnyway)
	return constraints
}

func (g *generator) constraint(pod *corev1.Pod, action corev1.UnsatisfiableConstraintAction) corev1.TopologySpreadConstraint {
	r := g.random
	c := corev1.TopologySpreadConstraint{
		MaxSkew: pick(r, []int32{1, 1, 2, 5}), TopologyKey: pick(r, topologyKeys), WhenUnsatisfiable: action,
		LabelSelector: g.selector(0.2),
	}
	if action == corev1.DoNotSchedule && r.chance(0.3) {
		c.MinDomains = ptr(pick(r, []int32{1, 2, 3, 10}))
	}
	policies := []corev1.NodeInclusionPolicy{corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore}
	if r.chance(0.4) {
		c.NodeAffinityPolicy = ptr(pick(r, policies))
	}
	if r.chance(0.4) {
		c.NodeTaintsPolicy = ptr(pick(r, policies))
	}
	if c.LabelSelector != nil && r.chance(0.2) {
		for _, key := range some(r, append([]string{"absent"}, podLabelKeys...), 1, 2) {
			if !selects(c.LabelSelector, key) {
				c.MatchLabelKeys = append(c.MatchLabelKeys, key)
			}
		}
	}
	return c
}

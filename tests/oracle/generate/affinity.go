// SPDX-License-Identifier: Apache-2.0

package generate

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// nodeAffinity is nil when it would be empty.
func (g *generator) nodeAffinity(required, preferred float64) *corev1.NodeAffinity {
	r := g.random
	affinity := &corev1.NodeAffinity{}
	if r.chance(required) {
		affinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: g.nodeTerms()}
	}
	if r.chance(preferred) {
		for range r.between(1, 3) {
			affinity.PreferredDuringSchedulingIgnoredDuringExecution = append(
				affinity.PreferredDuringSchedulingIgnoredDuringExecution,
				corev1.PreferredSchedulingTerm{Weight: g.weight(), Preference: g.nodeTerm()})
		}
	}
	if affinity.RequiredDuringSchedulingIgnoredDuringExecution == nil &&
		affinity.PreferredDuringSchedulingIgnoredDuringExecution == nil {
		return nil
	}
	return affinity
}

func (g *generator) weight() int32 { return pick(g.random, []int32{1, 5, 50, 100}) }

func (g *generator) nodeTerms() []corev1.NodeSelectorTerm {
	var terms []corev1.NodeSelectorTerm
	for range g.between(1, 3) {
		terms = append(terms, g.nodeTerm())
	}
	return terms
}

// nodeTerm may be empty: such a term matches nothing.
func (g *generator) nodeTerm() corev1.NodeSelectorTerm {
	r := g.random
	var term corev1.NodeSelectorTerm
	if r.chance(0.05) {
		return term
	}
	byName := r.chance(0.2)
	if !byName || r.chance(0.3) {
		for range r.between(1, 2) {
			term.MatchExpressions = append(term.MatchExpressions, g.nodeRequirement())
		}
	}
	if byName {
		for range pick(r, []int{1, 1, 1, 2}) {
			term.MatchFields = append(term.MatchFields, corev1.NodeSelectorRequirement{
				Key:      metav1.ObjectNameField,
				Operator: pick(r, []corev1.NodeSelectorOperator{corev1.NodeSelectorOpIn, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn}),
				Values:   []string{nodeName(r.IntN(g.mood.nodes + 1))},
			})
		}
	}
	return term
}

func (g *generator) nodeRequirement() corev1.NodeSelectorRequirement {
	r := g.random
	key := pick(r, nodeLabelKeys)
	values := nodeLabels[key]
	if key == corev1.LabelTopologyZone {
		values = zones
	}
	requirement := corev1.NodeSelectorRequirement{Key: key}
	switch r.IntN(7) {
	case 0, 1:
		requirement.Operator, requirement.Values = corev1.NodeSelectorOpIn, some(r, values, 1, 3)
	case 2:
		requirement.Operator, requirement.Values = corev1.NodeSelectorOpNotIn, some(r, values, 1, 2)
	case 3:
		requirement.Operator = corev1.NodeSelectorOpExists
	case 4:
		requirement.Operator = corev1.NodeSelectorOpDoesNotExist
	default:
		requirement.Key = coresLabel
		requirement.Operator = pick(r, []corev1.NodeSelectorOperator{corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt})
		requirement.Values = []string{pick(r, []string{"0", "4", "8", "15", "9223372036854775807"})}
	}
	return requirement
}

// selector is one for pods: nil, empty, or with labels and expressions.
func (g *generator) selector(empty float64) *metav1.LabelSelector {
	r := g.random
	switch {
	case r.chance(empty / 2):
		return nil
	case r.chance(empty / 2):
		return &metav1.LabelSelector{}
	}
	selector := &metav1.LabelSelector{}
	if r.chance(0.6) {
		key := pick(r, podLabelKeys)
		selector.MatchLabels = map[string]string{key: pick(r, podLabels[key])}
	}
	if selector.MatchLabels == nil || r.chance(0.3) {
		selector.MatchExpressions = append(selector.MatchExpressions, g.requirement(podLabelKeys, podLabels))
	}
	return selector
}

func (g *generator) requirement(keys []string, values map[string][]string) metav1.LabelSelectorRequirement {
	r := g.random
	requirement := metav1.LabelSelectorRequirement{Key: pick(r, keys)}
	switch r.IntN(5) {
	case 0, 1:
		requirement.Operator, requirement.Values = metav1.LabelSelectorOpIn, some(r, values[requirement.Key], 1, 2)
	case 2:
		requirement.Operator, requirement.Values = metav1.LabelSelectorOpNotIn, some(r, values[requirement.Key], 1, 2)
	case 3:
		requirement.Operator = metav1.LabelSelectorOpExists
	default:
		requirement.Operator = metav1.LabelSelectorOpDoesNotExist
	}
	return requirement
}

func (g *generator) podTerms(pod *corev1.Pod, low, high int) []corev1.PodAffinityTerm {
	var terms []corev1.PodAffinityTerm
	for range g.between(low, high) {
		terms = append(terms, g.podTerm(pod))
	}
	return terms
}

func (g *generator) weightedPodTerms(pod *corev1.Pod) []corev1.WeightedPodAffinityTerm {
	var terms []corev1.WeightedPodAffinityTerm
	for range g.between(1, 2) {
		terms = append(terms, corev1.WeightedPodAffinityTerm{Weight: g.weight(), PodAffinityTerm: g.podTerm(pod)})
	}
	return terms
}

func (g *generator) podTerm(pod *corev1.Pod) corev1.PodAffinityTerm {
	r := g.random
	term := corev1.PodAffinityTerm{TopologyKey: pick(r, topologyKeys), LabelSelector: g.selector(0.15)}
	if r.chance(0.3) {
		term.Namespaces = some(r, namespaces, 1, 2)
	}
	if r.chance(0.3) {
		term.NamespaceSelector = g.namespaceSelector()
	}
	if term.LabelSelector != nil && r.chance(0.1) {
		g.matchLabelKey(pod, &term)
	}
	return term
}

func (g *generator) namespaceSelector() *metav1.LabelSelector {
	r := g.random
	switch r.IntN(3) {
	case 0:
		return &metav1.LabelSelector{}
	case 1:
		return &metav1.LabelSelector{MatchLabels: g.labels(namespaceLabelKeys, namespaceLabels, 0.5)}
	default:
		return &metav1.LabelSelector{
			MatchExpressions: []metav1.LabelSelectorRequirement{g.requirement(namespaceLabelKeys, namespaceLabels)}}
	}
}

// matchLabelKey is as an API server leaves it: merged into the selector, which alone counts.
func (g *generator) matchLabelKey(pod *corev1.Pod, term *corev1.PodAffinityTerm) {
	value, has := pod.Labels["rev"]
	if !has || selects(term.LabelSelector, "rev") {
		return
	}
	key, operator := &term.MatchLabelKeys, metav1.LabelSelectorOpIn
	if g.chance(0.5) {
		key, operator = &term.MismatchLabelKeys, metav1.LabelSelectorOpNotIn
	}
	*key = []string{"rev"}
	term.LabelSelector.MatchExpressions = append(term.LabelSelector.MatchExpressions,
		metav1.LabelSelectorRequirement{Key: "rev", Operator: operator, Values: []string{value}})
}

func selects(selector *metav1.LabelSelector, key string) bool {
	if _, has := selector.MatchLabels[key]; has {
		return true
	}
	for _, expression := range selector.MatchExpressions {
		if expression.Key == key {
			return true
		}
	}
	return false
}

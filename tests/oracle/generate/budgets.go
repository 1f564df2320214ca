// SPDX-License-Identifier: Apache-2.0

package generate

import (
	"fmt"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// budgets are PodDisruptionBudgets that cover many pods, some or none, and overlap.
func (g *generator) budgets() []any {
	var objects []any
	for i := range g.mood.budgets {
		budget := &policyv1.PodDisruptionBudget{
			TypeMeta:   metav1.TypeMeta{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"},
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("b%d", i), Namespace: g.namespace()},
			Spec:       policyv1.PodDisruptionBudgetSpec{Selector: g.budgetSelector()},
			Status:     policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: pick(g.random, []int32{0, 0, 0, 1, 2, 5})},
		}
		if g.chance(0.4) {
			budget.Status.DisruptedPods = map[string]metav1.Time{}
			for range g.between(1, 10) {
				budget.Status.DisruptedPods[podName(g.IntN(g.mood.pods))] = someTime
			}
		}
		objects = append(objects, budget)
	}
	return objects
}

func (g *generator) budgetSelector() *metav1.LabelSelector {
	if g.chance(0.1) {
		return nil
	}
	selector := &metav1.LabelSelector{}
	if key := pick(g.random, podLabelKeys); g.chance(0.7) {
		selector.MatchLabels = map[string]string{key: pick(g.random, podLabels[key])}
	}
	if g.chance(0.6) {
		return selector
	}
	key := pick(g.random, podLabelKeys)
	requirement := metav1.LabelSelectorRequirement{Key: key, Operator: pick(g.random, []metav1.LabelSelectorOperator{
		metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn, metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist})}
	if requirement.Operator == metav1.LabelSelectorOpIn || requirement.Operator == metav1.LabelSelectorOpNotIn {
		requirement.Values = some(g.random, podLabels[key], 1, 2)
	}
	selector.MatchExpressions = append(selector.MatchExpressions, requirement)
	return selector
}

// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"
	"time"

	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/tests/internal/daemon/workload"
)

// createCompositeGang creates a gang of groups; parent is "" for a root. Groups in a tree must name a workload, which need not
// exist.
func (e *env) createCompositeGang(name, parent string, minGroupCount int32) {
	e.Helper()
	group := &schedulingv1alpha3.CompositePodGroup{ObjectMeta: metav1.ObjectMeta{Name: name}}
	group.Spec.WorkloadRef = &schedulingv1alpha3.WorkloadReference{WorkloadName: "workload", TemplateName: name}
	group.Spec.SchedulingPolicy.Gang = &schedulingv1alpha3.CompositeGangSchedulingPolicy{MinGroupCount: minGroupCount}
	if parent != "" {
		group.Spec.ParentCompositePodGroupName = &parent
	}
	_, err := e.admin.SchedulingV1alpha3().CompositePodGroups(e.namespace).Create(e.ctx, group, metav1.CreateOptions{})
	e.must(err)
}

// createChildGang creates a gang that is part of a composite one.
func (e *env) createChildGang(name, parent string, minCount int32) {
	e.Helper()
	group := &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: name}}
	group.Spec.SchedulingPolicy.Gang = &schedulingv1beta1.GangSchedulingPolicy{MinCount: minCount}
	group.Spec.ParentCompositePodGroupName = &parent
	group.Spec.WorkloadRef = &schedulingv1beta1.WorkloadReference{WorkloadName: "workload", TemplateName: name}
	_, err := e.admin.SchedulingV1beta1().PodGroups(e.namespace).Create(e.ctx, group, metav1.CreateOptions{})
	e.must(err)
}

// TestCompositeGangsStartWholeOrNotAtAll: three levels, whose parts fit alone and not together.
func TestCompositeGangsStartWholeOrNotAtAll(t *testing.T) {
	e := newGangEnv(t, "TopologyAwareWorkloadScheduling", "CompositePodGroup")
	e.createNodes(workload.Node("a", workload.Allocatable("cpu", "5")))
	e.createChildGang("driver", "job", 1)
	e.createMembers("driver", 0, 1)
	e.createCompositeGang("job", "", 2)
	e.createCompositeGang("workers", "job", 2)
	e.createChildGang("left", "workers", 3)
	e.createMembers("left", 0, 3)
	e.letPass(time.Second)
	if bound := e.boundOf("driver", 1) + e.boundOf("left", 3); bound != 0 {
		t.Errorf("%d pods are bound of a tree that is not complete", bound)
	}
	e.createChildGang("right", "workers", 3)
	e.createMembers("right", 0, 3)
	for _, group := range []string{"driver", "left", "right"} {
		e.awaitInitiallyScheduled(group, metav1.ConditionFalse, "Unschedulable")
	}

	// It holds no room meanwhile.
	e.createGang("small", 5)
	e.createMembers("small", 0, 5)
	e.must(e.pods.AwaitBound(e.within(30*time.Second), 5))

	e.createNodes(workload.Node("b", workload.Allocatable("cpu", "7")))
	e.must(e.pods.AwaitBound(e.within(60*time.Second), 12))
	for _, group := range []string{"driver", "left", "right"} {
		e.awaitInitiallyScheduled(group, metav1.ConditionTrue, "Scheduled")
	}
	e.checkAllocatable()
}

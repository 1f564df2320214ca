// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/internal/daemon"
	"berth.dev/tests/internal/daemon/workload"
)

// newGangEnv is an env with a control plane of its own, which serves pod groups, and a daemon that heeds them. Both have
// these feature gates, too.
func newGangEnv(t *testing.T, gates ...string) *env {
	t.Helper()
	e, c, switches := newGangControlPlane(t, gates...)
	d := e.startWith(daemon.Options{Config: deviceConfig, Kubeconfig: c.Kubeconfig(controlplane.Berth), Args: []string{switches}})
	t.Cleanup(func() { e.stop(d) })
	return e
}

// newGangControlPlane is the same without the daemon, which needs the switches.
func newGangControlPlane(t *testing.T, gates ...string) (e *env, c *controlplane.ControlPlane, switches string) {
	t.Helper()
	needsKubernetes(t, "1.37", "pod groups of scheduling.k8s.io/v1beta1")
	switches = "--feature-gates=GenericWorkload=true"
	for _, gate := range gates {
		switches += "," + gate + "=true"
	}
	served := "--runtime-config=scheduling.k8s.io/v1beta1=true"
	if slices.Contains(gates, "CompositePodGroup") {
		served += ",scheduling.k8s.io/v1alpha3=true"
	}
	e, c = newEnvOfItsOwn(t, controlplane.Options{APIServerArgs: []string{switches, served}})
	return e, c, switches
}

func (e *env) createGang(name string, minCount int32) {
	e.Helper()
	e.createGangInOne("", name, minCount)
}

// createGangInOne creates a gang whose pods go where the node label of that key has one value; "": anywhere.
func (e *env) createGangInOne(topologyKey, name string, minCount int32) {
	e.Helper()
	group := gang(name, minCount)
	if topologyKey != "" {
		group.Spec.SchedulingConstraints = &schedulingv1beta1.PodGroupSchedulingConstraints{
			Topology: []schedulingv1beta1.TopologyConstraint{{Key: topologyKey}}}
	}
	e.createGroup(group)
}

func gang(name string, minCount int32) *schedulingv1beta1.PodGroup {
	group := &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: name}}
	group.Spec.SchedulingPolicy.Gang = &schedulingv1beta1.GangSchedulingPolicy{MinCount: minCount}
	return group
}

func (e *env) createGroup(group *schedulingv1beta1.PodGroup) {
	e.Helper()
	_, err := e.admin.SchedulingV1beta1().PodGroups(e.namespace).Create(e.ctx, group, metav1.CreateOptions{})
	e.must(err)
}

// createMembers creates group-first to group-(first+n-1), each of one CPU.
func (e *env) createMembers(group string, first, n int) {
	e.Helper()
	e.createMembersWith(group, first, n)
}

func (e *env) createMembersWith(group string, first, n int, options ...workload.PodOption) {
	e.Helper()
	options = append(options, workload.Requests("cpu", "1"), withSpec(func(spec *corev1.PodSpec) {
		spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: &group}
	}))
	e.must(workload.CreatePods(e.ctx, e.admin, e.namespace, n, func(i int) *corev1.Pod {
		return workload.Pod(fmt.Sprintf("%s-%d", group, first+i), options...)
	}))
}

func (e *env) boundOf(group string, n int) int {
	bound := 0
	for i := range n {
		if pod := e.pods.Pod(fmt.Sprintf("%s-%d", group, i)); pod != nil && workload.IsBound(pod) {
			bound++
		}
	}
	return bound
}

// awaitInitiallyScheduled waits until the group's condition says so.
func (e *env) awaitInitiallyScheduled(group string, status metav1.ConditionStatus, reason string) {
	e.Helper()
	e.eventually(fmt.Sprintf("condition %s of pod group %s", status, group), func() bool {
		found, err := e.admin.SchedulingV1beta1().PodGroups(e.namespace).Get(e.ctx, group, metav1.GetOptions{})
		e.must(err)
		condition := apimeta.FindStatusCondition(found.Status.Conditions, schedulingv1beta1.PodGroupInitiallyScheduled)
		return condition != nil && condition.Status == status && condition.Reason == reason
	})
}

// TestGangsStartWholeOrNotAtAll on a cluster whose room comes and goes.
func TestGangsStartWholeOrNotAtAll(t *testing.T) {
	e := newGangEnv(t)
	e.createNodes(workload.Node("a", workload.Allocatable("cpu", "4")))

	// Not all of its pods are there, then not all of them fit.
	e.createGang("train", 6)
	e.createMembers("train", 0, 5)
	e.letPass(time.Second)
	if bound := e.boundOf("train", 6); bound != 0 {
		t.Errorf("%d pods of an incomplete gang are bound", bound)
	}
	e.createMembers("train", 5, 1)
	e.awaitInitiallyScheduled("train", metav1.ConditionFalse, "Unschedulable")
	if bound := e.boundOf("train", 6); bound != 0 {
		t.Errorf("%d pods of a gang that does not fit are bound", bound)
	}

	// It holds no room meanwhile, and another gang does not wait for it.
	e.createGang("small", 3)
	e.createMembers("small", 0, 3)
	e.must(e.pods.AwaitBound(e.within(30*time.Second), 3))
	e.awaitInitiallyScheduled("small", metav1.ConditionTrue, "Scheduled")
	if bound := e.boundOf("small", 3); bound != 3 {
		t.Errorf("%d of 3 pods of the small gang are bound", bound)
	}

	e.createNodes(workload.Node("b", workload.Allocatable("cpu", "5")))
	e.must(e.pods.AwaitBound(e.within(60*time.Second), 9))
	e.awaitInitiallyScheduled("train", metav1.ConditionTrue, "Scheduled")
	e.checkAllocatable()
}

// TestGangsThatFitAloneButNotTogether never block each other: one after the other starts, whole, while pods come and go.
func TestGangsThatFitAloneButNotTogether(t *testing.T) {
	e := newGangEnv(t)
	e.createNodes(workload.Node("a", workload.Allocatable("cpu", "4")), workload.Node("b", workload.Allocatable("cpu", "4")))
	const gangs, size = 4, 6
	name := func(i int) string { return fmt.Sprintf("gang%d", i) }
	for i := range gangs {
		e.createGang(name(i), size)
	}
	// Their pods come in turn, as those of two jobs would that start at the same time.
	for member := range size {
		for i := range gangs {
			e.createMembers(name(i), member, 1)
		}
	}
	started := map[string]bool{}
	for len(started) < gangs {
		var running string
		e.eventually(fmt.Sprintf("a gang starts after %d others", len(started)), func() bool {
			for i := range gangs {
				bound := e.boundOf(name(i), size)
				if bound > 0 && running != "" && running != name(i) && !started[name(i)] {
					t.Fatalf("%s and %s hold room at the same time", running, name(i))
				}
				if bound == size && !started[name(i)] {
					running = name(i)
				}
			}
			return running != ""
		})
		e.checkAllocatable()
		started[running] = true
		for member := range size {
			e.deletePod(fmt.Sprintf("%s-%d", running, member))
		}
	}
}

// TestAGangLandsInOneZone where no other zone has room for all of it, and so do the pods of it that come later.
func TestAGangLandsInOneZone(t *testing.T) {
	e := newGangEnv(t, "TopologyAwareWorkloadScheduling")
	node := func(name, zone, cpu string) *corev1.Node {
		return workload.Node(name, workload.Allocatable("cpu", cpu), workload.NodeLabel(corev1.LabelTopologyZone, zone))
	}
	// Together the zones have room for six.
	e.createNodes(node("east-1", "east", "2"), node("east-2", "east", "2"), node("west-1", "west", "2"))
	e.createGangInOne(corev1.LabelTopologyZone, "train", 5)
	e.createMembers("train", 0, 5)
	e.awaitInitiallyScheduled("train", metav1.ConditionFalse, "Unschedulable")
	if bound := e.boundOf("train", 5); bound != 0 {
		t.Errorf("%d pods of a gang that fits into no zone are bound", bound)
	}
	e.createNodes(node("west-2", "west", "3"))
	e.must(e.pods.AwaitBound(e.within(60*time.Second), 5))
	e.awaitInitiallyScheduled("train", metav1.ConditionTrue, "Scheduled")

	// There is room in the east only, until another node comes to the west.
	e.createMembers("train", 5, 1)
	e.letPass(2 * time.Second)
	e.createNodes(node("west-3", "west", "1"))
	e.must(e.pods.AwaitBound(e.within(60*time.Second), 6))
	for i := range 6 {
		name := fmt.Sprintf("train-%d", i)
		if on := e.pods.Pod(name).Spec.NodeName; !strings.HasPrefix(on, "west-") {
			t.Errorf("%s is on %s", name, on)
		}
	}
	e.checkAllocatable()
}

// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/internal/daemon"
	"berth.dev/tests/internal/daemon/workload"
)

// newEnvOfItsOwn is an env with a control plane of its own, which ends with the test.
func newEnvOfItsOwn(t *testing.T, options controlplane.Options) (*env, *controlplane.ControlPlane) {
	t.Helper()
	c, err := controlplane.Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	e := &env{T: t, ctx: t.Context(), admin: c.Client(controlplane.Admin), namespace: namespaceOf(t), dir: logDir(t), plane: c}
	e.must(workload.CreateNamespace(e.ctx, e.admin, e.namespace))
	e.pods, err = workload.Track(e.ctx, e.admin, e.namespace)
	e.must(err)
	return e, c
}

// newLifecycleEnv is an env with a control plane of its own, whose nodes are tainted by their conditions: nodes of
// other tests have no kubelet.
func newLifecycleEnv(t *testing.T) (*env, *controlplane.ControlPlane) {
	t.Helper()
	e, c := newEnvOfItsOwn(t, controlplane.Options{ControllerManager: true, NodeLifecycle: true})
	e.must(workload.AwaitServiceAccount(e.ctx, e.admin, e.namespace))
	return e, c
}

func withCondition(condition corev1.NodeConditionType, status corev1.ConditionStatus) workload.NodeOption {
	return func(node *corev1.Node) {
		conditions := slices.DeleteFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool { return c.Type == condition })
		node.Status.Conditions = append(conditions, corev1.NodeCondition{Type: condition, Status: status,
			LastHeartbeatTime: metav1.Now(), LastTransitionTime: metav1.Now()})
	}
}

func withTolerations(tolerations ...corev1.Toleration) workload.PodOption {
	return withSpec(func(spec *corev1.PodSpec) { spec.Tolerations = append(spec.Tolerations, tolerations...) })
}

// awaitTaints waits until the controller has given the node these taints, and no others.
func (e *env) awaitTaints(node string, taints ...corev1.Taint) {
	e.Helper()
	text := func(taints []corev1.Taint) []string {
		var all []string
		for _, taint := range taints {
			all = append(all, taint.Key+":"+string(taint.Effect))
		}
		slices.Sort(all)
		return all
	}
	e.eventually(fmt.Sprintf("taints %v on node %s", text(taints), node), func() bool {
		found, err := e.admin.CoreV1().Nodes().Get(e.ctx, node, metav1.GetOptions{})
		e.must(err)
		return slices.Equal(text(found.Spec.Taints), text(taints))
	})
}

// TestNodeConditionsKeepPodsOff by the taints that the node lifecycle controller makes of them.
func TestNodeConditionsKeepPodsOff(t *testing.T) {
	e, c := newLifecycleEnv(t)
	bad := []struct {
		name      string
		condition corev1.NodeConditionType
		status    corev1.ConditionStatus
		taint     string
		evicts    bool
	}{
		{"memory", corev1.NodeMemoryPressure, corev1.ConditionTrue, corev1.TaintNodeMemoryPressure, false},
		{"disk", corev1.NodeDiskPressure, corev1.ConditionTrue, corev1.TaintNodeDiskPressure, false},
		{"pid", corev1.NodePIDPressure, corev1.ConditionTrue, corev1.TaintNodePIDPressure, false},
		{"network", corev1.NodeNetworkUnavailable, corev1.ConditionTrue, corev1.TaintNodeNetworkUnavailable, false},
		{"not-ready", corev1.NodeReady, corev1.ConditionFalse, corev1.TaintNodeNotReady, true},
		{"unreachable", corev1.NodeReady, corev1.ConditionUnknown, corev1.TaintNodeUnreachable, true},
	}
	e.createNodes(workload.Node("good", workload.NodeLabel("is", "good")))
	for _, node := range bad {
		e.createNodes(workload.Node(node.name, workload.NodeLabel("is", node.name), withCondition(node.condition, node.status)))
	}
	e.awaitTaints("good")
	for _, node := range bad {
		taints := []corev1.Taint{{Key: node.taint, Effect: corev1.TaintEffectNoSchedule}}
		if node.evicts {
			taints = append(taints, corev1.Taint{Key: node.taint, Effect: corev1.TaintEffectNoExecute})
		}
		e.awaitTaints(node.name, taints...)
	}

	d := e.startWith(daemon.Options{Kubeconfig: c.Kubeconfig(controlplane.Berth)})
	t.Cleanup(func() { e.stop(d) })
	e.createPods(workload.Pod("anywhere"))
	e.awaitNode(e.ctx, "anywhere", "good")
	const kept = "0/7 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 6 node(s) had untolerated taint(s). " +
		"preemption: 0/7 nodes are available: 7 Preemption is not helpful for scheduling."
	for _, node := range bad {
		e.createPods(workload.Pod("on-"+node.name, workload.NodeSelector("is", node.name)))
		e.awaitUnschedulable("on-"+node.name, kept)
	}

	// The API server has every pod tolerate NoExecute for a while; one that says otherwise is kept off by it alone.
	noSchedule := corev1.Toleration{Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}
	never := corev1.Toleration{Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpEqual, Value: "never", Effect: corev1.TaintEffectNoExecute}
	e.createPods(workload.Pod("no-execute", workload.NodeSelector("is", "not-ready"), withTolerations(noSchedule, never)))
	e.awaitUnschedulable("no-execute", kept)
	e.createPods(workload.Pod("for-a-while", workload.NodeSelector("is", "not-ready"), withTolerations(noSchedule)))
	e.awaitNode(e.ctx, "for-a-while", "not-ready")

	// A condition that is good again lets the pod go there.
	memory, err := e.admin.CoreV1().Nodes().Get(e.ctx, "memory", metav1.GetOptions{})
	e.must(err)
	withCondition(corev1.NodeMemoryPressure, corev1.ConditionFalse)(memory)
	_, err = e.admin.CoreV1().Nodes().UpdateStatus(e.ctx, memory, metav1.UpdateOptions{})
	e.must(err)
	e.awaitNode(e.ctx, "on-memory", "memory")
}

// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/tests/internal/daemon/workload"
)

func (e *env) bind(pod, node string) error {
	e.Helper()
	known, err := e.pods.AwaitPod(e.ctx, pod, "there", func(*corev1.Pod) bool { return true })
	e.must(err)
	return e.admin.CoreV1().Pods(e.namespace).Bind(e.ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: pod, UID: known.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: node},
	}, metav1.CreateOptions{})
}

// TestAPodThatAnotherBindsFirst lets decided pods wait for the rate limit and binds one of them.
func TestAPodThatAnotherBindsFirst(t *testing.T) {
	const pods, loser = 40, "pod-39"
	e := newEnv(t)
	e.createNodes(workload.Node("ours", workload.Allocatable("cpu", "40")),
		workload.Node("theirs", workload.Allocatable("cpu", "1"), workload.NoSchedule("k")))
	e.createPods(workload.Pod("first"))
	e.start(plainConfig(5, 5))
	e.must(e.pods.AwaitBound(e.within(45*time.Second), 1)) // what the start asks for has been answered
	for i := range pods {
		e.createPods(workload.Pod(fmt.Sprintf("pod-%d", i), workload.Requests("cpu", "1")))
	}
	e.must(e.pods.AwaitBound(e.within(20*time.Second), 5))
	e.must(e.bind(loser, "theirs"))
	e.must(e.pods.AwaitBound(e.within(30*time.Second), pods+1))
	if node := e.pods.Pod(loser).Spec.NodeName; node != "theirs" {
		e.Errorf("%s is on node %s", loser, node)
	}
	// The place that was meant for it is free again.
	e.createPods(workload.Pod("last", workload.Requests("cpu", "1")))
	e.awaitNode(e.within(20*time.Second), "last", "ours")
	e.checkBoundOnce(pods+2, false)
	e.checkAllocatable()
}

// TestARecreatedPodIsNotTakenForTheOldOne deletes a decided pod, and creates another of its name,
// before its binding is sent.
func TestARecreatedPodIsNotTakenForTheOldOne(t *testing.T) {
	const pods, again = 30, "pod-29"
	e := newEnv(t)
	e.createNodes(workload.Node("a", workload.NodeLabel("zone", "a")), workload.Node("b", workload.NodeLabel("zone", "b")))
	e.createPods(workload.Pod("first"))
	e.start(plainConfig(5, 5))
	e.must(e.pods.AwaitBound(e.within(45*time.Second), 1))
	for i := range pods {
		e.createPods(workload.Pod(fmt.Sprintf("pod-%d", i), workload.NodeSelector("zone", "a")))
	}
	e.must(e.pods.AwaitBound(e.within(20*time.Second), 5))
	e.deletePod(again)
	e.createPods(workload.Pod(again, workload.NodeSelector("zone", "b")))
	e.awaitNode(e.within(30*time.Second), again, "b")
	e.must(e.pods.AwaitBound(e.within(30*time.Second), pods+1))
	e.checkBoundOnce(pods+1, false)
}

// TestAfterANodeVanishedPodsGoElsewhere lets the daemon learn of a pod and of the end of the node it
// prefers at once. The API server binds to nodes that are not there; so that pod may go to either.
func TestAfterANodeVanishedPodsGoElsewhere(t *testing.T) {
	e := newEnv(t)
	e.createNodes(workload.Node("vanishes"))
	d := e.start(fast())
	e.createPods(workload.Pod("first"))
	e.awaitNode(e.within(30*time.Second), "first", "vanishes")
	prefers := workload.PreferNode(corev1.LabelHostname, "vanishes")
	e.must(d.Signal(syscall.SIGSTOP))
	e.createPods(workload.Pod("pod", prefers))
	e.must(workload.DeleteNodes(e.ctx, e.admin, ""))
	e.createNodes(workload.Node("stays"))
	e.must(d.Signal(syscall.SIGCONT))
	_, err := e.pods.AwaitPod(e.within(20*time.Second), "pod", "bound", workload.IsBound)
	e.must(err)
	e.awaitSeen("stays") // and, before that, the end of the other node
	e.createPods(workload.Pod("next", prefers))
	e.awaitNode(e.within(10*time.Second), "next", "stays")
	e.checkBoundOnce(3, false)
}

// TestARefusedBindingIsTriedAgainElsewhere lets the API server refuse bindings to one node, which
// then vanishes.
func TestARefusedBindingIsTriedAgainElsewhere(t *testing.T) {
	e := newEnv(t)
	e.refusals = true // in these words the API server reports the policy
	e.createNodes(workload.Node("refused", workload.Allocatable("cpu", "2")), workload.Node("other", workload.Allocatable("cpu", "2")))
	e.refuseBindingsTo("refused")
	e.start(fast())
	e.createPods(workload.Pod("pod", workload.Requests("cpu", "2"), workload.PreferNode(corev1.LabelHostname, "refused")))
	pod, err := e.pods.AwaitPod(e.within(30*time.Second), "pod", "refused", func(pod *corev1.Pod) bool {
		return workload.HasReason(pod, corev1.PodReasonSchedulerError)
	})
	e.must(err)
	if message := workload.ScheduledCondition(pod).Message; !strings.Contains(message, "this node takes no pods") {
		e.Errorf("the condition says %q", message)
	}
	e.awaitEvents("FailedScheduling", "pod", 1)
	e.must(e.admin.CoreV1().Nodes().Delete(e.ctx, "refused", metav1.DeleteOptions{}))
	e.awaitNode(e.within(15*time.Second), "pod", "other")
	e.checkBoundOnce(1, false)
}

// refuseBindingsTo returns when the API server refuses to bind this test's pods to the node.
func (e *env) refuseBindingsTo(node string) {
	e.Helper()
	admission, name, deny := e.admin.AdmissionregistrationV1(), e.namespace, admissionv1.Fail
	policy := &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			FailurePolicy: &deny,
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{
				RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Create},
					Rule: admissionv1.Rule{
						APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods/binding"},
					},
				},
			}}},
			Validations: []admissionv1.Validation{{
				Expression: fmt.Sprintf("object.metadata.namespace != %q || object.target.name != %q", e.namespace, node),
				Message:    "this node takes no pods",
			}},
		},
	}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName:        name,
			ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
		},
	}
	_, err := admission.ValidatingAdmissionPolicies().Create(e.ctx, policy, metav1.CreateOptions{})
	e.must(err)
	_, err = admission.ValidatingAdmissionPolicyBindings().Create(e.ctx, binding, metav1.CreateOptions{})
	e.must(err)
	e.Cleanup(func() {
		for _, remove := range []func(context.Context, string, metav1.DeleteOptions) error{
			admission.ValidatingAdmissionPolicyBindings().Delete, admission.ValidatingAdmissionPolicies().Delete,
		} {
			if err := remove(context.Background(), name, metav1.DeleteOptions{}); err != nil {
				e.Error(err)
			}
		}
	})
	e.awaitRefusal(node)
}

// awaitRefusal binds probes of this test to the node until the API server refuses one.
func (e *env) awaitRefusal(node string) {
	e.Helper()
	for i := 0; ; i++ {
		probe := fmt.Sprintf("probe-%d", i)
		e.createPods(workload.Pod(probe, workload.Scheduler("nobody")))
		err := e.bind(probe, node)
		e.deletePod(probe)
		if err != nil {
			return
		}
		e.letPass(100 * time.Millisecond)
	}
}

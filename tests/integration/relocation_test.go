// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"strings"
	"testing"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/internal/daemon"
	"berth.dev/tests/internal/daemon/workload"
)

const relocationConfig = `
clientConnection: {qps: 5000, burst: 5000}
profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint: {enabled: [{name: Relocation}]}
  pluginConfig:
  - name: Relocation
    args: {minPendingSeconds: 3}
`

// TestAPodGetsItsNodeByMovesThatBudgetsAllow on a control plane with controllers and kubelets.
func TestAPodGetsItsNodeByMovesThatBudgetsAllow(t *testing.T) {
	if program.Peer {
		t.Skip("kube-scheduler moves no pods")
	}
	e, c := newEnvOfItsOwn(t, controlplane.Options{ControllerManager: true, Kwok: true})
	defer e.cleanUp()
	e.grantComponent("relocation")
	e.must(workload.AwaitServiceAccount(e.ctx, e.admin, e.namespace))
	e.manyNodes(3, workload.Allocatable("cpu", "4", "memory", "32Gi", "pods", "110"))
	e.startWith(daemon.Options{Config: relocationConfig, Kubeconfig: c.Kubeconfig(controlplane.Berth)})
	one := intstr.FromInt32(1)
	budgets := e.admin.PolicyV1().PodDisruptionBudgets(e.namespace)
	_, err := budgets.Create(e.ctx, &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &one,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
	}, metav1.CreateOptions{})
	e.must(err)
	_, err = e.admin.AppsV1().Deployments(e.namespace).Create(e.ctx, workload.Deployment("web", 6, workload.Requests("cpu", "1")), metav1.CreateOptions{})
	e.must(err)
	ready := func() bool {
		budget, err := budgets.Get(e.ctx, "web", metav1.GetOptions{})
		e.must(err)
		return budget.Status.CurrentHealthy == 6 && budget.Status.DisruptionsAllowed == 1
	}
	e.eventually("six ready pods that the budget knows of", ready)
	budget := e.watchBudget("web", 5)
	// Two cores are free on each node.
	e.createPods(workload.Pod("big", workload.Requests("cpu", "3")))
	if _, err := e.pods.AwaitPod(e.within(30*time.Second), "big", "bound", workload.IsBound); err != nil {
		e.Fatal(err)
	}
	e.eventually("six ready pods again", ready)
	events := e.awaitEvents("Relocated", "", 1)
	if len(events) != 1 || !strings.Contains(events[0].Note, e.namespace+"/big has room on node") {
		e.Errorf("%+v", events)
	}
	budget.check(e.T)
	// Two pods would have to go at once, and the budget allows one.
	e.createPods(workload.Pod("huge", workload.Requests("cpu", "4")))
	e.letPass(5 * time.Second)
	if events := e.events("Relocated", ""); len(events) != 1 {
		e.Errorf("%+v", events)
	}
}

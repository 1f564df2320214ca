// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	lifecyclev1alpha1 "k8s.io/api/lifecycle/v1alpha1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/internal/daemon"
)

// applyInVain has the plan carried out up to where it ends with that exit code; it returns both outputs.
func (p *planner) applyInVain(code int, flags ...string) (out []byte, said string) {
	p.Helper()
	command := p.command(append([]string{"--apply", p.file, "-o", "json", "--wait-timeout", "1m"}, flags...)...)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != code {
		p.Fatalf("%q: %v, not exit code %d\n%s%s", command.Args, err, code, out, stderr.Bytes())
	}
	return out, stderr.String()
}

// evictionRequests are those of the test's namespace.
func (e *env) evictionRequests() []lifecyclev1alpha1.EvictionRequest {
	e.Helper()
	list, err := e.admin.LifecycleV1alpha1().EvictionRequests(e.namespace).List(e.ctx, metav1.ListOptions{})
	e.must(err)
	return list.Items
}

// carryRequestsOut plays the controller that Kubernetes 1.37 has not yet, with its default responder: what is requested is
// evicted by the Eviction subresource, and tried again where a budget says no. It returns how many pods were evicted.
func (e *env) carryRequestsOut(ctx context.Context) *atomic.Int64 {
	e.Helper()
	requests := e.admin.LifecycleV1alpha1().EvictionRequests(e.namespace)
	evicted := new(atomic.Int64)
	carryOut := func(request *lifecyclev1alpha1.EvictionRequest) error {
		if request.Status.ObservedGeneration == nil {
			request.Status.ObservedGeneration = &request.Generation
			request.Status.Conditions = []metav1.Condition{{Type: string(lifecyclev1alpha1.EvictionConditionFailed),
				Status: metav1.ConditionFalse, Reason: string(lifecyclev1alpha1.EvictionConditionReasonAwaitingEviction),
				LastTransitionTime: metav1.Now()}}
			if _, err := requests.UpdateStatus(ctx, request, metav1.UpdateOptions{}); err != nil {
				return err
			}
		}
		pod := request.Spec.Target.Pod
		err := e.admin.CoreV1().Pods(e.namespace).EvictV1(ctx, &policyv1.Eviction{
			ObjectMeta:    metav1.ObjectMeta{Name: pod.Name, Namespace: e.namespace},
			DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}},
		})
		if err == nil {
			evicted.Add(1)
			return requests.Delete(ctx, request.Name, metav1.DeleteOptions{})
		}
		return err
	}
	go func() {
		for ctx.Err() == nil {
			list, err := requests.List(ctx, metav1.ListOptions{})
			if err != nil {
				continue
			}
			for i := range list.Items {
				err := carryOut(&list.Items[i])
				if err != nil && ctx.Err() == nil && !apierrors.IsTooManyRequests(err) && !apierrors.IsNotFound(err) &&
					!apierrors.IsConflict(err) {
					e.Error(err)
				}
			}
			select {
			case <-ctx.Done():
			case <-time.After(200 * time.Millisecond):
			}
		}
	}()
	return evicted
}

// TestAPlanIsCarriedOutByEvictionRequests where the API server has them: as long as no controller looks at them nothing goes,
// and the request is withdrawn.
func TestAPlanIsCarriedOutByEvictionRequests(t *testing.T) {
	if program.Peer {
		t.Skip("kube-scheduler makes no plans")
	}
	needsKubernetes(t, "1.37", "EvictionRequests")
	e, c := newEnvOfItsOwn(t, controlplane.Options{ControllerManager: true, Kwok: true, APIServerArgs: []string{
		"--feature-gates=EvictionRequestAPI=true", "--runtime-config=lifecycle.k8s.io/v1alpha1=true"}})
	e.startWith(daemon.Options{Config: wholeConfig, Kubeconfig: c.Kubeconfig(controlplane.Berth)})
	defer e.cleanUp()
	e.fillWithWeb()
	p := newPlanner(e, c)
	p.plan("fit=" + e.namespace + "/big")

	out, _ := p.applyInVain(1, "--eviction=request")
	var answer applied
	e.must(json.Unmarshal(out, &answer))
	if !strings.Contains(answer.Why, "no controller has looked at its EvictionRequest within 30s; it is withdrawn") {
		e.Errorf("%+v", answer)
	}
	if left := e.evictionRequests(); len(left) > 0 {
		e.Errorf("left: %+v", left)
	}
	if events := e.events("EvictedByPlan", ""); len(events) > 0 {
		e.Errorf("%+v", events)
	}

	ctx, cancel := context.WithCancel(e.ctx)
	defer cancel()
	evicted := e.carryRequestsOut(ctx)
	budget := e.watchBudget("web", 7)
	answer = p.apply("--eviction=request")
	e.Logf("%+v", answer)
	if answer.Outcome != "done" || evicted.Load() < 2 {
		e.Errorf("%+v, of %d evictions", answer, evicted.Load())
	}
	for _, move := range answer.Moves {
		if move.State != "done" {
			e.Errorf("%+v", move)
		}
	}
	budget.check(e.T)
}

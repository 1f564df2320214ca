// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/tests/internal/daemon/workload"
)

// createPriorityClass creates a class named as its test's namespace.
func (e *env) createPriorityClass(value int32) string {
	e.Helper()
	class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: e.namespace}, Value: value}
	_, err := e.admin.SchedulingV1().PriorityClasses().Create(e.ctx, class, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		e.must(err)
	}
	return class.Name
}

// createPriorityClassNamed creates a class of that name until the test ends.
func (e *env) createPriorityClassNamed(name string, value int32, policy corev1.PreemptionPolicy) {
	e.Helper()
	classes := e.admin.SchedulingV1().PriorityClasses()
	class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value, PreemptionPolicy: &policy}
	_, err := classes.Create(e.ctx, class, metav1.CreateOptions{})
	e.must(err)
	e.Cleanup(func() { _ = classes.Delete(context.Background(), name, metav1.DeleteOptions{}) })
}

func TestUrgentPodOvertakesThousandsOfPendingPods(t *testing.T) {
	if program.Peer {
		t.Skip("kube-scheduler decides all pods at once, and the urgent one's binding waits behind theirs")
	}
	const pods = 5000
	e := newEnv(t)
	class := e.createPriorityClass(1000)
	e.manyNodes(100, workload.Allocatable("pods", "1000"))
	e.manyPods(pods, "pod", workload.Requests("cpu", "1m"))
	e.start(plainConfig(50, 100))
	e.must(e.pods.AwaitBound(e.within(30*time.Second), 200))
	begin := time.Now()
	e.createPods(workload.Pod("urgent", workload.PriorityClass(class)))
	_, err := e.pods.AwaitPod(e.within(20*time.Second), "urgent", "bound", workload.IsBound)
	e.must(err)
	took := e.pods.BoundAt("urgent").Sub(begin)
	e.Logf("bound after %s, when %d of %d pods were", took.Round(time.Millisecond), e.pods.Bound()-1, pods)
	if took > 4*time.Second {
		e.Errorf("the urgent pod was bound after %s, want at most 4s", took)
	}
	if e.pods.Bound() > pods/2 {
		e.Errorf("%d pods are bound already: this was no crowd", e.pods.Bound())
	}
}

func TestPodsOfHigherPriorityAreBoundFirst(t *testing.T) {
	const each = 20
	e := newEnv(t)
	class := e.createPriorityClass(1000)
	e.createNodes(workload.Node("a", workload.Allocatable("pods", "20")))
	e.manyPods(each, "low")
	e.manyPods(each, "high", workload.PriorityClass(class))
	e.start(fast()) // finds all of them waiting
	e.must(e.pods.AwaitBound(e.within(30*time.Second), each))
	e.awaitUnschedulable("low-0", "0/1 nodes are available: 1 Too many pods.")
	if nodes := e.nodesOf("high", each); nodes["a"] != each {
		e.Errorf("%d of %d pods of high priority are bound", nodes["a"], each)
	}
}

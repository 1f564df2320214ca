// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/tests/internal/daemon/workload"
)

func TestFillsACluster(t *testing.T) {
	const nodes, pods = 500, 5000
	e := newEnv(t)
	e.manyNodes(nodes, workload.Allocatable("cpu", "4", "memory", "8Gi", "pods", "20"))
	// All together they take nine tenths of the CPU and of the memory.
	e.must(workload.CreatePods(e.ctx, e.admin, e.namespace, pods, func(i int) *corev1.Pod {
		cpu, memory := 160+100*(i%5), 340+200*(i%5)
		return workload.Pod(fmt.Sprintf("pod-%d", i),
			workload.Requests("cpu", fmt.Sprintf("%dm", cpu), "memory", fmt.Sprintf("%dMi", memory)))
	}))
	begin := time.Now()
	e.start(fast())
	e.must(e.pods.AwaitBound(e.ctx, pods))
	e.Logf("%d pods bound within %s of the start", pods, time.Since(begin).Round(10*time.Millisecond))
	e.checkAllocatable()
	e.checkBoundOnce(pods, false)
	e.checkScheduledEvents(pods)
}

// checkScheduledEvents checks that each pod has one event Scheduled that names the pod's node.
func (e *env) checkScheduledEvents(pods int) {
	e.Helper()
	times := map[string]int{}
	for _, event := range e.awaitEvents("Scheduled", "", pods) {
		name := event.Regarding.Name
		times[name]++
		pod := e.pods.Pod(name)
		if pod == nil || pod.UID != event.Regarding.UID {
			e.Errorf("an event is about pod %s of UID %s, which is not there", name, event.Regarding.UID)
			continue
		}
		// `kubectl get events` shows them, and selectors ask for them.
		if event.Regarding.Kind != "Pod" || event.Regarding.APIVersion != "v1" {
			e.Errorf("the event of %s is about the kind %q of %q", name, event.Regarding.Kind, event.Regarding.APIVersion)
		}
		want := fmt.Sprintf("Successfully assigned %s/%s to %s", e.namespace, name, pod.Spec.NodeName)
		if event.Note != want || event.Type != corev1.EventTypeNormal || event.Action != "Binding" ||
			event.ReportingController != pod.Spec.SchedulerName {
			e.Errorf("event of %s: type %s, action %s, controller %s, note %q, want %q",
				name, event.Type, event.Action, event.ReportingController, event.Note, want)
		}
	}
	for _, pod := range e.pods.Pods() {
		if times[pod.Name] != 1 {
			e.Errorf("pod %s has %d events Scheduled", pod.Name, times[pod.Name])
		}
	}
}

func TestKeepsUpWithTwoHundredPodsASecond(t *testing.T) {
	const rate, seconds = 200, 10
	e := newEnv(t)
	e.manyNodes(100, workload.Allocatable("pods", "1000"))
	e.start(fast())
	e.createPods(workload.Pod("first"))
	e.must(e.pods.AwaitBound(e.within(30*time.Second), 1))

	created := make([]time.Time, rate*seconds)
	begin := time.Now()
	e.must(workload.Each(e.ctx, len(created), func(ctx context.Context, i int) error {
		select {
		case <-time.After(time.Until(begin.Add(time.Duration(i) * time.Second / rate))):
		case <-ctx.Done():
			return ctx.Err()
		}
		pod := workload.Pod(fmt.Sprintf("pod-%d", i), workload.Requests("cpu", "1m"))
		_, err := e.admin.CoreV1().Pods(e.namespace).Create(ctx, pod, metav1.CreateOptions{})
		created[i] = time.Now()
		return err
	}))
	took := time.Since(begin)
	e.must(e.pods.AwaitBound(e.within(5*time.Second), len(created)+1))
	latencies := make([]time.Duration, len(created))
	for i := range created {
		latencies[i] = e.pods.BoundAt(fmt.Sprintf("pod-%d", i)).Sub(created[i])
	}
	slices.Sort(latencies)
	median, high := workload.Percentile(latencies, 50), workload.Percentile(latencies, 99)
	e.Logf("%d pods in %s; from created to bound: median %s, 99%% within %s", len(created),
		took.Round(10*time.Millisecond), median.Round(10*time.Microsecond), high.Round(10*time.Microsecond))
	if median > promptly {
		e.Errorf("half of the pods were bound more than %s after they were created", median)
	}
	e.checkAllocatable()
	e.checkBoundOnce(len(created)+1, false)
}

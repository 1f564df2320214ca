// SPDX-License-Identifier: Apache-2.0

package neighbours

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/internal/daemon/workload"
)

// secondProfile is the configuration of a scheduler that is second in its cluster.
const secondProfile = `
profiles:
- schedulerName: second
`

// shares are what two schedulers make of the same nodes.
type shares struct {
	first, second time.Duration // until the last of its pods was bound
	overfull      int           // nodes, when both have filled the cluster at the same time
	urgent        time.Duration // until the urgent pods of both were bound
}

func (s shares) String() string {
	return fmt.Sprintf("its own 120 pods bound after %s, the second's 120 after %s, %d nodes overfull; 10 urgent pods of each after %s",
		s.first.Round(10*time.Millisecond), s.second.Round(10*time.Millisecond), s.overfull, s.urgent.Round(10*time.Millisecond))
}

// TestASecondSchedulerSharesTheNodes has a second scheduler with a profile of its own beside the first: each binds its own pods and
// no other, counts those of the other, and evicts them where its own are more urgent. kube-scheduler beside Berth, beside another
// kube-scheduler, and Berth beside kube-scheduler.
func TestASecondSchedulerSharesTheNodes(t *testing.T) {
	options := controlplane.Options{Kwok: true}
	ours, theirs, told := besideBoth(t, options, func(s *story) shares { return share(s, true) })
	var second shares
	told = told && t.Run("BerthSecond", func(t *testing.T) { second = share(newStory(t, options, true), false) })
	if !told {
		return
	}
	t.Logf("berth as the second:   %s", second)
	// Two that decide at the same time may take the same room; a kubelet refuses the second pod. Berth decides sooner.
	for what, overfull := range map[string]int{"first": ours.overfull, "second": second.overfull} {
		if overfull > theirs.overfull+2 {
			t.Errorf("%d nodes were overfull with Berth as the %s, with two kube-schedulers %d", overfull, what, theirs.overfull)
		}
	}
}

// share has the second be kube-scheduler, or Berth.
func share(s *story, secondIsPeer bool) shares {
	const nodes, each = 40, 120 // half of a CPU each: 240 of 320 places
	for i := range nodes {
		s.createNodes(workload.Node(fmt.Sprintf("node-%d", i)))
	}
	// Early: the API server admits pods of a class once its own watch has told it of the class.
	_, err := s.admin.SchedulingV1().PriorityClasses().Create(s.ctx, &schedulingv1.PriorityClass{
		ObjectMeta: metav1.ObjectMeta{Name: "urgent"}, Value: 1000,
	}, metav1.CreateOptions{})
	s.must(err)
	s.startScheduler(secondIsPeer, "second", secondProfile)
	half := workload.Requests("cpu", "500m")
	var pods []*corev1.Pod
	for i := range each {
		pods = append(pods, workload.Pod(fmt.Sprintf("first-%d", i), half),
			workload.Pod(fmt.Sprintf("second-%d", i), half, workload.Scheduler("second")))
	}
	began := time.Now()
	s.createPods(pods...)
	s.awaitPlaced(time.Minute, 2*each)
	var result shares
	for _, pod := range s.pods.Pods() {
		took := s.pods.BoundAt(pod.Name).Sub(began)
		if strings.HasPrefix(pod.Name, "first") {
			result.first = max(result.first, took)
		} else {
			result.second = max(result.second, took)
		}
	}
	result.overfull = s.overfull()
	s.checkWhoBound()

	// The rest is filled by pods that are the first to go, some of either; then both need room.
	var filling []*corev1.Pod
	for i := range 80 {
		pod := workload.Pod(fmt.Sprintf("filling-%d", i), half)
		pod.Spec.SchedulerName = []string{corev1.DefaultSchedulerName, "second"}[i%2]
		filling = append(filling, pod)
	}
	s.createPods(filling...)
	s.eventually(time.Minute, "a full cluster", func() bool {
		unbound := 0
		for _, pod := range s.pods.Pods() {
			if pod.Spec.NodeName == "" {
				if !workload.IsUnschedulable(pod) {
					return false
				}
				unbound++
			}
		}
		return len(s.pods.Pods()) == 2*each+80 && unbound <= 80
	})
	var urgent []*corev1.Pod
	for i := range 10 {
		big := workload.Requests("cpu", "2")
		urgent = append(urgent,
			workload.Pod(fmt.Sprintf("urgent-first-%d", i), big, workload.PriorityClass("urgent")),
			workload.Pod(fmt.Sprintf("urgent-second-%d", i), big, workload.PriorityClass("urgent"), workload.Scheduler("second")))
	}
	asked := time.Now()
	s.createPods(urgent...)
	for _, pod := range urgent {
		_, err := s.pods.AwaitPod(s.within(time.Minute), pod.Name, "bound", workload.IsBound)
		s.must(err)
		result.urgent = max(result.urgent, s.pods.BoundAt(pod.Name).Sub(asked))
	}
	s.checkWhoBound()
	return result
}

// overfull counts the nodes that hold more than they have.
func (s *story) overfull() int {
	s.Helper()
	count := 0
	for _, node := range s.nodes() {
		if workload.Overfull([]*corev1.Node{node}, s.pods.Pods()) != "" {
			count++
		}
	}
	return count
}

// checkWhoBound checks in the API server's audit log and in the events that each pod was bound once, by its own scheduler.
func (s *story) checkWhoBound() {
	s.Helper()
	bindings, err := s.plane.AuditBindings()
	s.must(err)
	if twice := controlplane.BoundTwice(bindings); twice != "" {
		s.Error(twice)
	}
	for _, event := range s.events() {
		if event.Reason != "Scheduled" {
			continue
		}
		pod := s.pods.Pod(event.Regarding.Name)
		if pod != nil && event.ReportingController != pod.Spec.SchedulerName {
			s.Errorf("pod %s of %s was bound by %s", pod.Name, pod.Spec.SchedulerName, event.ReportingController)
		}
	}
}

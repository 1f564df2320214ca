// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/internal/daemon/workload"
)

// whatIf is what berth simulate answers about the test's own cluster.
type whatIf struct {
	Before, After struct{ Nodes, Pods, Pending int }
	Pods          []struct {
		Pod           string
		Before, After *string
		Message       string
	}
	Drained []struct{ Moved, FitNowhere []string }
	Filled  struct {
		Pods    int
		Message string
	}
}

// ask runs berth simulate on the live cluster.
func (e *env) ask(flags ...string) (answer whatIf) {
	e.Helper()
	if program.Peer {
		e.Skip("kube-scheduler answers no questions")
	}
	args := append([]string{"simulate", "--kubeconfig", shared.Kubeconfig(controlplane.Admin), "-o", "json"}, flags...)
	out, err := exec.CommandContext(e.ctx, program.Path, args...).Output()
	// It ends with 1 where a drain cannot be done.
	var failed *exec.ExitError
	if err != nil && (!errors.As(err, &failed) || failed.ExitCode() != 1) {
		e.Fatalf("berth %q: %v %s", args, err, out)
	}
	e.must(json.Unmarshal(out, &answer))
	return answer
}

// cluster is every pod and node of the test, by name, with its version.
func (e *env) cluster() (versions []string) {
	e.Helper()
	pods, err := e.admin.CoreV1().Pods(e.namespace).List(e.ctx, metav1.ListOptions{})
	e.must(err)
	for _, pod := range pods.Items {
		versions = append(versions, "pod "+pod.Name+" "+pod.ResourceVersion)
	}
	nodes, err := e.admin.CoreV1().Nodes().List(e.ctx, metav1.ListOptions{})
	e.must(err)
	for _, node := range nodes.Items {
		versions = append(versions, "node "+node.Name+" "+node.ResourceVersion)
	}
	slices.Sort(versions)
	return versions
}

func TestWhatIfOfALiveClusterIsWhatThenHappens(t *testing.T) {
	e := newEnv(t)
	room := workload.Allocatable("cpu", "2", "memory", "4Gi", "pods", "10")
	e.manyNodes(2, room)
	e.start(fast())
	e.manyPods(4, "web", workload.Requests("cpu", "1"))
	e.must(e.pods.AwaitBound(e.within(30*time.Second), 4))
	e.manyPods(1, "late", workload.Requests("cpu", "1500m"))
	e.awaitUnschedulable("late-0", "0/2 nodes are available: 2 Insufficient cpu.")
	before := e.cluster()

	answer := e.ask("--add-nodes", "1", "--like", "node-0")
	if answer.Before.Nodes != 2 || answer.After.Nodes != 3 || answer.Before.Pending != 1 || answer.After.Pending != 0 {
		e.Errorf("one more node: %+v", answer)
	}
	if len(answer.Pods) != 1 || answer.Pods[0].Pod != e.namespace+"/late-0" || answer.Pods[0].After == nil {
		e.Errorf("one more node moves %+v", answer.Pods)
	}
	if drain := e.ask("--drain", "node-0"); len(drain.Drained) != 1 || drain.After.Pending != 1 {
		// Those of node-0 have no controller: they are gone, and late-0 still fits nowhere else.
		e.Errorf("a drain: %+v", drain)
	}
	if after := e.cluster(); !slices.Equal(before, after) {
		e.Errorf("questions changed the cluster:\n%q\n%q", before, after)
	}

	e.createNodes(workload.Node("node-2", room))
	_, err := e.pods.AwaitPod(e.within(30*time.Second), "late-0", "bound", workload.IsBound)
	e.must(err)
	e.fillAsAnswered()
}

// fillAsAnswered compares how many more pods fit by the answer with how many do.
func (e *env) fillAsAnswered() {
	e.Helper()
	pod := workload.Pod("more", workload.Requests("cpu", "100m"))
	pod.Namespace, pod.APIVersion, pod.Kind = e.namespace, "v1", "Pod"
	manifest, err := json.Marshal(pod)
	e.must(err)
	file := filepath.Join(e.dir, "more.json")
	e.must(os.WriteFile(file, manifest, 0o644))
	fit := e.ask("--fill", file).Filled
	e.must(workload.CreatePods(e.ctx, e.admin, e.namespace, fit.Pods+1, func(i int) *corev1.Pod {
		return workload.Pod(fmt.Sprintf("more-%d", i), workload.Requests("cpu", "100m"))
	}))
	e.must(e.pods.AwaitBound(e.within(30*time.Second), 5+fit.Pods))
	e.eventually("the pod too many", func() bool {
		return slices.ContainsFunc(e.pods.Pods(), func(pod *corev1.Pod) bool {
			return !workload.IsBound(pod) && workload.HasReason(pod, corev1.PodReasonUnschedulable)
		})
	})
	if bound := e.pods.Bound(); bound != 5+fit.Pods || fit.Pods != 5 {
		e.Errorf("%d more pods were to fit, want 5; %d are bound", fit.Pods, bound)
	}
}

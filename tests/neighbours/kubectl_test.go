// SPDX-License-Identifier: Apache-2.0

package neighbours

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/controlplane/programs"
	"berth.dev/tests/internal/daemon/workload"
)

// shown is what each release of kubectl showed of a scheduler.
type shown struct {
	kubectls []string
	drained  time.Duration // until all pods of a drained node were placed again, the slowest
}

func (s shown) String() string {
	return fmt.Sprintf("%s; pods of a drained node placed after %s at most", strings.Join(s.kubectls, ", "),
		s.drained.Round(10*time.Millisecond))
}

// TestKubectlsShowAndDrain has kubectl of three releases show why a pod is pending and who placed another, wait for a pod to be
// scheduled, and drain a node, whose pods the scheduler places again.
func TestKubectlsShowAndDrain(t *testing.T) {
	besideBoth(t, controlplane.Options{ControllerManager: true, Kwok: true}, showAndDrain)
}

func showAndDrain(s *story) shown {
	var result shown
	for i := range 3 {
		s.createNodes(workload.Node(fmt.Sprintf("node-%d", i)))
	}
	s.createDeployment("web", 12, workload.Requests("cpu", "500m"))
	s.createPods(workload.Pod("refused", workload.Requests("cpu", "5")), workload.Pod("bound"))
	s.awaitPlacedOf("web", 12)
	_, err := s.pods.AwaitPod(s.within(time.Minute), "refused", "refused", workload.IsUnschedulable)
	s.must(err)
	binaries := []string{s.plane.Binary(programs.Kubectl)}
	for _, older := range OlderKubectls {
		binary, err := older.Build(context.WithoutCancel(s.ctx), os.Stderr)
		s.must(err)
		binaries = append(binaries, binary)
	}
	for i, binary := range binaries {
		run := func(args ...string) string {
			out, err := s.runKubectl(binary, args...)
			s.must(err)
			return out
		}
		version := regexp.MustCompile(`Client Version: (\S+)`).FindStringSubmatch(run("version"))
		if version == nil {
			s.Fatalf("%s has no version", binary)
		}
		result.kubectls = append(result.kubectls, version[1])
		s.expect(version[1]+" describe", run("-n", namespace, "describe", "pod", "refused"),
			`PodScheduled +False`, `Warning +FailedScheduling .* default-scheduler +0/3 nodes are available: 3 Insufficient cpu`)
		s.expect(version[1]+" describe", run("-n", namespace, "describe", "pod", "bound"),
			`PodScheduled +True`, `Normal +Scheduled .* default-scheduler +Successfully assigned `+namespace+`/bound to node-`)
		s.expect(version[1]+" events", run("-n", namespace, "events", "--for", "pod/refused"), `FailedScheduling +Pod/refused +0/3 nodes`)
		s.expect(version[1]+" wait", run("-n", namespace, "wait", "--for=condition=PodScheduled", "--timeout=30s", "pod/bound"), `condition met`)
		s.expect(version[1]+" get", run("-n", namespace, "get", "pods", "-o", "wide", "--field-selector=status.phase=Pending"), `refused +0/1 +Pending`)

		node := fmt.Sprintf("node-%d", i)
		began := time.Now()
		s.expect(version[1]+" drain", run("drain", node, "--force", "--pod-selector=app=web", "--timeout=60s"), `node/`+node+` drained`)
		s.awaitPlacedOf("web", 12)
		result.drained = max(result.drained, time.Since(began))
		for _, pod := range s.pods.Pods() {
			if pod.Spec.NodeName == node && pod.Labels["app"] == "web" {
				s.Errorf("pod %s is on %s, which is drained", pod.Name, node)
			}
		}
		run("uncordon", node)
	}
	s.checkRoom()
	return result
}

// runKubectl runs that kubectl as administrator.
func (s *story) runKubectl(binary string, args ...string) (string, error) {
	cmd := exec.CommandContext(s.ctx, binary, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+s.plane.Kubeconfig(controlplane.Admin), "KUBECACHEDIR="+filepath.Join(s.dir, filepath.Base(binary)))
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s %v: %w\n%s", filepath.Base(binary), args, err, out)
	}
	return string(out), nil
}

// expect checks that the text has something of each pattern.
func (s *story) expect(what, text string, patterns ...string) {
	s.Helper()
	for _, pattern := range patterns {
		if !regexp.MustCompile(pattern).MatchString(text) {
			s.Errorf("%s has nothing like %q:\n%s", what, pattern, text)
		}
	}
}

// awaitPlacedOf waits until so many pods of the Deployment that are not to end are placed.
func (s *story) awaitPlacedOf(app string, want int) {
	s.Helper()
	s.must(s.pods.Await(s.within(time.Minute), "placed pods of "+app, func(pods map[string]*corev1.Pod) bool {
		placed := 0
		for _, pod := range pods {
			if pod.Labels["app"] == app && pod.DeletionTimestamp == nil && pod.Spec.NodeName != "" {
				placed++
			}
		}
		return placed == want
	}))
}

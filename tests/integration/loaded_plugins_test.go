// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/internal/daemon"
	"berth.dev/tests/internal/daemon/workload"
)

const withExamples = `
clientConnection: {qps: 5000, burst: 5000}
profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint:
      enabled: [{name: PreferredNodeLabel, weight: 10}, {name: CoScheduling}, {name: NodeMaintenance}]
  pluginConfig:
  - name: PreferredNodeLabel
    args: {label: example.com/disk, value: fast}
  - name: CoScheduling
    args: {timeoutSeconds: 10}
`

// examplePlugins is the folder of the libraries built from plugins/examples.
func examplePlugins(t *testing.T) string {
	t.Helper()
	if program.Peer {
		t.Skip("kube-scheduler loads no plugins")
	}
	folder := os.Getenv("BERTH_EXAMPLE_PLUGINS")
	if folder == "" {
		t.Skip("BERTH_EXAMPLE_PLUGINS does not say where the example plugins are; ./dev verify builds them")
	}
	return folder
}

// startWithExamples starts the daemon with the example plugins.
func (e *env) startWithExamples() *daemon.Daemon {
	e.Helper()
	return e.startAs(controlplane.Berth, withExamples, "--plugin-dir="+examplePlugins(e.T))
}

func TestLoadedScoreDecidesBetweenNodes(t *testing.T) {
	examplePlugins(t)
	e := newEnv(t)
	e.manyNodes(5)
	e.createNodes(workload.Node("fast", workload.NodeLabel("example.com/disk", "fast")))
	e.startWithExamples()
	for i := range 3 {
		name := fmt.Sprintf("pod-%d", i)
		e.createPods(workload.Pod(name))
		e.awaitNode(e.within(30*time.Second), name, "fast")
	}
}

func TestLoadedFilterInPlainCHoldsAPodUntilItsNodeIsFree(t *testing.T) {
	examplePlugins(t)
	e := newEnv(t)
	node := workload.Node("a")
	node.Annotations = map[string]string{"example.com/maintenance": "true"}
	e.createNodes(node)
	e.startWithExamples()
	e.createPods(workload.Pod("pod"))
	e.awaitUnschedulable("pod", "0/1 nodes are available: 1 node(s) were in maintenance. "+
		"preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.")
	_, err := e.admin.CoreV1().Nodes().Patch(e.ctx, "a", types.MergePatchType,
		[]byte(`{"metadata":{"annotations":{"example.com/maintenance":null}}}`), metav1.PatchOptions{})
	e.must(err)
	e.awaitNode(e.within(30*time.Second), "pod", "a")
}

// withLegacy names plugins of older releases, which are in a library beside the program.
func withLegacy(label string) string {
	return fmt.Sprintf(`
clientConnection: {qps: 5000, burst: 5000}
profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint:
      enabled: [{name: NodeLabel}, {name: SelectorSpread, weight: 3}, {name: EBSLimits}]
  pluginConfig:
  - name: NodeLabel
    args: {presentLabels: [%s]}`, label)
}

func TestPluginsOfOlderReleasesAreLoadedWhereAProfileNamesThem(t *testing.T) {
	if program.Peer {
		t.Skip("kube-scheduler has no such plugins")
	}
	const loaded = "Loaded a plugin library that comes with Berth"
	e := newEnv(t)
	d := e.startAs(controlplane.Berth, fast(), "--reload-config")
	e.createNodes(workload.Node("a"))
	e.createPods(workload.Pod("before"))
	e.awaitNode(e.within(20*time.Second), "before", "a")
	if says(loaded)(d.Log()) {
		t.Error("it loads a library that no profile asks for")
	}
	for i, label := range []string{"rack", "row"} {
		e.rewrite(d, withLegacy(label))
		e.awaitReloads(d, "Reloaded configuration", i+1)
		e.createPods(workload.Pod(label))
		e.awaitUnschedulable(label, "0/1 nodes are available: 1 node(s) didn't have the requested labels. "+
			"preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.")
		_, err := e.admin.CoreV1().Nodes().Patch(e.ctx, "a", types.MergePatchType,
			fmt.Appendf(nil, `{"metadata":{"labels":{%q:"1"}}}`, label), metav1.PatchOptions{})
		e.must(err)
		e.awaitNode(e.within(30*time.Second), label, "a")
	}
	if n := strings.Count(d.Log(), loaded); n != 1 {
		t.Errorf("it loads the library %d times", n)
	}
}

// inGroup makes the pod a member of a group that wants at least so many.
func inGroup(name string, atLeast int) workload.PodOption {
	return func(pod *corev1.Pod) {
		metav1.SetMetaDataLabel(&pod.ObjectMeta, "pod-group.example.com/name", name)
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, "pod-group.example.com/min-available", fmt.Sprint(atLeast))
	}
}

func TestLoadedPermitLetsAGroupGoTogether(t *testing.T) {
	examplePlugins(t)
	e := newEnv(t)
	e.manyNodes(3)
	e.startWithExamples()
	e.manyPods(4, "member", inGroup("five", 5))
	e.createPods(workload.Pod("alone"))
	_, err := e.pods.AwaitPod(e.within(30*time.Second), "alone", "bound", workload.IsBound)
	e.must(err)
	e.letPass(2 * time.Second)
	if bound := e.pods.Bound(); bound != 1 {
		e.Fatalf("%d pods are bound before the group is complete, want only the pod of no group", bound)
	}
	e.createPods(workload.Pod("last", inGroup("five", 5)))
	e.must(e.pods.AwaitBound(e.within(30*time.Second), 6))
	first, last := e.pods.BoundAt("last"), e.pods.BoundAt("last")
	for i := range 4 {
		at := e.pods.BoundAt(fmt.Sprintf("member-%d", i))
		if at.Before(first) {
			first = at
		}
		if at.After(last) {
			last = at
		}
	}
	if took := last.Sub(first); took > promptly {
		e.Errorf("the group was bound within %s, want it together", took)
	}
	e.checkBoundOnce(6, false)
}

func TestLoadedPermitReleasesAnIncompleteGroup(t *testing.T) {
	examplePlugins(t)
	e := newEnv(t)
	e.createNodes(workload.Node("a", workload.Allocatable("cpu", "4", "memory", "8Gi", "pods", "110")))
	e.startWithExamples()
	e.manyPods(4, "member", workload.Requests("cpu", "1"), inGroup("six", 6))
	e.letPass(time.Second)
	e.createPods(workload.Pod("waiting", workload.Requests("cpu", "4")))
	// The group holds all CPUs, until it gives them up all at once.
	e.awaitNode(e.within(60*time.Second), "waiting", "a")
	if bound := e.pods.Bound(); bound != 1 {
		e.Errorf("%d pods are bound, want none of the incomplete group", bound)
	}
	for i := range 4 {
		name := fmt.Sprintf("member-%d", i)
		_, err := e.pods.AwaitPod(e.within(30*time.Second), name, "unschedulable", workload.IsUnschedulable)
		e.must(err)
	}
}

func TestRefusesALibraryThatIsNone(t *testing.T) {
	examplePlugins(t)
	e := newEnv(t)
	folder := filepath.Join(e.dir, "plugins")
	e.must(os.Mkdir(folder, 0o755))
	library := filepath.Join(folder, "text.so")
	e.must(os.WriteFile(library, []byte("no ELF"), 0o644))
	d := e.startAs(controlplane.Berth, fast(), "--plugin-dir="+folder)
	e.daemons = nil // it is to end by itself
	select {
	case <-d.Exited():
	case <-e.within(30 * time.Second).Done():
		d.Kill()
		e.Fatal("the daemon runs with a library that it cannot have loaded")
	}
	if code := d.ExitCode(); code != 1 {
		e.Errorf("the daemon ended with %d, want 1", code)
	}
	if log := d.Log(); !strings.Contains(log, library) {
		e.Errorf("the daemon does not name %s:\n%s", library, log)
	}
}

func TestConfigKnowsLoadedPlugins(t *testing.T) {
	folder := examplePlugins(t)
	file := filepath.Join(t.TempDir(), "config.yaml")
	header := "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
	if err := os.WriteFile(file, []byte(header+strings.TrimPrefix(withExamples, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	config := func(args ...string) (string, error) {
		out, err := exec.CommandContext(t.Context(), program.Path, append([]string{"config", "--config", file}, args...)...).CombinedOutput()
		return string(out), err
	}
	if out, err := config(); err == nil || !strings.Contains(out, "PreferredNodeLabel") {
		t.Errorf("without the libraries: %v %s", err, out)
	}
	if out, err := config("--plugin-dir", folder); err != nil || !strings.Contains(out, "label: example.com/disk") {
		t.Errorf("with the libraries: %v %s", err, out)
	}
}

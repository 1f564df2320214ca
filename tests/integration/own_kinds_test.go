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

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/internal/daemon/workload"
)

const windowsProfile = `
clientConnection: {qps: 5000, burst: 5000}
podInitialBackoffSeconds: 1
podMaxBackoffSeconds: 1
profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint: {enabled: [{name: MaintenanceWindows}]}
    postFilter: {disabled: [{name: "*"}]}
`

const (
	windowsPath  = "/apis/example.com/v1/maintenancewindows"
	inWindow     = "0/1 nodes are available: 1 node(s) were in a maintenance window."
	windowsKind  = "maintenancewindows.example.com"
	absentWindow = "The server does not serve this kind; it counts as empty"
)

// windows returns what the example plugin's crd.yaml has: the definition, and the role to read the kind.
func (e *env) windows() (definition, role string) {
	e.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "plugins", "examples", "maintenance_windows", "crd.yaml"))
	e.must(err)
	parts := strings.Split(string(text), "\n---\n")
	return parts[0], parts[1]
}

// defineWindows installs it.
func (e *env) defineWindows() {
	e.Helper()
	text, role := e.windows()
	definition, err := yaml.YAMLToJSON([]byte(text))
	e.must(err)
	e.defineKind(windowsKind, string(definition), windowsPath)
	e.grantRole([]byte(role))
}

func (e *env) createWindow(name string, nodes ...string) {
	e.Helper()
	body := fmt.Sprintf(`{"apiVersion":"example.com/v1","kind":"MaintenanceWindow","metadata":{"name":%q},"spec":{"nodes":["%s"]}}`,
		name, strings.Join(nodes, `","`))
	e.must(e.rest().Post().AbsPath(windowsPath).Body([]byte(body)).Do(e.ctx).Error())
}

// TestALoadedPluginReadsAKindOfItsOwn, live, out of a dump and in a replay.
func TestALoadedPluginReadsAKindOfItsOwn(t *testing.T) {
	plugins := "--plugin-dir=" + examplePlugins(t)
	e := newEnv(t)
	e.defineWindows()
	e.createNodes(workload.Node("a"))
	e.createWindow("night", "a", "b")
	folder := filepath.Join(e.dir, "recording")
	d := e.startAs(controlplane.Berth, windowsProfile, plugins, "--record="+folder)
	e.createPods(workload.Pod("first"))
	e.awaitUnschedulable("first", inWindow)

	config := filepath.Join(e.dir, "windows.yaml")
	header := "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
	e.must(os.WriteFile(config, []byte(header+windowsProfile), 0o644))
	dump := e.berthDump(plugins)
	out, err := exec.CommandContext(e.ctx, program.Path, "explain", "--config", config, plugins, "--cluster", dump,
		"--pod", e.namespace+"/first").Output()
	if !strings.Contains(string(out), "node(s) were in a maintenance window") {
		t.Errorf("berth explain of a dump: %v: %s", err, out)
	}

	e.must(e.rest().Patch(types.MergePatchType).AbsPath(windowsPath, "night").
		Body([]byte(`{"spec":{"nodes":["b"]}}`)).Do(e.ctx).Error())
	e.awaitNode(e.within(30*time.Second), "first", "a")
	e.createWindow("day", "a")
	e.createPods(workload.Pod("second"))
	e.awaitUnschedulable("second", inWindow)
	e.must(e.rest().Delete().AbsPath(windowsPath, "day").Do(e.ctx).Error())
	e.awaitNode(e.within(30*time.Second), "second", "a")

	e.must(d.Stop())
	if result := e.replay(folder, plugins); !result.Identical || result.Decisions < 4 {
		t.Errorf("the replay: %+v", result)
	}
}

// TestAPluginWhoseKindIsNotServedSeesNoObjects and the log says so once.
func TestAPluginWhoseKindIsNotServedSeesNoObjects(t *testing.T) {
	plugins := "--plugin-dir=" + examplePlugins(t)
	e := newEnv(t)
	_, role := e.windows()
	e.grantRole([]byte(role))
	e.createNodes(workload.Node("a"))
	d := e.startAs(controlplane.Berth, windowsProfile, plugins)
	e.createPods(workload.Pod("pod"))
	e.awaitNode(e.within(30*time.Second), "pod", "a")
	told := 0
	for line := range strings.Lines(d.Log()) {
		if says(absentWindow, windowsKind)(line) {
			told++
		}
	}
	if told != 1 {
		t.Errorf("the log says %d times that %s is not served", told, windowsKind)
	}
}

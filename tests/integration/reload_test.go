// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/internal/daemon"
	"berth.dev/tests/internal/daemon/workload"
)

// reloadable is a configuration whose filter of taints can be off, and whose NodeAffinity weighs as
// much as told against a NodeResourcesFit that weighs 50.
func reloadable(taints bool, weight int) string {
	disabled := withoutExtras
	if !taints {
		disabled += "      - {name: TaintToleration}\n"
	}
	return fmt.Sprintf(`
clientConnection: {qps: 5000, burst: 5000}
profiles:
- schedulerName: default-scheduler
  plugins:%s
    score:
      enabled:
      - {name: NodeAffinity, weight: %d}
      - {name: NodeResourcesFit, weight: 50}`, disabled, weight)
}

// rewrite puts a new configuration in the place of the daemon's, as the kubelet does: by a rename.
func (e *env) rewrite(d *daemon.Daemon, config string) {
	e.Helper()
	text, err := controlplane.CompleteSchedulerConfig(config, shared.Kubeconfig(controlplane.Berth))
	e.must(err)
	file := filepath.Join(e.dir, fmt.Sprintf("%s-%d.yaml", program.Name, len(e.daemons)))
	e.must(os.WriteFile(file+".new", text, 0o644))
	e.must(os.Rename(file+".new", file))
}

func (e *env) awaitReloads(d *daemon.Daemon, message string, n int) {
	e.Helper()
	e.must(d.AwaitLog(e.within(20*time.Second), func(log string) bool {
		return strings.Count(log, message) == n
	}))
}

func TestReloadOfTheConfigurationTakesEffectWithoutARestart(t *testing.T) {
	if program.Peer {
		t.Skip("kube-scheduler reads its configuration once")
	}
	const reloaded, kept = "Reloaded configuration", "Configuration is not reloaded"
	e := newEnv(t)
	d := e.startAs(controlplane.Berth, reloadable(true, 1), "--reload-config")

	e.createNodes(workload.Node("tainted", workload.NoSchedule("gpu")))
	e.createPods(workload.Pod("tolerant"))
	e.awaitUnschedulable("tolerant", "0/1 nodes are available: 1 node(s) had untolerated taint(s).")
	e.rewrite(d, reloadable(false, 1))
	e.awaitReloads(d, reloaded, 1)
	e.awaitNode(e.within(20*time.Second), "tolerant", "tainted")

	// A file that is wrong, and one that changes what cannot change, leave the old one.
	e.rewrite(d, "profiles: [{plugins: {filter: {enabled: [{name: Nonsense}]}}}]")
	e.awaitReloads(d, kept, 1)
	e.rewrite(d, strings.Replace(reloadable(true, 1), "qps: 5000", "qps: 1", 1))
	e.awaitReloads(d, kept, 2)
	if !says("clientConnection.qps: cannot change without a restart")(d.Log()) {
		e.Error("the log does not name the field that cannot change")
	}
	e.createPods(workload.Pod("still-tolerant"))
	e.awaitNode(e.within(20*time.Second), "still-tolerant", "tainted")
	e.must(workload.DeleteNodes(e.ctx, e.admin, ""))

	// The pods prefer the node that is nearly full.
	e.createNodes(workload.Node("full", workload.NodeLabel("disk", "ssd"), workload.Allocatable("cpu", "10")),
		workload.Node("free", workload.Allocatable("cpu", "10")))
	e.awaitSeen("full")
	e.awaitSeen("free")
	e.createPods(workload.Pod("load", workload.OnNode("full"), workload.Requests("cpu", "8")))
	prefers := workload.PreferNode("disk", "ssd")
	e.createPods(workload.Pod("before", prefers, workload.Requests("cpu", "100m")))
	e.awaitNode(e.within(20*time.Second), "before", "free")
	e.rewrite(d, reloadable(false, 100))
	e.awaitReloads(d, reloaded, 2)
	e.createPods(workload.Pod("after", prefers, workload.Requests("cpu", "100m")))
	e.awaitNode(e.within(20*time.Second), "after", "full")
}

func TestSIGUSR2LogsCacheAndQueue(t *testing.T) {
	e := newEnv(t)
	d := e.start(fast())
	e.manyNodes(3, workload.Allocatable("cpu", "4"))
	e.manyPods(20, "pod", workload.Requests("cpu", "100m"))
	e.must(e.pods.AwaitBound(e.within(20*time.Second), 20))
	e.createPods(workload.Pod("huge", workload.Requests("cpu", "9")))
	e.awaitUnschedulable("huge", "0/3 nodes are available: 3 Insufficient cpu.")
	e.must(d.Signal(syscall.SIGUSR2))
	e.must(d.AwaitLog(e.within(10*time.Second), says("Dump of scheduling queue", "unschedulableEntities:1")))
	for _, words := range [][]string{{"Dump of cached NodeInfo"}, {"Node name: node-0"}, {"Scheduled Pods(number:"}} {
		if !says(words...)(d.Log()) {
			e.Errorf("the log does not say %q", words)
		}
	}
	if says("Cache mismatch")(d.Log()) {
		e.Errorf("cache and informers differ\n%s", d.Tail())
	}
}

func TestConfigzShowsWhatTheLastReloadLeftInUse(t *testing.T) {
	if program.Peer {
		t.Skip("kube-scheduler reads its configuration once")
	}
	e := serveWith(t, reloadable(true, 1), "--reload-config")
	token := tokenOf(e, controlplane.Admin)
	shows := func(weight int) bool {
		code, body := e.get(e.client(), "/configz", token)
		return code == http.StatusOK && strings.Contains(body, fmt.Sprintf(`{"name":"NodeAffinity","weight":%d}`, weight))
	}
	if !shows(1) {
		t.Fatal("/configz does not show the configuration of the start")
	}
	e.rewrite(e.daemon, reloadable(true, 17))
	e.awaitReloads(e.daemon, "Reloaded configuration", 1)
	if !shows(17) {
		t.Error("/configz does not show the configuration that was reloaded")
	}
	e.rewrite(e.daemon, strings.Replace(reloadable(true, 23), "qps: 5000", "qps: 1", 1))
	e.awaitReloads(e.daemon, "Configuration is not reloaded", 1)
	if !shows(17) {
		t.Error("/configz shows a configuration that was refused")
	}
}

// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth.dev/tests/internal/daemon/workload"
)

// loadAwareProfiles has a profile for each source, as it is written for kubernetes-sigs/scheduler-plugins: the addresses of
// Prometheus and of a load-watcher.
const loadAwareProfiles = `
clientConnection: {qps: 5000, burst: 5000}
profiles:
- schedulerName: packing
  plugins:
    preScore: {disabled: [{name: "*"}]}
    score: {disabled: [{name: "*"}], enabled: [{name: TargetLoadPacking}]}
  pluginConfig:
  - name: TargetLoadPacking
    args:
      apiVersion: kubescheduler.config.k8s.io/v1
      kind: TargetLoadPackingArgs
      metricProvider: {type: KubernetesMetricsServer}
      targetUtilization: 80
- schedulerName: balancing
  plugins:
    preScore: {disabled: [{name: "*"}]}
    score: {disabled: [{name: "*"}], enabled: [{name: LoadVariationRiskBalancing}]}
  pluginConfig:
  - name: LoadVariationRiskBalancing
    args: {metricProvider: {type: Prometheus, address: %q}, safeVarianceSensitivity: 2}
- schedulerName: overcommitting
  plugins:
    preScore: {disabled: [{name: "*"}], enabled: [{name: LowRiskOverCommitment}]}
    score: {disabled: [{name: "*"}], enabled: [{name: LowRiskOverCommitment}]}
  pluginConfig:
  - name: LowRiskOverCommitment
    args: {watcherAddress: %q}
`

// measuredNodes stands for the API that the metrics server adds: its objects have the same form.
const measuredNodes = `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
  "metadata": {"name": "nodes.metrics.k8s.io", "annotations": {"api-approved.kubernetes.io": "unapproved, a stand-in"}},
  "spec": {"group": "metrics.k8s.io", "scope": "Cluster", "names": {"plural": "nodes", "singular": "node", "kind": "NodeMetrics"},
    "versions": [{"name": "v1beta1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object",
      "x-kubernetes-preserve-unknown-fields": true}}}]}}`

const measuredNodesPath = "/apis/metrics.k8s.io/v1beta1/nodes"

// measure lets the stand-in say what nodes use.
func (e *env) measure(usage map[string]string) {
	e.Helper()
	e.defineKind("nodes.metrics.k8s.io", measuredNodes, measuredNodesPath)
	for name, cpu := range usage {
		body := fmt.Sprintf(`{"apiVersion": "metrics.k8s.io/v1beta1", "kind": "NodeMetrics", "metadata": {"name": %q},
			"timestamp": "2026-11-28T12:00:00Z", "window": "20s", "usage": {"cpu": %q, "memory": "1Gi"}}`, name, cpu)
		e.must(e.rest().Post().AbsPath(measuredNodesPath).Body([]byte(body)).Do(e.ctx).Error())
	}
}

// startPrometheus runs the real one, which scrapes `target`, and waits until the query brings something. It returns its address.
func (e *env) startPrometheus(target, query string) string {
	e.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	e.must(err)
	address := listener.Addr().String()
	e.must(listener.Close())
	dir := e.TempDir()
	config := fmt.Sprintf("global: {scrape_interval: 1s, scrape_timeout: 1s}\nscrape_configs:\n"+
		"- {job_name: nodes, honor_labels: true, static_configs: [{targets: [%q]}]}\n", strings.TrimPrefix(target, "http://"))
	file := filepath.Join(dir, "prometheus.yaml")
	e.must(os.WriteFile(file, []byte(config), 0o600))
	command := exec.Command("prometheus", "--config.file="+file, "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address="+address, "--log.level=warn")
	log, err := os.Create(filepath.Join(dir, "log"))
	e.must(err)
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	e.must(command.Start())
	e.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		log.Close()
	})
	e.eventually("Prometheus to have measured", func() bool {
		response, err := http.Get("http://" + address + "/api/v1/query?query=" + query)
		if err != nil {
			return false
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		return err == nil && strings.Contains(string(body), `"instance":"b"`)
	})
	return "http://" + address
}

func TestPodsGoByWhatNodesAreMeasuredToUse(t *testing.T) {
	e := newEnv(t)
	for _, name := range []string{"a", "b"} {
		e.createNodes(workload.Node(name, workload.Allocatable("pods", "110", "cpu", "4", "memory", "8Gi"), func(node *corev1.Node) {
			node.Status.Capacity = corev1.ResourceList{"cpu": resource.MustParse("4"), "memory": resource.MustParse("8Gi")}
		}))
	}
	// Packing goes to a, which is busier; balancing to b, and overcommitting to a, as the other two say.
	e.measure(map[string]string{"a": "1200m", "b": "0"})
	exporter := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "instance:node_cpu:ratio{instance=\"a\"} 0.7\ninstance:node_cpu:ratio{instance=\"b\"} 0.2\n"+
			"instance:node_memory_utilisation:ratio{instance=\"a\"} 0.1\ninstance:node_memory_utilisation:ratio{instance=\"b\"} 0.1\n")
	}))
	t.Cleanup(exporter.Close)
	watcher := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/watcher" {
			http.NotFound(w, r)
			return
		}
		node := func(percent float64) string {
			return fmt.Sprintf(`{"metrics": [{"name": "m", "type": "CPU", "operator": "AVG", "rollup": "15m", "value": %v},
				{"name": "m", "type": "CPU", "operator": "STD", "rollup": "15m", "value": 5}], "tags": {}, "metadata": {}}`, percent)
		}
		now := time.Now().Unix()
		fmt.Fprintf(w, `{"timestamp": %d, "window": {"duration": "15m", "start": %d, "end": %d}, "source": "Prometheus",
			"data": {"NodeMetricsMap": {"a": %s, "b": %s}}}`, now, now-900, now, node(5), node(90))
	}))
	t.Cleanup(watcher.Close)
	address := e.startPrometheus(exporter.URL, "instance:node_memory_utilisation:ratio")
	for _, node := range []string{"a", "b"} {
		e.createPods(workload.Pod("there-"+node, workload.Requests("cpu", "500m"), func(pod *corev1.Pod) {
			pod.Spec.NodeName = node
			pod.Spec.Containers[0].Resources.Limits = corev1.ResourceList{"cpu": resource.MustParse("3")}
		}))
		// Long enough ago that what it uses has been measured.
		started := fmt.Sprintf(`{"status": {"startTime": %q}}`, time.Now().Add(-time.Hour).UTC().Format(time.RFC3339))
		_, err := e.admin.CoreV1().Pods(e.namespace).Patch(e.ctx, "there-"+node, types.MergePatchType, []byte(started), metav1.PatchOptions{}, "status")
		e.must(err)
	}

	// Without the right to read the metrics server it schedules all the same, and says what it lacks.
	e.refusals = true
	config := fmt.Sprintf(loadAwareProfiles, address, watcher.URL)
	d := e.start(config)
	reads := func(source string) string { return fmt.Sprintf(`"What nodes use is read" source="%s"`, source) }
	e.must(d.AwaitLog(e.within(time.Minute), func(log string) bool {
		return strings.Contains(log, reads("Prometheus "+address)) && strings.Contains(log, reads("load-watcher "+watcher.URL)) &&
			strings.Contains(log, `"What nodes use could not be read; what was known stays" source="KubernetesMetricsServer" err="nodes.metrics.k8s.io is forbidden`)
	}))
	e.createPods(workload.Pod("unmeasured", workload.Requests("cpu", "100m"), workload.Scheduler("packing")))
	_, err := e.pods.AwaitPod(e.within(30*time.Second), "unmeasured", "bound", workload.IsBound)
	e.must(err)
	e.stop(d)

	e.grantComponent("load-aware")
	d = e.start(config)
	e.must(d.AwaitLog(e.within(time.Minute), func(log string) bool {
		return strings.Contains(log, reads("KubernetesMetricsServer")) && strings.Contains(log, reads("Prometheus "+address)) &&
			strings.Contains(log, reads("load-watcher "+watcher.URL))
	}))
	for scheduler, node := range map[string]string{"packing": "a", "balancing": "b", "overcommitting": "a"} {
		e.createPods(workload.Pod("by-"+scheduler, workload.Requests("cpu", "100m"), workload.Scheduler(scheduler)))
		e.awaitNode(e.within(30*time.Second), "by-"+scheduler, node)
	}
}

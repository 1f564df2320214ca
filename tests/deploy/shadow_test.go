// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/internal/daemon"
	"berth.dev/tests/internal/daemon/workload"
)

// shadowReport is what --shadow-report writes.
type shadowReport struct {
	Compared         int            `json:"compared"`
	Pods             map[string]int `json:"pods"`
	NumDisagreements int            `json:"numDisagreements"`
	Disagreements    []struct {
		Pod        string `json:"pod"`
		Comparison string `json:"comparison"`
		BerthNode  string `json:"berthNode"`
		OtherNode  string `json:"otherNode"`
		BerthScore *int   `json:"berthScore"`
		OtherScore *int   `json:"otherScore"`
		Why        string `json:"why"`
	} `json:"disagreements"`
}

// kubeSchedulerConfig lets it bind as fast as it decides: what it has decided and not yet bound, Berth cannot know.
const kubeSchedulerConfig = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {qps: 5000, burst: 5000}
`

// comparedPods is the sum of berth_shadow_pods_total on a page of metrics.
func comparedPods(t *testing.T, page string) (pods int) {
	t.Helper()
	for line := range strings.Lines(page) {
		if labels, value, found := strings.Cut(strings.TrimSpace(line), "} "); found && strings.HasPrefix(labels, "berth_shadow_pods_total{") {
			count, err := strconv.Atoi(value)
			must(t, err)
			pods += count
		}
	}
	return pods
}

// TestInTheShadowNothingIsWrittenAndEachDisagreementIsExplained runs Berth as overlays/shadow does, beside kube-scheduler.
func TestInTheShadowNothingIsWrittenAndEachDisagreementIsExplained(t *testing.T) {
	const namespace, nodes, pods = "shadow", 100, 2000
	c, err := controlplane.Start(t.Context(), controlplane.Options{
		Scheduler: true, SchedulerConfig: kubeSchedulerConfig, AuditUsers: []string{controlplane.BerthServiceAccountUser},
	})
	must(t, err)
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	kubectl := func(args ...string) {
		t.Helper()
		_, err := c.Kubectl(t.Context(), controlplane.Admin, args...)
		must(t, err)
	}
	kubectl("apply", "--server-side", "--force-conflicts", "-k", inDeploy("overlays", "shadow"))
	// The control plane has given it the base's rights.
	kubectl("delete", "role,rolebinding", "berth-leader-election", "-n", controlplane.BerthNamespace)

	ctx, admin := t.Context(), c.Client(controlplane.Admin)
	var made []*corev1.Node
	for i := range nodes {
		made = append(made, workload.Node(fmt.Sprintf("node-%d", i),
			workload.Allocatable("cpu", fmt.Sprint(8+i%4*8), "memory", fmt.Sprintf("%dGi", 16+i%3*16), "pods", "110"),
			workload.NodeLabel(corev1.LabelTopologyZone, fmt.Sprintf("zone-%d", i%3))))
	}
	must(t, workload.CreateNodes(ctx, admin, made...))
	must(t, workload.CreateNamespace(ctx, admin, namespace))
	tracker, err := workload.Track(ctx, admin, namespace)
	must(t, err)
	defer tracker.Stop()

	config, err := os.ReadFile(inDeploy("overlays", "shadow", "config.yaml"))
	must(t, err)
	kubeconfig, _ := serviceAccountOf(t, c)
	report, port := filepath.Join(t.TempDir(), "report.json"), freePort(t)
	berth, err := daemon.Start(program, daemon.Options{
		Config:     string(config) + "clientConnection: {kubeconfig: " + kubeconfig + "}\n",
		Kubeconfig: kubeconfig, Dir: t.TempDir(), LeaderElect: true,
		Args: []string{
			"--shadow", "--shadow-report=" + report, "--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port),
			"--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig,
		},
	})
	must(t, err)
	defer berth.Kill()
	must(t, berth.AwaitLog(ctx, func(log string) bool { return strings.Contains(log, "Serving securely") }))
	waitFor(t, "Berth to know the cluster", func() bool {
		code, _ := ask(t, c, port, "/readyz")
		return code == http.StatusOK
	})

	must(t, workload.CreatePods(ctx, admin, namespace, pods, func(i int) *corev1.Pod {
		options := []workload.PodOption{
			workload.Requests("cpu", fmt.Sprintf("%dm", 100+i%7*100), "memory", fmt.Sprintf("%dMi", 64+i%5*128)),
		}
		if i%4 == 0 {
			options = append(options, workload.Spread(corev1.LabelTopologyZone, corev1.ScheduleAnyway))
		}
		return workload.Pod(fmt.Sprintf("pod-%d", i), options...)
	}))
	must(t, tracker.AwaitBound(ctx, pods))
	waitFor(t, "the last bind to reach Berth's watch, too", func() bool {
		_, page := ask(t, c, port, "/metrics")
		return comparedPods(t, page) == pods
	})
	must(t, berth.Stop())

	log := berth.Log()
	if strings.Contains(log, "forbidden") {
		t.Errorf("it was refused something:\n%s", berth.Tail())
	}
	if _, summary, found := strings.Cut(log, "In the shadow of another scheduler: 2000 pods bound by it."); found {
		t.Logf("its summary: %s", summary)
	} else {
		t.Errorf("it prints no summary:\n%s", berth.Tail())
	}
	requests, err := c.AuditRequests(controlplane.BerthServiceAccountUser)
	must(t, err)
	if len(requests) == 0 {
		t.Error("the audit log has nothing of it")
	}
	for _, q := range requests {
		// What a caller of the endpoints may do is asked by such creations; nothing is kept of them.
		asks := q.Group == "authentication.k8s.io" || q.Group == "authorization.k8s.io"
		if !asks && !slices.Contains([]string{"get", "list", "watch"}, q.Verb) {
			t.Errorf("it asked to %s %s", q.Verb, q.URI)
		}
	}

	var summary shadowReport
	text, err := os.ReadFile(report)
	must(t, err)
	must(t, json.Unmarshal(text, &summary))
	t.Logf("compared: %v", summary.Pods)
	if summary.Compared != pods {
		t.Errorf("%d pods are compared, want %d", summary.Compared, pods)
	}
	if agreed := summary.Pods["same_node"]; agreed+summary.NumDisagreements != pods {
		t.Errorf("%d agreements and %d disagreements are not %d", agreed, summary.NumDisagreements, pods)
	}
	for _, d := range summary.Disagreements {
		tie := d.BerthScore != nil && d.OtherScore != nil && *d.BerthScore == *d.OtherScore
		if d.Why == "" || d.BerthNode == d.OtherNode || (d.Comparison == "tie") != tie {
			t.Errorf("not explained: %+v", d)
		}
	}
}

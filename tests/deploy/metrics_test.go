// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/internal/daemon/workload"
)

// family is what a metric is, apart from its samples.
type family struct {
	kind, help string
	labels     []string  // sorted
	buckets    []float64 // without +Inf
}

// documented reads docs/metrics.md, which a unit test holds against the metric table.
func documented(t *testing.T) map[string]family {
	t.Helper()
	file, err := os.Open(filepath.Join(root, "docs", "metrics.md"))
	must(t, err)
	defer file.Close()
	found := map[string]family{}
	name, current := "", family{}
	stability := ""
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		line := lines.Text()
		switch heading, isMetric := strings.CutPrefix(line, "### "); {
		case isMetric:
			name, current, stability = heading, family{}, ""
		case name == "" || line == "":
		case strings.HasPrefix(line, "- labels:"):
			current.labels = strings.Fields(strings.ReplaceAll(strings.TrimPrefix(line, "- labels:"), "`", ""))
			slices.Sort(current.labels)
		case strings.HasPrefix(line, "- buckets:"):
			for _, bound := range strings.Fields(strings.TrimPrefix(line, "- buckets:")) {
				value, err := strconv.ParseFloat(bound, 64)
				must(t, err)
				current.buckets = append(current.buckets, value)
			}
		case strings.HasPrefix(line, "- "):
			words := strings.Split(strings.TrimPrefix(line, "- "), ", ")
			current.kind = words[0]
			if len(words) > 1 && words[1] == strings.ToUpper(words[1]) {
				stability = "[" + words[1] + "] "
			}
			if strings.Contains(line, "hidden since") {
				name = "" // kube-scheduler does not show it either
			}
		case strings.HasPrefix(line, "## "):
			name = ""
		default:
			current.help = stability + line
			if _, twice := found[name]; !twice {
				found[name] = current
			}
			name = ""
		}
	}
	must(t, lines.Err())
	return found
}

func parse(t *testing.T, text string) map[string]*dto.MetricFamily {
	t.Helper()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	must(t, err)
	return families
}

// described tells what the families are, by their first samples.
func described(families map[string]*dto.MetricFamily) map[string]family {
	found := map[string]family{}
	for name, f := range families {
		d := family{kind: strings.ToLower(f.GetType().String()), help: f.GetHelp()}
		sample := f.GetMetric()[0]
		for _, label := range sample.GetLabel() {
			d.labels = append(d.labels, label.GetName())
		}
		slices.Sort(d.labels)
		for _, bucket := range sample.GetHistogram().GetBucket() {
			if bound := bucket.GetUpperBound(); bound < 1e300 {
				d.buckets = append(d.buckets, bound)
			}
		}
		found[name] = d
	}
	return found
}

// difference is "" where both are the same. Bounds may differ in the last digit: their text is the
// same nevertheless, which the unit tests see to.
func difference(have, want family) string {
	switch {
	case have.kind != want.kind:
		return fmt.Sprintf("is a %s, want a %s", have.kind, want.kind)
	case have.help != want.help:
		return fmt.Sprintf("help is\n%s\nwant\n%s", have.help, want.help)
	case !slices.Equal(have.labels, want.labels):
		return fmt.Sprintf("has labels %v, want %v", have.labels, want.labels)
	case !slices.Equal(have.buckets, want.buckets):
		return fmt.Sprintf("has buckets %v, want %v", have.buckets, want.buckets)
	}
	return ""
}

// anyCertificate believes every server, as the kubelet's probes do: Berth's certificate is its own.
var anyCertificate = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}

// get asks an endpoint of a scheduler on loopback, as the admin.
func get(t *testing.T, port int, path string) string {
	t.Helper()
	code, body := ask(t, shared, port, path)
	if code != http.StatusOK {
		t.Fatalf("GET %s: %d: %s", path, code, body)
	}
	return body
}

// ask asks as an administrator of the cluster.
func ask(t *testing.T, c *controlplane.ControlPlane, port int, path string) (code int, body string) {
	t.Helper()
	admin, err := c.RESTConfig(controlplane.Admin)
	must(t, err)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("https://127.0.0.1:%d%s", port, path), nil)
	must(t, err)
	request.Header.Set("Authorization", "Bearer "+admin.BearerToken)
	response, err := anyCertificate.Do(request)
	must(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	must(t, err)
	return response.StatusCode, string(text)
}

// busy gives the profile's scheduler something to count: pods that are bound, one that fits nowhere,
// one that is gated, and one that preempts.
func busy(t *testing.T, namespace, profile string) {
	t.Helper()
	ctx, admin := t.Context(), shared.Client(controlplane.Admin)
	must(t, workload.CreateNamespace(ctx, admin, namespace))
	pods, err := workload.Track(ctx, admin, namespace)
	must(t, err)
	t.Cleanup(pods.Stop)
	node := func(name string) *corev1.Node {
		return workload.Node(namespace+name, workload.Allocatable("cpu", "2"), workload.NodeLabel("for", namespace))
	}
	must(t, workload.CreateNodes(ctx, admin, node("-a"), node("-b")))
	create := func(name string, options ...workload.PodOption) {
		t.Helper()
		options = append(options, workload.Scheduler(profile), workload.NodeSelector("for", namespace))
		_, err := admin.CoreV1().Pods(namespace).Create(ctx, workload.Pod(name, options...), metav1.CreateOptions{})
		must(t, err)
	}
	create("one", workload.Requests("cpu", "1500m"))
	create("two", workload.Requests("cpu", "1500m"))
	must(t, pods.AwaitBound(ctx, 2))
	create("gated", workload.Gates("example.com/later"))
	create("unfit", workload.NodeSelector("no", "such"))
	create("preemptor", workload.Requests("cpu", "1500m"), workload.PriorityClass("system-node-critical"))
	_, err = pods.AwaitPod(ctx, "unfit", "its refusal", workload.IsUnschedulable)
	must(t, err)
	// No kubelet ends the victim, so the preemptor stays a nominee.
	_, err = pods.AwaitPod(ctx, "preemptor", "its nomination", func(pod *corev1.Pod) bool {
		return pod.Status.NominatedNodeName != ""
	})
	must(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := workload.DeletePods(ctx, admin, namespace); err != nil {
			t.Error(err)
		}
		if err := workload.DeleteNodes(ctx, admin, ""); err != nil {
			t.Error(err)
		}
	})
}

func TestEveryMetricIsWhatKubeSchedulersIs(t *testing.T) {
	peer, err := shared.StartScheduler(t.Context(), "")
	must(t, err)
	t.Cleanup(peer.Stop)
	busy(t, "metrics-peer", "default-scheduler")
	theirs := map[string]family{}
	// process_start_time_seconds is on two pages; the first counts, as in the documentation.
	for _, path := range []string{"/metrics/slis", "/metrics/resources", "/metrics"} {
		maps.Copy(theirs, described(parse(t, get(t, peer.Port(), path))))
	}
	compared := 0
	for name, ours := range documented(t) {
		want, ok := theirs[name]
		if strings.HasPrefix(name, "berth_") {
			if ok {
				t.Errorf("%s is kube-scheduler's too", name)
			}
			continue
		}
		if !ok {
			// It does not lead, hold pods at Permit, ask about rights or retry here.
			t.Logf("kube-scheduler does not show %s here", name)
			continue
		}
		compared++
		if d := difference(ours, want); d != "" {
			t.Errorf("%s %s", name, d)
		}
	}
	if compared < 45 {
		t.Errorf("compared %d metrics only", compared)
	}
}

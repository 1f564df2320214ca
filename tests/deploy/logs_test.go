// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"testing"
	"time"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/controlplane/programs"
	"berth.dev/tests/internal/daemon"
	"berth.dev/tests/internal/daemon/workload"
)

// logShape is of which kind each field of a log line is, but for values: what a pipeline of logs goes by.
func logShape(line map[string]any) map[string]string {
	shape := map[string]string{}
	for name, value := range line {
		shape[name] = fmt.Sprintf("%T", value)
	}
	return shape
}

// logLines are the lines of a log by their messages, the first of each. A line that is no JSON is an error.
func logLines(t *testing.T, who, log string) map[string]map[string]any {
	t.Helper()
	found := map[string]map[string]any{}
	for text := range strings.Lines(log) {
		line := map[string]any{}
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Errorf("%s writes %s: %v", who, text, err)
			continue
		}
		message, _ := line["msg"].(string)
		if found[message] == nil {
			found[message] = line
		}
	}
	return found
}

var caller = regexp.MustCompile(`^[\w./-]+:\d+$`)

func TestLogsInJSONAreAsKubeSchedulers(t *testing.T) {
	ctx, admin := t.Context(), shared.Client(controlplane.Admin)
	const namespace = "logs"
	must(t, workload.CreateNamespace(ctx, admin, namespace))
	must(t, workload.CreateNodes(ctx, admin, workload.Node("logs-node", workload.Allocatable("cpu", "2"))))
	pods, err := workload.Track(ctx, admin, namespace)
	must(t, err)
	t.Cleanup(pods.Stop)
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
	logs := map[string]map[string]map[string]any{}
	for _, who := range []daemon.Program{program, daemon.Peer(shared.Binary(programs.Scheduler))} {
		running, err := daemon.Start(who, daemon.Options{
			Kubeconfig: shared.Kubeconfig(controlplane.KubeScheduler), Dir: t.TempDir(), Args: []string{"--logging-format=json", "--v=5"},
		})
		must(t, err)
		t.Cleanup(running.Kill)
		prefix := strings.ToLower(who.Name)
		must(t, workload.CreatePod(ctx, admin, namespace, workload.Pod(prefix+"-fits")))
		must(t, workload.CreatePod(ctx, admin, namespace, workload.Pod(prefix+"-unfit", workload.NodeSelector("no", "such"))))
		_, err = pods.AwaitPod(ctx, prefix+"-fits", "its node", workload.IsBound)
		must(t, err)
		_, err = pods.AwaitPod(ctx, prefix+"-unfit", "its refusal", workload.IsUnschedulable)
		must(t, err)
		must(t, workload.DeletePod(ctx, admin, namespace, prefix+"-unfit"))
		must(t, running.Stop())
		logs[who.Name] = logLines(t, who.Name, running.Log())
	}
	ours, theirs := logs[program.Name], logs["kube-scheduler"]
	for who, lines := range logs {
		for message, line := range lines {
			from, _ := line["caller"].(string)
			if _, ok := line["ts"].(float64); !ok || !caller.MatchString(from) || message == "" {
				t.Errorf("%s writes %v", who, line)
			}
		}
	}
	compared := 0
	for message, line := range ours {
		if other, ok := theirs[message]; ok {
			compared++
			have, want := logShape(line), logShape(other)
			if !maps.Equal(have, want) || line["v"] != other["v"] {
				t.Errorf("%q: fields %v at v=%v, kube-scheduler's %v at v=%v", message, have, line["v"], want, other["v"])
			}
		}
	}
	for _, message := range []string{"Successfully bound pod to node", "Unable to schedule pod; no fit; waiting", "Attempting to schedule pod", "Pod moved to an internal scheduling queue"} {
		if ours[message] == nil || theirs[message] == nil {
			t.Errorf("%q is not logged by both", message)
		}
	}
	for _, field := range []string{"evaluatedNodes", "feasibleNodes"} {
		if have, want := ours["Successfully bound pod to node"][field], theirs["Successfully bound pod to node"][field]; have != want {
			t.Errorf("of a bound pod %s is %v, kube-scheduler's %v", field, have, want)
		}
	}
	t.Logf("%d messages are those of both", compared)
}

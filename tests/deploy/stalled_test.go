// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"sigs.k8s.io/yaml"
)

const stalled = "BerthLoopStalled"

func alert(t *testing.T, name string) rule {
	t.Helper()
	_, rules := alerts(t)
	at := slices.IndexFunc(rules, func(r rule) bool { return r.Alert == name })
	if at < 0 {
		t.Fatalf("there is no alert %s", name)
	}
	return rules[at]
}

// threadOf returns the id of the process's thread of that name.
func threadOf(t *testing.T, pid int, name string) int {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/comm", pid))
	must(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		if strings.TrimSpace(string(text)) == name {
			id, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			must(t, err)
			return id
		}
	}
	t.Fatalf("process %d has no thread %s", pid, name)
	return 0
}

// hold stops one thread of a process, as a plugin does that does not return, until the function that
// it returns is called.
func hold(t *testing.T, thread int) (release func()) {
	t.Helper()
	held, done, released := make(chan error), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(released)
		runtime.LockOSThread() // only the thread that attached may detach
		defer runtime.UnlockOSThread()
		if err := syscall.PtraceAttach(thread); err != nil {
			held <- err
			return
		}
		_, err := syscall.Wait4(thread, nil, syscall.WALL, nil)
		held <- err
		<-done
		_ = syscall.PtraceDetach(thread)
	}()
	must(t, <-held)
	return func() {
		close(done)
		<-released
	}
}

func TestALoopThatStallsIsAlerted(t *testing.T) {
	running, port := startShipped(t)
	busy(t, "stalled", "berth")
	r := alert(t, stalled)
	// The same in seconds instead of minutes.
	r.Expr = strings.NewReplacer("[1m]", "[10s]", "[10m:15s]", "[1m:1s]").Replace(r.Expr)
	// Two scrapes a second apart may both come between two turns, the first two, too.
	const standing = "== bool 0)"
	if !strings.Contains(r.Expr, standing) {
		t.Fatalf("the alert has changed: %s", r.Expr)
	}
	r.Expr = strings.Replace(r.Expr, standing, `== bool 0 and count_over_time(berth_loop_turns_total{job="berth"}[10s]) >= 5)`, 1)
	r.For = "1s"
	p := startPrometheus(t, port, scraper(t), ruleGroups{[]ruleGroup{{"stalled", []rule{r}}}})
	firing := func() bool {
		found, err := p.query(fmt.Sprintf(`ALERTS{alertname=%q,alertstate="firing"}`, stalled))
		must(t, err)
		return found > 0
	}
	if firing() {
		t.Fatal("the alert fires, and the loop turns")
	}
	release := hold(t, threadOf(t, running.PID(), "berth-sched"))
	waitFor(t, "the alert", firing)
	release()
	waitFor(t, "the loop to turn again", func() bool {
		found, err := p.query(`rate(berth_loop_turns_total[5s]) > 0`)
		return err == nil && found > 0
	})
	if !firing() {
		t.Error("the alert is gone as soon as the loop turns again: a restart would hide it")
	}
}

// A kubelet restarts the pod some 110 s after its loop has stalled, and the counter begins at 0 again.
func TestTheAlertComesBeforeTheRestartAndOutlivesIt(t *testing.T) {
	groups, _ := alerts(t)
	r := alert(t, stalled)
	expected := map[string]any{
		"exp_labels":      map[string]string{"severity": r.Labels["severity"], "job": "berth", "instance": "a"},
		"exp_annotations": map[string]string{},
	}
	for name, text := range r.Annotations {
		expected["exp_annotations"].(map[string]string)[name] = strings.ReplaceAll(text, "{{ $labels.instance }}", "a")
	}
	at := func(time string, fires bool) map[string]any {
		test := map[string]any{"eval_time": time, "alertname": stalled}
		if fires {
			test["exp_alerts"] = []any{expected}
		}
		return test
	}
	text, err := yaml.Marshal(map[string]any{
		"rule_files":          []string{ruleFile(t, groups)},
		"evaluation_interval": "15s",
		"tests": []any{map[string]any{
			"interval": "15s",
			"input_series": []any{map[string]string{
				"series": `berth_loop_turns_total{job="berth",instance="a"}`,
				// Five minutes, then nothing until 6m45s, then from the beginning.
				"values": "0+15x20 300x6 0+15x80",
			}},
			"alert_rule_test": []any{at("5m", false), at("6m30s", true), at("14m", true), at("20m", false)},
		}},
	})
	must(t, err)
	file := filepath.Join(t.TempDir(), "test.yaml")
	must(t, os.WriteFile(file, text, 0o644))
	if out, err := exec.CommandContext(t.Context(), "promtool", "test", "rules", file).CombinedOutput(); err != nil {
		t.Errorf("promtool: %v\n%s", err, out)
	}
}

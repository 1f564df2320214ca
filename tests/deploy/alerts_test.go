// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"
)

// series is what Prometheus has scraped: a sample each 15 s, in promtool's notation.
type series struct {
	Series string `json:"series"`
	Values string `json:"values"`
}

// well is two replicas, of which one leads and places ten pods a minute in 0.1 s each.
func well() map[string]string {
	return map[string]string{
		`up{job="berth",instance="a"}`:                                                                                  "1x480",
		`up{job="berth",instance="b"}`:                                                                                  "1x480",
		`leader_election_master_status{job="berth",instance="a"}`:                                                       "1x480",
		`leader_election_master_status{job="berth",instance="b"}`:                                                       "0x480",
		`berth_loop_turns_total{job="berth",instance="a"}`:                                                              "0+20x480",
		`berth_loop_turns_total{job="berth",instance="b"}`:                                                              "0+20x480",
		`scheduler_pending_pods{job="berth",instance="a",queue="active"}`:                                               "3x480",
		`scheduler_pending_pods{job="berth",instance="a",queue="unschedulable"}`:                                        "0x480",
		`scheduler_schedule_attempts_total{job="berth",instance="a",result="scheduled"}`:                                "0+10x480",
		`scheduler_schedule_attempts_total{job="berth",instance="a",result="error"}`:                                    "0x480",
		`scheduler_scheduling_attempt_duration_seconds_bucket{job="berth",instance="a",result="scheduled",le="0.1"}`:    "0+10x480",
		`scheduler_scheduling_attempt_duration_seconds_bucket{job="berth",instance="a",result="scheduled",le="16"}`:     "0+10x480",
		`scheduler_scheduling_attempt_duration_seconds_bucket{job="berth",instance="a",result="scheduled",le="+Inf"}`:   "0+10x480",
		`scheduler_pod_scheduling_sli_duration_seconds_bucket{job="berth",instance="a",attempts="1",le="1"}`:            "0+10x480",
		`scheduler_pod_scheduling_sli_duration_seconds_bucket{job="berth",instance="a",attempts="1",le="600"}`:          "0+10x480",
		`scheduler_pod_scheduling_sli_duration_seconds_bucket{job="berth",instance="a",attempts="1",le="+Inf"}`:         "0+10x480",
		`scheduler_unschedulable_pods{job="berth",instance="a",plugin="NodeResourcesFit",profile="berth"}`:              "0x480",
		`rest_client_rate_limiter_duration_seconds_bucket{job="berth",instance="a",verb="POST",host="api",le="0.1"}`:    "0+10x480",
		`rest_client_rate_limiter_duration_seconds_bucket{job="berth",instance="a",verb="POST",host="api",le="60"}`:     "0+10x480",
		`rest_client_rate_limiter_duration_seconds_bucket{job="berth",instance="a",verb="POST",host="api",le="+Inf"}`:   "0+10x480",
		`rest_client_requests_total{job="berth",instance="a",code="201",method="POST",host="api"}`:                      "0+10x480",
		`rest_client_requests_total{job="berth",instance="a",code="500",method="POST",host="api"}`:                      "0x480",
		`rest_client_requests_total{job="berth",instance="a",code="<error>",method="POST",host="api"}`:                  "0x480",
		`berth_informer_errors_total{job="berth",instance="a",resource="pods"}`:                                         "0x480",
		`berth_overcommitted_nodes{job="berth",instance="a",resource="cpu"}`:                                            "0x480",
		`berth_undecodable_objects_total{job="berth",instance="a",resource="pods",reason="field"}`:                      "0x480",
		`berth_dropped_events_total{job="berth",instance="a"}`:                                                          "0x480",
		`berth_config_last_reload_successful{job="berth",instance="a"}`:                                                 "1x480",
		`berth_config_last_reload_successful{job="berth",instance="b"}`:                                                 "1x480",
		`berth_extender_requests_total{job="berth",instance="a",extender="x",verb="filter",result="success"}`:           "0+8x480",
		`berth_extender_requests_total{job="berth",instance="a",extender="x",verb="filter",result="refused"}`:           "0+2x480",
		`berth_extender_requests_total{job="berth",instance="a",extender="x",verb="filter",result="timeout"}`:           "0x480",
		`berth_extender_request_duration_seconds_bucket{job="berth",instance="a",extender="x",verb="filter",le="0.1"}`:  "0+10x480",
		`berth_extender_request_duration_seconds_bucket{job="berth",instance="a",extender="x",verb="filter",le="16"}`:   "0+10x480",
		`berth_extender_request_duration_seconds_bucket{job="berth",instance="a",extender="x",verb="filter",le="+Inf"}`: "0+10x480",
	}
}

// Each alert fires at what it is for, after a while, and no other does.
func TestEachAlertFiresAtItsOwnTroubleAndAtNoOther(t *testing.T) {
	groups, rules := alerts(t)
	cases := []struct {
		alert string
		sick  map[string]string
	}{
		{"", nil},
		// A standby that is gone, and one that was never there, are no trouble of the leader's.
		{"", map[string]string{`up{job="berth",instance="b"}`: "0x480"}},
		{"BerthDown", map[string]string{`up{job="berth",instance="a"}`: "0x480", `up{job="berth",instance="b"}`: "0x480"}},
		{"BerthNoLeader", map[string]string{`leader_election_master_status{job="berth",instance="a"}`: "0x480"}},
		{"BerthLoopStalled", map[string]string{`berth_loop_turns_total{job="berth",instance="a"}`: "7x480"}},
		{"BerthQueueStuck", map[string]string{`scheduler_schedule_attempts_total{job="berth",instance="a",result="scheduled"}`: "7x480"}},
		{"BerthSchedulingErrors", map[string]string{`scheduler_schedule_attempts_total{job="berth",instance="a",result="error"}`: "0+1x480"}},
		{"BerthSchedulingSlow", map[string]string{
			`scheduler_scheduling_attempt_duration_seconds_bucket{job="berth",instance="a",result="scheduled",le="0.1"}`: "0+9x480"}},
		{"BerthPodsWaitLong", map[string]string{
			`scheduler_pod_scheduling_sli_duration_seconds_bucket{job="berth",instance="a",attempts="1",le="1"}`: "0+9x480"}},
		{"BerthUnschedulablePods", map[string]string{
			`scheduler_unschedulable_pods{job="berth",instance="a",plugin="NodeResourcesFit",profile="berth"}`: "1x480"}},
		{"BerthRateLimited", map[string]string{
			`rest_client_rate_limiter_duration_seconds_bucket{job="berth",instance="a",verb="POST",host="api",le="0.1"}`: "0+9x480"}},
		{"BerthApiErrors", map[string]string{
			`rest_client_requests_total{job="berth",instance="a",code="<error>",method="POST",host="api"}`: "0+2x480"}},
		{"BerthWatchFailing", map[string]string{`berth_informer_errors_total{job="berth",instance="a",resource="pods"}`: "0+1x480"}},
		{"BerthOvercommittedNodes", map[string]string{`berth_overcommitted_nodes{job="berth",instance="a",resource="cpu"}`: "1x480"}},
		{"BerthUndecodableObjects", map[string]string{
			`berth_undecodable_objects_total{job="berth",instance="a",resource="pods",reason="field"}`: "0+1x480"}},
		{"BerthEventsDropped", map[string]string{`berth_dropped_events_total{job="berth",instance="a"}`: "0+1x480"}},
		{"BerthConfigNotReloaded", map[string]string{`berth_config_last_reload_successful{job="berth",instance="b"}`: "0x480"}},
		{"BerthExtenderFailing", map[string]string{
			`berth_extender_requests_total{job="berth",instance="a",extender="x",verb="filter",result="timeout"}`: "0+2x480"}},
		{"BerthExtenderSlow", map[string]string{
			`berth_extender_request_duration_seconds_bucket{job="berth",instance="a",extender="x",verb="filter",le="0.1"}`: "0+9x480"}},
	}
	firing := func(alert, matcher string) string {
		return `count(ALERTS{alertstate="firing",alertname` + matcher + `"` + alert + `"})`
	}
	var tests []any
	tried := map[string]bool{}
	for _, c := range cases {
		tried[c.alert] = true
		have := well()
		for name, values := range c.sick {
			if _, ok := have[name]; !ok {
				t.Fatalf("%s: no series %s is there to be made sick", c.alert, name)
			}
			have[name] = values
		}
		var input []series
		for name, values := range have {
			input = append(input, series{name, values})
		}
		checks := []any{
			map[string]any{"expr": `ALERTS{alertstate="firing"}`, "eval_time": "0s", "exp_samples": []any{}},
			map[string]any{"expr": firing(c.alert, "!="), "eval_time": "110m", "exp_samples": []any{}},
		}
		if c.alert != "" {
			once := []any{map[string]any{"labels": "{}", "value": 1}}
			checks = append(checks, map[string]any{"expr": firing(c.alert, "="), "eval_time": "110m", "exp_samples": once})
		}
		name := c.alert
		if name == "" {
			name = "well"
		}
		tests = append(tests, map[string]any{"name": name, "interval": "15s", "input_series": input, "promql_expr_test": checks})
	}
	for _, rule := range rules {
		if !tried[rule.Alert] {
			t.Errorf("%s has no case", rule.Alert)
		}
	}
	promtoolTests(t, groups, tests)
}

// promtoolTests runs tests of rules, in promtool's own form.
func promtoolTests(t *testing.T, groups ruleGroups, tests []any) {
	t.Helper()
	text, err := yaml.Marshal(map[string]any{"rule_files": []string{ruleFile(t, groups)}, "evaluation_interval": "15s", "tests": tests})
	must(t, err)
	file := filepath.Join(t.TempDir(), "rules_test.yaml")
	must(t, os.WriteFile(file, text, 0o644))
	if out, err := exec.CommandContext(t.Context(), "promtool", "test", "rules", file).CombinedOutput(); err != nil {
		t.Errorf("promtool: %v\n%s", err, out)
	}
}

// What is recorded of a scheduler that places ten pods in 15 s, of which one takes long, and fails at two more; the
// standby knows the pods that wait, too, and they are counted once.
func TestRecordedSeriesAreWhatTheirNamesSay(t *testing.T) {
	groups, _ := alerts(t)
	have := well()
	have[`scheduler_schedule_attempts_total{job="berth",instance="a",result="error"}`] = "0+2.5x480"
	have[`scheduler_pod_scheduling_sli_duration_seconds_bucket{job="berth",instance="a",attempts="1",le="1"}`] = "0+5x480"
	have[`scheduler_pending_pods{job="berth",instance="b",queue="active"}`] = "3x480"
	var input []series
	for name, values := range have {
		input = append(input, series{name, values})
	}
	want := map[string]map[string]float64{
		"berth:attempts:rate5m":             {`{job="berth", result="scheduled"}`: 10.0 / 15, `{job="berth", result="error"}`: 2.5 / 15},
		"berth:attempt_errors:ratio_rate5m": {`{job="berth"}`: 0.2},
		"berth:pod_wait_seconds:p50_rate5m": {`{job="berth"}`: 1},
		"berth:pod_wait_seconds:p99_rate5m": {`{job="berth"}`: 1 + 599*(9.9-5)/5},
		"berth:pending_pods:sum":            {`{job="berth", queue="active"}`: 3, `{job="berth", queue="unschedulable"}`: 0},
	}
	var checks []any
	for name, values := range want {
		var samples []any
		for labels, value := range values {
			// To a thousandth: promtool compares exactly.
			samples = append(samples, map[string]any{"labels": labels, "value": math.Round(value * 1000)})
		}
		checks = append(checks, map[string]any{"expr": "round(" + name + " * 1000)", "eval_time": "110m", "exp_samples": samples})
	}
	promtoolTests(t, groups, []any{map[string]any{"interval": "15s", "input_series": input, "promql_expr_test": checks}})
	for _, r := range records(groups) {
		if want[r.Record] == nil {
			t.Errorf("%s is recorded and not looked at", r.Record)
		}
	}
	if len(records(groups)) != len(want) {
		t.Errorf("%d series are recorded, want %d", len(records(groups)), len(want))
	}
}

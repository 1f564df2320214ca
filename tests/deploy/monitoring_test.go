// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	dto "github.com/prometheus/client_model/go"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"berth.dev/tests/controlplane"
)

// rule is an alert or a recorded series.
type rule struct {
	Alert       string            `json:"alert,omitempty"`
	Record      string            `json:"record,omitempty"`
	Expr        string            `json:"expr"`
	For         string            `json:"for,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// ruleGroups is what Prometheus itself reads: the spec of a PrometheusRule.
type ruleGroups struct {
	Groups []ruleGroup `json:"groups"`
}

type ruleGroup struct {
	Name  string `json:"name"`
	Rules []rule `json:"rules"`
}

func alerts(t *testing.T) (groups ruleGroups, rules []rule) {
	t.Helper()
	text, err := os.ReadFile(inDeploy("components", "monitoring", "prometheus_rule.yaml"))
	must(t, err)
	var resource struct {
		Spec ruleGroups `json:"spec"`
	}
	must(t, yaml.Unmarshal(text, &resource))
	for _, group := range resource.Spec.Groups {
		for _, r := range group.Rules {
			if r.Alert != "" {
				rules = append(rules, r)
			}
		}
	}
	if len(rules) == 0 {
		t.Fatal("there are no alerts")
	}
	return resource.Spec, rules
}

// records are the recorded series among the rules.
func records(groups ruleGroups) (rules []rule) {
	for _, group := range groups.Groups {
		for _, r := range group.Rules {
			if r.Record != "" {
				rules = append(rules, r)
			}
		}
	}
	return rules
}

type panel struct {
	Title   string `json:"title"`
	Type    string `json:"type"`
	Targets []struct {
		Expr string `json:"expr"`
	} `json:"targets"`
}

func panels(t *testing.T) []panel {
	t.Helper()
	text, err := os.ReadFile(inDeploy("components", "monitoring", "dashboards", "berth.json"))
	must(t, err)
	var dashboard struct {
		UID    string  `json:"uid"`
		Panels []panel `json:"panels"`
	}
	must(t, json.Unmarshal(text, &dashboard))
	if dashboard.UID == "" || len(dashboard.Panels) == 0 {
		t.Fatal("the dashboard has no uid or no panels")
	}
	return dashboard.Panels
}

func TestAlertsAreWellFormedAndSayWhatToDo(t *testing.T) {
	groups, rules := alerts(t)
	if out, err := exec.CommandContext(t.Context(), "promtool", "check", "rules", ruleFile(t, groups)).CombinedOutput(); err != nil {
		t.Errorf("promtool: %v\n%s", err, out)
	}
	for _, r := range rules {
		for _, annotation := range []string{"summary", "description", "runbook"} {
			if r.Annotations[annotation] == "" {
				t.Errorf("%s has no %s", r.Alert, annotation)
			}
		}
		if r.Labels["severity"] == "" || r.For == "" {
			t.Errorf("%s has no severity or fires at once", r.Alert)
		}
	}
}

// What the page of an alert is in the site is held by tests/docs.
func TestEachAlertLeadsToItsPage(t *testing.T) {
	_, rules := alerts(t)
	page, err := os.ReadFile(filepath.Join(root, "docs", "runbook.md"))
	must(t, err)
	for _, r := range rules {
		if !strings.Contains(string(page), "\n## "+r.Alert+"\n") {
			t.Errorf("docs/runbook.md has no section %s", r.Alert)
		}
		if want := placeholder(t, "site") + "/runbook.html#" + strings.ToLower(r.Alert); r.Annotations["runbook_url"] != want {
			t.Errorf("%s leads to %q, want %s", r.Alert, r.Annotations["runbook_url"], want)
		}
	}
}

// Each replica knows all pods, so a sum over replicas counts them once for each that is no leader, too.
func TestSumsOfPodsAreTheLeadersAlone(t *testing.T) {
	ofEach := []string{"scheduler_pending_pods", "scheduler_unschedulable_pods", "scheduler_cache_size", "scheduler_queue_incoming_pods_total"}
	const leaders = `\{[^}]*\}(\[[^\]]*\]\))? unless on \(job, instance\) \(leader_election_master_status\{`
	exprs := map[string]string{}
	for _, panel := range panels(t) {
		for _, target := range panel.Targets {
			exprs["panel "+panel.Title+": "+target.Expr] = target.Expr
		}
	}
	groups, rules := alerts(t)
	for _, r := range slices.Concat(rules, records(groups)) {
		exprs["rule "+r.Alert+r.Record] = r.Expr
	}
	found := map[string]bool{}
	for what, expr := range exprs {
		for _, metric := range ofEach {
			if !strings.Contains(expr, metric) {
				continue
			}
			found[metric] = true
			if len(regexp.MustCompile(metric+leaders).FindAllString(expr, -1)) != strings.Count(expr, metric) {
				t.Errorf("%s sums %s of all replicas", what, metric)
			}
		}
	}
	if len(found) != len(ofEach) {
		t.Errorf("only %v are shown", found)
	}
}

// scraper makes user prometheus, who may do what the documentation tells: it has ClusterRole
// system:monitoring. Returns a token.
func scraper(t *testing.T) string {
	t.Helper()
	// The API server knows the users of its token file; user nobody has no rights but these.
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "scraper"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "system:monitoring"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: string(controlplane.Nobody)}},
	}
	_, err := shared.Client(controlplane.Admin).RbacV1().ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{})
	must(t, err)
	t.Cleanup(func() {
		_ = shared.Client(controlplane.Admin).RbacV1().ClusterRoleBindings().
			Delete(context.Background(), binding.Name, metav1.DeleteOptions{})
	})
	config, err := shared.RESTConfig(controlplane.Nobody)
	must(t, err)
	return config.BearerToken
}

// ruleFile writes the groups where Prometheus and promtool find them.
func ruleFile(t *testing.T, groups ruleGroups) string {
	t.Helper()
	text, err := yaml.Marshal(groups)
	must(t, err)
	file := filepath.Join(t.TempDir(), "rules.yaml")
	must(t, os.WriteFile(file, text, 0o644))
	return file
}

// scrapeJobs are the pages of metrics. The dashboard and the alerts look at job "berth".
var scrapeJobs = map[string]string{"berth": "/metrics", "berth-slis": "/metrics/slis", "berth-resources": "/metrics/resources"}

// prometheus runs the real one, with Berth as its only target, and waits for some scrapes.
type prometheus struct{ url string }

func startPrometheus(t *testing.T, target int, token string, rules ruleGroups, flags ...string) prometheus {
	t.Helper()
	dir, port := t.TempDir(), freePort(t)
	config := fmt.Sprintf(`
global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}
rule_files: [%q]
scrape_configs:
`, ruleFile(t, rules))
	for job, path := range scrapeJobs {
		config += fmt.Sprintf(`
  - job_name: %s
    metrics_path: %s
    scheme: https
    authorization: {credentials: %q}
    tls_config: {insecure_skip_verify: true}
    static_configs: [{targets: ["127.0.0.1:%d"]}]
`, job, path, token, target)
	}
	file := filepath.Join(dir, "prometheus.yaml")
	must(t, os.WriteFile(file, []byte(config), 0o600))
	flags = append(flags, "--config.file="+file, "--storage.tsdb.path="+filepath.Join(dir, "data"),
		fmt.Sprintf("--web.listen-address=127.0.0.1:%d", port), "--log.level=warn")
	command := exec.Command("prometheus", flags...)
	log, err := os.Create(filepath.Join(dir, "log"))
	must(t, err)
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	must(t, command.Start())
	p := prometheus{fmt.Sprintf("http://127.0.0.1:%d", port)}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		log.Close()
		if t.Failed() {
			text, _ := os.ReadFile(log.Name())
			t.Logf("%s", text)
		}
	})
	waitFor(t, "Prometheus to have seen Berth", func() bool {
		found, err := p.query(`count_over_time(scheduler_preemption_attempts_total{job="berth"}[30s]) >= 5`)
		return err == nil && found > 0
	})
	return p
}

// query returns how many series answer.
func (p prometheus) query(expr string) (int, error) {
	response, err := http.Get(p.url + "/api/v1/query?query=" + url.QueryEscape(expr))
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err
	}
	var answer struct {
		Status string `json:"status"`
		Error  string `json:"error"`
		Data   struct {
			Result []json.RawMessage `json:"result"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return 0, fmt.Errorf("%w: %s", err, body)
	}
	if answer.Status != "success" {
		return 0, fmt.Errorf("%s", answer.Error)
	}
	return len(answer.Data.Result), nil
}

// comparisons make an alert fire.
var comparisons = []string{" > ", " < ", " == "}

// measured is the alert's expression without its comparisons: what it looks at, fire or not.
func measured(expr string) []string {
	var parts []string
	for part := range strings.SplitSeq(expr, " and ") {
		for _, comparison := range comparisons {
			at := strings.LastIndex(part, comparison)
			if at < 0 {
				continue
			}
			// One within brackets chooses series.
			rest := part[at:]
			if strings.Count(rest, "(") == strings.Count(rest, ")") || strings.HasPrefix(part, "absent(") {
				part = part[:at]
			}
		}
		parts = append(parts, strings.TrimPrefix(part, "absent("))
	}
	return parts
}

func TestPrometheusAnswersEveryPanelAndAlert(t *testing.T) {
	_, port := startShipped(t)
	busy(t, "monitoring", "berth")
	shorter := strings.NewReplacer("$__rate_interval", "30s", "$job", "berth", "[5m]", "[30s]", "[2m]", "[30s]",
		"[10m]", "[30s]", "[15m]", "[30s]", "[10m:15s]", "[30s:1s]")
	groups, rules := alerts(t)
	recorded := records(groups)
	for i := range recorded {
		recorded[i].Expr = shorter.Replace(recorded[i].Expr)
	}
	p := startPrometheus(t, port, scraper(t), ruleGroups{[]ruleGroup{{"recorded", recorded}}})
	// These ask about what went wrong, and nothing has: such a series begins with its first failure. Or about another
	// scheduler, in whose shadow this one is not. Or about the proportion of cpu and memory, and these pods ask for no memory.
	// Or about extenders and reloads, of which the base has none.
	quiet := []string{"berth_undecodable_objects_total", "berth_shadow_", "berth_packing_largest_pod", `result="error"`, "<error>",
		"berth_extender_", "berth_config_reloads_total"}
	waitFor(t, "the figures of packing, which come every 15 s", func() bool {
		found, err := p.query(`berth_packing_largest_gang{job="berth"}`)
		return err == nil && found > 0
	})
	waitFor(t, "what is recorded", func() bool {
		found, err := p.query(`berth:attempts:rate5m{job="berth"}`)
		return err == nil && found > 0
	})
	ask := func(what, expr string) {
		expr = shorter.Replace(expr)
		found, err := p.query(expr)
		if err != nil {
			t.Errorf("%s: %s: %v", what, expr, err)
			return
		}
		calm := slices.ContainsFunc(quiet, func(part string) bool { return strings.Contains(expr, part) })
		if found == 0 && !calm {
			t.Errorf("%s: %s has no data", what, expr)
		}
	}
	for _, panel := range panels(t) {
		for _, target := range panel.Targets {
			ask("panel "+panel.Title, target.Expr)
		}
	}
	for _, r := range rules {
		if found, err := p.query(r.Expr); err != nil {
			t.Errorf("alert %s: %v", r.Alert, err)
		} else if found > 0 && r.Labels["severity"] == "critical" {
			t.Errorf("alert %s would fire, and all is well", r.Alert)
		}
		for _, expr := range measured(r.Expr) {
			ask("alert "+r.Alert, expr)
		}
	}
}

// TestPrometheusTakesEverySeriesOfEveryPage compares what it has stored with what it was shown.
func TestPrometheusTakesEverySeriesOfEveryPage(t *testing.T) {
	_, port := startShipped(t)
	busy(t, "every-series", "berth")
	pages := map[string]string{}
	for job, path := range scrapeJobs {
		pages[job] = get(t, port, path)
	}
	admin, err := shared.RESTConfig(controlplane.Admin) // system:monitoring lacks /metrics/resources
	must(t, err)
	p := startPrometheus(t, port, admin.BearerToken, ruleGroups{})
	taken := 0
	for job, page := range pages {
		for name, family := range parse(t, page) {
			series := map[string]int{name: len(family.GetMetric())}
			switch family.GetType() {
			case dto.MetricType_HISTOGRAM:
				series = map[string]int{name + "_sum": len(family.GetMetric()), name + "_count": len(family.GetMetric()), name + "_bucket": 0}
				for _, sample := range family.GetMetric() {
					series[name+"_bucket"] += len(sample.GetHistogram().GetBucket())
				}
			case dto.MetricType_SUMMARY:
				t.Errorf("%s is a summary, of which kube-scheduler has none", name)
			}
			for stored, want := range series {
				// There may be more by now.
				expr := fmt.Sprintf(`last_over_time({__name__=%q,job=%q}[1m])`, stored, job)
				waitFor(t, fmt.Sprintf("Prometheus to have %d series %s of job %s", want, stored, job), func() bool {
					found, err := p.query(expr)
					return err == nil && found >= want
				})
				taken += want
			}
		}
	}
	if taken < 1000 {
		t.Errorf("there were %d series only", taken)
	}
	t.Logf("%d series", taken)
}

// promtool's opinion of a page, a line for each complaint.
func promtoolSays(t *testing.T, page string) map[string]bool {
	t.Helper()
	command := exec.CommandContext(t.Context(), "promtool", "check", "metrics")
	command.Stdin = strings.NewReader(page)
	out, _ := command.CombinedOutput() // complaints make it fail
	said := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		said[strings.TrimSpace(line)] = true
	}
	return said
}

func TestThePagesAreWhatKubeSchedulersAre(t *testing.T) {
	peer, err := shared.StartScheduler(t.Context(), "")
	must(t, err)
	t.Cleanup(peer.Stop)
	_, port := startShipped(t)
	busy(t, "pages-peer", "default-scheduler")
	busy(t, "pages", "berth")
	for _, path := range []string{"/metrics", "/metrics/resources", "/metrics/slis"} {
		ours, theirs := get(t, port, path), get(t, peer.Port(), path)
		for complaint := range promtoolSays(t, ours) {
			if !promtoolSays(t, theirs)[complaint] {
				t.Errorf("%s: promtool says of Berth's alone: %s", path, complaint)
			}
		}
		if path == "/metrics/resources" && ours != theirs {
			t.Errorf("%s differs:\n%s\nkube-scheduler's:\n%s", path, ours, theirs)
		}
		have, want := described(parse(t, ours)), described(parse(t, theirs))
		for name := range have {
			if other, ok := want[name]; ok {
				if d := difference(have[name], other); d != "" {
					t.Errorf("%s: %s %s", path, name, d)
				}
			} else if !strings.HasPrefix(name, "berth_") {
				t.Logf("%s: kube-scheduler does not show %s here", path, name)
			}
		}
	}
	// A second scrape shows what informers told at the first.
	waitFor(t, "the informers' counts", func() bool {
		return strings.Contains(get(t, port, "/metrics"), `berth_informer_objects{resource="nodes"} 4`)
	})
}

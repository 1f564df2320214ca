// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/ast"
	"regexp"
	"slices"
	"strings"
)

// Where metrics that kube-scheduler serves are declared.
var metricFolders = [][2]string{
	{"component-base", "metrics/prometheus"}, {"kubernetes", "pkg/controller/resourceclaim/metrics"},
	{"kubernetes", "pkg/scheduler"},
}

var metricMaker = regexp.MustCompile(`^New(?:Timing)?(Counter|Gauge|Histogram|Summary)(?:Vec)?$`)

// metricHead is what a scraper's rules depend on, as in "counter, ALPHA, {result profile}".
func metricHead(kind, stability string, labels []string) string {
	return fmt.Sprintf("%s, %s, {%s}", strings.ToLower(kind), strings.ToUpper(stability), strings.Join(labels, " "))
}

// metrics are all metrics by their whole names: the head, then buckets, deprecation and help.
func metrics(v version, _ *berth) (facts, error) {
	found := facts{}
	for _, where := range metricFolders {
		files, err := readFolder(v.path(where[0], where[1]), true)
		if err != nil {
			return nil, err
		}
		constants := stringConstants(files)
		for _, f := range files {
			ast.Inspect(f.tree, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					if name, text := metricOf(f, call, constants); name != "" {
						found[name] = text
					}
				}
				return true
			})
		}
	}
	return found, nil
}

// metricOf is the metric that NewCounterVec(&metrics.CounterOpts{...}, []string{...}) makes; "" of other calls.
func metricOf(f goFile, call *ast.CallExpr, constants map[string]string) (string, string) {
	maker := metricMaker.FindStringSubmatch(lastName(call.Fun))
	if maker == nil || len(call.Args) == 0 {
		return "", ""
	}
	pointer, ok := call.Args[0].(*ast.UnaryExpr)
	if !ok {
		return "", ""
	}
	options, ok := pointer.X.(*ast.CompositeLit)
	if !ok {
		return "", ""
	}
	values := keyed(options)
	word := func(e ast.Expr) string {
		if e == nil {
			return ""
		}
		if value, ok := literal(e); ok {
			return value
		}
		if value, ok := constants[lastName(e)]; ok {
			return value
		}
		return text(f.set, e)
	}
	var parts []string
	for _, key := range []string{"Namespace", "Subsystem", "Name"} {
		if part := word(values[key]); part != "" {
			parts = append(parts, part)
		}
	}
	stability := lastName(values["StabilityLevel"])
	if stability == "" {
		stability = "ALPHA"
	}
	var labels []string
	if len(call.Args) > 1 {
		if list, ok := call.Args[1].(*ast.CompositeLit); ok {
			for _, label := range list.Elts {
				labels = append(labels, word(label))
			}
		}
	}
	all := []string{metricHead(maker[1], stability, labels)}
	for _, key := range []string{"Buckets", "DeprecatedVersion", "Help"} {
		if value := word(values[key]); value != "" {
			all = append(all, value)
		}
	}
	return strings.Join(parts, "_"), strings.Join(all, "; ")
}

func noteMetric(own *berth, r row) string {
	head, known := own.metrics[r.Name]
	switch {
	case !known && r.Change == "gone":
		return "gone too"
	case !known && own.leavesOut(r.Name):
		return "left out, as docs/metrics.md says"
	case !known:
		return "missing"
	case r.Change == "gone":
		return "still there"
	case strings.HasPrefix(r.To, head):
		return "kind, stability and labels as new"
	}
	return head
}

// leavesOut: docs/metrics.md names it, or all that begin as it does, without having it.
func (own *berth) leavesOut(metric string) bool {
	return slices.ContainsFunc(own.leftOut, func(name string) bool {
		beginning, all := strings.CutSuffix(name, "*")
		return name == metric || (all && strings.HasPrefix(metric, beginning))
	})
}

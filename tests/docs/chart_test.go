// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// chartPage is what Artifact Hub shows of the chart.
const chartPage = "deploy/helm/README.md"

var valueLine = regexp.MustCompile(`^( *)([A-Za-z]\w*):(?:.*?\s#\s+(.*)|.*)$`)

// chartComments are what values.yaml says of each value, by its path: the comment above it and that behind it.
func chartComments(text string) map[string]string {
	comments := map[string]string{}
	var above []string
	var path []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if comment, ok := strings.CutPrefix(strings.TrimSpace(line), "# "); ok {
			above = append(above, comment)
			continue
		}
		if m := valueLine.FindStringSubmatch(line); m != nil {
			path = append(path[:min(len(m[1])/2, len(path))], m[2])
			if m[3] != "" {
				above = append(above, m[3])
			}
			comments[strings.Join(path, ".")] = strings.Join(above, " ")
		}
		above = nil
	}
	return comments
}

// chartValues are the rows of the values below a path. What is a value of Kubernetes' own, or free, is one row.
func chartValues(t *testing.T, prefix string, values map[string]any, schema map[string]any, definitions map[string]any, said map[string]string) (rows []string) {
	t.Helper()
	if reference, ok := schema["$ref"].(string); ok {
		schema = definitions[strings.TrimPrefix(reference, "#/definitions/")].(map[string]any)
	}
	properties, _ := schema["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		of, ok := properties[name].(map[string]any)
		if !ok {
			t.Errorf("the chart's schema has no value %s%s", prefix, name)
			continue
		}
		if reference, ok := of["$ref"].(string); ok {
			of = definitions[strings.TrimPrefix(reference, "#/definitions/")].(map[string]any)
		}
		path := prefix + name
		if deeper, ok := values[name].(map[string]any); ok && len(deeper) > 0 && of["properties"] != nil {
			rows = append(rows, chartValues(t, path+".", deeper, of, definitions, said)...)
			continue
		}
		meaning := said[path]
		for parent := path; meaning == "" && strings.Contains(parent, "."); meaning = said[parent] {
			parent = parent[:strings.LastIndex(parent, ".")]
		}
		if meaning == "" {
			t.Errorf("deploy/helm/values.yaml does not say what %s is", path)
		}
		standard, err := json.Marshal(values[name])
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, fmt.Sprintf("| `%s` | `%s` | %s |", path, standard, cell(meaning)))
	}
	return rows
}

func TestMadePageOfTheChart(t *testing.T) {
	text := read(t, "deploy/helm/values.yaml")
	values, schema := map[string]any{}, map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &values); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(read(t, chartSchema)), &schema); err != nil {
		t.Fatal(err)
	}
	rows := chartValues(t, "", values, schema, schema["definitions"].(map[string]any), chartComments(text))
	if len(rows) < 30 {
		t.Errorf("only %d values were found", len(rows))
	}
	holdPage(t, chartPage, `# Berth

<!-- Made by tests/docs/chart_test.go from values.yaml; change that, not this page. -->

A Kubernetes scheduler in C++: the same configuration, plugin names, reasons, events, metrics and flags as kube-scheduler 1.37, at a
fraction of the CPU per pod, and it answers why a pod is pending. This chart runs two replicas, of which one leads, beside
kube-scheduler, for pods that name it in spec.schedulerName. Nothing else in the cluster is touched.

<!-- not run: it needs a registry -->
`+"```sh"+`
helm install berth oci://registry.example/charts/berth --namespace berth-system --create-namespace
helm test berth --namespace berth-system                       # a pod that names Berth gets a node, and runs there
kubectl -n berth-system get lease berth                        # which replica leads
helm uninstall berth --namespace berth-system
`+"```"+`

The image and the chart are signed, with provenance and a bill of materials. The pages
[Installing](https://berth.example/installing.html), [Upgrade](https://berth.example/upgrading.html) and
[Security](https://berth.example/security.html) say more.

## Values

They are checked against a schema, the fields of `+"`config`"+` and the plugins' args among them: a misspelt one is refused.

| Value | Default | What |
| --- | --- | --- |
`+strings.Join(rows, "\n")+"\n")
}

func TestTheCommentsOfValuesAreFound(t *testing.T) {
	have := chartComments("# Title.\n\n# One.\n# Two.\na: 1\nb:\n  c: x  # Three.\n  # Four.\n  d:\n    - e: 5\n\n# Six.\nf: \"#\"\n")
	want := map[string]string{"a": "One. Two.", "b": "", "b.c": "Three.", "b.d": "Four.", "f": "Six."}
	if !maps.Equal(have, want) {
		t.Errorf("%q", have)
	}
}

// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	config "k8s.io/kube-scheduler/config/v1"

	"berth.dev/tests/controlplane/programs"
	"berth.dev/tests/internal/daemon"
	"berth.dev/tests/markdown"
)

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// berth runs the program and returns what it prints.
func berth(t *testing.T, args ...string) string {
	t.Helper()
	program, err := daemon.Berth("")
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), program.Path, args...)
	command.Dir = root
	var stderr strings.Builder
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("berth %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}

func TestTheDefaultSampleIsTheDefaultConfiguration(t *testing.T) {
	sample := berth(t, "config", "--config", "config/default.yaml")
	if defaults := berth(t, "config"); sample != defaults {
		t.Errorf("config/default.yaml comes to\n%s\nthe defaults are\n%s", sample, defaults)
	}
}

// addFields adds the names of all fields of the type, also of those within, but for extenders, which
// have a page of their own.
func addFields(fields map[string]bool, typ reflect.Type) {
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
		typ = typ.Elem()
	}
	if typ.Kind() != reflect.Struct || !strings.Contains(typ.PkgPath(), "/config/") {
		return
	}
	for i := range typ.NumField() {
		field := typ.Field(i)
		if field.Type == reflect.TypeFor[metav1.TypeMeta]() {
			continue
		}
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
			fields[name] = true
			if name == "extenders" {
				continue
			}
		}
		addFields(fields, field.Type)
	}
}

// TestTheSamplesNameEveryField looks for the fields of Kubernetes' own types, as keys or in comments.
func TestTheSamplesNameEveryField(t *testing.T) {
	for _, sample := range []struct {
		file  string
		types []reflect.Type
	}{
		{"config/default.yaml", []reflect.Type{
			reflect.TypeFor[config.KubeSchedulerConfiguration](),
			reflect.TypeFor[config.DefaultPreemptionArgs](),
			reflect.TypeFor[config.DynamicResourcesArgs](),
			reflect.TypeFor[config.InterPodAffinityArgs](),
			reflect.TypeFor[config.NodeAffinityArgs](),
			reflect.TypeFor[config.NodeResourcesBalancedAllocationArgs](),
			reflect.TypeFor[config.NodeResourcesFitArgs](),
			reflect.TypeFor[config.PodTopologySpreadArgs](),
			reflect.TypeFor[config.VolumeBindingArgs](),
		}},
		{"docs/extenders.md", []reflect.Type{reflect.TypeFor[config.Extender]()}},
	} {
		fields := map[string]bool{}
		for _, typ := range sample.types {
			addFields(fields, typ)
		}
		if len(fields) < 10 {
			t.Errorf("only %d fields are looked for in %s", len(fields), sample.file)
		}
		text := read(t, sample.file)
		for field := range fields {
			if !regexp.MustCompile(`\b` + field + `\b`).MatchString(text) {
				t.Errorf("%s does not name the field %s", sample.file, field)
			}
		}
	}
}

// TestTheVersionIsTheSameEverywhere takes the binary's, which is that of CMakeLists.txt.
func TestTheVersionIsTheSameEverywhere(t *testing.T) {
	var version struct{ GitVersion, BerthVersion string }
	if err := json.Unmarshal([]byte(berth(t, "version", "-o", "json")), &version); err != nil {
		t.Fatal(err)
	}
	if version.GitVersion != programs.KubernetesVersion {
		t.Errorf("Berth keeps the contract of %s, and is tested with %s", version.GitVersion, programs.KubernetesVersion)
	}
	for file, pattern := range map[string]string{
		"CHANGELOG.md":                                      `## (?:Unreleased \()?(\d+\.\d+\.\d+)`,
		"deploy/README.md":                                  `-t berth:(\S+)`,
		"deploy/Dockerfile":                                 `-t berth:(\S+)`,
		"deploy/helm/Chart.yaml":                            `\nappVersion: (\S+)\n`,
		"deploy/base/kustomization.yaml":                    `newTag: (\S+)`,
		"deploy/overlays/kube-scheduler/kustomization.yaml": `newTag: (\S+)`,
		"deploy/overlays/kube-scheduler/kubeadm-patch.yaml": `image: berth:(\S+)`,
	} {
		found := regexp.MustCompile(pattern).FindStringSubmatch(read(t, file))
		if found == nil || strings.TrimPrefix(found[1], "v") != strings.TrimPrefix(version.BerthVersion, "v") {
			t.Errorf("%s says %q, the binary is %s", file, found, version.BerthVersion)
		}
	}
}

// statements are the sentences of a page, the cells of its tables and the items of its lists, without blocks of code.
func statements(text string) (found []string) {
	text = regexp.MustCompile("(?ms)^ *```.*?^ *```").ReplaceAllString(text, "\n\n")
	ends := regexp.MustCompile(`\n\s*\n|\n *(?:[-*]|\d+\.) |\n\||(?: \||[.?!]\*{0,2})\s`)
	for _, part := range ends.Split(text, -1) {
		if statement := strings.Trim(strings.Join(strings.Fields(part), " "), "#|-* "); statement != "" {
			found = append(found, statement)
		}
	}
	return found
}

func TestStatementsAreSentencesCellsAndItems(t *testing.T) {
	found := statements("# Title\n\nOne of 1.37,\ntwo. **Three?** Four.\n\n```sh\nfive\n```\n\n| a | b |\n| --- | --- |\n| c | d |\n- e\n- f")
	want := []string{"Title", "One of 1.37, two", "Three", "Four", "a", "b", "c", "d", "e", "f"}
	if !reflect.DeepEqual(found, want) {
		t.Errorf("%q", found)
	}
}

// supportedReleases are those of the API servers in the first table of compatibility.md, newest first.
func supportedReleases(t *testing.T) []string {
	t.Helper()
	row := regexp.MustCompile(`\n\| \d+\.\d+ \| kube-scheduler (\S+) \| (.*) \|\n`).FindStringSubmatch(read(t, "docs/compatibility.md"))
	if row == nil {
		t.Fatal("docs/compatibility.md says of no version which API servers it goes with")
	}
	releases := release.FindAllString(row[2], -1)
	if len(releases) < 2 || releases[0] != row[1] {
		t.Fatalf("the releases are %q, the contract is that of %s", releases, row[1])
	}
	return releases
}

// A minor release, and one version of it.
var release, version = regexp.MustCompile(`\b1\.\d\d\b`), regexp.MustCompile(`\b1\.\d\d\.\d+`)

// TestTheReleasesOfKubernetesAreTheSameEverywhere holds what pages say of API servers against the table of
// compatibility.md, and that table against what is tested.
func TestTheReleasesOfKubernetesAreTheSameEverywhere(t *testing.T) {
	supported := supportedReleases(t)
	oldest := supported[len(supported)-1]
	if tested := programs.Releases(); !slices.Equal(tested, supported) {
		t.Errorf("docs/compatibility.md promises %q, and tests can run %q", supported, tested)
	}
	if chart := read(t, "deploy/helm/Chart.yaml"); !strings.Contains(chart, "\nkubeVersion: \">="+oldest+".0-0\"\n") {
		t.Errorf("deploy/helm/Chart.yaml refuses other releases than those before %s", oldest)
	}
	older := regexp.MustCompile(`older than (1\.\d\d)\b`)
	checked := map[string]int{}
	for page, text := range pages(t) {
		// The table itself, what was true on a day, and what tests are made of.
		if page == "docs/compatibility.md" || strings.HasPrefix(page, "docs/decisions/") || strings.HasPrefix(page, "tests/") {
			continue
		}
		for _, statement := range statements(text) {
			links := strings.Contains(statement, "compatibility.md#kubernetes") || strings.Contains(statement, "compatibility.md)")
			named := release.FindAllString(version.ReplaceAllString(statement, ""), -1)
			if !links && !strings.Contains(statement, "API server") || len(named) == 0 {
				continue
			}
			checked[page]++
			bound := older.FindStringSubmatch(statement)
			switch {
			case bound != nil && bound[1] != oldest:
				t.Errorf("%s: %q, but the oldest release is %s", page, statement, oldest)
			case bound == nil && !slices.Equal(named, supported):
				t.Errorf("%s: %q, but the releases are %q", page, statement, supported)
			}
		}
	}
	for _, page := range []string{"CHANGELOG.md", "docs/comparison.md", "docs/faq.md", "docs/local_clusters.md", "docs/managed_clusters.md"} {
		if checked[page] == 0 {
			t.Errorf("%s names no release of API servers", page)
		}
	}
}

func TestPrometheusTakesTheScrapeJobsOfThePages(t *testing.T) {
	const page = "deploy/README.md"
	found, err := markdown.Blocks(page, read(t, page))
	if err != nil {
		t.Fatal(err)
	}
	jobs := 0
	for _, b := range found {
		if !strings.HasPrefix(b.Text, "- job_name:") {
			continue
		}
		jobs++
		// Debian's promtool is built without Kubernetes.
		text := regexp.MustCompile(`kubernetes_sd_configs: .*`).ReplaceAllString(b.Text, "static_configs: []")
		file := filepath.Join(t.TempDir(), "prometheus.yaml")
		if err := os.WriteFile(file, []byte("scrape_configs:\n"+text), 0o644); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.CommandContext(t.Context(), "promtool", "check", "config", "--syntax-only", file).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", b, err, out)
		}
	}
	if jobs == 0 {
		t.Errorf("%s has no scrape job", page)
	}
}

// TestConfigurationsOfThePagesAreValid leaves out those that the page's own commands read.
func TestConfigurationsOfThePagesAreValid(t *testing.T) {
	checked := 0
	for page, text := range pages(t) {
		found, err := markdown.Blocks(page, text)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range found {
			if !strings.Contains(b.Text, "\nkind: KubeSchedulerConfiguration\n") || b.Marks[markdown.File] != "" {
				continue
			}
			checked++
			file := filepath.Join(t.TempDir(), "config.yaml")
			if err := os.WriteFile(file, []byte(b.Text), 0o644); err != nil {
				t.Fatal(err)
			}
			berth(t, "config", "--config", file)
		}
	}
	if checked == 0 {
		t.Error("no page has a configuration")
	}
}

// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	yamlstream "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/controlplane/programs"
)

// helmVersion is the module that the helm of these tests is built from.
const helmVersion = "v4.3.1"

var helmProgram = sync.OnceValues(func() (string, error) { return built("helm.sh/helm/v4/cmd/helm", helmVersion) })

// built builds the program of a module's package once and keeps it beside the control plane's programs. It is built with
// the dependencies of its own module: this one's are the control plane's.
func built(pkg, version string) (string, error) {
	cache := os.Getenv("BERTH_CACHE")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		cache = filepath.Join(home, ".cache", "berth")
	}
	name := filepath.Base(pkg)
	dir := filepath.Join(cache, name+"-"+version)
	program := filepath.Join(dir, name)
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	scratch, err := os.MkdirTemp(dir, ".build-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(scratch)
	command := exec.Command("go", "install", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", pkg+"@"+version)
	command.Dir = scratch
	command.Env = append(os.Environ(), "GOBIN="+scratch, "CGO_ENABLED=0", "GOWORK=off")
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", name, err, out)
	}
	// In one step, so that a program there is a whole one.
	return program, os.Rename(filepath.Join(scratch, name), program)
}

// helm runs it as the admin of the control plane.
func helm(ctx context.Context, args ...string) (string, error) {
	program, err := helmProgram()
	if err != nil {
		return "", err
	}
	home, err := os.MkdirTemp("", "helm-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(home)
	command := exec.CommandContext(ctx, program, args...)
	command.Env = append(os.Environ(), "KUBECONFIG="+shared.Kubeconfig(controlplane.Admin),
		"HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
	var out, problems bytes.Buffer
	command.Stdout, command.Stderr = &out, &problems
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("helm %s: %w\n%s%s", strings.Join(args, " "), err, &out, &problems)
	}
	return out.String(), nil
}

func mustHelm(t *testing.T, args ...string) string {
	t.Helper()
	out, err := helm(t.Context(), args...)
	must(t, err)
	return out
}

func TestTheChartIsWellFormedAndItsValuesAreChecked(t *testing.T) {
	chart := inDeploy("helm")
	mustHelm(t, "lint", "--strict", chart)
	for _, wrong := range []string{"replica=3", "replicas=-1", "schedulerName=default-scheduler", "image.pullPolicy=Often", "image.digest=sha256:1",
		"monitoring.alerts.enabled=maybe", "monitoring.alerts.runbooks=wiki", "config.profiles[0].schedulerNam=x", "config.leaderElection.leaseDuration=15",
		"config.profiles[0].pluginConfig[0].name=VolumeBinding,config.profiles[0].pluginConfig[0].args.bindTimeoutSecond=5"} {
		if _, err := helm(t.Context(), "template", "berth", chart, "--set", wrong); err == nil || !strings.Contains(err.Error(), "schema") {
			t.Errorf("--set %s: %v", wrong, err)
		}
	}
}

// objects are those of a stream of YAML documents, by kind and name, without what Helm and kustomize each put in their
// own way: Helm's labels, the sum over the configuration by which its change is seen, the text form of the configuration.
func objects(t *testing.T, stream string) map[string]any {
	t.Helper()
	found := map[string]any{}
	for decoder := yamlstream.NewYAMLToJSONDecoder(strings.NewReader(stream)); ; {
		object := map[string]any{}
		err := decoder.Decode(&object)
		if errors.Is(err, io.EOF) {
			return found
		}
		must(t, err)
		if len(object) == 0 || object["kind"] == "Namespace" { // which Helm leaves to --create-namespace
			continue
		}
		normalize(t, object)
		u := unstructured.Unstructured{Object: object}
		found[u.GetKind()+" "+u.GetNamespace()+"/"+u.GetName()] = object
	}
}

func normalize(t *testing.T, value any) {
	t.Helper()
	switch value := value.(type) {
	case []any:
		for _, element := range value {
			normalize(t, element)
		}
	case map[string]any:
		for _, key := range []string{"helm.sh/chart", "app.kubernetes.io/managed-by", "app.kubernetes.io/instance", "app.kubernetes.io/version", "checksum/config"} {
			delete(value, key)
		}
		if name, _ := value["name"].(string); strings.HasPrefix(name, "berth-config-") {
			value["name"] = "berth-config"
		}
		if text, ok := value["config.yaml"].(string); ok {
			config := map[string]any{}
			must(t, yaml.Unmarshal([]byte(text), &config))
			value["config.yaml"] = config
		}
		for key, child := range value {
			normalize(t, child)
			if child, ok := child.(map[string]any); ok && len(child) == 0 && key == "annotations" {
				delete(value, key)
			}
		}
	}
}

func TestTheChartMakesWhatTheManifestsMake(t *testing.T) {
	monitoring := []string{
		"--set", "monitoring.serviceMonitor.enabled=true", "--set", "monitoring.alerts.enabled=true", "--set", "monitoring.dashboard.enabled=true",
	}
	coscheduling := `[{"schedulerName": "berth", "plugins": {"multiPoint": {"enabled": [{"name": "Coscheduling"}], "disabled": [{"name": "PrioritySort"}]}}}]`
	capacity := `[{"schedulerName": "berth", "plugins": {"multiPoint": {"enabled": [{"name": "CapacityScheduling"}]},
		"postFilter": {"enabled": [{"name": "CapacityScheduling"}], "disabled": [{"name": "*"}]}}}]`
	numa := `[{"schedulerName": "berth", "plugins": {"multiPoint": {"enabled": [{"name": "NodeResourceTopologyMatch"}]}},
		"pluginConfig": [{"name": "NodeResourceTopologyMatch", "args": {"cacheResyncPeriodSeconds": 5}}]}]`
	loadAware := `[{"schedulerName": "berth", "plugins": {"score": {"enabled": [{"name": "TargetLoadPacking", "weight": 5}]}},
		"pluginConfig": [{"name": "TargetLoadPacking", "args": {"metricProvider": {"type": "KubernetesMetricsServer"}, "targetUtilization": 60}}]}]`
	relocation := `[{"schedulerName": "berth", "plugins": {"multiPoint": {"enabled": [{"name": "Relocation"}]}}}]`
	for _, c := range []struct {
		manifests string
		values    []string
	}{
		{inDeploy("base"), nil},
		{inDeploy("overlays", "monitored"), monitoring},
		{inDeploy("overlays", "coscheduling"), []string{"--set-json", "config.profiles=" + coscheduling}},
		{inDeploy("overlays", "capacity"), []string{"--set-json", "config.profiles=" + capacity}},
		{inDeploy("overlays", "numa"), []string{"--set-json", "config.profiles=" + numa}},
		{inDeploy("overlays", "load-aware"), []string{"--set-json", "config.profiles=" + loadAware}},
		{inDeploy("overlays", "relocation"), []string{"--set-json", "config.profiles=" + relocation}},
	} {
		want := objects(t, string(kubectl(t, "kustomize", c.manifests)))
		args := []string{"template", "berth", inDeploy("helm"), "--no-hooks", "--namespace", controlplane.BerthNamespace, "--kube-version",
			programs.KubernetesVersion}
		have := objects(t, mustHelm(t, append(args, c.values...)...))
		if a, b := slices.Sorted(maps.Keys(have)), slices.Sorted(maps.Keys(want)); !slices.Equal(a, b) {
			t.Errorf("%s: the chart makes\n%s\nnot\n%s", c.manifests, strings.Join(a, "\n"), strings.Join(b, "\n"))
			continue
		}
		for name := range want {
			if !reflect.DeepEqual(have[name], want[name]) {
				a, _ := yaml.Marshal(have[name])
				b, _ := yaml.Marshal(want[name])
				t.Errorf("%s: the chart's %s is\n%s\nnot\n%s", c.manifests, name, a, b)
			}
		}
	}
}

func TestValuesReachTheConfigurationAndWhatDependsOnIt(t *testing.T) {
	out := objects(t, mustHelm(t, "template", "other", inDeploy("helm"), "--namespace", "here", "--kube-version", programs.KubernetesVersion,
		"--set", "replicas=1", "--set", "image.repository=registry.example/berth", "--set", "image.tag=v9", "--set", "extraArgs={--feature-gates=GenericWorkload=true}",
		"--set", "config.leaderElection.resourceName=lease", "--set", "config.clientConnection.qps=7"))
	field := func(object string, path ...any) any {
		t.Helper()
		value := out[object]
		for _, step := range path {
			switch step := step.(type) {
			case string:
				value, _ = value.(map[string]any)[step]
			case int:
				value = value.([]any)[step]
			}
		}
		return value
	}
	container := []any{"spec", "template", "spec", "containers", 0}
	for _, c := range []struct{ have, want any }{
		{field("Deployment here/other", append(container, "image")...), "registry.example/berth:v9"},
		{field("Deployment here/other", append(container, "args", 4)...), "--feature-gates=GenericWorkload=true"},
		{field("ConfigMap here/other-config", "data", "config.yaml", "clientConnection", "qps"), 7.0},
		{field("ConfigMap here/other-config", "data", "config.yaml", "clientConnection", "burst"), 400.0},
		{field("ConfigMap here/other-config", "data", "config.yaml", "leaderElection", "resourceNamespace"), "here"},
		{field("Role here/other-leader-election", "rules", 1, "resourceNames", 0), "lease"},
		// What `helm test` makes is scheduled by what was installed.
		{field("Pod here/other-test", "spec", "schedulerName"), "berth"},
		{field("Pod here/other-test", "spec", "containers", 0, "image"), "registry.example/berth:v9"},
		// With one replica a budget would stop every drain.
		{out["PodDisruptionBudget here/other"], nil},
	} {
		if !reflect.DeepEqual(c.have, c.want) {
			t.Errorf("%v, want %v", c.have, c.want)
		}
	}
}

func TestAlertsLeadToThePageOfTheOneWhoInstalls(t *testing.T) {
	out := mustHelm(t, "template", "other", inDeploy("helm"), "--kube-version", programs.KubernetesVersion, "--set", "monitoring.alerts.enabled=true",
		"--set", "monitoring.alerts.runbooks=https://wiki.example/berth")
	_, rules := alerts(t)
	if n := strings.Count(out, "runbook_url: https://wiki.example/berth#berth"); n != len(rules) {
		t.Errorf("%d of %d alerts lead there", n, len(rules))
	}
}

// What is said after an install: how to name the image, as long as it is in no registry.
func TestTheNotesSayWhereTheImageIs(t *testing.T) {
	notes := func(values ...string) string {
		t.Helper()
		_, notes, found := strings.Cut(mustHelm(t, append([]string{"install", "noted", inDeploy("helm"), "--dry-run=client"}, values...)...), "\nNOTES:\n")
		if !found {
			t.Fatal("there are no notes")
		}
		return notes
	}
	if said := notes(); !strings.Contains(said, "is in no registry") || !strings.Contains(said, "--set image.repository=") {
		t.Errorf("of an image without a registry they say\n%s", said)
	}
	if said := notes("--set", "image.repository=registry.example/berth"); !strings.Contains(said, "\nIts image is registry.example/berth:v") ||
		strings.Contains(said, "is in no registry") {
		t.Errorf("of an image with a registry they say\n%s", said)
	}
}

// What Artifact Hub shows, which `helm lint` does not look at.
func TestTheChartSaysWhatArtifactHubShows(t *testing.T) {
	text, err := os.ReadFile(inDeploy("helm", "Chart.yaml"))
	must(t, err)
	var chart struct {
		AppVersion  string
		Home        string
		Sources     []string
		Maintainers []struct{ Name, URL string }
		Annotations map[string]string
	}
	must(t, yaml.Unmarshal(text, &chart))
	if chart.Home != placeholder(t, "site") || !slices.Equal(chart.Sources, []string{placeholder(t, "source")}) || len(chart.Maintainers) == 0 {
		t.Errorf("%+v", chart)
	}
	var images []struct{ Name, Image string }
	must(t, yaml.Unmarshal([]byte(chart.Annotations["artifacthub.io/images"]), &images))
	if len(images) != 1 || images[0].Image != placeholder(t, "image")+":v"+chart.AppVersion {
		t.Errorf("its images are %v", images)
	}
	var links []struct{ Name, URL string }
	must(t, yaml.Unmarshal([]byte(chart.Annotations["artifacthub.io/links"]), &links))
	if len(links) == 0 || chart.Annotations["artifacthub.io/license"] != "Apache-2.0" {
		t.Errorf("%+v", chart.Annotations)
	}
	for _, link := range links {
		// A page of the site stands for one of docs, or one elsewhere under tree/.
		page, ok := strings.CutPrefix(strings.TrimSuffix(link.URL, ".html")+".md", placeholder(t, "site")+"/")
		if elsewhere, isElsewhere := strings.CutPrefix(page, "tree/"); isElsewhere {
			page = elsewhere
		} else {
			page = filepath.Join("docs", page)
		}
		if _, err := os.Stat(filepath.Join(root, page)); err != nil || !ok {
			t.Errorf("%s leads to %s, which is no page: %v", link.Name, link.URL, err)
		}
	}
}

func TestThePageOfInstallingNamesEachValue(t *testing.T) {
	text, err := os.ReadFile(inDeploy("helm", "values.yaml"))
	must(t, err)
	values := map[string]any{}
	must(t, yaml.Unmarshal(text, &values))
	page, err := os.ReadFile(inDeploy("..", "docs", "installing.md"))
	must(t, err)
	_, table, _ := strings.Cut(string(page), "| Value | What |")
	table, _, _ = strings.Cut(table, "\n\n")
	named := map[string]bool{}
	for _, row := range regexp.MustCompile(`(?m)^\|([^|]*)\|`).FindAllStringSubmatch(table, -1) {
		for _, m := range regexp.MustCompile("`([\\w.]+)`").FindAllStringSubmatch(row[1], -1) {
			named[m[1]] = true
			top, field, deeper := strings.Cut(m[1], ".")
			value, known := values[top]
			if fields, ok := value.(map[string]any); known && deeper && ok {
				_, known = fields[field]
			}
			if !known {
				t.Errorf("docs/installing.md names the value %s, which the chart has not", m[1])
			}
		}
	}
	for top, value := range values {
		fields, _ := value.(map[string]any)
		for field := range fields {
			if !named[top] && !named[top+"."+field] {
				t.Errorf("docs/installing.md does not name the value %s.%s", top, field)
			}
		}
		if len(fields) == 0 && !named[top] {
			t.Errorf("docs/installing.md does not name the value %s", top)
		}
	}
}

func TestTheChartOpensWhatAClusterMayAskOfAPod(t *testing.T) {
	values := filepath.Join(t.TempDir(), "values.yaml")
	digest := "sha256:" + strings.Repeat("0a", 32)
	must(t, os.WriteFile(values, []byte(`
fullnameOverride: scheduler-two
image: {repository: registry.example/berth, tag: ignored, digest: "`+digest+`"}
imagePullSecrets: [{name: registry}]
serviceAccount: {name: given, annotations: {example.com/role: reader}}
priorityClassName: system-node-critical
nodeSelector: {pool: infra}
affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists}]}]}}}
topologySpreadConstraints: [{maxSkew: 1, topologyKey: rack, whenUnsatisfiable: DoNotSchedule}]
tolerations: [{operator: Exists}]
podLabels: {team: platform}
podAnnotations: {note: here}
extraEnv: [{name: GODEBUG, value: x}]
extraVolumes: [{name: plugins, emptyDir: {}}]
extraVolumeMounts: [{name: plugins, mountPath: /plugins}]
config: {profiles: [{schedulerName: two, pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated}}}]}]}
`), 0o644))
	out := objects(t, mustHelm(t, "template", "other", inDeploy("helm"), "--namespace", "here", "--kube-version", programs.KubernetesVersion, "-f", values))
	deployment, ok := out["Deployment here/scheduler-two"].(map[string]any)
	if !ok {
		t.Fatalf("no Deployment of that name among %v", slices.Sorted(maps.Keys(out)))
	}
	template := deployment["spec"].(map[string]any)["template"].(map[string]any)
	metadata, spec := template["metadata"].(map[string]any), template["spec"].(map[string]any)
	container := spec["containers"].([]any)[0].(map[string]any)
	last := func(list any) any { l := list.([]any); return l[len(l)-1] }
	for _, c := range []struct{ have, want any }{
		{container["image"], "registry.example/berth@" + digest},
		{spec["imagePullSecrets"], []any{map[string]any{"name": "registry"}}},
		{spec["serviceAccountName"], "given"},
		{spec["priorityClassName"], "system-node-critical"},
		{spec["nodeSelector"], map[string]any{"pool": "infra"}},
		{len(spec["affinity"].(map[string]any)), 1},
		{spec["topologySpreadConstraints"].([]any)[0].(map[string]any)["topologyKey"], "rack"},
		{spec["tolerations"], []any{map[string]any{"operator": "Exists"}}},
		{metadata["labels"].(map[string]any)["team"], "platform"},
		{metadata["annotations"].(map[string]any)["note"], "here"},
		{container["env"], []any{map[string]any{"name": "GODEBUG", "value": "x"}}},
		{last(spec["volumes"]), map[string]any{"name": "plugins", "emptyDir": map[string]any{}}},
		{last(container["volumeMounts"]), map[string]any{"name": "plugins", "mountPath": "/plugins"}},
		{out["ServiceAccount here/given"].(map[string]any)["metadata"].(map[string]any)["annotations"], map[string]any{"example.com/role": "reader"}},
		{last(out["ClusterRoleBinding /scheduler-two"].(map[string]any)["subjects"]).(map[string]any)["name"], "given"},
	} {
		if !reflect.DeepEqual(c.have, c.want) {
			t.Errorf("%v, want %v", c.have, c.want)
		}
	}
	// One that is there already.
	out = objects(t, mustHelm(t, "template", "other", inDeploy("helm"), "--namespace", "here", "--kube-version", programs.KubernetesVersion,
		"--set", "serviceAccount.create=false", "--set", "serviceAccount.name=mine"))
	if out["ServiceAccount here/mine"] != nil {
		t.Error("serviceAccount.create=false makes one all the same")
	}
}

func TestTheChartInstallsSchedulesAndGoesAway(t *testing.T) {
	const release, namespace = "chart", "berth-chart"
	mustHelm(t, "install", release, inDeploy("helm"), "--namespace", namespace, "--create-namespace", "--set", "schedulerName=by-chart")
	root, config := unpackedImage(t)
	t.Run("schedules", func(t *testing.T) {
		runtimes(t)[0].run(t, containerOf(t, namespace, release, root, config))
		busy(t, "chart", "by-chart")
	})
	mustHelm(t, "uninstall", release, "--namespace", namespace)
	kinds := "deployments,configmaps,serviceaccounts,poddisruptionbudgets,networkpolicies,roles,rolebindings,clusterroles,clusterrolebindings,flowschemas"
	if left := kubectl(t, "get", kinds, "-A", "-l", "app.kubernetes.io/instance="+release, "-o", "name"); len(bytes.TrimSpace(left)) > 0 {
		t.Errorf("it leaves\n%s", left)
	}
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

const tree = "../.."

// between is the list between the last two releases that Berth followed.
var between = sync.OnceValues(func() (map[string]map[string]row, error) {
	var out bytes.Buffer
	if err := run(&out, "json", "1.36.3", "v1.37.1"); err != nil {
		return nil, err
	}
	var tables []table
	if err := json.Unmarshal(out.Bytes(), &tables); err != nil {
		return nil, err
	}
	found := map[string]map[string]row{}
	for _, t := range tables {
		found[t.Title] = map[string]row{}
		for _, r := range t.Rows {
			found[t.Title][r.Name] = r
		}
	}
	return found, nil
})

func TestTheListHasWhatChangedBetweenTwoReleases(t *testing.T) {
	tables, err := between()
	if err != nil {
		t.Fatal(err)
	}
	const described = "kind, stability and labels as new"
	for title, rows := range map[string][]row{
		"Fields of the API": {
			{"new", "core/v1 VolumeMount.bindMountOptions", "", "[]string", "read"},
			{"new", "core/v1 EmptyDirVolumeSource.mode", "", "*int32", "not read"},
			{"new", "core/v1 EvictionResponder.priority", "", "*int32", "no table"},
			{"gone", "core/v1 NodeAllocatableResourceClaimStatus.resources", "map[ResourceName]resource.Quantity", "", "not read"},
			{"new", "resource/v1 DeviceTaintRule.spec", "", "DeviceTaintRuleSpec", "read"},
		},
		"Versions of the API": {
			{"gone", "scheduling/v1alpha2", "", "", "not read"},
			{"new", "scheduling/v1alpha3", "", "", "read: CompositePodGroup"},
		},
		"Feature gates": {
			{"new", "PodGroupPreemptionPolicy", "", "Alpha, off, needs GenericWorkload", "as new"},
			{"changed", "StorageCapacityScoring", "Alpha, off", "Beta, on", "as new"},
			{"changed", "DRAExtendedResource", "Beta, on, needs DynamicResourceAllocation", "GA, on, locked, needs DynamicResourceAllocation", "as new"},
			{"gone", "SidecarContainers", "GA, on, locked", "", "gone too"},
			// What counts is not the last line of its list, which asks for a cluster without 1.36.
			{"new", "DRAFractionalCapacityRange", "", "Beta, off, needs DRAConsumableCapacity", "as new"},
		},
		"Feature gates that the scheduler asks for": {
			{"changed", "VolumeLimitScaling", "Alpha, off", "Beta, on", "acts upon it"},
			{"new", "DRADerivedAttributes", "", "Alpha, off, needs DynamicResourceAllocation", "acts upon it"},
		},
		"KubeSchedulerConfiguration": {
			{"new", "config/v1 Plugins.podGroupPostFilter", "", "PluginSet", "some source names it"},
		},
		"Default plugins": {
			{"new", "DeferredPodScheduling", "", "no weight", ""},
		},
		"Metrics": {
			{"new", "scheduler_generated_placements_total", "", "counter, ALPHA, {profile}; Number of candidate placements generated when scheduling pod groups.", described},
			{"changed", "scheduler_scheduling_algorithm_duration_seconds", "histogram, ALPHA, {}; metrics.ExponentialBuckets(0.001, 2, 15); Scheduling algorithm latency in seconds",
				"histogram, BETA, {}; metrics.ExponentialBuckets(0.001, 2, 15); Scheduling algorithm latency in seconds", described},
			{"new", "scheduler_batch_rescore_attempts_total", "", "counter, ALPHA, {profile}; Counts of rescore attempts during opportunistic batching.", "left out, as docs/metrics.md says"},
			{"gone", "scheduler_resourceclaim_creates_total", "counter, ALPHA, {status}; Number of ResourceClaims creation requests within scheduler", "", "gone too"},
		},
		"Reasons and messages of plugins": {
			{"new", "dynamicresources: deallocation of PodGroup ResourceClaim completed", "", "NewStatus", "has it"},
			{"gone", "noderesources: Pod has a restartable init container and the SidecarContainers feature is disabled", "NewStatus", "", "does not have it"},
		},
		"Events that plugins register": {
			{"changed", "dynamicresources: ResourceClaim", "Add | Update", "Add | Update | Delete", ""},
			{"new", "interpodaffinity: TargetPod", "", "UpdatePodLabel", ""},
		},
	} {
		for _, want := range rows {
			if got := tables[title][want.Name]; got != want {
				t.Errorf("%s:\n got %+v\nwant %+v", title, got, want)
			}
		}
	}
	// Of a function only that it changed can be said beforehand.
	for title, rows := range map[string]map[string]string{
		"Defaults and validation of the configuration": {
			"v1/default_plugins.go applyDeferredPodScheduling": "new",
			"validation/validation.go validatePluginConfig":    "changed",
		},
		"Queueing hints": {
			"dynamicresources/dynamicresources.go DynamicResources.isSchedulableAfterPodChange":   "gone",
			"dynamicresources/dynamicresources.go DynamicResources.isSchedulableAfterClaimChange": "changed",
		},
		"Changed files, to be read": {
			"kubernetes/pkg/scheduler/framework/preemption": "changed",
			"component-helpers/resource":                    "changed",
		},
	} {
		for name, want := range rows {
			if got := tables[title][name].Change; got != want {
				t.Errorf("%s: %s is %q, not %q", title, name, got, want)
			}
		}
	}
	for _, unchanged := range []string{"core/v1 PodSpec.nodeName", "core/v1 Pod.metadata", "meta/v1 ObjectMeta.name"} {
		if r, listed := tables["Fields of the API"][unchanged]; listed {
			t.Errorf("%s is listed: %+v", unchanged, r)
		}
	}
	if files := tables["Changed files, to be read"]["kubernetes/pkg/scheduler/framework/preemption"].To; !strings.Contains(files, "new util.go +262 -0") {
		t.Errorf("preemption's files: %s", files)
	}
}

// followed is the version that go.mod names.
func followed(t *testing.T) version {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(tree, "tests/go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	match := regexp.MustCompile(`\tk8s.io/kubernetes v(\S+)`).FindSubmatch(content)
	if match == nil {
		t.Fatal("go.mod does not name k8s.io/kubernetes")
	}
	v, err := download(t.Context(), string(match[1]))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestBerthsFeatureGatesAreThoseOfTheReleaseThatItFollows(t *testing.T) {
	own, err := readBerth(tree)
	if err != nil {
		t.Fatal(err)
	}
	gates, err := featureGates(followed(t), own)
	if err != nil {
		t.Fatal(err)
	}
	// The component's own, which stand for others.
	gates["AllAlpha"] = gateText("Alpha", false, false, nil)
	gates["AllBeta"] = gateText("Beta", false, false, nil)
	for _, r := range differences(own.gates, gates) {
		t.Errorf("src/config/feature_gate_table.cc: %s %s: %q here, %q there", r.Change, r.Name, r.From, r.To)
	}
}

func TestBerthsEarlierFeatureGatesAreThoseThatAnEmulatedVersionHas(t *testing.T) {
	own, err := readBerth(tree)
	if err != nil {
		t.Fatal(err)
	}
	v := followed(t)
	for minor := v.minor() - 3; minor < v.minor(); minor++ {
		gates, err := featureGatesAt(v, minor)
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range gates {
			if got := own.gateAt(name, minor); got != text {
				t.Errorf("src/config/feature_gate_table.cc: %s in 1.%d: %q here, %q there", name, minor, got, text)
			}
		}
	}
}

func TestFieldsAreThoseThatJSONHas(t *testing.T) {
	own, err := readBerth(tree)
	if err != nil {
		t.Fatal(err)
	}
	fields, err := apiFields(followed(t), own)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"core/v1 PodSpec.nodeName":  "string",
		"core/v1 Volume.emptyDir":   "*EmptyDirVolumeSource", // of a struct that is inlined
		"meta/v1 ObjectMeta.labels": "map[string]string",     // of another module
		"core/v1 Pod.kind":          "",                      // the envelope's
		"api/resource Quantity.i":   "",                      // Go's alone
		"core/v1 Volume.":           "",
	} {
		if got := fields[name]; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestTheSameVersionTwiceHasNoRows(t *testing.T) {
	tables, err := compare(t.Context(), tree, "1.37.1", "1.37.1")
	if err != nil {
		t.Fatal(err)
	}
	if len(tables) != len(surveys)+1 {
		t.Errorf("%d tables", len(tables))
	}
	for _, table := range tables {
		if len(table.Rows) != 0 {
			t.Errorf("%s: %+v", table.Title, table.Rows)
		}
	}
}

func TestTablesAreWrittenARowInALine(t *testing.T) {
	var out bytes.Buffer
	err := printTables(&out, []table{{"Gates", "src/x.cc", []row{
		{"new", "A", "", "Alpha, off", "missing"}, {"gone", "B", "GA,\non", "", ""}, {"changed", "C", "off", "on", "as old"},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	want := "== Gates: 3 (src/x.cc)\nnew      A: Alpha, off  [Berth: missing]\ngone     B: GA, on\n" +
		"changed  C: off -> on  [Berth: as old]\n\n"
	if out.String() != want {
		t.Errorf("got\n%s", out.String())
	}
}

func TestWhatIsNoVersionIsRefused(t *testing.T) {
	for _, name := range []string{"", "1.37", "2.0.1", "main", "1.37.1 -x"} {
		if _, err := download(t.Context(), name); err == nil || !strings.Contains(err.Error(), "no version") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestSourcesThatMovedAreAnErrorAndNoEmptyTable(t *testing.T) {
	empty := version{"1.37.1", map[string]string{"k8s.io/kubernetes": t.TempDir()}}
	for _, s := range surveys {
		if found, err := s.gather(empty, &berth{}); err == nil {
			t.Errorf("%s: %d facts of an empty module", s.title, len(found))
		}
	}
	for _, files := range []map[string]string{{}, {"src/api/kinds.h": "", "src/config/feature_gate_table.cc": ""}} {
		moved := t.TempDir()
		for name, content := range files {
			if err := os.MkdirAll(filepath.Join(moved, filepath.Dir(name)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(moved, name), []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := readBerth(moved); err == nil {
			t.Errorf("a tree with %v alone is read", files)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"berth.dev/tests/internal/daemon"
)

// writeTrace makes up a trace: a few nodes of two models, and pods of six kinds.
func writeTrace(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	nodes := "sn,cpu_milli,memory_mib,gpu,model\n"
	for i := range 6 {
		nodes += fmt.Sprintf("node-%d,%d,65536,%d,%s\n", i, 16000+8000*(i%2), 2+2*(i%2), []string{"old", "new"}[i%2])
	}
	pods := "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n"
	for i := range 24 {
		kind := []string{"4000,8192,1,500,", "2000,4096,1,300,", "8000,16384,2,1000,", "4000,4096,1,1000,new|other|new", "3000,2048,0,0,", "6000,8192,1,700,"}[i%6]
		pods += fmt.Sprintf("pod-%02d,%s\n", i, kind)
	}
	for name, text := range map[string]string{"node_list.csv": nodes, "pod_list_small.csv": pods} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func smallTrace(t *testing.T) trace {
	t.Helper()
	made, err := readTrace(writeTrace(t))
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestATraceIsRead(t *testing.T) {
	made := smallTrace(t)
	if want := (traceNode{"node-1", "new", 24000, 65536, 4}); made.nodes[1] != want {
		t.Errorf("%+v", made.nodes[1])
	}
	if want := (tracePod{"pod-03", demand{4000, 4096, 1, 1000, "new|other|new"}}); made.lists["small"][3] != want {
		t.Errorf("%+v", made.lists["small"][3])
	}
	if got := modelsOf(made.lists["small"][3].demand); !slices.Equal(got, []string{"new", "other"}) {
		t.Errorf("%q", got)
	}
	if made.capacityMilli() != 18000 || made.published != nil {
		t.Errorf("%d, %v", made.capacityMilli(), made.published)
	}
	for name, text := range map[string]string{
		"no number":        "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,much,1,0,0\n",
		"no column":        "name,cpu_milli,memory_mib,num_gpu\np,1,1,1\n",
		"two halves":       "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1,1,2,500\n",
		"more than one":    "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1,1,1,1001\n",
		"nothing of a gpu": "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1,1,1,0\n",
		"empty":            "",
	} {
		file := filepath.Join(t.TempDir(), "pod_list_x.csv")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if pods, err := readPods(file); err == nil {
			t.Errorf("%s: %+v", name, pods)
		}
	}
}

func TestArrivalsFollowTheSeedAndAskForAsMuchAsTheyShould(t *testing.T) {
	made := smallTrace(t)
	pods := made.lists["small"]
	come, named := arrivals(pods, made.nodes, 42, 1.3)
	again, _ := arrivals(pods, made.nodes, 42, 1.3)
	other, _ := arrivals(pods, made.nodes, 43, 1.3)
	if !reflect.DeepEqual(come, again) || reflect.DeepEqual(come, other) {
		t.Error("the seed does not decide")
	}
	var asked int64
	for _, p := range come {
		asked += p.deviceMilli()
	}
	// One pod more, counted as one device, would be too much; one with two counts as one as well.
	if float64(asked) > 1.3*18000+1000 || float64(asked) < 1.3*18000-1000 {
		t.Errorf("%d thousandths of 18 devices are asked for", asked)
	}
	first := map[string]bool{}
	for _, p := range come[:len(pods)] {
		first[p.name] = true
	}
	if len(first) != len(pods) {
		t.Errorf("%d different pods come first, of %d", len(first), len(pods))
	}
	if len(come) > len(pods) && !strings.Contains(come[len(pods)].name, "-tuned-0") {
		t.Errorf("then %s", come[len(pods)].name)
	}
	for i, n := range named {
		if ownName(n.name) != made.nodes[i].name {
			t.Errorf("%s is %s", n.name, made.nodes[i].name)
		}
	}
	// More pods than are wanted: some go.
	few, _ := arrivals(pods, made.nodes, 42, 0.5)
	asked = 0
	for _, p := range few {
		asked += p.deviceMilli()
	}
	if float64(asked) > 0.5*18000 || float64(asked) < 0.5*18000-2000 {
		t.Errorf("%d thousandths where 9 devices are wanted", asked)
	}
}

func TestTypicalKindsAreTheFrequentOnes(t *testing.T) {
	pods := slices.Repeat([]tracePod{{"a", demand{1000, 1, 1, 500, ""}}}, 90)
	pods = append(pods, slices.Repeat([]tracePod{{"b", demand{1000, 2, 1, 1000, ""}}}, 8)...)
	pods = append(pods, tracePod{"c", demand{1, 1, 0, 0, ""}}, tracePod{"d", demand{2, 1, 0, 0, ""}})
	kinds := typical(pods, 0.95)
	if len(kinds) != 2 || kinds[0].pods != 90 || kinds[1].milli != 1000 {
		t.Errorf("%+v", kinds)
	}
}

func TestDecisionsAreRecomputed(t *testing.T) {
	nodes := []traceNode{{"n", "m", 4000, 1000, 2}}
	come := []tracePod{
		{"a", demand{1000, 100, 1, 600, ""}}, {"b", demand{1000, 100, 1, 600, ""}}, {"c", demand{1000, 100, 1, 600, ""}},
		{"d", demand{1000, 100, 1, 400, "m"}},
	}
	n := "n"
	good := []decision{{"a", &n, []int64{0}}, {"b", &n, []int64{1}}, {"c", nil, nil}, {"d", &n, []int64{0}}}
	allocated, err := recompute(nodes, come, good)
	// 1.8 of 2 devices are asked for by the third, 2.2 by the fourth: 110 %.
	if err != nil || allocated != [4]float64{80, 80, 80, 80} {
		t.Errorf("%v, %v", allocated, err)
	}
	for name, change := range map[string]func(d []decision){
		"no room on the device": func(d []decision) { d[1].Devices = []int64{0} },
		"no such device":        func(d []decision) { d[1].Devices = []int64{2} },
		"no device":             func(d []decision) { d[1].Devices = nil },
		"no such node":          func(d []decision) { other := "x"; d[0].Node = &other },
		"left out":              func(d []decision) { d[3].Node = nil },
	} {
		bad := slices.Clone(good)
		change(bad)
		if got, err := recompute(nodes, come, bad); err == nil {
			t.Errorf("%s: %v", name, got)
		}
	}
	come[3].models = "other"
	if _, err := recompute(nodes, come, good); err == nil {
		t.Error("a node of another model")
	}
}

func TestNothingExceedsTheBound(t *testing.T) {
	nodes := []traceNode{{"n", "", 0, 0, 100}}
	pods := func(milli ...int64) (come []tracePod) {
		for _, m := range milli {
			come = append(come, slices.Repeat([]tracePod{{"p", demand{0, 0, 1, m, ""}}}, 100)...)
		}
		return come
	}
	for _, c := range []struct {
		come []tracePod
		want float64
	}{
		{pods(600), 60},           // one a device
		{pods(600, 400), 100},     // each with another
		{pods(600, 600, 350), 95}, // 600 + 350, and no device has more
		{pods(700, 700, 350), 70}, // 350 goes with nothing but itself: half of the devices have two, or 700
		{pods(1000, 300), 100},    // whole devices
		{pods(300), 30},           // no more than there are
		{nil, 0},
	} {
		if got := boundPercent(nodes, c.come); got < c.want-1e-9 || got > c.want+0.2 {
			t.Errorf("%d pods: %.3f, want %.3f", len(c.come), got, c.want)
		}
	}
}

func TestEstimatesHaveAnInterval(t *testing.T) {
	if e := estimateOf([]float64{5}); e.Mean != 5 || e.Half != 0 {
		t.Errorf("%+v", e)
	}
	// The deviation is 1, its part of the root of 3 is 0.577.
	if e := estimateOf([]float64{1, 2, 3}); e.Mean != 2 || math.Abs(e.Half-4.303/math.Sqrt(3)) > 1e-9 {
		t.Errorf("%+v", e)
	}
	results := []result{{"l", "p", 1, [4]float64{0, 0, 0, 10}, 90}, {"l", "p", 2, [4]float64{0, 0, 0, 20}, 100}}
	r := summarise(results, map[publishedKey][4]float64{{"l", "x", 1}: {0, 0, 0, 9}, {"l", "x", 2}: {0, 0, 0, 19}, {"l", "y", 1}: {}})
	if len(r.Rows) != 1 || r.Rows[0].Against["x"].Mean != 1 || r.Rows[0].Bound != 95 || len(r.Rows[0].Against) != 1 {
		t.Errorf("%+v", r.Rows)
	}
}

// TestBerthDecides is the whole measure on the small trace: with every policy, and twice alike.
func TestBerthDecides(t *testing.T) {
	berth, err := daemon.Berth("")
	if err != nil {
		t.Fatal(err)
	}
	made := smallTrace(t)
	pods := made.lists["small"]
	come, named := arrivals(pods, made.nodes, 42, ratio)
	for _, policy := range policies {
		dir := t.TempDir()
		config, err := writeConfiguration(dir, "", policy, pods)
		if err != nil {
			t.Fatal(err)
		}
		var before []byte
		for range 2 {
			decided, err := simulate(context.Background(), berth.Path, dir, config, 42, named, come)
			if err != nil {
				t.Fatalf("%s: %v", policy, err)
			}
			allocated, err := recompute(made.nodes, come, decided)
			if err != nil {
				t.Fatalf("%s: %v", policy, err)
			}
			if allocated[3] < 60 || allocated[3] > 100 {
				t.Errorf("%s: %v", policy, allocated)
			}
			file := filepath.Join(dir, "decisions.jsonl")
			if err := writeDecisions(file, decided); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if before != nil && !bytes.Equal(before, text) {
				t.Errorf("%s: not twice alike", policy)
			}
			before = text
		}
		var line decision
		if err := json.Unmarshal(bytes.SplitN(before, []byte("\n"), 2)[0], &line); err != nil || line.Pod != come[0].name {
			t.Errorf("%s: %+v, %v", policy, line, err)
		}
	}
}

func TestWhatIsAskedForIsChecked(t *testing.T) {
	for _, args := range [][]string{
		{}, {"-trace", "x", "-seeds", "5-4"}, {"-trace", "x", "-seeds", "a"}, {"-trace", "x", "-policy", "luck"},
		{"-trace", "x", "-decisions", "f"}, {"-trace", "x", "-o", "yaml"}, {"-trace", "x", "y"},
	} {
		if o, err := parse(args); err == nil {
			t.Errorf("%q: %+v", args, o)
		}
	}
	o, err := parse([]string{"--trace", "x", "--seeds", "42-44", "--lists", "a,b"})
	if err != nil || !slices.Equal(o.seeds, []int64{42, 43, 44}) || !slices.Equal(o.lists, []string{"a", "b"}) {
		t.Errorf("%+v, %v", o, err)
	}
}

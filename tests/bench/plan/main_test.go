// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"

	"berth.dev/tests/internal/daemon"
)

func berthPath(t *testing.T) string {
	t.Helper()
	berth, err := daemon.Berth("")
	if err != nil {
		t.Fatal(err)
	}
	return berth.Path
}

func TestAClusterFollowsItsSeedAndItsSize(t *testing.T) {
	s := size{Nodes: 8, PerNode: 4, Priorities: 2, Usage: 95}
	c := draw(s, 7)
	if !reflect.DeepEqual(c, draw(s, 7)) || reflect.DeepEqual(c, draw(s, 8)) {
		t.Error("the seed does not decide")
	}
	if len(c.pods) != 32 {
		t.Errorf("%d pods", len(c.pods))
	}
	var asked amounts
	sets, levels := map[string]int{}, map[int]bool{}
	for _, p := range c.pods {
		asked = asked.plus(p.asks, 1)
		sets[p.set]++
		levels[p.level] = true
		for _, amount := range p.asks {
			if amount < 100 || amount > 1000 {
				t.Errorf("%+v", p)
			}
		}
	}
	for set, pods := range sets {
		if pods > 4 {
			t.Errorf("%s has %d pods", set, pods)
		}
	}
	if len(levels) != 2 {
		t.Errorf("%v", levels)
	}
	for i, amount := range c.capacity() {
		if usage := 100 * float64(asked[i]) / float64(amount); usage > 95 || usage < 94.5 {
			t.Errorf("%d: %.2f %%", i, usage)
		}
	}
}

// twoNodes has 10 and 6 of 16 taken on one node, 12 on the other.
func twoNodes() *cluster {
	return &cluster{size: size{Nodes: 2, Priorities: 2}, node: amounts{16, 16}, pods: []pod{
		{name: "a", asks: amounts{10, 1}, node: "node-0", level: 1},
		{name: "b", asks: amounts{4, 1}, node: "node-0", level: 1},
		{name: "c", asks: amounts{12, 1}, node: "node-1", level: 1},
		{name: "d", asks: amounts{6, 1}, level: 0},
	}}
}

func TestMovesArePlayedBack(t *testing.T) {
	good := []move{{"default/b", "node-0", "node-1"}, {"default/d", "", "node-0"}}
	c := twoNodes()
	if before := c.placed(); !slices.Equal(before, []int{0, 3}) || c.waiting() != 1 {
		t.Errorf("%v", before)
	}
	if moves, err := c.play(good); moves != 1 || err != nil || !slices.Equal(c.placed(), []int{1, 3}) {
		t.Errorf("%d, %v, %v", moves, err, c.placed())
	}
	c = twoNodes()
	if moves, err := c.play([]move{{"default/b", "node-0", ""}, {"default/d", "", "node-0"}}); moves != 1 || err != nil || !slices.Equal(c.placed(), []int{1, 2}) {
		t.Errorf("%d, %v, %v", moves, err, c.placed())
	}
	for name, bad := range map[string][]move{
		"no room":      {{"default/d", "", "node-0"}},
		"another node": {{"default/b", "node-1", "node-0"}},
		"stays":        {{"default/b", "node-0", "node-0"}},
		"no such node": {{"default/b", "node-0", "node-2"}},
		"no such pod":  {{"default/x", "", "node-0"}},
	} {
		if moves, err := twoNodes().play(bad); err == nil {
			t.Errorf("%s: %d", name, moves)
		}
	}
}

func TestBetterIsWhatHasMoreOfTheImportant(t *testing.T) {
	for _, c := range []struct {
		a, b   []int
		better bool
	}{{[]int{2, 0}, []int{1, 9}, true}, {[]int{1, 3}, []int{1, 2}, true}, {[]int{1, 2}, []int{1, 2}, false}, {[]int{0, 9}, []int{1, 0}, false}} {
		if isBetter(c.a, c.b) != c.better {
			t.Errorf("%v, %v", c.a, c.b)
		}
	}
}

func TestMoreThanThereIsIsProved(t *testing.T) {
	c := twoNodes() // 32 of each, 6 + 26 of the first asked for
	if provesMost(c, []int{1, 2}) || !provesMost(c, []int{1, 3}) || provesMost(c, []int{0, 3}) {
		t.Error("32 of 32")
	}
	c.pods[3].asks[0] = 7
	if !provesMost(c, []int{1, 2}) || provesMost(c, []int{0, 3}) {
		t.Error("33 of 32: one of the less important has to wait")
	}
}

// TestPlansOfSmallClusters is the whole measure, twice alike.
func TestPlansOfSmallClusters(t *testing.T) {
	berth := berthPath(t)
	var results []result
	for seed := 1; seed <= 6; seed++ {
		s := size{Nodes: 4, PerNode: 4, Priorities: 1 + seed%2, Usage: 95 + 5*(seed%3)}
		// Of two priorities.
		evict := seed%2 == 1
		one, err := repair(context.Background(), berth, t.TempDir(), s, seed, evict)
		if err != nil {
			t.Fatal(err)
		}
		again, err := repair(context.Background(), berth, t.TempDir(), s, seed, evict)
		if err != nil {
			t.Fatal(err)
		}
		again.CPUSeconds = one.CPUSeconds
		if one != again {
			t.Errorf("%+v, then %+v", one, again)
		}
		if one.NoneProved && (one.Better || one.Waiting > 0 && !one.Most && !evict) {
			t.Errorf("%+v: none is better", one)
		}
		results = append(results, one)
	}
	rows := summarise(results)
	if all := rows[len(rows)-1]; len(rows) != 2 || all.Instances != 6 || all.Waiting == 0 || all.Better == 0 || all.CPUMost <= 0 {
		t.Errorf("%+v", rows)
	}
	var out bytes.Buffer
	if err := writeRepairs(&out, "table", report{Rows: rows}); err != nil || !strings.Contains(out.String(), "all") {
		t.Errorf("%v: %s", err, &out)
	}
}

func TestGangsOfASmallClusterStart(t *testing.T) {
	c, err := consolidate(context.Background(), berthPath(t), t.TempDir(), 24)
	if err != nil {
		t.Fatal(err)
	}
	if c.Gangs != 2 || c.Started != 2 || c.Moves < c.Fewest || c.CPUSeconds <= 0 {
		t.Errorf("%+v", c)
	}
	var out bytes.Buffer
	if err := writeConsolidations(&out, "table", report{Consolidations: []consolidation{c}}); err != nil || !strings.Contains(out.String(), "24") {
		t.Errorf("%v: %s", err, &out)
	}
	for name, bad := range map[string][]move{
		"half a gang": {{"default/single-0-0", "node-0", "node-1"}, {"default/gang-0-pod-0", "", "node-0"}},
		"no room":     {{"default/gang-0-pod-0", "", "node-0"}},
		"not there":   {{"default/single-0-0", "node-1", "node-2"}},
	} {
		if _, _, err := playConsolidation(24, bad); err == nil {
			t.Error(name)
		}
	}
}

func TestWhatIsAskedForIsChecked(t *testing.T) {
	for _, args := range [][]string{
		{"-nodes", "x"}, {"-nodes", "0"}, {"-seeds", "5-4"}, {"-usage", ""}, {"-o", "yaml"}, {"x"}, {"-consolidation", "-evict"},
	} {
		if o, err := parse(args); err == nil {
			t.Errorf("%q: %+v", args, o)
		}
	}
	o, err := parse([]string{"-nodes", "4,8", "-seeds", "2-4"})
	if err != nil || !slices.Equal(o.nodes, []int{4, 8}) || !slices.Equal(o.seeds, []int{2, 3, 4}) || len(sizesOf(o)) != 2*2*3*4 {
		t.Errorf("%+v, %v", o, err)
	}
	if o, err := parse([]string{"-consolidation"}); err != nil || !slices.Equal(o.nodes, []int{500}) {
		t.Errorf("%+v, %v", o, err)
	}
}

// SPDX-License-Identifier: Apache-2.0

package story

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestQuantitiesAreReadAsTheAPIWritesThem(t *testing.T) {
	for quantity, want := range map[string]int64{
		"1": 1000, "250m": 250, "7200m": 7200, "512Mi": 512 << 20 * 1000, "32Gi": 32 << 30 * 1000, "1k": 1_000_000, "0.5": 500,
	} {
		if got, err := Milli(quantity); got != want || err != nil {
			t.Errorf("Milli(%q) = %d, %v, want %d", quantity, got, err, want)
		}
	}
	for _, wrong := range []string{"", "Gi", "12x"} {
		if got, err := Milli(wrong); err == nil {
			t.Errorf("Milli(%q) = %d", wrong, got)
		}
	}
}

// fixOf reads a fix as `berth explain --fix -o json` prints it.
func fixOf(t *testing.T, text string) (fix Fix) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &fix); err != nil {
		t.Fatal(err)
	}
	return fix
}

func TestAFixIsMadeByPatches(t *testing.T) {
	pod := newPod("p").tolerate("other")
	node := newNode("n", "zone-a", "1", "1Gi")
	node.repel("team")
	node.repel("gpu")
	byName := map[string]*Node{"n": node}
	fix := fixOf(t, `{"changes":[
		{"change":"SetLabel","key":"disk","node":"n","value":"tape"},
		{"change":"RemoveTaint","node":"n","taint":{"effect":"NoSchedule","key":"gpu"}},
		{"change":"Tolerate","taint":{"effect":"NoSchedule","key":"team","value":"blue"}}],"cost":85,"nodes":["n"]}`)
	patches, err := fix.Patches(pod, byName)
	if err != nil {
		t.Fatal(err)
	}
	for _, patch := range patches {
		if err := patch.Apply(pod, byName); err != nil {
			t.Error(err)
		}
	}
	if !node.has("disk", "tape") || !node.has("kubernetes.io/hostname", "n") || !slices.Equal(node.Spec.Taints, []Taint{{Key: "team", Effect: "NoSchedule"}}) {
		t.Errorf("the node is %+v", node)
	}
	want := []Toleration{{Key: "other", Operator: "Exists"}, {Key: "team", Operator: "Equal", Value: "blue", Effect: "NoSchedule"}}
	if !slices.Equal(pod.Spec.Tolerations, want) {
		t.Errorf("the pod tolerates %+v, want %+v", pod.Spec.Tolerations, want)
	}
}

func TestAFixThatCannotBeMadeIsAnError(t *testing.T) {
	for _, text := range []string{
		`{"changes":[]}`,
		`{"changes":[{"change":"Tolerate"}]}`, // would tolerate everything
		`{"changes":[{"change":"SetLabel","key":"a","node":"elsewhere","value":"b"}]}`,
		`{"changes":[{"change":"LowerRequest","from":"64","resource":"cpu","to":"7200m"}]}`,
	} {
		if patches, err := fixOf(t, text).Patches(newPod("p"), nil); err == nil {
			t.Errorf("%s comes to %v", text, patches)
		}
	}
}

func TestFaultsOfTheCrowdAreSeen(t *testing.T) {
	s := &Story{Nodes: map[string]*Node{}}
	for _, node := range nodes() {
		s.Nodes[node.Metadata.Name] = node
	}
	at := func(pod *Pod, node string) *Pod {
		pod.Spec.NodeName = node
		return pod
	}
	anywhere := func(*Node) bool { return true }
	for _, c := range []struct {
		group Group
		pods  []*Pod
		want  string
	}{
		{Group{Name: "a", Replicas: 2, belongs: anywhere}, []*Pod{at(newPod("a"), "zone-a-05")}, "a has 1 pods, want 2"},
		{Group{Name: "a", Replicas: 1, belongs: anywhere}, []*Pod{newPod("a")}, `a does not belong on node ""`},
		{Group{Name: "a", Replicas: 2, belongs: anywhere, apart: true}, []*Pod{at(newPod("a"), "zone-a-05"), at(newPod("a"), "zone-a-05")}, "two pods of a"},
		{Group{Name: "a", Replicas: 1, belongs: anywhere}, []*Pod{at(newPod("a").request("cpu", "8001m"), "zone-a-05")}, "has 8001m of cpu on it and holds 8000m"},
		{Group{Name: "a", Replicas: 1, belongs: anywhere}, []*Pod{at(newPod("a").request("cpu", "8"), "zone-a-05")}, ""},
	} {
		s.Groups, s.faults = []Group{c.group}, nil
		s.Pods = func() []*Pod { return slices.Clone(c.pods) }
		s.CheckCrowd()
		if got := strings.Join(s.faults, "; "); (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("faults %q, want %q", got, c.want)
		}
	}
}

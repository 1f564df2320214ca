// SPDX-License-Identifier: Apache-2.0

package upstream_test

import (
	"strings"
	"testing"

	"berth.dev/tests/oracle/upstream"
)

// Two gangs that fit alone, but not together.
const twoGangs = `
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: "2", memory: 8Gi, pods: "10"}}}
---
{apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, metadata: {name: a}, spec: {schedulingPolicy: {gang: {minCount: 2}}}}
---
{apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, metadata: {name: b}, spec: {schedulingPolicy: {gang: {minCount: 1}}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: a-0}, spec: {schedulingGroup: {podGroupName: a}, containers: [{name: c, resources: {requests: {cpu: "1"}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: a-1}, spec: {schedulingGroup: {podGroupName: a}, containers: [{name: c, resources: {requests: {cpu: "1"}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: b-0}, spec: {schedulingGroup: {podGroupName: b}, containers: [{name: c, resources: {requests: {cpu: "1"}}}]}}
`

const (
	gangStarts = `{"pod":"default/a-0","node":"n1"}
{"pod":"default/a-1","node":"n1"}
{"podGroup":"default/a","status":"True","reason":"Scheduled"}
`
	otherWaits = `{"pod":"default/b-0","node":null,"message":"0/1 nodes are available: 1 Insufficient cpu."}
{"podGroup":"default/b","status":"False","reason":"Unschedulable","message":"minCount (1) cannot be satisfied: 0 scheduled, 0 remaining, pod group preemption: No preemption victims found for incoming preemptor"}
`
	summary = `{"summary":{}}`
)

// usePodGroups has them for the time of the test.
func usePodGroups(t *testing.T, groups upstream.PodGroups) {
	t.Helper()
	if err := upstream.UsePodGroups(groups); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := upstream.UsePodGroups(upstream.NoPodGroups); err != nil {
			t.Error(err)
		}
	})
}

func TestDecisionsAboutPodGroupsMustBeUpstreams(t *testing.T) {
	usePodGroups(t, upstream.PlainPodGroups)
	for name, c := range map[string]struct {
		decisions string
		refused   string
	}{
		"as upstream's":      {gangStarts + otherWaits, ""},
		"again":              {gangStarts + otherWaits + otherWaits, ""},
		"one is not tried":   {gangStarts, "not tried"},
		"another node":       {strings.Replace(gangStarts, `a-1","node":"n1"`, `a-1","node":"n2"`, 1), "not the best node of a pod group's pod"},
		"half a gang":        {strings.Replace(gangStarts, `a-1","node":"n1"`, `a-1","node":null,"message":"no room"`, 1), "node of a pod group's pod"},
		"another message":    {gangStarts + strings.Replace(otherWaits, "Insufficient cpu", "Insufficient memory", 1), "message of a pod group's pod"},
		"another condition":  {gangStarts + strings.Replace(otherWaits, "minCount (1)", "minCount (2)", 1), "condition of a pod group"},
		"a pod is left out":  {strings.Replace(gangStarts, `{"pod":"default/a-1","node":"n1"}`+"\n", "", 1), "other pods of the group"},
		"nominated for some": {gangStarts + strings.Replace(otherWaits, `"node":null`, `"node":null,"nominated":"n1"`, 1), "nomination of a pod group's pod"},
	} {
		t.Run(name, func(t *testing.T) {
			expectReplay(t, open(t, []byte(twoGangs), nil).ReplayPodGroups, c.decisions+summary, c.refused)
		})
	}
}

func TestOnlyTheLastPartOfATreesMessageMayRepeat(t *testing.T) {
	const preemption = ", pod group preemption: No preemption victims found for incoming preemptor"
	for _, test := range []struct {
		tree, berth, upstream string
		want                  bool
	}{
		{"default/job", "no room" + preemption, "no room" + preemption + preemption, true},
		{"default/job", "no room, ", "no room, , , ", true}, // no plugin preempts
		{"default/job", "no room" + preemption, "no room" + preemption + ", ", false},
		{"default/job", "no room", "no room, ", false},
		{"", "no room, ", "no room, , ", false}, // a group of its own
	} {
		decision := upstream.Decision{CompositePodGroup: test.tree, Message: test.berth}
		if got := upstream.Repeats(decision, test.upstream); got != test.want {
			t.Errorf("%q of %q, and %q: %t, want %t", test.berth, test.tree, test.upstream, got, test.want)
		}
	}
}

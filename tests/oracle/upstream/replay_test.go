// SPDX-License-Identifier: Apache-2.0

package upstream_test

import (
	"strings"
	"testing"

	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"berth.dev/tests/oracle/upstream"
)

// Two nodes, of which b has room for both pods and is the better one for the first; c fits nowhere.
const small = `
apiVersion: v1
kind: List
items: [
{apiVersion: v1, kind: Node, metadata: {name: a}, status: {allocatable: {cpu: 1, memory: 8Gi, pods: 9}}},
{apiVersion: v1, kind: Node, metadata: {name: b}, status: {allocatable: {cpu: 4, memory: 8Gi, pods: 9}}},
{apiVersion: v1, kind: Pod, metadata: {name: x}, spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}},
{apiVersion: v1, kind: Pod, metadata: {name: z}, spec: {containers: [{name: c, resources: {requests: {cpu: 3500m}}}]}}]`

// expectReplay takes the decisions; want is part of the error, or empty where there is none.
func expectReplay(t *testing.T, replay func([]upstream.Decision) error, decisions, want string) {
	t.Helper()
	parsed, err := upstream.ParseDecisions([]byte(decisions))
	if err == nil {
		err = replay(parsed)
	}
	switch {
	case want == "" && err != nil:
		t.Error(err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("error %v, want %q", err, want)
	}
}

func TestReplay(t *testing.T) {
	const (
		full    = `0/2 nodes are available: 2 Insufficient cpu.`
		tooMany = `{"pod":"default/z","node":null,"message":"` + full + `"}`
		end     = `{"summary":{}}`
	)
	for _, c := range []struct{ name, decisions, want string }{
		{"what upstream could do", `{"pod":"default/x","node":"b"}` + "\n" + tooMany + "\n" + end, ""},
		{"a pod that is tried again", `{"pod":"default/x","node":"b"}` + "\n" + tooMany + "\n" + tooMany + "\n" + end, ""},
		{"the worse node", `{"pod":"default/x","node":"a"}` + "\n" + end, "not the best node"},
		{"a full node", `{"pod":"default/x","node":"b"}` + "\n" + `{"pod":"default/z","node":"b"}` + "\n" + end, "fits nowhere"},
		{"no node for a pod that fits", `{"pod":"default/x","node":null,"message":"no"}` + "\n" + end, "no node"},
		{"another message", `{"pod":"default/x","node":"b"}` + "\n" + strings.Replace(tooMany, "2 Ins", "1 Ins", 1) + "\n" + end, "message"},
		{"a pod twice", `{"pod":"default/x","node":"b"}` + "\n" + `{"pod":"default/x","node":"b"}` + "\n" + end, "not pending"},
		{"a pod forgotten", `{"pod":"default/x","node":"b"}` + "\n" + end, "not tried"},
		{"a pod given up though it fits", `{"pod":"default/z","node":"b"}` + "\n" + end, "left without a node"},
		{"no end", `{"pod":"default/x","node":"b"}`, "no summary"},
		{"more after the end", end + "\n" + end, "after the summary"},
	} {
		t.Run(c.name, func(t *testing.T) {
			expectReplay(t, open(t, []byte(small), configOf("", names.DefaultPreemption)).Replay, c.decisions, c.want)
		})
	}
}

// Node a holds what only goes for a more important pod; node b nothing, and is too small.
const full = `
apiVersion: v1
kind: List
items: [
{apiVersion: v1, kind: Node, metadata: {name: a}, status: {allocatable: {cpu: 2, memory: 8Gi, pods: 9}}},
{apiVersion: v1, kind: Node, metadata: {name: b}, status: {allocatable: {cpu: 1, memory: 8Gi, pods: 9}}},
{apiVersion: v1, kind: Pod, metadata: {name: old}, spec: {nodeName: a, containers: [{name: c, resources: {requests: {cpu: 2}}}]}},
{apiVersion: v1, kind: Pod, metadata: {name: high}, spec: {priority: 5, containers: [{name: c, resources: {requests: {cpu: 2}}}]}},
{apiVersion: v1, kind: Pod, metadata: {name: low}, spec: {containers: [{name: c, resources: {requests: {cpu: 2}}}]}}]`

func TestReplayToPreemption(t *testing.T) {
	decision := func(pod, message string) string {
		return `{"pod":"default/` + pod + `","node":null,"message":"0/2 nodes are available: 2 Insufficient cpu. preemption: ` +
			message + `"}` + "\n"
	}
	evicts := decision("high", "found a potential placement for pod on node a, preempting 1 victims")
	helpless := decision("low", "0/2 nodes are available: 1 No preemption victims found for incoming pod, "+
		"1 Preemption is not helpful for scheduling.")
	const end = `{"summary":{}}`
	for _, c := range []struct{ name, decisions, want string }{
		{"what upstream could do", helpless + evicts + end, ""},
		{"whatever comes after an eviction", evicts + `{"pod":"default/low","node":"b"}` + "\n" + end, ""},
		{"another node", strings.Replace(evicts, "node a", "node b", 1) + end, "message"},
		{"more victims", strings.Replace(evicts, "1 victims", "2 victims", 1) + end, "message"},
		{"an eviction for a pod that may not", decision("low", "found a potential placement for pod on node a, preempting 1 victims") + end,
			"message"},
		{"no eviction", strings.Replace(helpless, "/low", "/high", 1) + end, "message"},
	} {
		t.Run(c.name, func(t *testing.T) {
			expectReplay(t, open(t, []byte(full), configOf("")).ReplayToPreemption, c.decisions, c.want)
		})
	}
}

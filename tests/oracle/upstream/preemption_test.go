// SPDX-License-Identifier: Apache-2.0

package upstream_test

import (
	"strings"
	"testing"

	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

// On a the pod that came last must go, on b one that is as good, on c one that a budget protects.
const preemptable = `
apiVersion: v1
kind: List
items: [
{apiVersion: v1, kind: Node, metadata: {name: a}, status: {allocatable: {cpu: 2, pods: 9}}},
{apiVersion: v1, kind: Node, metadata: {name: b}, status: {allocatable: {cpu: 1, pods: 9}}},
{apiVersion: v1, kind: Node, metadata: {name: c}, status: {allocatable: {cpu: 1, pods: 9}}},
{apiVersion: v1, kind: Pod, metadata: {name: a1}, status: {startTime: "2026-01-01T00:00:00Z"}, spec: {nodeName: a, containers: [{name: c, resources: {requests: {cpu: 1}}}]}},
{apiVersion: v1, kind: Pod, metadata: {name: a2}, status: {startTime: "2026-01-01T00:00:09Z"}, spec: {nodeName: a, containers: [{name: c, resources: {requests: {cpu: 1}}}]}},
{apiVersion: v1, kind: Pod, metadata: {name: b1}, status: {startTime: "2026-01-01T00:00:09Z"}, spec: {nodeName: b, containers: [{name: c, resources: {requests: {cpu: 1}}}]}},
{apiVersion: v1, kind: Pod, metadata: {name: c1, labels: {app: c}}, spec: {nodeName: c, containers: [{name: c, resources: {requests: {cpu: 1}}}]}},
{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: c}, spec: {selector: {matchLabels: {app: c}}}, status: {disruptionsAllowed: 0}},
{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {priority: PRIORITY, containers: [{name: c, resources: {requests: {cpu: 1}}}]}}]`

func TestPreemptionHasAllCandidatesAndTheBest(t *testing.T) {
	withPriority := func(priority string) string { return strings.Replace(preemptable, "PRIORITY", priority, 1) }
	for _, c := range []struct {
		name, cluster string
		config        []byte
		want          string
	}{
		{"an important pod", withPriority("1"), configOf(""), `"preemption":{"best":["a","b"],"candidates":{` +
			`"a":{"victims":["default/a2"]},"b":{"victims":["default/b1"]},"c":{"pdbViolations":1,"victims":["default/c1"]}}}`},
		{"a pod like the others", withPriority("0"), configOf(""), `"preemption":{"message":"preemption: 0/3 nodes are available: ` +
			`3 No preemption victims found for incoming pod."}`},
		{"a profile that does not preempt", withPriority("1"), configOf("", names.DefaultPreemption), `"pod":"default/p","profile"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if line := string(verdictOf(t, c.cluster, c.config).Line()); !strings.Contains(line, c.want) {
				t.Errorf("%s\nhas no %s", line, c.want)
			}
		})
	}
}

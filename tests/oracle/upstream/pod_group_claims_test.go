// SPDX-License-Identifier: Apache-2.0

package upstream_test

import (
	"fmt"
	"strings"
	"testing"

	"berth.dev/tests/oracle/upstream"
)

// threeDevices has as many as the two pods of a gang take: one that they share, and one for each. Pod w wants another one.
// claims are those of the gang's pods, in their order.
func threeDevices(claims [2][2]string) string {
	objects := []string{`
{apiVersion: v1, kind: Node, metadata: {name: a}, status: {allocatable: {pods: 9}}}
---
{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: any}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: s}, spec: {driver: x.example.com, nodeName: a,
 pool: {name: p, generation: 1, resourceSliceCount: 1}, devices: [{name: one}, {name: two}, {name: three}]}}
---
{apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, metadata: {name: g, uid: g}, spec: {schedulingPolicy: {gang: {minCount: 2}}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: w, uid: w}, spec: {containers: [{name: c}], resourceClaims: [{name: own, resourceClaimName: own-w}]}}
`}
	for _, name := range []string{"shared", "own-0", "own-1", "own-w"} {
		objects = append(objects, fmt.Sprintf(`{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: %[1]s, uid: %[1]s},
 spec: {devices: {requests: [{name: r, exactly: {deviceClassName: any, allocationMode: ExactCount, count: 1}}]}}}
`, name))
	}
	for i, claim := range claims {
		objects = append(objects, fmt.Sprintf(`{apiVersion: v1, kind: Pod, metadata: {name: g-%[1]d, uid: g-%[1]d}, spec: {containers: [{name: c}],
 schedulingGroup: {podGroupName: g}, resourceClaims: [{name: first, resourceClaimName: %s}, {name: second, resourceClaimName: %s}]}}
`, i, claim[0], claim[1]))
	}
	return strings.Join(objects, "---\n")
}

const gangOnA = `{"pod":"default/g-0","node":"a"}
{"pod":"default/g-1","node":"a"}
{"podGroup":"default/g","status":"True","reason":"Scheduled"}
`

func TestPodsOfAGroupReserveAClaimTogether(t *testing.T) {
	usePodGroups(t, upstream.PodGroupsWithClaims)
	const (
		fits  = `{"pod":"default/w","node":"a"}` + "\n"
		waits = `{"pod":"default/w","node":null,"message":"0/1 nodes are available: 1 cannot allocate all claims. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."}` + "\n"
	)
	ownFirst := threeDevices([2][2]string{{"own-0", "shared"}, {"own-1", "shared"}})
	sharedFirst := threeDevices([2][2]string{{"shared", "own-0"}, {"shared", "own-1"}})
	for name, c := range map[string]struct{ cluster, decisions, refused string }{
		"all devices are taken": {ownFirst, gangOnA + waits, ""},
		"one seems to be free":  {ownFirst, gangOnA + fits, "node of a pod that fits nowhere"},
		// Upstream gives the last pod's own claim the device that it shares. One stays free if the other pod writes first.
		"upstream mixes up devices":             {sharedFirst, gangOnA + waits, ""},
		"upstream mixes up devices another way": {sharedFirst, gangOnA + fits, ""},
	} {
		t.Run(name, func(t *testing.T) {
			expectReplay(t, open(t, []byte(c.cluster), nil).ReplayPodGroups, c.decisions+summary, c.refused)
		})
	}
}

// A claim has a device of node a, where only one of the group's pods fits.
const oneFits = `
apiVersion: v1
kind: List
items: [
{apiVersion: v1, kind: Node, metadata: {name: a}, status: {allocatable: {cpu: 1, pods: 9}}},
{apiVersion: v1, kind: Node, metadata: {name: b}, status: {allocatable: {cpu: %[1]d, pods: 9}}},
{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: d, uid: d},
 status: {allocation: {nodeSelector: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [a]}]}]}}}},
{apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, metadata: {name: g, uid: g}, spec: {schedulingPolicy: {basic: {}}}},
{apiVersion: v1, kind: Pod, metadata: {name: g-0, uid: g-0}, spec: {schedulingGroup: {podGroupName: g}, containers: [{name: c, resources: {requests: {cpu: 1}}}], %[2]s}},
{apiVersion: v1, kind: Pod, metadata: {name: g-1, uid: g-1}, spec: {schedulingGroup: {podGroupName: g}, containers: [{name: c, resources: {requests: {cpu: 1}}}], %[2]s}}]`

func TestAReplayEndsWhereAPodOfAGroupMayGiveUpWhatAnotherIsToUse(t *testing.T) {
	usePodGroups(t, upstream.PodGroupsWithClaims)
	oneOnA := func(message string) string {
		return `{"pod":"default/g-0","node":"a"}
{"pod":"default/g-1","node":null,"message":"0/2 nodes are available: ` + message + `."}
{"podGroup":"default/g","status":"True","reason":"Scheduled"}
`
	}
	// The binding of the first pod failed.
	const again = `{"pod":"default/g-0","node":"a"}
{"podGroup":"default/g","status":"True","reason":"Scheduled"}
`
	for name, c := range map[string]struct{ cluster, decisions, refused string }{
		"of a claim": {fmt.Sprintf(oneFits, 1, "resourceClaims: [{name: d, resourceClaimName: d}]"),
			oneOnA("1 Insufficient cpu, 1 resourceclaim not available on the node") + again, ""},
		"without claims": {fmt.Sprintf(oneFits, 0, "nodeSelector: {}"), oneOnA("2 Insufficient cpu") + again, "not pending"},
	} {
		t.Run(name, func(t *testing.T) {
			expectReplay(t, open(t, []byte(c.cluster), nil).ReplayPodGroups, c.decisions+summary, c.refused)
		})
	}
}

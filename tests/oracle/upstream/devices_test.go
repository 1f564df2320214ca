// SPDX-License-Identifier: Apache-2.0

package upstream_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"berth.dev/tests/oracle/upstream"
)

func TestClassesThatNoPluginFollowsAreNotWaitedFor(t *testing.T) {
	const cluster = `
apiVersion: v1
kind: List
items: [
{apiVersion: v1, kind: Node, metadata: {name: a}, status: {allocatable: {pods: 9}}},
{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: c}, spec: {extendedResourceName: example.com/gpu}},
{apiVersion: v1, kind: Pod, metadata: {name: x}, spec: {containers: [{name: c}]}}]`
	if v := verdictOf(t, cluster, configOf("", names.DynamicResources, names.NodeResourcesFit)); v.Result != upstream.Scheduled {
		t.Errorf("result %s: %s", v.Result, v.Message)
	}
}

// Node a has the devices that claim d holds; it has no room for pod x.
const oneClaim = `
apiVersion: v1
kind: List
items: [
{apiVersion: v1, kind: Node, metadata: {name: a}, status: {allocatable: {pods: 9}}},
{apiVersion: v1, kind: Node, metadata: {name: b}, status: {allocatable: {cpu: 1, pods: 9}}},
{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: d, uid: d},
 status: {allocation: {nodeSelector: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [a]}]}]}}}},
{apiVersion: v1, kind: Pod, metadata: {name: x, uid: x}, spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}],
 resourceClaims: [{name: d, resourceClaimName: d}]}},
{apiVersion: v1, kind: Pod, metadata: {name: z, uid: z}, spec: {containers: [{name: c}], resourceClaims: [{name: d, resourceClaimName: d}]}}]`

func TestReplayOfADeallocation(t *testing.T) {
	const (
		gives = `{"pod":"default/x","node":null,"message":"0/2 nodes are available: 1 Insufficient cpu, ` +
			`1 resourceclaim not available on the node. deallocation of ResourceClaim completed"}` + "\n"
		end = `{"summary":{}}`
	)
	onNode := func(pod, node string) string { return `{"pod":"default/` + pod + `","node":"` + node + `"}` + "\n" }
	for _, c := range []struct{ name, decisions, want string }{
		{"the pod that gave the claim up", gives + onNode("x", "b") + onNode("z", "b") + end, ""},
		{"a pod that saw the claim as it was, and fails to bind", gives + onNode("z", "a") + onNode("x", "b") + onNode("z", "b") + end, ""},
		{"a pod that saw neither", gives + onNode("x", "a") + end, "not the best node"},
	} {
		t.Run(c.name, func(t *testing.T) {
			expectReplay(t, open(t, []byte(oneClaim), configOf("", names.DefaultPreemption)).Replay, c.decisions, c.want)
		})
	}
}

// Pod q gets device one where it has heard that claim d gave it up, else device two; pod w wants device one.
func TestAReplayEndsWhereWhichDevicesAPodGotIsNotSaid(t *testing.T) {
	const cluster = `
apiVersion: v1
kind: List
items: [
{apiVersion: v1, kind: Node, metadata: {name: a}, status: {allocatable: {pods: 9}}},
{apiVersion: v1, kind: Node, metadata: {name: b}, status: {allocatable: {cpu: 1, pods: 9}}},
{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: any}},
{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: s}, spec: {driver: x.example.com, nodeName: a,
 pool: {name: p, generation: 1, resourceSliceCount: 1}, devices: [{name: one, attributes: {first: {bool: true}}}, {name: two}]}},
{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: d, uid: d},
 status: {allocation: {devices: {results: [{request: r, driver: x.example.com, pool: p, device: one}]},
  nodeSelector: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [a]}]}]}}}},
{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: e, uid: e},
 spec: {devices: {requests: [{name: r, exactly: {deviceClassName: any, allocationMode: ExactCount, count: 1}}]}}},
{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: f, uid: f},
 spec: {devices: {requests: [{name: r, exactly: {deviceClassName: any, allocationMode: ExactCount, count: 1,
  selectors: [{cel: {expression: 'device.attributes["x.example.com"].?first.orValue(false)'}}]}}]}}},
{apiVersion: v1, kind: Pod, metadata: {name: x, uid: x}, spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}],
 resourceClaims: [{name: d, resourceClaimName: d}]}},
{apiVersion: v1, kind: Pod, metadata: {name: q, uid: q}, spec: {containers: [{name: c}], resourceClaims: [{name: e, resourceClaimName: e}]}},
{apiVersion: v1, kind: Pod, metadata: {name: w, uid: w}, spec: {containers: [{name: c}], resourceClaims: [{name: f, resourceClaimName: f}]}}]`
	const (
		gives = `{"pod":"default/x","node":null,"message":"0/2 nodes are available: 1 Insufficient cpu, ` +
			`1 resourceclaim not available on the node. deallocation of ResourceClaim completed"}` + "\n"
		onA = `{"pod":"default/q","node":"a"}` + "\n" + `{"pod":"default/w","node":"a"}` + "\n"
		end = `{"summary":{}}`
	)
	expectReplay(t, open(t, []byte(cluster), configOf("", names.DefaultPreemption)).Replay, gives+onA+end, "")
}

func TestReplayOfAClaimThatManyPodsGet(t *testing.T) {
	var cluster, decisions strings.Builder
	cluster.WriteString(node("za-1", "", "") + `---
{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: c}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: d, namespace: default, uid: d}, status: {allocation: {}}}
`)
	for i := range 6 {
		fmt.Fprintf(&cluster, "---\n{apiVersion: v1, kind: Pod, metadata: {name: p%d, uid: u%d}, spec: {%s,"+
			" resourceClaims: [{name: d, resourceClaimName: d}]}}\n", i, i, plain)
		fmt.Fprintf(&decisions, `{"pod":"default/p%d","node":"za-1"}`+"\n", i)
	}
	// The last one's binding failed: five others wrote the claim before it could.
	decisions.WriteString(`{"pod":"default/p5","node":"za-1"}` + "\n" + `{"summary":{}}`)
	expectReplay(t, open(t, []byte(cluster.String()), configOf("", names.DefaultPreemption)).Replay, decisions.String(), "")
}

func TestDevicesOfAClaimAreToldWithoutAnyClass(t *testing.T) {
	const cluster = `
apiVersion: v1
kind: List
items: [
{apiVersion: v1, kind: Node, metadata: {name: a}, status: {allocatable: {pods: 9}}},
{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: d, namespace: default, uid: d},
 status: {allocation: {devices: {results: [{request: r, driver: d, pool: a, device: gpu}]}}}},
{apiVersion: v1, kind: Pod, metadata: {name: x, uid: x}, spec: {containers: [{name: c}], resourceClaims: [{name: d, resourceClaimName: d}]}}]`
	v := verdictOf(t, cluster, configOf(""))
	if said := string(v.Line()); !strings.Contains(said, `"claims":[{"claim":"default/d","devices":["r: d/a/gpu"]}]`) {
		t.Error(said)
	}
}

func TestAShareOfExtendedResourcesIsToldBesideOneOfAClaim(t *testing.T) {
	const cluster = `
apiVersion: v1
kind: List
items: [
{apiVersion: v1, kind: Node, metadata: {name: a}, status: {allocatable: {pods: 9}}},
{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: nics}, spec: {extendedResourceName: example.com/nic}},
{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: s}, spec: {driver: d, nodeName: a,
 pool: {name: a, resourceSliceCount: 1}, devices: [{name: nic, allowMultipleAllocations: true,
 capacity: {memory: {value: 8Gi, requestPolicy: {default: 2Gi}}}}]}},
{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: c, namespace: default, uid: c},
 spec: {devices: {requests: [{name: r, exactly: {deviceClassName: nics, allocationMode: ExactCount, count: 1}}]}}},
{apiVersion: v1, kind: Pod, metadata: {name: x, uid: x}, spec: {resourceClaims: [{name: c, resourceClaimName: c}],
 containers: [{name: c, resources: {requests: {example.com/nic: 1}}}]}}]`
	v := verdictOf(t, cluster, configOf(""))
	const want = `"claims":[{"claim":"default/c","devices":["r: d/a/nic share memory=2Gi"]},` +
		`{"claim":"<extended resources>","devices":["d/a/nic"]}]`
	if said := string(v.Line()); !strings.Contains(said, want) {
		t.Errorf("%s\nlacks %s", said, want)
	}
}

// docs/differences.md says so of the second; Berth binds it.
func TestUpstreamBindsNoPodWithAClaimAndAnExtendedResourceOfTheNode(t *testing.T) {
	const cluster = `
apiVersion: v1
kind: List
items: [
{apiVersion: v1, kind: Node, metadata: {name: a}, status: {allocatable: {pods: 9%s}}},
{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: nics}, spec: {extendedResourceName: example.com/nic}},
{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: s}, spec: {driver: d, nodeName: a,
 pool: {name: a, resourceSliceCount: 1}, devices: [{name: one}, {name: two}]}},
{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: c, namespace: default, uid: c},
 spec: {devices: {requests: [{name: r, exactly: {deviceClassName: nics, allocationMode: ExactCount, count: 1}}]}}},
{apiVersion: v1, kind: Pod, metadata: {name: x, uid: x}, spec: {resourceClaims: [{name: c, resourceClaimName: c}],
 containers: [{name: c, resources: {requests: {example.com/nic: 1}}}]}}]`
	for _, c := range []struct{ allocatable, want string }{
		{"", ""},
		{", example.com/nic: 4", "nil or empty request mappings"},
	} {
		err := open(t, []byte(fmt.Sprintf(cluster, c.allocatable)), configOf("")).BindDevices("default/x", "a")
		if said := fmt.Sprint(err); (err == nil) != (c.want == "") || !strings.Contains(said, c.want) {
			t.Errorf("with %q: %v", c.allocatable, err)
		}
	}
}

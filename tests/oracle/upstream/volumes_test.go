// SPDX-License-Identifier: Apache-2.0

package upstream_test

import (
	"strings"
	"testing"

	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

// Two zones with a node each. Class local has volumes in za alone, the smaller of which is enough for claim data; class made
// gets a volume wherever its pod goes. The two pods share both claims.
const withVolumes = `
apiVersion: v1
kind: List
items: [
{apiVersion: v1, kind: Node, metadata: {name: a, labels: {zone: za}}, status: {allocatable: {cpu: 9, memory: 8Gi, pods: 9}}},
{apiVersion: v1, kind: Node, metadata: {name: b, labels: {zone: zb}}, status: {allocatable: {cpu: 9, memory: 8Gi, pods: 9}}},
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: local}, provisioner: kubernetes.io/no-provisioner,
 volumeBindingMode: WaitForFirstConsumer},
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: made}, provisioner: a.csi.example,
 volumeBindingMode: WaitForFirstConsumer},
{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: a}, spec: {drivers: [
 {name: a.csi.example, nodeID: a, topologyKeys: [zone]}]}},
{apiVersion: v1, kind: PersistentVolume, metadata: {name: big}, spec: {capacity: {storage: 9Gi}, storageClassName: local,
 accessModes: [ReadWriteOnce], nodeAffinity: {required: {nodeSelectorTerms: [
  {matchExpressions: [{key: zone, operator: In, values: [za]}]}]}}}, status: {phase: Available}},
{apiVersion: v1, kind: PersistentVolume, metadata: {name: small}, spec: {capacity: {storage: 5Gi}, storageClassName: local,
 accessModes: [ReadWriteOnce], nodeAffinity: {required: {nodeSelectorTerms: [
  {matchExpressions: [{key: zone, operator: In, values: [za]}]}]}}}, status: {phase: Available}},
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, uid: u1}, spec: {storageClassName: local,
 accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}},
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: logs, uid: u2}, spec: {storageClassName: made,
 accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}},
{apiVersion: v1, kind: Pod, metadata: {name: x}, spec: {containers: [{name: c}], volumes: [
 {name: d, persistentVolumeClaim: {claimName: data}}, {name: l, persistentVolumeClaim: {claimName: logs}}]}},
{apiVersion: v1, kind: Pod, metadata: {name: z}, spec: {containers: [{name: c}], volumes: [
 {name: l, persistentVolumeClaim: {claimName: logs}}]}}]`

func TestVerdictsHaveTheVolumesOfReserve(t *testing.T) {
	state := open(t, []byte(withVolumes), configOf(""))
	for range 2 { // The first judgement reserves nothing for good.
		verdicts := state.JudgeAll()
		x, z := string(verdicts[0].Line()), string(verdicts[1].Line())
		for _, part := range []string{
			`"a":{"claims":[{"claim":"default/data","volume":"small"},{"claim":"default/logs","provisioner":"a.csi.example"}],"feasible":true`,
			`"b":{"code":"UnschedulableAndUnresolvable","feasible":false,"plugin":"VolumeBinding","reasons":["node(s) didn't find available persistent volumes to bind"]}`} {
			if !strings.Contains(x, part) {
				t.Errorf("x: %s\nlacks %s", x, part)
			}
		}
		if strings.Count(z, `"claims":[{"claim":"default/logs","provisioner":"a.csi.example"}]`) != 2 {
			t.Errorf("z: %s", z)
		}
	}
}

func TestReplayBindsVolumes(t *testing.T) {
	const (
		x   = `{"pod":"default/x","node":"a"}` + "\n"
		z   = `{"pod":"default/z","node":"a"}` + "\n"
		end = `{"summary":{}}`
	)
	for _, c := range []struct{ name, decisions, want string }{
		// The volume made for x is of the zone of its node, which z must follow.
		{"what upstream could do", x + z + end, ""},
		{"another order", z + x + end, ""},
		{"a node that the volume does not reach", x + strings.Replace(z, `"a"`, `"b"`, 1) + end, "not the best node"},
	} {
		t.Run(c.name, func(t *testing.T) {
			expectReplay(t, open(t, []byte(withVolumes), configOf("", names.DefaultPreemption)).Replay, c.decisions, c.want)
		})
	}
}

// The node takes one volume of the driver. Claim first finds a volume that is there and of no driver; until it is bound, it counts
// as one that the driver makes, as claim second does.
const withLimit = `
apiVersion: v1
kind: List
items: [
{apiVersion: v1, kind: Node, metadata: {name: a}, status: {allocatable: {cpu: 9, memory: 8Gi, pods: 9}}},
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: made}, provisioner: a.csi.example,
 volumeBindingMode: WaitForFirstConsumer},
{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: a}, spec: {drivers: [
 {name: a.csi.example, nodeID: a, allocatable: {count: 1}}]}},
{apiVersion: v1, kind: PersistentVolume, metadata: {name: there}, spec: {capacity: {storage: 1Gi}, storageClassName: made,
 accessModes: [ReadWriteOnce], nfs: {server: nfs.example, path: /}}, status: {phase: Available}},
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: first, uid: u1}, spec: {storageClassName: made,
 accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}},
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: second, uid: u2}, spec: {storageClassName: made,
 accessModes: [ReadWriteOnce], resources: {requests: {storage: 9Gi}}}},
{apiVersion: v1, kind: Pod, metadata: {name: x}, spec: {containers: [{name: c}], volumes: [
 {name: d, persistentVolumeClaim: {claimName: first}}]}},
{apiVersion: v1, kind: Pod, metadata: {name: z}, spec: {containers: [{name: c}], volumes: [
 {name: d, persistentVolumeClaim: {claimName: second}}]}}]`

func TestAReplayMayDecideBeforeVolumesAreBound(t *testing.T) {
	const (
		x    = `{"pod":"default/x","node":"a"}` + "\n"
		z    = `{"pod":"default/z","node":"a"}` + "\n"
		full = `{"pod":"default/z","node":null,"message":"0/1 nodes are available: 1 node(s) exceed max volume count."}` + "\n"
		end  = `{"summary":{}}`
	)
	for _, c := range []struct{ name, decisions, want string }{
		{"once the volume is bound", x + z + end, ""},
		{"before it is bound; no event wakes the pod then", x + full + end, ""},
		{"before it is bound, and once it is", x + full + z + end, ""},
		{"before it is chosen", full + x + end, "no node"},
	} {
		t.Run(c.name, func(t *testing.T) {
			expectReplay(t, open(t, []byte(withLimit), configOf("", names.DefaultPreemption)).Replay, c.decisions, c.want)
		})
	}
}

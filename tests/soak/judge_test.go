// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/internal/daemon/workload"
)

// memory is samples with that much resident memory, in MiB.
func memory(mebibytes ...int64) []sample {
	samples := make([]sample, len(mebibytes))
	for i, value := range mebibytes {
		samples[i] = sample{Resident: value << 20, Descriptors: 20, Threads: 6}
	}
	return samples
}

func wrong(verdicts []verdict) string {
	var names []string
	for _, v := range verdicts {
		if !v.Holds {
			names = append(names, v.What)
		}
	}
	return strings.Join(names, ", ")
}

func TestGrowthFromTheSecondQuarterToTheLastIsSeen(t *testing.T) {
	leaky := memory(100, 100, 100, 100, 100, 100, 100, 100)
	for i := range leaky {
		leaky[i].Descriptors += 2 * i
		leaky[i].Threads += i / 2
		leaky[i].Heap = int64(50+2*i) << 20
	}
	cases := []struct {
		name    string
		samples []sample
		want    string
	}{
		{"a start that fills up", memory(40, 90, 100, 100, 100, 101, 100, 101), ""},
		{"one peak", memory(100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 190, 100), ""},
		{"growth within the tolerance", memory(100, 100, 100, 100, 102, 103, 106, 106), ""},
		{"steady growth", memory(100, 102, 104, 106, 108, 110, 112, 114), "no growth of resident memory"},
		{"what is not memory", leaky, "no growth of descriptors, no growth of threads, no growth of heap"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var verdicts []verdict
			for _, f := range judgeFlatness(c.samples, 5) {
				verdicts = append(verdicts, f.verdict())
			}
			if got := wrong(verdicts); got != c.want {
				t.Errorf("wrong: %q, want %q\n%v", got, c.want, verdicts)
			}
		})
	}
}

const log = `I1122 09:00:00.000000       1 debugger.cc:160] "Dump of cached NodeInfo" nodes=<
	Node name: node-0
	Deleted: false
	Requested Resources: pods: 2, cpu: 300m, memory: 268435456
	Allocatable Resources: pods: 110, cpu: 4000m, memory: 34359738368
	Scheduled Pods(number: 2):
	name: web-1, namespace: soak, uid: u1, phase: Running, nominated node: 
	name: web-2, namespace: soak, uid: u2, phase: Running, nominated node: 
	
	Node name: node-1
	Deleted: false
	Requested Resources: pods: 0
	Allocatable Resources: pods: 110, cpu: 4000m, memory: 34359738368
	Scheduled Pods(number: 0):
	Nominated Pods(number: 1):
	name: web-3, namespace: soak, uid: u3, phase: Pending, nominated node: node-1
	
 >
I1122 09:00:00.000000       1 debugger.cc:161] "Dump of scheduling queue" summary="activeQ:0; backoffQ:0; unschedulableEntities:0" pods=""
`

// atRest is what a run ends with when all is well.
func atRest() findings {
	pod := func(name, uid, cpu string) corev1.Pod {
		pod := workload.Pod(name, workload.Requests("cpu", cpu), workload.OnNode("node-0"))
		pod.UID = types.UID(uid)
		return *pod
	}
	return findings{
		log:   log,
		nodes: []corev1.Node{*workload.Node("node-0"), *workload.Node("node-1")},
		pods:  []corev1.Pod{pod("web-1", "u1", "100m"), pod("web-2", "u2", "200m")},
		bindings: []controlplane.Binding{
			{Pod: "web-1", UID: "u1", Node: "node-0", Code: 201},
			{Pod: "web-2", UID: "u2", Node: "node-1", Code: 409},
			{Pod: "web-2", UID: "u2", Node: "node-0", Code: 201},
		},
	}
}

// leftClaim is a claim that a pod has reserved which is gone.
func leftClaim() resourcev1.ResourceClaim {
	claim := workload.DeviceClaim("left", workload.DeviceRequest(deviceClass, 1))
	claim.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: "gone", UID: "u9"}}
	return *claim
}

func TestEachDefectAtTheEndIsSeen(t *testing.T) {
	const cacheDiffers = "the cache is what the API server has"
	cases := []struct {
		name  string
		spoil func(*findings)
		want  string
	}{
		{"all is well", func(*findings) {}, ""},
		{"a pod is not bound", func(f *findings) { f.settled = errors.New("pod web-4 is not bound") },
			"all pods that should run are bound"},
		{"the daemon crashed", func(f *findings) { f.stopped = errors.New("ended with code 139") },
			"the daemon ended when told to"},
		{"bound twice", func(f *findings) { f.bindings[1].Code = 201 }, "no pod was bound twice"},
		{"on another node", func(f *findings) { f.bindings[0].Node = "node-1" }, "each pod is where it was bound"},
		{"never bound", func(f *findings) { f.bindings = f.bindings[1:] }, "each pod is where it was bound"},
		{"bound, though the answer was lost", func(f *findings) { f.bindings[0].Code = 500 }, ""},
		{"without its volume", func(f *findings) { workload.UseEphemeral("data", storageClass, "1Gi")(&f.pods[0]) },
			"volumes are where their pods are"},
		{"a device lent to a pod that is gone", func(f *findings) { f.deviceClaims = []resourcev1.ResourceClaim{leftClaim()} }, "devices are where their pods are, each once"},
		{"too full", func(f *findings) { workload.Allocatable("cpu", "200m")(&f.nodes[0]) },
			"no node has more than it can hold"},
		{"the comparer found something", func(f *findings) { f.log = `I "Cache mismatch" missedPods="[u9]"` + "\n" + f.log },
			"the cache is what the informers hold"},
		{"a node is missing", func(f *findings) { f.nodes = append(f.nodes, *workload.Node("node-2")) }, cacheDiffers},
		{"a node has another name", func(f *findings) { f.nodes[1].Name = "node-2" }, cacheDiffers},
		{"a pod is missing", func(f *findings) { f.log = strings.Replace(f.log, "u1", "u9", 1) }, cacheDiffers},
		{"a pod too many", func(f *findings) { f.pods, f.bindings = f.pods[:1], f.bindings[:1] }, cacheDiffers},
		{"wrong sums", func(f *findings) { f.log = strings.Replace(f.log, "cpu: 300m", "cpu: 400m", 1) }, cacheDiffers},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			found := atRest()
			c.spoil(&found)
			if verdicts := found.judge(); wrong(verdicts) != c.want {
				t.Errorf("wrong: %q, want %q\n%v", wrong(verdicts), c.want, verdicts)
			}
		})
	}
}

func TestADumpIsWholeWhenItsLastLineIs(t *testing.T) {
	if !dumped(log) {
		t.Error("it is whole")
	}
	if dumped(log[:len(log)-1]) || dumped(log[:200]) {
		t.Error("it was taken before it was whole")
	}
}

// SPDX-License-Identifier: Apache-2.0

package neighbours

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/internal/daemon/workload"
)

// deschedulerPolicy has the plugins that undo what a scheduler decided when the cluster was another.
const deschedulerPolicy = `
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
profiles:
- name: all
  pluginConfig:
  - {name: RemoveDuplicates}
  - {name: RemovePodsViolatingInterPodAntiAffinity}
  - {name: RemovePodsViolatingNodeTaints}
  - name: LowNodeUtilization
    args:
      thresholds: {cpu: 20, memory: 20, pods: 20}
      targetThresholds: {cpu: 50, memory: 50, pods: 50}
  - name: RemovePodsViolatingTopologySpreadConstraint
    args:
      constraints: [DoNotSchedule, ScheduleAnyway]
  - name: RemovePodsViolatingNodeAffinity
    args:
      nodeAffinityType: [requiredDuringSchedulingIgnoredDuringExecution]
  plugins:
    deschedule:
      enabled: [RemovePodsViolatingInterPodAntiAffinity, RemovePodsViolatingNodeTaints, RemovePodsViolatingNodeAffinity]
    balance:
      enabled: [RemoveDuplicates, LowNodeUtilization, RemovePodsViolatingTopologySpreadConstraint]
`

const (
	// An hour has twelve rounds at the five minutes of the descheduler's chart; here a round takes two seconds, in which
	// what was evicted is placed again.
	quietRounds = 12
	mostRounds  = 60
	roundEvery  = 2 * time.Second
)

// moves are what the descheduler made of one scheduler's placements.
type moves struct {
	evictions int
	rounds    int // of the descheduler, until it evicted no more
	skew      int // between the zones, of the pods that are to be spread, at the end
	busiest   int // pods of the Deployment on its busiest node, at the end
}

func (m moves) String() string {
	return fmt.Sprintf("%d evictions in %d rounds, then none in %d; zones differ by %d, the busiest node has %d of 24 pods",
		m.evictions, m.rounds, quietRounds, m.skew, m.busiest)
}

// TestDeschedulerEvictsAndComesToRest fills four nodes of one zone, opens eight more in two others, and has the descheduler
// evict what no longer fits its plugins' ideas: the scheduler places it so that they are content soon, and stay so for as many
// rounds as an hour has.
func TestDeschedulerEvictsAndComesToRest(t *testing.T) {
	ours, theirs, told := besideBoth(t, controlplane.Options{ControllerManager: true, Kwok: true}, deschedule)
	if told && ours.evictions > 2*theirs.evictions {
		t.Errorf("%d evictions until it is content, beside kube-scheduler %d", ours.evictions, theirs.evictions)
	}
}

func deschedule(s *story) moves {
	zone := func(i int) string { return fmt.Sprintf("zone-%d", i/4) }
	name := func(i int) string { return fmt.Sprintf("node-%d", i) }
	for i := range 12 {
		options := []workload.NodeOption{workload.NodeLabel(corev1.LabelTopologyZone, zone(i)), workload.NodeLabel("disk", "ssd")}
		if i >= 4 {
			options = append(options, workload.Cordoned())
		}
		s.createNodes(workload.Node(name(i), options...))
	}
	s.createDeployment("web", 24, workload.Requests("cpu", "500m", "memory", "1Gi"))
	s.createDeployment("spread", 9, workload.Requests("cpu", "100m"),
		workload.Spread(corev1.LabelTopologyZone, corev1.ScheduleAnyway))
	s.createDeployment("fast", 3, workload.Requests("cpu", "100m"), workload.RequireNode("disk", "ssd"))
	s.awaitPlaced(time.Minute, 36)

	// What was right is wrong now: there is room elsewhere, and node-0 has another disk.
	patch := func(node, patch string) {
		_, err := s.admin.CoreV1().Nodes().Patch(s.ctx, node, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{})
		s.must(err)
	}
	for i := 4; i < 12; i++ {
		patch(name(i), `{"spec":{"unschedulable":false}}`)
	}
	patch(name(0), `{"metadata":{"labels":{"disk":"hdd"}}}`)

	policy := filepath.Join(s.dir, "policy.yaml")
	s.must(os.WriteFile(policy, []byte(deschedulerPolicy), 0o644))
	placed := s.pods.Bound()
	d := s.start(Descheduler, nil, "--kubeconfig="+s.plane.Kubeconfig(controlplane.Admin), "--policy-config-file="+policy,
		"--descheduling-interval="+roundEvery.String(), "--bind-address=127.0.0.1", "--secure-port=0", "--disable-metrics", "--v=1")
	m := s.awaitQuiet(d)
	s.awaitPlaced(30*time.Second, 36)
	m.evictions = s.pods.Bound() - placed // each eviction has its Deployment make another pod
	s.checkRoom()

	zones, web, nodes := map[string]int{zone(0): 0, zone(4): 0, zone(8): 0}, map[string]int{}, s.nodes()
	for _, pod := range s.pods.Pods() {
		node := nodes[pod.Spec.NodeName]
		switch pod.Labels["app"] {
		case "spread":
			zones[node.Labels[corev1.LabelTopologyZone]]++
		case "web":
			web[node.Name]++
		case "fast":
			if node.Labels["disk"] != "ssd" {
				s.Errorf("pod %s is still on %s", pod.Name, node.Name)
			}
		}
	}
	least := 9
	for _, n := range zones {
		m.skew, least = max(m.skew, n), min(least, n)
	}
	m.skew -= least
	for _, n := range web {
		m.busiest = max(m.busiest, n)
	}
	if m.evictions == 0 || m.skew > 1 {
		s.Errorf("%s", m)
	}
	return m
}

// awaitQuiet waits until the descheduler has evicted nothing in as many rounds as an hour has.
func (s *story) awaitQuiet(d *process) moves {
	s.Helper()
	var m moves
	s.eventually(mostRounds*roundEvery+time.Minute, "quiet rounds of the descheduler", func() bool {
		select {
		case <-d.exited:
			s.Fatalf("the descheduler ended\n%s", tail(d.text()))
		default:
		}
		// The last line of a round counts the evictions of that round.
		rounds, last := 0, 0
		for line := range strings.Lines(d.text()) {
			if !strings.Contains(line, `"Number of evictions/requests"`) {
				continue
			}
			rounds++
			if !strings.Contains(line, "totalEvicted=0 ") {
				last = rounds
			}
		}
		if rounds > mostRounds {
			s.Fatalf("it evicts in round %d of %d still\n%s", last, rounds, tail(d.text()))
		}
		m.rounds = last
		return rounds-last >= quietRounds
	})
	return m
}

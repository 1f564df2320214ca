// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/tests/internal/daemon/workload"
)

// TestSchedules plays schedules of faults, and finds nothing lost, nothing bound twice and no node overcommitted.
func TestSchedules(t *testing.T) {
	seed, count := number(t, "BERTH_FAULT_SEED", uint64(time.Now().UnixNano()%1_000_000)), number(t, "BERTH_FAULT_RUNS", 1)
	wanted := os.Getenv("BERTH_FAULT_FIND")
	const rarest = 1000 // seeds or more between two of a kind: no schedule has such trouble
	for since := 0; count > 0 && since < rarest; seed++ {
		s := draw(seed)
		if since++; !strings.Contains(s.String(), wanted) {
			continue
		}
		since, count = 0, count-1
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Log(s)
			fmt.Fprintf(os.Stderr, "BERTH_FAULT_SEED=%d\n", s.seed)
			newRun(t, s).judge()
		})
	}
	if count > 0 {
		t.Errorf("no schedule has %q", wanted)
	}
}

func number(t *testing.T, variable string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	value, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return value
}

// judge plays the schedule, lets the cluster come to rest and looks at what has become of it.
func (r *run) judge() {
	r.Helper()
	r.start()
	r.awaitFirst()
	before := footprintOf(r.keepers[0].daemon())
	begin := time.Now()
	r.play()
	r.must(r.heal())
	calm := time.Now()
	r.replenish()
	r.await("the cluster to come to rest", settleLimit, r.unsettled)
	kills, lost := 0, 0
	for _, k := range r.keepers {
		kills, lost = kills+k.kills, lost+k.lost
	}
	r.Logf("%s of trouble, %s until all was bound; faults met: %v, kills %d, leases lost %d",
		calm.Sub(begin).Round(time.Millisecond), time.Since(calm).Round(time.Millisecond), r.proxy.Hit(), kills, lost)
	// Of replicas, the first may have followed or led: it holds the same.
	if first := r.keepers[0]; !first.restarted() {
		if grown := footprintOf(first.daemon()).grown(before, r.spareConnections()); grown != "" {
			r.Errorf("the daemon has grown: %s", grown)
		}
	}
	for _, k := range r.keepers {
		if err := k.stop(); err != nil {
			r.Error(err)
		}
	}
	if r.machine != nil {
		r.Logf("%d writes were refused, %d look-ups held", r.machine.get(writesRefused), r.machine.get(lookupsHeld))
	}
	r.checkHistory()
	r.checkRecordings()
	if r.Failed() {
		r.Log(r.kept())
	}
}

// awaitFirst waits until the daemon has bound a pod.
func (r *run) awaitFirst() {
	r.Helper()
	first := r.create(wanted{namespace: r.namespaces[0], name: "first", options: []workload.PodOption{workload.NodeSelector(pool, r.crowd.pool("ports"))}})
	r.await("the first pod", 60*time.Second, func() string {
		pods, err := r.pods()
		if err == nil && len(pods) == 1 && pods[0].UID == first.UID && pods[0].Spec.NodeName != "" {
			return ""
		}
		return fmt.Sprint("it is not bound: ", err)
	})
}

// replenish makes again what a restore took away, and removes what it brought back.
func (r *run) replenish() {
	for _, w := range r.crowd.pods {
		if w.evictable {
			continue
		}
		if pod := r.create(w); pod != nil && w.deletedAt > 0 {
			r.remove(w, pod)
		}
	}
}

// await polls until nothing is missing any more.
func (r *run) await(what string, limit time.Duration, missing func() string) {
	r.Helper()
	for deadline := time.Now().Add(limit); ; time.Sleep(100 * time.Millisecond) {
		lacks := missing()
		if lacks == "" {
			return
		}
		if time.Now().After(deadline) || r.ctx.Err() != nil {
			r.Fatalf("waited %s in vain for %s: %s\n%s", limit, what, lacks, r.kept())
		}
	}
}

// unsettled says what is still to be done, "" if nothing is.
func (r *run) unsettled() string {
	pods, err := r.pods()
	if err != nil {
		return err.Error()
	}
	known, missing := map[string]wanted{}, 1 // the first pod is not of the crowd
	for _, w := range r.crowd.pods {
		known[w.namespace+"/"+w.name] = w
		if w.deletedAt == 0 && !w.evictable {
			missing++
		}
	}
	for i := range pods {
		pod := &pods[i]
		condition := workload.ScheduledCondition(pod)
		w := known[pod.Namespace+"/"+pod.Name]
		if !w.evictable {
			missing--
		}
		switch {
		case w.evictable:
			if !workload.IsUnschedulable(pod) {
				return fmt.Sprintf("pod %s, whose place others need, is on node %q and says %v", pod.Name, pod.Spec.NodeName, condition)
			}
		case w.impossible:
			// How many nodes there were when it was tried last depends on those that moved.
			if !workload.IsUnschedulable(pod) || !strings.Contains(condition.Message, " nodes are available: ") {
				return fmt.Sprintf("pod %s, which fits nowhere, says %v", pod.Name, condition)
			}
		case pod.Spec.NodeName == "":
			return fmt.Sprintf("pod %s is not bound: %v", pod.Name, condition)
		case !workload.IsBound(pod):
			return fmt.Sprintf("pod %s is on node %s and says %v", pod.Name, pod.Spec.NodeName, condition)
		}
	}
	if missing != 0 {
		return fmt.Sprintf("there are %d pods, want %d more", len(pods), missing)
	}
	return ""
}

// checkHistory holds what the API server has, and what its audit log tells, against what must never be.
func (r *run) checkHistory() {
	r.Helper()
	pods, err := r.pods()
	r.must(err)
	all, err := r.control.AuditBindings()
	r.must(err)
	own := all[:0]
	for _, b := range all {
		if b.Namespace == r.namespaces[0] || b.Namespace == r.namespaces[1] {
			own = append(own, b)
			if b.User != "berth" {
				r.Errorf("%s bound pod %s", b.User, b.Pod)
			}
		}
	}
	stays := r.history.stays(own, pods, time.Now())
	r.Logf("%d requests to bind, %d stays", len(own), len(stays))
	if len(stays) < len(pods)/2 {
		r.Errorf("the audit log tells of %d stays only, there are %d pods", len(stays), len(pods))
	}
	for what, wrong := range map[string]string{
		"bound twice":   r.history.boundTwice(own),
		"misplaced":     r.history.misplaced(own, pods, r.crashes),
		"overcommitted": r.history.overcommitted(stays),
		"at the end":    workload.Overfull(r.crowd.nodes, workload.Pointers(pods)),
		"skewed":        r.history.skewed(workload.Pointers(pods)),
		"events":        r.untruthful(pods),
		"claims":        r.wrongClaims(pods),
	} {
		if wrong != "" {
			r.Errorf("%s: %s", what, wrong)
		}
	}
}

// untruthful tells of an event that says that a pod is where it is not.
func (r *run) untruthful(pods []corev1.Pod) string {
	if r.restores {
		return "" // events of what the restore undid are true of their time
	}
	nodes := map[string]string{}
	for i := range pods {
		nodes[string(pods[i].UID)] = pods[i].Spec.NodeName
	}
	for _, namespace := range r.namespaces {
		events, err := workload.ScheduledEvents(r.ctx, r.admin, namespace)
		if err != nil {
			return err.Error()
		}
		for _, event := range events {
			node, there := nodes[string(event.Regarding.UID)]
			if there && !strings.HasSuffix(event.Note, " to "+node) {
				return fmt.Sprintf("of pod %s on node %q: %s", event.Regarding.Name, node, event.Note)
			}
		}
	}
	return ""
}

// wrongClaims tells of volumes and devices that are not where their pods are, or were given away twice.
func (r *run) wrongClaims(pods []corev1.Pod) string {
	namespace := r.namespaces[0] // where the pods are that have claims
	claims, err := r.admin.CoreV1().PersistentVolumeClaims(namespace).List(r.ctx, metav1.ListOptions{})
	r.must(err)
	volumes, err := r.admin.CoreV1().PersistentVolumes().List(r.ctx, metav1.ListOptions{})
	r.must(err)
	own := slices.DeleteFunc(volumes.Items, func(pv corev1.PersistentVolume) bool { return !strings.HasPrefix(pv.Name, r.id+"-") })
	devices, err := r.admin.ResourceV1().ResourceClaims(namespace).List(r.ctx, metav1.ListOptions{})
	r.must(err)
	wrong, bound := workload.CheckVolumes(r.crowd.nodes, workload.Pointers(pods), workload.Pointers(claims.Items), workload.Pointers(own))
	more, allocated := workload.CheckDevices(workload.Pointers(pods), workload.Pointers(devices.Items))
	r.Logf("%d volumes are bound, %d devices allocated", bound, allocated)
	return strings.Join(append(wrong, more...), "; ")
}

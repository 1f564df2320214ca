// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/internal/daemon/workload"
)

// stay is a pod on a node, from when it certainly was there until it may have gone.
type stay struct {
	pod         *corev1.Pod // with its node
	from, until time.Time   // until zero: to the end
}

func (s stay) covers(t time.Time) bool {
	return !s.from.After(t) && (s.until.IsZero() || t.Before(s.until))
}

// history is what is known of a run. A restore of etcd begins an epoch: what happened before it counts only as far as
// the restored state shows it.
type history struct {
	nodes   []*corev1.Node
	pods    map[string]*corev1.Pod // by UID, as they were made
	deleted map[string]time.Time   // by UID, when the request to delete the pod was sent
	epochs  []epoch
}

type epoch struct {
	from  time.Time
	until time.Time         // when the API server was stopped for the restore; zero: the last one
	bound map[string]string // UID to node, as it began
}

// stays are all that the audit log tells of, and the pods that are there now: what the API server was about to do when
// its client went away it may do, and call a failure. Left out is a pod that is gone although the test did not end it:
// the eviction found it without a node and removed it at once, bound or not by then, and nothing tells when.
func (h *history) stays(bindings []controlplane.Binding, pods []corev1.Pod, now time.Time) []stay {
	var all []stay
	there := map[string]bool{}
	for i := range pods {
		there[string(pods[i].UID)] = true
	}
	for i, e := range h.epochs {
		last := i == len(h.epochs)-1
		for uid, node := range e.bound {
			all = h.append(all, uid, node, e.from, e.until)
		}
		for _, b := range e.of(bindings) {
			_, ended := h.deleted[b.UID]
			if b.Bound() && (ended || there[b.UID] || !last) {
				all = h.append(all, b.UID, b.Node, b.Answered, e.until)
			}
		}
	}
	for i := range pods {
		there := func(s stay) bool { return s.pod.UID == pods[i].UID && s.covers(now) }
		if pods[i].Spec.NodeName != "" && !slices.ContainsFunc(all, there) {
			all = h.append(all, string(pods[i].UID), pods[i].Spec.NodeName, now, time.Time{})
		}
	}
	return all
}

func (h *history) append(all []stay, uid, node string, from, until time.Time) []stay {
	pod := h.pods[uid]
	if pod == nil {
		return all
	}
	if gone, ok := h.deleted[uid]; ok && (until.IsZero() || gone.Before(until)) {
		until = gone
	}
	pod = pod.DeepCopy()
	pod.Spec.NodeName = node
	return append(all, stay{pod: pod, from: from, until: until})
}

// of are the bindings within the epoch.
func (e epoch) of(bindings []controlplane.Binding) []controlplane.Binding {
	var own []controlplane.Binding
	for _, b := range bindings {
		if !b.Received.Before(e.from) && (e.until.IsZero() || b.Received.Before(e.until)) {
			own = append(own, b)
		}
	}
	return own
}

// boundTwice tells of a pod that was bound again.
func (h *history) boundTwice(bindings []controlplane.Binding) string {
	for _, e := range h.epochs {
		own := e.of(bindings)
		if twice := controlplane.BoundTwice(own); twice != "" {
			return twice
		}
		for _, b := range own {
			if node, already := e.bound[b.UID]; already && b.Bound() {
				return fmt.Sprintf("pod %s was on %s when etcd was restored, and was bound to %s", b.Pod, node, b.Node)
			}
		}
	}
	return ""
}

// misplaced tells of a pod that is not where it was bound. The audit log may lack a binding if the API server crashed.
func (h *history) misplaced(bindings []controlplane.Binding, pods []corev1.Pod, crashed bool) string {
	last := h.epochs[len(h.epochs)-1]
	own := last.of(bindings)
	told := map[string]bool{}
	for _, b := range own {
		told[b.UID] = told[b.UID] || b.Bound()
	}
	var compared []corev1.Pod
	for _, pod := range pods {
		uid := string(pod.UID)
		node, before := last.bound[uid]
		if before && node != pod.Spec.NodeName {
			return fmt.Sprintf("pod %s is on node %q and was on %q when etcd was restored", pod.Name, pod.Spec.NodeName, node)
		}
		if !before && (told[uid] || !crashed) {
			compared = append(compared, pod)
		}
	}
	return controlplane.Misplaced(own, compared)
}

// overcommitted tells of a moment at which pods were together that must not be. Resources, ports and anti-affinity:
// of pods that may be together, any fewer may. (The skew of a spread may be exceeded while binds are under way.)
func (h *history) overcommitted(stays []stay) string {
	moments := slices.SortedFunc(slices.Values(stays), func(a, b stay) int { return a.from.Compare(b.from) })
	for _, arrived := range moments {
		var there []*corev1.Pod
		for _, s := range stays {
			if s.covers(arrived.from) {
				there = append(there, s.pod)
			}
		}
		wrong := cmp.Or(workload.Overfull(h.nodes, there), portClash(there), h.unfriendly(there))
		if wrong != "" {
			return fmt.Sprintf("at %s, when pod %s came: %s", arrived.from.Format(time.StampMicro), arrived.pod.Name, wrong)
		}
	}
	return ""
}

func portClash(pods []*corev1.Pod) string {
	type port struct {
		node, protocol, address string
		number                  int32
	}
	users := map[port]string{}
	for _, pod := range pods {
		for _, container := range pod.Spec.Containers {
			for _, p := range container.Ports {
				if p.HostPort == 0 {
					continue
				}
				key := port{pod.Spec.NodeName, string(p.Protocol), p.HostIP, p.HostPort}
				if other, taken := users[key]; taken {
					return fmt.Sprintf("pods %s and %s have port %d of node %s", other, pod.Name, p.HostPort, pod.Spec.NodeName)
				}
				users[key] = pod.Name
			}
		}
	}
	return ""
}

// unfriendly tells of two pods of one domain of which one demands that the other be elsewhere.
func (h *history) unfriendly(pods []*corev1.Pod) string {
	nodes := h.nodesByName()
	for _, pod := range pods {
		for _, term := range repellents(pod) {
			selector, err := metav1.LabelSelectorAsSelector(term.LabelSelector)
			if err != nil {
				return err.Error()
			}
			domain := domainOf(nodes, pod, term.TopologyKey)
			for _, other := range pods {
				if other.UID != pod.UID && other.Namespace == pod.Namespace && domain != "" &&
					domainOf(nodes, other, term.TopologyKey) == domain && selector.Matches(labels.Set(other.Labels)) {
					return fmt.Sprintf("pod %s is in %s %s, where pod %s will not have it", other.Name, term.TopologyKey, domain, pod.Name)
				}
			}
		}
	}
	return ""
}

func (h *history) nodesByName() map[string]*corev1.Node {
	nodes := map[string]*corev1.Node{}
	for _, node := range h.nodes {
		nodes[node.Name] = node
	}
	return nodes
}

func repellents(pod *corev1.Pod) []corev1.PodAffinityTerm {
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.PodAntiAffinity == nil {
		return nil
	}
	return pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
}

func domainOf(nodes map[string]*corev1.Node, pod *corev1.Pod, key string) string {
	if node := nodes[pod.Spec.NodeName]; node != nil {
		return node.Labels[key]
	}
	return ""
}

// skewed tells of pods with a hard spread that are spread worse than they allow over the nodes that they may be on.
func (h *history) skewed(pods []*corev1.Pod) string {
	nodes := h.nodesByName()
	for _, pod := range pods {
		for _, constraint := range pod.Spec.TopologySpreadConstraints {
			if constraint.WhenUnsatisfiable != corev1.DoNotSchedule {
				continue
			}
			selector, err := metav1.LabelSelectorAsSelector(constraint.LabelSelector)
			if err != nil {
				return err.Error()
			}
			counts := map[string]int{}
			for _, node := range h.nodes {
				if labels.SelectorFromSet(pod.Spec.NodeSelector).Matches(labels.Set(node.Labels)) {
					counts[node.Labels[constraint.TopologyKey]] += 0
				}
			}
			for _, other := range pods {
				domain := domainOf(nodes, other, constraint.TopologyKey)
				if _, counted := counts[domain]; counted && other.Namespace == pod.Namespace && selector.Matches(labels.Set(other.Labels)) {
					counts[domain]++
				}
			}
			least, most := len(pods), 0
			for _, n := range counts {
				least, most = min(least, n), max(most, n)
			}
			if most-least > int(constraint.MaxSkew) {
				return fmt.Sprintf("pods like %s are spread as %v over %s", pod.Name, counts, constraint.TopologyKey)
			}
		}
	}
	return ""
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"berth.dev/tests/internal/daemon/workload"
)

// kind is a sort of pod that the schedulers are measured with.
type kind struct {
	name, about string
	// oneToANode: no node takes two of them.
	oneToANode bool
	// ofDeployments: controllers make them from Deployments behind Services, and they become Ready.
	ofDeployments bool
	// withVolumes: each has a claim that is bound to a CSI volume.
	withVolumes bool
	// provisioned: each has a claim for which a CSI volume is made once the pod has its node.
	provisioned bool
	// withDevices: each has a claim of one device, made for it from a template.
	withDevices bool
	change      func(*corev1.Pod)
}

var kinds = []kind{
	{name: "plain", about: "no constraint at all", change: func(*corev1.Pod) {}},
	{name: "spread", about: "hard spread constraints of skew 1 over zones and over hosts", change: func(pod *corev1.Pod) {
		workload.Spread(corev1.LabelTopologyZone, corev1.DoNotSchedule)(pod)
		workload.Spread(corev1.LabelHostname, corev1.DoNotSchedule)(pod)
	}},
	{name: "preferred-affinity", about: "preferred pod affinity to their kind, by host", change: func(pod *corev1.Pod) {
		pod.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 1, PodAffinityTerm: workload.SameHost(pod)}},
		}}
	}},
	{name: "anti-affinity", about: "required pod anti-affinity to their kind, by host", oneToANode: true, change: workload.Apart()},
	{name: "csi-volumes", about: "a claim each, bound to a CSI volume; each node may attach 39", withVolumes: true,
		change: func(pod *corev1.Pod) { workload.UseClaim(claimOf(pod.Name))(pod) }},
	{name: "csi-provisioned", about: "a claim each, for which a CSI volume is made in the zone of the pod's node", provisioned: true,
		change: func(pod *corev1.Pod) { workload.UseClaim(lateClaimOf(pod.Name))(pod) }},
	{name: "claim-templates", about: "a claim each of one device, made from a template; 8 devices a node", withDevices: true,
		change: workload.UseDevices("", claimTemplate)},
	{name: "deployments", about: "no constraint, of Deployments behind Services", ofDeployments: true, change: func(*corev1.Pod) {}},
}

var podRequests = workload.Requests("cpu", "100m", "memory", "128Mi")

func (k kind) pod(name string) *corev1.Pod {
	pod := workload.Pod(name, podRequests)
	pod.Labels = map[string]string{"app": k.name}
	k.change(pod)
	return pod
}

// findKinds are those named, all of them for "all".
func findKinds(names string) ([]kind, error) {
	if names == "all" {
		return kinds, nil
	}
	var found []kind
	var known []string
	for _, k := range kinds {
		known = append(known, k.name)
	}
	for name := range strings.SplitSeq(names, ",") {
		before := len(found)
		for _, k := range kinds {
			if k.name == name {
				found = append(found, k)
			}
		}
		if len(found) == before {
			return nil, fmt.Errorf("-workload: %q is none of %s", name, strings.Join(known, ", "))
		}
	}
	return found, nil
}

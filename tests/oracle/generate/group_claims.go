// SPDX-License-Identifier: Apache-2.0

package generate

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// groupClaims gives groups claims, and pods their own. No pod outside of a group has a claim that one in it has: what others see
// while it is being allocated is not said.
func (g *generator) groupClaims(pods []*corev1.Pod) {
	inGroup := map[*corev1.Pod]bool{}
	for _, group := range g.groups {
		for _, pod := range group.pods {
			inGroup[pod] = true
		}
		apart := func() {
			if g.chance(0.5) {
				g.claimApart(group.pods, 0.8)
			}
		}
		together := func() {
			if len(group.pods) > 0 && g.chance(g.mood.deviceClaimsOfPods) {
				g.claimTogether(group)
			}
		}
		first, last := apart, together
		// Upstream mixes up the devices of a pod that names its own claim after the one that it shares.
		if g.chance(0.15) {
			first, last = together, apart
		}
		first()
		last()
	}
	for _, pod := range pods {
		if !inGroup[pod] {
			g.claimApart([]*corev1.Pod{pod}, g.mood.deviceClaimsOfPods/2)
		}
	}
}

// claimTogether has the pods of a group share a claim: that of their group, which exists or is made from a template, or one
// that the group does not know.
func (g *generator) claimTogether(group *podGroup) {
	object := group.object
	if object.UID == "" {
		object.UID = types.UID("uid-" + object.Namespace + "-" + object.Name)
	}
	claim := g.deviceClaim(object.Namespace, object.Name+"-devices")
	claim.DeletionTimestamp = nil
	use := corev1.PodResourceClaim{Name: "shared", ResourceClaimName: &claim.Name}
	of := schedulingv1beta1.PodGroupResourceClaim{Name: use.Name, ResourceClaimName: use.ResourceClaimName}
	fromTemplate := g.chance(0.3)
	if fromTemplate {
		use.ResourceClaimName, use.ResourceClaimTemplateName = nil, ptr("template")
		of.ResourceClaimName, of.ResourceClaimTemplateName = nil, use.ResourceClaimTemplateName
		claim.OwnerReferences = []metav1.OwnerReference{{APIVersion: schedulingv1beta1.SchemeGroupVersion.String(), Kind: "PodGroup",
			Name: object.Name, UID: object.UID, Controller: ptr(true)}}
		object.Status.ResourceClaimStatuses = append(object.Status.ResourceClaimStatuses,
			schedulingv1beta1.PodGroupResourceClaimStatus{Name: use.Name, ResourceClaimName: &claim.Name})
	}
	if fromTemplate || g.chance(0.6) {
		object.Spec.ResourceClaims = append(object.Spec.ResourceClaims, of)
	}
	if g.chance(0.2) {
		g.allocate(claim, nil)
	}
	key := object.Namespace + "/" + object.Name
	g.deviceClaims[key] = append(g.deviceClaims[key], claim)
	for _, pod := range group.pods {
		if pod.UID == "" || g.chance(0.1) {
			continue
		}
		if fromTemplate {
			pod.Status.ResourceClaimStatuses = append(pod.Status.ResourceClaimStatuses,
				corev1.PodResourceClaimStatus{Name: use.Name, ResourceClaimName: &claim.Name})
		}
		g.useClaim(pod, use)
		g.reserveFor(claim, group, pod)
	}
}

// reserveFor has a pod that is on a node use the claim, if that has devices.
func (g *generator) reserveFor(claim *resourcev1.ResourceClaim, group *podGroup, pod *corev1.Pod) {
	if pod.Spec.NodeName == "" || claim.Status.Allocation == nil {
		return
	}
	consumer := resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: pod.Name, UID: pod.UID}
	if len(group.object.Spec.ResourceClaims) > 0 {
		consumer = resourcev1.ResourceClaimConsumerReference{APIGroup: schedulingv1beta1.GroupName, Resource: "podgroups",
			Name: group.object.Name, UID: group.object.UID}
	}
	for _, known := range claim.Status.ReservedFor {
		if known.UID == consumer.UID {
			return
		}
	}
	claim.Status.ReservedFor = append(claim.Status.ReservedFor, consumer)
}

// claimApart gives some of the pods a claim of their own, made from one template.
func (g *generator) claimApart(pods []*corev1.Pod, share float64) {
	const name = "own"
	example := g.deviceClaim("", "")
	for _, pod := range pods {
		if pod.UID == "" || !g.chance(share) {
			continue
		}
		claim := example.DeepCopy()
		claim.DeletionTimestamp = nil
		claim.Name, claim.Namespace = fmt.Sprintf("%s-%s-xyz", pod.Name, name), pod.Namespace
		claim.UID = types.UID("devices-" + claim.Namespace + "-" + claim.Name)
		claim.OwnerReferences = []metav1.OwnerReference{
			{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID, Controller: ptr(true)}}
		if pod.Spec.NodeName != "" {
			g.allocate(claim, pod)
		}
		key := pod.Namespace + "/" + pod.Name
		g.deviceClaims[key] = append(g.deviceClaims[key], claim)
		pod.Status.ResourceClaimStatuses = append(pod.Status.ResourceClaimStatuses,
			corev1.PodResourceClaimStatus{Name: name, ResourceClaimName: &claim.Name})
		g.useClaim(pod, corev1.PodResourceClaim{Name: name, ResourceClaimTemplateName: ptr("template")})
	}
}

// useClaim names the claim in the pod, and in its first container.
func (g *generator) useClaim(pod *corev1.Pod, use corev1.PodResourceClaim) {
	pod.Spec.ResourceClaims = append(pod.Spec.ResourceClaims, use)
	container := &pod.Spec.Containers[0]
	container.Resources.Claims = append(container.Resources.Claims, corev1.ResourceClaim{Name: use.Name})
}

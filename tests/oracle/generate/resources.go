// SPDX-License-Identifier: Apache-2.0

package generate

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	helpers "k8s.io/component-helpers/resource"
)

func (r random) quantity(from []string) resource.Quantity { return resource.MustParse(pick(r, from)) }

// requirements are what one container asks for.
func (g *generator) requirements() corev1.ResourceRequirements {
	m, r := g.mood, g.random
	requests := corev1.ResourceList{}
	limits := corev1.ResourceList{}
	g.request(requests, corev1.ResourceCPU, cpuRequests, m.noRequests)
	g.request(requests, corev1.ResourceMemory, memoryRequests, m.noRequests)
	g.request(requests, corev1.ResourceEphemeralStorage, diskRequests, 0.8)
	if r.chance(m.huge) {
		if r.chance(0.5) {
			requests[corev1.ResourceCPU] = r.quantity(hugeCPURequests)
		} else {
			requests[corev1.ResourceMemory] = r.quantity(hugeMemoryRequests)
		}
	}
	if r.chance(m.limits) {
		for name, quantity := range requests {
			more := quantity.DeepCopy()
			more.Add(quantity)
			limits[name] = more
		}
	}
	// Of these resources limits and requests must be the same.
	if r.chance(m.wantsExtended) {
		for _, name := range some(r, extendedResources, 1, 2) {
			limits[name] = resource.MustParse(pick(r, []string{"0", "1", "1", "2", "4"}))
			requests[name] = limits[name]
		}
	}
	// Huge pages are given only to who asks for cpu or memory too.
	_, cpu := requests[corev1.ResourceCPU]
	if cpu && r.chance(m.wantsHuge) {
		limits[hugePages2Mi] = resource.MustParse(pick(r, []string{"2Mi", "4Mi", "64Mi"}))
		requests[hugePages2Mi] = limits[hugePages2Mi]
		if r.chance(0.2) {
			limits[hugePages1Gi] = resource.MustParse("1Gi")
			requests[hugePages1Gi] = limits[hugePages1Gi]
		}
	}
	return corev1.ResourceRequirements{Requests: orNil(requests), Limits: orNil(limits)}
}

// request adds a request, unless it is left out with probability missing.
func (g *generator) request(into corev1.ResourceList, name corev1.ResourceName, from []string, missing float64) {
	switch {
	case g.chance(missing):
	case g.chance(g.mood.zeroRequests):
		into[name] = resource.MustParse("0")
	default:
		into[name] = g.quantity(from)
	}
}

func orNil(list corev1.ResourceList) corev1.ResourceList {
	if len(list) == 0 {
		return nil
	}
	return list
}

// podLevel gives the pod resources of its own, no less than its containers ask for.
func (g *generator) podLevel(pod *corev1.Pod) {
	ofContainers := helpers.PodRequests(pod, helpers.PodResourcesOptions{ExcludeOverhead: true})
	requests := corev1.ResourceList{}
	atLeast := func(name corev1.ResourceName, from []string) {
		quantity := g.quantity(from)
		if least := ofContainers[name]; quantity.Cmp(least) < 0 {
			// Twice as much: an API server rounds what each container asks for up.
			quantity = least.DeepCopy()
			quantity.Add(least)
		}
		requests[name] = quantity
	}
	if g.chance(0.8) {
		atLeast(corev1.ResourceCPU, []string{"500m", "1", "2", "1500m"})
	}
	if len(requests) == 0 || g.chance(0.6) {
		atLeast(corev1.ResourceMemory, []string{"512Mi", "1Gi", "3e9"})
	}
	limits := corev1.ResourceList{}
	if _, has := ofContainers[hugePages2Mi]; has {
		atLeast(hugePages2Mi, []string{"64Mi", "256Mi"})
		limits[hugePages2Mi] = requests[hugePages2Mi]
	}
	if _, has := ofContainers[hugePages1Gi]; has {
		atLeast(hugePages1Gi, []string{"2Gi"})
		limits[hugePages1Gi] = requests[hugePages1Gi]
	}
	if len(limits) > 0 {
		// Of a pod with limits an API server keeps what its containers add up to, too.
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			sum, asked := ofContainers[name]
			if _, has := requests[name]; asked && !has {
				requests[name] = sum
			}
		}
	}
	pod.Spec.Resources = &corev1.ResourceRequirements{Requests: requests, Limits: orNil(limits)}
}

// resize puts a placed pod in the middle of a change of its resources.
func (g *generator) resize(pod *corev1.Pod) {
	other := func(list corev1.ResourceList) corev1.ResourceList {
		changed := list.DeepCopy()
		for name, from := range map[corev1.ResourceName][]string{
			corev1.ResourceCPU: {"50m", "750m", "3"}, corev1.ResourceMemory: {"32Mi", "700Mi", "3Gi"},
		} {
			if _, has := changed[name]; has {
				changed[name] = resource.MustParse(from[g.resizeStep%len(from)])
			}
		}
		g.resizeStep++
		return changed
	}
	for i := range pod.Spec.Containers {
		if g.chance(0.2) {
			continue
		}
		container := &pod.Spec.Containers[i]
		status := corev1.ContainerStatus{Name: container.Name, Image: container.Image}
		if g.chance(0.8) {
			status.AllocatedResources = other(container.Resources.Requests)
		}
		if g.chance(0.8) {
			status.Resources = &corev1.ResourceRequirements{Requests: other(container.Resources.Requests)}
		}
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, status)
	}
	for i := range pod.Spec.InitContainers {
		container := &pod.Spec.InitContainers[i]
		if container.RestartPolicy != nil && g.chance(0.5) {
			pod.Status.InitContainerStatuses = append(pod.Status.InitContainerStatuses, corev1.ContainerStatus{
				Name: container.Name, Image: container.Image, AllocatedResources: other(container.Resources.Requests),
			})
		}
	}
	if pod.Spec.Resources != nil && g.chance(0.7) {
		pod.Status.Resources = &corev1.ResourceRequirements{Requests: other(pod.Spec.Resources.Requests)}
		if g.chance(0.8) {
			pod.Status.AllocatedResources = other(pod.Spec.Resources.Requests)
		}
	}
	if g.mood.deferred > 0 {
		if g.chance(g.mood.deferred) {
			pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
				Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: corev1.PodReasonDeferred,
			})
		}
		return
	}
	if g.chance(0.6) {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
			Type: corev1.PodResizePending, Status: corev1.ConditionTrue,
			Reason: pick(g.random, []string{corev1.PodReasonDeferred, corev1.PodReasonInfeasible}),
		})
	}
}

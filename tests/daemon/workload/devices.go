// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DeviceDriver is the driver of all devices of tests.
const DeviceDriver = "gpu.example.com"

// DeviceClass has all devices.
func DeviceClass(name string) *resourcev1.DeviceClass {
	return &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// NodeSlice is a node's pool of devices gpu-0, gpu-1 and so on, as its kubelet plugin publishes it.
func NodeSlice(node string, devices int) *resourcev1.ResourceSlice {
	slice := &resourcev1.ResourceSlice{
		ObjectMeta: metav1.ObjectMeta{Name: node + "-gpus"},
		Spec: resourcev1.ResourceSliceSpec{
			Driver: DeviceDriver, NodeName: &node,
			Pool: resourcev1.ResourcePool{Name: node, Generation: 1, ResourceSliceCount: 1},
		},
	}
	for i := range devices {
		slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{Name: fmt.Sprintf("gpu-%d", i)})
	}
	return slice
}

// DeviceClaimSpec asks for that many devices of a class, as request "gpu".
func DeviceClaimSpec(class string, count int64) resourcev1.ResourceClaimSpec {
	return resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{
		Name: "gpu",
		Exactly: &resourcev1.ExactDeviceRequest{
			DeviceClassName: class, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: count,
		},
	}}}}
}

// DeviceClaim is a claim of its own.
func DeviceClaim(name, class string, count int64) *resourcev1.ResourceClaim {
	return &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: DeviceClaimSpec(class, count)}
}

// DeviceClaimTemplate makes a claim for each pod that names it.
func DeviceClaimTemplate(name, class string, count int64) *resourcev1.ResourceClaimTemplate {
	return &resourcev1.ResourceClaimTemplate{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       resourcev1.ResourceClaimTemplateSpec{Spec: DeviceClaimSpec(class, count)},
	}
}

// UseDevices lets the pod use a claim.
func UseDevices(claim string) PodOption {
	return func(pod *corev1.Pod) {
		useDevices(pod, corev1.PodResourceClaim{Name: claim, ResourceClaimName: &claim})
	}
}

// UseOwnDevices lets the pod use a claim that is made for it from a template.
func UseOwnDevices(template string) PodOption {
	return func(pod *corev1.Pod) {
		useDevices(pod, corev1.PodResourceClaim{Name: template, ResourceClaimTemplateName: &template})
	}
}

func useDevices(pod *corev1.Pod, claim corev1.PodResourceClaim) {
	pod.Spec.ResourceClaims = append(pod.Spec.ResourceClaims, claim)
	container := &pod.Spec.Containers[0]
	container.Resources.Claims = append(container.Resources.Claims, corev1.ResourceClaim{Name: claim.Name})
}

// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// DeviceDriver is the driver of the devices made here.
const DeviceDriver = "gpu.example.com"

// DeviceClass has all devices of the driver.
func DeviceClass(name string) *resourcev1.DeviceClass {
	return &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: resourcev1.DeviceClassSpec{
		Selectors: []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: fmt.Sprintf("device.driver == %q", DeviceDriver)}}}}}
}

// DevicesOf is what a kubelet plugin publishes of a node: devices gpu-0, gpu-1 and so on, those of odd numbers of model "b".
func DevicesOf(node string, count int) *resourcev1.ResourceSlice {
	slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: node + "-gpus"}, Spec: resourcev1.ResourceSliceSpec{
		Driver: DeviceDriver, NodeName: &node, Pool: resourcev1.ResourcePool{Name: node, Generation: 1, ResourceSliceCount: 1}}}
	for i := range count {
		model := []string{"a", "b"}[i%2]
		slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{Name: fmt.Sprintf("gpu-%d", i),
			Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"model": {StringValue: &model}}})
	}
	return slice
}

// DeviceRequest asks for so many devices of the class for which the expressions hold.
func DeviceRequest(class string, count int64, expressions ...string) resourcev1.ResourceClaimSpec {
	exactly := &resourcev1.ExactDeviceRequest{DeviceClassName: class, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: count}
	for _, expression := range expressions {
		exactly.Selectors = append(exactly.Selectors, resourcev1.DeviceSelector{CEL: &resourcev1.CELDeviceSelector{Expression: expression}})
	}
	return resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{Name: "gpu", Exactly: exactly}}}}
}

// DeviceClaim is a claim of its own.
func DeviceClaim(name string, spec resourcev1.ResourceClaimSpec) *resourcev1.ResourceClaim {
	return &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}
}

// DeviceClaimTemplate makes a claim for each pod that names it.
func DeviceClaimTemplate(name string, spec resourcev1.ResourceClaimSpec) *resourcev1.ResourceClaimTemplate {
	return &resourcev1.ResourceClaimTemplate{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: resourcev1.ResourceClaimTemplateSpec{Spec: spec}}
}

// UseDevices has the pod's container use the devices of a claim, or of one that is made from the template.
func UseDevices(claim, template string) PodOption {
	return func(pod *corev1.Pod) {
		use := corev1.PodResourceClaim{Name: fmt.Sprintf("devices-%d", len(pod.Spec.ResourceClaims))}
		if claim != "" {
			use.ResourceClaimName = &claim
		} else {
			use.ResourceClaimTemplateName = &template
		}
		pod.Spec.ResourceClaims = append(pod.Spec.ResourceClaims, use)
		resources := &pod.Spec.Containers[0].Resources
		resources.Claims = append(resources.Claims, corev1.ResourceClaim{Name: use.Name})
	}
}

// DeleteDevicesOf deletes what the namespace has of claims and templates, and all slices.
func DeleteDevicesOf(ctx context.Context, client kubernetes.Interface, namespace string) error {
	resources := client.ResourceV1()
	return deleteAll(ctx, map[string]deleteCollection{
		"claims":    resources.ResourceClaims(namespace).DeleteCollection,
		"templates": resources.ResourceClaimTemplates(namespace).DeleteCollection,
		"slices":    resources.ResourceSlices().DeleteCollection,
	})
}

// DeleteDevices deletes all slices and classes, and what the namespace has of claims and templates.
func DeleteDevices(ctx context.Context, client kubernetes.Interface, namespace string) error {
	if err := DeleteDevicesOf(ctx, client, namespace); err != nil {
		return err
	}
	return deleteAll(ctx, map[string]deleteCollection{"classes": client.ResourceV1().DeviceClasses().DeleteCollection})
}

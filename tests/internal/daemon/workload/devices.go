// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
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

// AllocatedDevices has "driver/pool/device" of what is allocated to the claim.
func AllocatedDevices(claim *resourcev1.ResourceClaim) []string {
	var devices []string
	if claim.Status.Allocation != nil {
		for _, result := range claim.Status.Allocation.Devices.Results {
			devices = append(devices, strings.Join([]string{result.Driver, result.Pool, result.Device}, "/"))
		}
	}
	return devices
}

// CheckDevices tells what is wrong with a namespace's pods and claims: each bound pod's claims are allocated on its node
// and reserved for it, no device has two claims, and none is reserved for a pod that is not there. It returns how many
// devices are allocated.
func CheckDevices(pods []*corev1.Pod, claims []*resourcev1.ResourceClaim) (wrong []string, allocated int) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	byName, byUID := map[string]*resourcev1.ResourceClaim{}, map[types.UID]*corev1.Pod{}
	for _, claim := range claims {
		byName[claim.Name] = claim
	}
	for _, pod := range pods {
		byUID[pod.UID] = pod
		if pod.Spec.NodeName == "" {
			continue
		}
		for _, name := range ClaimNames(pod) {
			claim := byName[name]
			if claim == nil || claim.Status.Allocation == nil {
				say("pod %s is bound, its claim %s is not allocated", pod.Name, name)
				continue
			}
			for _, device := range AllocatedDevices(claim) {
				if !strings.HasPrefix(device, DeviceDriver+"/"+pod.Spec.NodeName+"/") {
					say("pod %s is on node %s and has device %s", pod.Name, pod.Spec.NodeName, device)
				}
			}
			reserved := func(r resourcev1.ResourceClaimConsumerReference) bool { return r.UID == pod.UID }
			if !slices.ContainsFunc(claim.Status.ReservedFor, reserved) {
				say("pod %s is bound, its claim %s is reserved for %v", pod.Name, name, claim.Status.ReservedFor)
			}
			if !slices.Contains(claim.Finalizers, resourcev1.Finalizer) {
				say("claim %s is allocated without its finalizer", name)
			}
		}
	}
	owner := map[string]string{}
	for _, claim := range claims {
		for _, device := range AllocatedDevices(claim) {
			if other, taken := owner[device]; taken {
				say("device %s is allocated to claims %s and %s", device, other, claim.Name)
			}
			owner[device] = claim.Name
		}
		for _, reserved := range claim.Status.ReservedFor {
			if byUID[reserved.UID] == nil {
				say("claim %s is reserved for pod %s, which is not there", claim.Name, reserved.Name)
			}
		}
	}
	return wrong, len(owner)
}

// ClaimNames are the pod's claims of devices that there are.
func ClaimNames(pod *corev1.Pod) []string {
	var names []string
	for _, use := range pod.Spec.ResourceClaims {
		if use.ResourceClaimName != nil {
			names = append(names, *use.ResourceClaimName)
		}
	}
	for _, status := range pod.Status.ResourceClaimStatuses {
		if status.ResourceClaimName != nil {
			names = append(names, *status.ResourceClaimName)
		}
	}
	return names
}

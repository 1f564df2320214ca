// SPDX-License-Identifier: Apache-2.0

package generate

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// sharedDeviceClaims are claims that pods name.
func (g *generator) sharedDeviceClaims() {
	if !g.mood.devices {
		return
	}
	for _, namespace := range namespaces {
		for i := range g.between(1, 4) {
			claim := g.deviceClaim(namespace, fmt.Sprintf("d%d", i))
			if g.chance(0.4) {
				g.allocate(claim, nil)
			}
			g.deviceClaims[namespace] = append(g.deviceClaims[namespace], claim)
		}
	}
}

func (g *generator) deviceClaim(namespace, name string) *resourcev1.ResourceClaim {
	claim := &resourcev1.ResourceClaim{
		TypeMeta:   metav1.TypeMeta{APIVersion: resourceAPI, Kind: "ResourceClaim"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, UID: types.UID("devices-" + namespace + "-" + name)},
	}
	spec := &claim.Spec.Devices
	for i := range pick(g.random, []int{1, 1, 1, 2, 3}) {
		spec.Requests = append(spec.Requests, g.deviceRequest(fmt.Sprintf("r%d", i)))
	}
	if g.chance(0.3) {
		spec.Constraints = append(spec.Constraints, g.deviceConstraint(spec.Requests))
	}
	if g.chance(0.02) {
		claim.DeletionTimestamp = &someTime
	}
	return claim
}

func (g *generator) deviceRequest(name string) resourcev1.DeviceRequest {
	r := g.random
	request := resourcev1.DeviceRequest{Name: name}
	if !r.chance(0.2) {
		exactly := &resourcev1.ExactDeviceRequest{DeviceClassName: g.deviceClassName(), AllocationMode: resourcev1.DeviceAllocationModeExactCount,
			Count: int64(pick(r, []int{1, 1, 1, 1, 2, 3})), Selectors: g.deviceSelectors(), Tolerations: g.deviceTolerations(), Capacity: g.capacityRequest()}
		if r.chance(0.1) {
			exactly.AllocationMode, exactly.Count = resourcev1.DeviceAllocationModeAll, 0
		}
		if r.chance(0.05) {
			exactly.AdminAccess = ptr(true)
		}
		request.Exactly = exactly
		return request
	}
	for i := range r.between(1, 3) {
		request.FirstAvailable = append(request.FirstAvailable, resourcev1.DeviceSubRequest{
			Name: fmt.Sprintf("s%d", i), DeviceClassName: g.deviceClassName(), AllocationMode: resourcev1.DeviceAllocationModeExactCount,
			Count: int64(pick(r, []int{1, 1, 2, 4})), Selectors: g.deviceSelectors(), Tolerations: g.deviceTolerations(), Capacity: g.capacityRequest()})
	}
	return request
}

// deviceClassName is seldom one that is not there.
func (g *generator) deviceClassName() string {
	if g.chance(0.03) {
		return deviceClassNames[len(deviceClassNames)-1]
	}
	return pick(g.random, []string{"gpus", "gpus", "gpus", "nics", "any", "large"})
}

func (g *generator) deviceSelectors() []resourcev1.DeviceSelector {
	switch {
	case g.chance(0.5):
		return nil
	case g.chance(0.8):
		return selectors(g.deviceSelector())
	}
	return selectors(g.deviceSelector(), g.deviceSelector())
}

// deviceSelector is an expression that knows what devices have; some fail on devices that lack it.
func (g *generator) deviceSelector() string {
	r := g.random
	driver := pick(r, []string{gpuDriver, gpuDriver, gpuDriver, nicDriver})
	attribute := fmt.Sprintf("device.attributes[%q]", driver)
	capacity := fmt.Sprintf("device.capacity[%q]", driver)
	numa := `device.attributes["topology.example.com"]`
	expressions := []string{
		fmt.Sprintf("device.driver == %q", driver),
		fmt.Sprintf("%s.?model.orValue(\"\") == %q", attribute, pick(r, deviceModels)),
		fmt.Sprintf("%s.?model.orValue(\"\") in [%q, %q]", attribute, pick(r, deviceModels), pick(r, deviceModels)),
		fmt.Sprintf("%s.?index.orValue(9) %s %d", attribute, pick(r, []string{"<", "<=", "==", "!=", ">", ">="}), r.IntN(4)),
		fmt.Sprintf("%s.?healthy.orValue(%t)", attribute, r.chance(0.5)),
		fmt.Sprintf("has(%s.version) && %s.version.isGreaterThan(semver(%q))", attribute, attribute, pick(r, deviceVersions)),
		fmt.Sprintf("has(%s.version) && %s.version.compareTo(semver(%q)) >= 0", attribute, attribute, pick(r, deviceVersions)),
		fmt.Sprintf("has(%s.memory) && %s.memory.compareTo(quantity(%q)) %s 0", capacity, capacity, pick(r, deviceMemories), pick(r, []string{"<", ">=", "=="})),
		fmt.Sprintf("has(%s.memory) && %s.memory.isLessThan(quantity(%q))", capacity, capacity, pick(r, deviceMemories)),
		fmt.Sprintf("has(%s.numa) && %s.numa == %d", numa, numa, r.IntN(2)),
		fmt.Sprintf("%s.?model.orValue(\"\").startsWith(%q)", attribute, pick(r, []string{"a", "h", "t4"})),
		fmt.Sprintf("has(%s.model) && %s.model.matches(%q)", attribute, attribute, pick(r, []string{"^[ah]100$", "4$", "."})),
		fmt.Sprintf("%s.exists(name, name.contains(%q))", attribute, pick(r, []string{"ver", "healthy", "odel"})),
		fmt.Sprintf("device.allowMultipleAllocations == %t", r.chance(0.5)),
		fmt.Sprintf("(%s.?index.orValue(0) %% 2 == %d) || device.driver == %q", attribute, r.IntN(2), nicDriver),
	}
	if r.chance(0.03) {
		return pick(r, []string{
			fmt.Sprintf("%s.missing == 1", attribute),
			fmt.Sprintf("%s.version.isGreaterThan(semver(\"1.0.0\"))", attribute),
			fmt.Sprintf("%s.model > 3", attribute),
			"device.attributes", "device.driver ==", "1 / 0 == 1",
		})
	}
	return pick(r, expressions)
}

func (g *generator) deviceTolerations() []resourcev1.DeviceToleration {
	if !g.chance(g.mood.deviceTaints) {
		return nil
	}
	return []resourcev1.DeviceToleration{pick(g.random, []resourcev1.DeviceToleration{
		{Operator: resourcev1.DeviceTolerationOpExists},
		{Key: "example.com/broken", Operator: resourcev1.DeviceTolerationOpExists},
		{Key: "example.com/broken", Operator: resourcev1.DeviceTolerationOpEqual, Value: "fan", Effect: resourcev1.DeviceTaintEffectNoSchedule},
		{Key: "example.com/maintenance", Operator: resourcev1.DeviceTolerationOpExists, Effect: resourcev1.DeviceTaintEffectNoExecute},
	})}
}

func (g *generator) capacityRequest() *resourcev1.CapacityRequirements {
	if !g.chance(g.mood.sharedDevices) {
		return nil
	}
	return &resourcev1.CapacityRequirements{Requests: map[resourcev1.QualifiedName]resource.Quantity{
		pick(g.random, []resourcev1.QualifiedName{"memory", "memory", "memory", gpuDriver + "/memory", "bandwidth"}): resource.MustParse(
			pick(g.random, []string{"1Gi", "3Gi", "4Gi", "7Gi", "16Gi", "64Gi"}))}}
}

func (g *generator) deviceConstraint(requests []resourcev1.DeviceRequest) resourcev1.DeviceConstraint {
	r := g.random
	var constraint resourcev1.DeviceConstraint
	if r.chance(0.4) {
		constraint.Requests = []string{pick(r, requests).Name}
	}
	attribute := resourcev1.FullyQualifiedName(pick(r, []string{gpuDriver + "/model", string(numaAttribute), gpuDriver + "/index", gpuDriver + "/absent"}))
	if r.chance(0.7) {
		constraint.MatchAttribute = &attribute
	} else {
		constraint.DistinctAttribute = &attribute
	}
	return constraint
}

// allocate gives the claim some device that may or may not be there, for the pod or for none.
func (g *generator) allocate(claim *resourcev1.ResourceClaim, pod *corev1.Pod) {
	r := g.random
	node := nodeName(r.IntN(g.mood.nodes))
	if pod != nil {
		node = pod.Spec.NodeName
	}
	allocation := &resourcev1.AllocationResult{}
	for _, request := range claim.Spec.Devices.Requests {
		result := resourcev1.DeviceRequestAllocationResult{Request: request.Name, Driver: gpuDriver, Pool: node,
			Device: fmt.Sprintf("gpu-%d", r.IntN(5))}
		if request.Exactly == nil {
			result.Request += "/" + request.FirstAvailable[0].Name
		} else {
			result.AdminAccess = request.Exactly.AdminAccess
		}
		if taken := result.Pool + "/" + result.Device; result.AdminAccess == nil {
			if g.devicesTaken[taken] {
				return
			}
			g.devicesTaken[taken] = true
		}
		allocation.Devices.Results = append(allocation.Devices.Results, result)
	}
	if r.chance(0.8) || pod != nil {
		allocation.NodeSelector = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{
			{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{node}}}}}}
	}
	claim.Status.Allocation = allocation
	claim.Finalizers = []string{resourcev1.Finalizer}
	reserve := func(name string, uid types.UID) {
		claim.Status.ReservedFor = append(claim.Status.ReservedFor,
			resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: name, UID: uid})
	}
	switch {
	case pod != nil:
		reserve(pod.Name, pod.UID)
	case r.chance(0.3):
		reserve("another", "another")
	case r.chance(0.1):
		for i := range resourcev1.ResourceClaimReservedForMaxSize {
			reserve(fmt.Sprintf("other-%d", i), types.UID(fmt.Sprintf("other-%d", i)))
		}
	}
}

// claimDevices gives a pod claims: its own, made from a template, or those that others may use, too.
func (g *generator) claimDevices(pod *corev1.Pod) {
	r := g.random
	if !g.mood.devices || !r.chance(g.mood.deviceClaimsOfPods) || pod.UID == "" {
		return
	}
	shared := some(r, g.deviceClaims[pod.Namespace], 0, 2)
	for i := range pick(r, []int{1, 1, 1, 2}) {
		name := fmt.Sprintf("devices-%d", i)
		use := corev1.PodResourceClaim{Name: name}
		switch n := r.IntN(100); {
		case n < 25 && i < len(shared) && pod.Spec.NodeName == "":
			use.ResourceClaimName = &shared[i].Name
		case n < 28 && pod.Spec.NodeName == "":
			use.ResourceClaimName = ptr("absent")
		default:
			use.ResourceClaimTemplateName = ptr("template")
			g.ownClaim(pod, name)
		}
		g.useClaim(pod, use)
	}
}

// ownClaim is what the resource claim controller makes from a template. It may be late, say that there is nothing to make, or
// have made one for a pod of this name that is gone.
func (g *generator) ownClaim(pod *corev1.Pod, name string) {
	r := g.random
	waits := pod.Spec.NodeName == ""
	if waits && r.chance(0.02) {
		return
	}
	status := corev1.PodResourceClaimStatus{Name: name}
	defer func() { pod.Status.ResourceClaimStatuses = append(pod.Status.ResourceClaimStatuses, status) }()
	if waits && r.chance(0.02) {
		return
	}
	claim := g.deviceClaim(pod.Namespace, pod.Name+"-"+name+"-xyz")
	claim.DeletionTimestamp = nil
	status.ResourceClaimName = &claim.Name
	if waits && r.chance(0.02) {
		return
	}
	if !waits || !r.chance(0.02) {
		claim.OwnerReferences = []metav1.OwnerReference{
			{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID, Controller: ptr(true)}}
	}
	if !waits {
		g.allocate(claim, pod)
	}
	g.deviceClaims[pod.Namespace+"/"+pod.Name] = append(g.deviceClaims[pod.Namespace+"/"+pod.Name], claim)
}

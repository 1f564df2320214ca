// SPDX-License-Identifier: Apache-2.0

package generate

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const resourceAPI = "resource.k8s.io/v1"

const (
	gpuDriver = "gpu.example.com"
	nicDriver = "nic.example.com"
)

var (
	deviceClassNames = []string{"gpus", "nics", "any", "large", "absent"}
	deviceModels     = []string{"a100", "h100", "t4"}
	deviceVersions   = []string{"1.0.0", "1.2.3", "2.0.0-rc.1"}
	deviceMemories   = []string{"16Gi", "40Gi", "80Gi"}
	numaAttribute    = resourcev1.QualifiedName("topology.example.com/numa")
)

// deviceObjects are classes, what nodes and networks offer, and taint rules; claims come with pods.
func (g *generator) deviceObjects() []any {
	if !g.mood.devices {
		return nil
	}
	var objects []any
	for _, name := range deviceClassNames[:len(deviceClassNames)-1] {
		if !g.chance(0.1) {
			objects = append(objects, g.deviceClass(name))
		}
	}
	for i := range g.mood.nodes {
		if g.chance(g.mood.deviceNodes) {
			objects = append(objects, g.nodePool(gpuDriver, nodeName(i))...)
		}
		if g.chance(g.mood.deviceNodes / 2) {
			objects = append(objects, g.nodePool(nicDriver, nodeName(i))...)
		}
	}
	if g.chance(0.4) {
		objects = append(objects, g.networkPool()...)
	}
	for i := range g.between(0, 2) {
		if g.chance(g.mood.deviceTaints) {
			objects = append(objects, g.taintRule(i))
		}
	}
	return objects
}

func (g *generator) deviceClass(name string) *resourcev1.DeviceClass {
	class := &resourcev1.DeviceClass{
		TypeMeta:   metav1.TypeMeta{APIVersion: resourceAPI, Kind: "DeviceClass"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
	}
	switch name {
	case "gpus":
		class.Spec.Selectors = selectors(fmt.Sprintf("device.driver == %q", gpuDriver))
		if g.chance(g.mood.mappedClasses) {
			class.Spec.ExtendedResourceName = ptr(string(gpu))
		}
	case "nics":
		class.Spec.Selectors = selectors(fmt.Sprintf("device.driver == %q", nicDriver))
		if g.chance(g.mood.mappedClasses) {
			class.Spec.ExtendedResourceName = ptr(string(nic))
		}
	case "large":
		class.Spec.Selectors = selectors(fmt.Sprintf("device.driver == %q", gpuDriver),
			fmt.Sprintf("device.capacity[%q].memory.compareTo(quantity(\"40Gi\")) >= 0", gpuDriver))
	}
	return class
}

func selectors(expressions ...string) []resourcev1.DeviceSelector {
	var list []resourcev1.DeviceSelector
	for _, expression := range expressions {
		list = append(list, resourcev1.DeviceSelector{CEL: &resourcev1.CELDeviceSelector{Expression: expression}})
	}
	return list
}

// nodePool is what a driver offers on a node: one slice or two, now and then such that the pool is not complete, or with
// one of an older generation.
func (g *generator) nodePool(driver, node string) []any {
	r := g.random
	pool := resourcev1.ResourcePool{Name: node, Generation: 2, ResourceSliceCount: 1}
	devices := g.devicesOf(driver, r.between(1, 5))
	parts := [][]resourcev1.Device{devices}
	if len(devices) > 1 && r.chance(0.3) {
		cut := r.between(1, len(devices)-1)
		parts = [][]resourcev1.Device{devices[:cut], devices[cut:]}
	}
	pool.ResourceSliceCount = int64(len(parts))
	counters := g.countersFor(driver, devices)
	if counters != nil {
		// Counters stand in a slice of their own.
		pool.ResourceSliceCount++
	}
	if r.chance(g.mood.brokenPools) {
		pool.ResourceSliceCount++
	}
	var objects []any
	add := func(pool resourcev1.ResourcePool, change func(*resourcev1.ResourceSliceSpec)) {
		slice := &resourcev1.ResourceSlice{
			TypeMeta:   metav1.TypeMeta{APIVersion: resourceAPI, Kind: "ResourceSlice"},
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%s-%d", node, driver[:3], len(objects))},
			Spec:       resourcev1.ResourceSliceSpec{Driver: driver, Pool: pool, NodeName: &node},
		}
		change(&slice.Spec)
		objects = append(objects, slice)
	}
	for _, part := range parts {
		add(pool, func(spec *resourcev1.ResourceSliceSpec) { spec.Devices = part })
	}
	if counters != nil {
		add(pool, func(spec *resourcev1.ResourceSliceSpec) { spec.SharedCounters = counters })
	}
	if r.chance(g.mood.brokenPools) {
		old := resourcev1.ResourcePool{Name: node, Generation: 1, ResourceSliceCount: 1}
		add(old, func(spec *resourcev1.ResourceSliceSpec) { spec.Devices = g.devicesOf(driver, 1) })
	}
	return objects
}

// networkPool is one that several nodes reach: all of them, those of a zone, or by device.
func (g *generator) networkPool() []any {
	r := g.random
	spec := resourcev1.ResourceSliceSpec{
		Driver:  nicDriver,
		Pool:    resourcev1.ResourcePool{Name: "network", Generation: 1, ResourceSliceCount: 1},
		Devices: g.devicesOf(nicDriver, r.between(1, 6)),
	}
	inZone := func() *corev1.NodeSelector {
		return &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{
			{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: some(r, zones, 1, 2)}}}}}
	}
	switch r.IntN(3) {
	case 0:
		spec.AllNodes = ptr(true)
	case 1:
		spec.NodeSelector = inZone()
	default:
		spec.PerDeviceNodeSelection = ptr(true)
		for i := range spec.Devices {
			switch r.IntN(3) {
			case 0:
				spec.Devices[i].AllNodes = ptr(true)
			case 1:
				spec.Devices[i].NodeSelector = inZone()
			default:
				spec.Devices[i].NodeName = ptr(nodeName(r.IntN(g.mood.nodes)))
			}
		}
	}
	return []any{&resourcev1.ResourceSlice{
		TypeMeta: metav1.TypeMeta{APIVersion: resourceAPI, Kind: "ResourceSlice"}, ObjectMeta: metav1.ObjectMeta{Name: "network"}, Spec: spec,
	}}
}

func (g *generator) devicesOf(driver string, count int) []resourcev1.Device {
	r := g.random
	var devices []resourcev1.Device
	for i := range count {
		device := resourcev1.Device{
			Name: fmt.Sprintf("%s-%d", driver[:3], i),
			Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
				"index": {IntValue: ptr(int64(i))},
				"model": {StringValue: ptr(pick(r, deviceModels))},
			},
			Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{
				"memory": {Value: resource.MustParse(pick(r, deviceMemories))},
			},
		}
		if r.chance(0.8) {
			device.Attributes["version"] = resourcev1.DeviceAttribute{VersionValue: ptr(pick(r, deviceVersions))}
		}
		if r.chance(0.8) {
			device.Attributes["healthy"] = resourcev1.DeviceAttribute{BoolValue: ptr(r.chance(0.8))}
		}
		if r.chance(0.7) {
			device.Attributes[numaAttribute] = resourcev1.DeviceAttribute{IntValue: ptr(int64(r.IntN(2)))}
		}
		if r.chance(g.mood.deviceTaints) {
			device.Taints = []resourcev1.DeviceTaint{{Key: "example.com/broken", Value: pick(r, []string{"", "fan"}),
				Effect: pick(r, []resourcev1.DeviceTaintEffect{"NoSchedule", "NoSchedule", "NoExecute", "None"}), TimeAdded: &someTime}}
		}
		if r.chance(g.mood.sharedDevices) {
			g.share(&device)
		}
		devices = append(devices, device)
	}
	return devices
}

// share lets several claims have the device, each some of its memory.
func (g *generator) share(device *resourcev1.Device) {
	r := g.random
	device.AllowMultipleAllocations = ptr(true)
	memory := device.Capacity["memory"]
	switch r.IntN(4) {
	case 0:
		memory.RequestPolicy = &resourcev1.CapacityRequestPolicy{Default: ptr(resource.MustParse("4Gi")),
			ValidRange: &resourcev1.CapacityRequestPolicyRange{Min: ptr(resource.MustParse("4Gi")), Max: ptr(resource.MustParse("12Gi"))}}
	case 1:
		memory.RequestPolicy = &resourcev1.CapacityRequestPolicy{Default: ptr(resource.MustParse("4Gi")),
			ValidRange: &resourcev1.CapacityRequestPolicyRange{Min: ptr(resource.MustParse("2Gi")), Step: ptr(resource.MustParse("2Gi"))}}
	case 2:
		memory.RequestPolicy = &resourcev1.CapacityRequestPolicy{Default: ptr(resource.MustParse("8Gi")),
			ValidValues: []resource.Quantity{resource.MustParse("4Gi"), resource.MustParse("8Gi"), resource.MustParse("16Gi")}}
	}
	device.Capacity["memory"] = memory
}

// countersFor makes the pool's devices parts of one whole, now and then.
func (g *generator) countersFor(driver string, devices []resourcev1.Device) []resourcev1.CounterSet {
	r := g.random
	if driver != gpuDriver || !r.chance(g.mood.partitions) {
		return nil
	}
	for i := range devices {
		if r.chance(0.8) {
			devices[i].ConsumesCounters = []resourcev1.DeviceCounterConsumption{{CounterSet: "whole",
				Counters: map[string]resourcev1.Counter{"memory": {Value: resource.MustParse(pick(r, []string{"10Gi", "20Gi", "40Gi"}))}}}}
		}
	}
	return []resourcev1.CounterSet{{Name: "whole", Counters: map[string]resourcev1.Counter{"memory": {Value: resource.MustParse("40Gi")}}}}
}

func (g *generator) taintRule(i int) *resourcev1.DeviceTaintRule {
	r := g.random
	rule := &resourcev1.DeviceTaintRule{
		TypeMeta:   metav1.TypeMeta{APIVersion: resourceAPI, Kind: "DeviceTaintRule"},
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("rule-%d", i)},
		Spec: resourcev1.DeviceTaintRuleSpec{
			DeviceSelector: &resourcev1.DeviceTaintSelector{},
			Taint: resourcev1.DeviceTaint{Key: "example.com/maintenance",
				Effect: pick(r, []resourcev1.DeviceTaintEffect{"NoSchedule", "NoExecute", "None"}), TimeAdded: &someTime},
		},
	}
	selector := rule.Spec.DeviceSelector
	switch r.IntN(3) {
	case 0:
		selector.Driver = ptr(pick(r, []string{gpuDriver, nicDriver}))
	case 1:
		selector.Pool = ptr(nodeName(r.IntN(g.mood.nodes)))
	}
	if r.chance(0.5) {
		selector.Device = ptr(pick(r, []string{"gpu-0", "gpu-1", "nic-0"}))
	}
	return rule
}

// SPDX-License-Identifier: Apache-2.0

// Package expressions holds Berth's CEL against upstream's: random expressions about random devices,
// evaluated by both.
package expressions

import (
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Names that random devices and expressions share.
var (
	AttributeNames = []string{"model", "count", "shared", "release", "sizes", "labels", "flags", "releases", "absent"}
	CapacityNames  = []string{"memory", "cores", "absent"}
)

// Device is one in Berth's test form: as the API writes it, and its driver.
type Device struct {
	Driver                   string                                                    `json:"driver"`
	AllowMultipleAllocations *bool                                                     `json:"allowMultipleAllocations,omitempty"`
	Attributes               map[resourceapi.QualifiedName]resourceapi.DeviceAttribute `json:"attributes"`
	Capacity                 map[resourceapi.QualifiedName]resource.Quantity           `json:"capacity"`
}

func (g *Generator) qualified(name string) resourceapi.QualifiedName {
	return resourceapi.QualifiedName(pick(g, "", "", "gpu.example.com/", "other.example.com/") + name)
}

// Device is a random one.
func (g *Generator) Device() Device {
	device := Device{
		Driver:     pick(g, "gpu.example.com", "gpu.example.com", "nic.example.com"),
		Attributes: map[resourceapi.QualifiedName]resourceapi.DeviceAttribute{},
		Capacity:   map[resourceapi.QualifiedName]resource.Quantity{},
	}
	if g.IntN(3) == 0 {
		device.AllowMultipleAllocations = new(g.IntN(2) == 0)
	}
	for _, name := range AttributeNames[:len(AttributeNames)-1] {
		if g.IntN(5) != 0 {
			device.Attributes[g.qualified(name)] = g.value(name)
		}
	}
	for _, name := range CapacityNames[:len(CapacityNames)-1] {
		if g.IntN(4) != 0 {
			device.Capacity[g.qualified(name)] =
				resource.MustParse(pick(g, "1Gi", "80Gi", "500m", "0", "7", "1500m", "2k", "1Ti"))
		}
	}
	return device
}

// value is mostly of the type that the name says.
func (g *Generator) value(name string) (value resourceapi.DeviceAttribute) {
	if g.IntN(10) == 0 {
		name = pick(g, AttributeNames...)
	}
	switch name {
	case "count":
		value.IntValue = new(pick(g, int64(0), 1, 8, -5, 9223372036854775807))
	case "shared":
		value.BoolValue = new(g.IntN(2) == 0)
	case "release":
		value.VersionValue = new(pick(g, "1.2.3", "10.0.0", "1.0.0-rc.1+build"))
	case "sizes":
		value.IntValues = []int64{1, int64(g.IntN(5)), 3}
	case "labels":
		value.StringValues = []string{"a", pick(g, "b", "c", "")}
	case "flags":
		value.BoolValues = []bool{g.IntN(2) == 0, true}
	case "releases":
		value.VersionValues = []string{"1.2.3", pick(g, "2.0.0", "0.1.0-alpha")}
	default:
		value.StringValue = new(pick(g, "A100", "a", "", "héllo", "1.2.3"))
	}
	return value
}

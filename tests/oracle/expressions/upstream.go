// SPDX-License-Identifier: Apache-2.0

package expressions

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	resourceapi "k8s.io/api/resource/v1"
	dracel "k8s.io/dynamic-resource-allocation/cel"
)

// Question is an expression about a device.
type Question struct {
	Expression string `json:"expression"`
	Derived    bool   `json:"derived,omitempty"`
	Device     Device `json:"device"`
}

// Answer is what an evaluator says.
type Answer struct {
	// yes, no, value, compile error, runtime error
	Kind string `json:"kind"`
	// The error, or the value.
	Text string `json:"text,omitempty"`
	Cost uint64 `json:"cost,omitempty"`
}

// Upstream's answer.
func Upstream(q Question) (answer Answer) {
	defer func() {
		if r := recover(); r != nil {
			answer = Answer{Kind: "panic", Text: fmt.Sprint(r)}
		}
	}()
	features := dracel.Features{EnableConsumableCapacity: true, EnableListTypeAttributes: true}
	compiled := dracel.GetCompiler(features).CompileCELExpression(q.Expression,
		dracel.Options{DisableCostEstimation: true, DerivedAttribute: q.Derived})
	if compiled.Error != nil {
		return Answer{Kind: "compile error", Text: compiled.Error.Error()}
	}
	device := dracel.Device{
		Driver:                   q.Device.Driver,
		AllowMultipleAllocations: q.Device.AllowMultipleAllocations,
		Attributes:               q.Device.Attributes,
		Capacity:                 map[resourceapi.QualifiedName]resourceapi.DeviceCapacity{},
	}
	for name, value := range q.Device.Capacity {
		device.Capacity[name] = resourceapi.DeviceCapacity{Value: value}
	}
	if q.Derived {
		attribute, details, err := compiled.EvaluateDerivedAttribute(context.Background(), device)
		if details != nil && details.ActualCost() != nil {
			answer.Cost = *details.ActualCost()
		}
		if err != nil {
			answer.Kind, answer.Text = "runtime error", err.Error()
		} else {
			answer.Kind, answer.Text = "value", attributeText(attribute)
		}
		return answer
	}
	matches, details, err := compiled.DeviceMatches(context.Background(), device)
	if details != nil && details.ActualCost() != nil {
		answer.Cost = *details.ActualCost()
	}
	switch {
	case err != nil:
		answer.Kind, answer.Text = "runtime error", dracel.EnhanceRuntimeError(err).Error()
	case matches:
		answer.Kind = "yes"
	default:
		answer.Kind = "no"
	}
	return answer
}

func list[T any](name string, values []T, text func(T) string) string {
	texts := make([]string, 0, len(values))
	for _, value := range values {
		texts = append(texts, text(value))
	}
	return name + "[" + strings.Join(texts, " ") + "]"
}

func same(s string) string { return s }

func attributeText(a *resourceapi.DeviceAttribute) string {
	integer := func(i int64) string { return strconv.FormatInt(i, 10) }
	switch {
	case a.IntValue != nil:
		return "int " + integer(*a.IntValue)
	case a.BoolValue != nil:
		return "bool " + strconv.FormatBool(*a.BoolValue)
	case a.StringValue != nil:
		return "string " + *a.StringValue
	case a.VersionValue != nil:
		return "version " + *a.VersionValue
	case len(a.IntValues) > 0:
		return list("int", a.IntValues, integer)
	case len(a.BoolValues) > 0:
		return list("bool", a.BoolValues, strconv.FormatBool)
	case len(a.VersionValues) > 0:
		return list("version", a.VersionValues, same)
	default:
		return list("string", a.StringValues, same)
	}
}

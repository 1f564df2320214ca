// SPDX-License-Identifier: Apache-2.0

package generate

import (
	"encoding/json"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
)

// quantityMaps are the members whose values are quantities.
var quantityMaps = map[string]bool{
	"requests": true, "limits": true, "allocatable": true, "capacity": true, "overhead": true, "allocatedResources": true,
}

// respell writes a share of an object's quantities in other words. Go's encoder prints the canonical
// form only, as an API server does; files written by hand have all of them.
func (r random) respell(object any, share float64) {
	switch value := object.(type) {
	case []any:
		for _, member := range value {
			r.respell(member, share)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			quantities, ok := value[name].(map[string]any)
			if !ok || !quantityMaps[name] {
				r.respell(value[name], share)
				continue
			}
			for _, resource := range slices.Sorted(maps.Keys(quantities)) {
				if text, ok := quantities[resource].(string); ok && r.chance(share) {
					quantities[resource] = r.otherSpelling(text)
				}
			}
		}
	}
}

// otherSpelling is another text, or a number, for the same amount.
func (r random) otherSpelling(canonical string) any {
	q := resource.MustParse(canonical)
	var spellings []any
	if whole, ok := q.AsInt64(); ok {
		spellings = append(spellings, resource.NewQuantity(whole, resource.DecimalExponent).String(),
			resource.NewQuantity(whole, resource.BinarySI).String(), "+"+resource.NewQuantity(whole, resource.DecimalSI).String(),
			json.Number(resource.NewQuantity(whole, resource.DecimalExponent).AsDec().String()))
	}
	decimal := q.AsDec().String()
	spellings = append(spellings, decimal, decimal+"e0")
	return pick(r, spellings)
}

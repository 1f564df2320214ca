// SPDX-License-Identifier: Apache-2.0

package generate

import (
	"maps"
	"slices"

	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

// WithoutPreemption is the case with DefaultPreemption switched off in each profile.
func (c Case) WithoutPreemption() Case {
	config := maps.Clone(c.Config)
	profiles, _ := config["profiles"].([]any)
	profiles = slices.Clone(profiles)
	for i, profile := range profiles {
		changed := maps.Clone(profile.(dict))
		changed["plugins"] = withoutPreemption(changed["plugins"])
		profiles[i] = changed
	}
	if len(profiles) == 0 {
		profiles = []any{dict{"plugins": withoutPreemption(nil)}}
	}
	config["profiles"] = profiles
	c.Config = config
	return c
}

func withoutPreemption(plugins any) dict {
	points, _ := plugins.(dict)
	left := dict{}
	for point, set := range points {
		members, _ := set.(dict)
		members = maps.Clone(members)
		if enabled, ok := members["enabled"].([]any); ok {
			members["enabled"] = slices.DeleteFunc(slices.Clone(enabled), isPreemption)
		}
		left[point] = members
	}
	multiPoint, _ := left["multiPoint"].(dict)
	if multiPoint == nil {
		multiPoint = dict{}
		left["multiPoint"] = multiPoint
	}
	off, _ := multiPoint["disabled"].([]any)
	if !slices.ContainsFunc(off, func(plugin any) bool { return isPreemption(plugin) || nameOf(plugin) == "*" }) {
		multiPoint["disabled"] = append(slices.Clone(off), dict{"name": names.DefaultPreemption})
	}
	return left
}

func isPreemption(plugin any) bool { return nameOf(plugin) == names.DefaultPreemption }

func nameOf(plugin any) string {
	members, _ := plugin.(dict)
	name, _ := members["name"].(string)
	return name
}

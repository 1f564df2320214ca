// SPDX-License-Identifier: Apache-2.0

package generate

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

// dict is a YAML mapping.
type dict = map[string]any

const configAPI = "kubescheduler.config.k8s.io/v1"

// compared are the plugins that have a say, in upstream's default order, with their default weights.
var compared = []dict{
	{"name": names.SchedulingGates},
	{"name": names.PrioritySort},
	{"name": names.NodeName},
	{"name": names.NodeUnschedulable},
	{"name": names.TaintToleration, "weight": 3},
	{"name": names.NodeAffinity, "weight": 2},
	{"name": names.NodePorts},
	{"name": names.NodeResourcesFit, "weight": 1},
	{"name": names.VolumeRestrictions},
	{"name": names.NodeVolumeLimits},
	{"name": names.VolumeBinding},
	{"name": names.VolumeZone},
	{"name": names.PodTopologySpread, "weight": 2},
	{"name": names.InterPodAffinity, "weight": 2},
	{"name": names.DynamicResources, "weight": 2},
	{"name": names.DefaultPreemption},
	{"name": names.NodeResourcesBalancedAllocation, "weight": 1},
	{"name": names.ImageLocality, "weight": 1},
	{"name": names.DefaultBinder},
	{"name": names.NodeDeclaredFeatures},
}

// mustBe cannot be switched off. SchedulingGates could, but a cluster without it makes no sense.
var mustBe = []string{names.SchedulingGates, names.PrioritySort, names.DefaultBinder}

var (
	filters = []string{names.NodeName, names.NodeUnschedulable, names.TaintToleration, names.NodeAffinity, names.NodePorts,
		names.NodeResourcesFit, names.VolumeRestrictions, names.NodeVolumeLimits, names.VolumeBinding, names.VolumeZone,
		names.PodTopologySpread, names.InterPodAffinity, names.NodeDeclaredFeatures, names.DynamicResources}
	scorers = []string{names.TaintToleration, names.NodeAffinity, names.NodeResourcesFit, names.VolumeBinding,
		names.PodTopologySpread, names.InterPodAffinity, names.NodeResourcesBalancedAllocation, names.ImageLocality,
		names.DynamicResources}

	volumePlugins = []string{names.VolumeRestrictions, names.NodeVolumeLimits, names.VolumeBinding, names.VolumeZone}
)

// weights of Score plugins; without one it is 1.
var weights = []int{0, 1, 2, 7, 100, 1000000}

// config is a KubeSchedulerConfiguration. Profiles differ in their plugins and in what these are told.
func (g *generator) config() dict {
	config := dict{"apiVersion": configAPI, "kind": "KubeSchedulerConfiguration"}
	if g.chance(0.2) {
		config["parallelism"] = g.between(1, 4)
	}
	var profiles []any
	for _, name := range g.profiles {
		profile := dict{"schedulerName": name}
		if g.mood.plainConfig {
			profile["plugins"] = dict{"multiPoint": dict{"disabled": named(g.off)}}
		} else {
			profile["plugins"] = g.plugins()
			if args := g.pluginConfig(); len(args) > 0 {
				profile["pluginConfig"] = args
			}
		}
		if g.mood.groups > 0 {
			// Berth's search for a place for unequal gangs is its own.
			args, _ := profile["pluginConfig"].([]any)
			profile["pluginConfig"] = append(args, dict{"name": names.GangScheduling, "args": dict{"searchSteps": 0}})
		}
		profiles = append(profiles, profile)
	}
	config["profiles"] = profiles
	return config
}

func named(plugins []string) []any {
	var list []any
	for _, name := range plugins {
		list = append(list, dict{"name": name})
	}
	return list
}

// plugins disables, weighs and reorders. A plugin that is off is so at every point: with Score but without PreScore
// upstream's plugins fail.
func (g *generator) plugins() dict {
	r := g.random
	off := slices.Clone(g.off)
	way := r.IntN(6)
	if g.mood.groups > 0 && (way == 0 || way == 3) {
		way = 5 // These would leave GangScheduling out.
	}
	if way == 1 {
		for _, plugin := range g.compared() {
			if name := plugin["name"].(string); !slices.Contains(mustBe, name) && r.chance(0.15) {
				off = append(off, name)
			}
		}
	}
	filters, scorers := except(filters, off), except(scorers, off)
	plugins := dict{"multiPoint": dict{"disabled": named(off)}}
	switch way {
	case 0:
		plugins["multiPoint"] = dict{"disabled": named([]string{"*"}), "enabled": g.reordered()}
	case 2:
		// A plugin that is named again keeps its place.
		var again []any
		for _, name := range some(r, scorers, 1, 3) {
			again = append(again, dict{"name": name, "weight": r.between(1, 10)})
		}
		plugins["multiPoint"] = dict{"disabled": named(off), "enabled": again}
	case 3:
		plugins = g.pointByPoint(filters, scorers)
	case 4:
		if r.chance(0.5) {
			plugins["filter"] = dict{"enabled": named(some(r, filters, 1, 3))}
		} else {
			// DynamicResources reserves what its Filter finds.
			plugins["filter"] = dict{"disabled": named(except(subset(r, filters, 0.1), []string{names.DynamicResources}))}
		}
	}
	if way != 3 && r.chance(0.4) {
		plugins["score"] = g.scorePlugins(scorers)
	}
	return plugins
}

// pointByPoint names the plugins of each extension point, some left out, with next to no multiPoint.
func (g *generator) pointByPoint(filters, scorers []string) dict {
	r := g.random
	filters = some(r, filters, len(filters)-2, len(filters))
	scorers = some(r, scorers, len(scorers)-2, len(scorers))
	var binders []string
	if slices.Contains(filters, names.VolumeBinding) {
		binders = []string{names.VolumeBinding}
	} else {
		// It scores by what it has found at PreFilter.
		scorers = except(scorers, []string{names.VolumeBinding})
	}
	postFilters, preEnqueuers := []string{}, []string{names.SchedulingGates}
	if slices.Contains(filters, names.DynamicResources) {
		binders = append(binders, names.DynamicResources)
		postFilters, preEnqueuers = append(postFilters, names.DynamicResources), append(preEnqueuers, names.DynamicResources)
	} else {
		scorers = except(scorers, []string{names.DynamicResources})
	}
	preScorers := except(scorers, []string{names.ImageLocality, names.DynamicResources})
	weighed := dict{"enabled": []any{}}
	for _, name := range scorers {
		weighed["enabled"] = append(weighed["enabled"].([]any), dict{"name": name, "weight": pick(r, weights)})
	}
	if r.chance(0.8) {
		postFilters = append(postFilters, except([]string{names.DefaultPreemption}, g.off)...)
	}
	return dict{
		// The queue's order must be said in the same way in all profiles.
		"multiPoint": dict{"disabled": named([]string{"*"}), "enabled": named([]string{names.PrioritySort})},
		"preEnqueue": dict{"enabled": named(preEnqueuers)},
		"preFilter":  dict{"enabled": named(filters)},
		"filter":     dict{"enabled": named(some(r, filters, len(filters), len(filters)))},
		"postFilter": dict{"enabled": named(postFilters)},
		"preScore":   dict{"enabled": named(preScorers)},
		"score":      weighed,
		"reserve":    dict{"enabled": named(binders)},
		"preBind":    dict{"enabled": named(binders)},
		"bind":       dict{"enabled": named([]string{names.DefaultBinder})},
	}
}

func (g *generator) reordered() []any {
	var list []any
	plugins := g.compared()
	for _, plugin := range some(g.random, plugins, len(plugins), len(plugins)) {
		list = append(list, plugin)
	}
	at := func(name string) int {
		return slices.IndexFunc(list, func(plugin any) bool { return plugin.(dict)["name"] == name })
	}
	// Behind DefaultPreemption it gives up claims that only a dry run finds in the way.
	if devices, preemption := at(names.DynamicResources), at(names.DefaultPreemption); preemption >= 0 && devices > preemption {
		list[devices], list[preemption] = list[preemption], list[devices]
	}
	return list
}

// compared are the plugins that a profile of this case may have.
func (g *generator) compared() []dict {
	plugins := slices.Clone(compared)
	if g.mood.deferred > 0 {
		fit := slices.IndexFunc(plugins, func(plugin dict) bool { return plugin["name"] == names.NodeResourcesFit })
		plugins = slices.Insert(plugins, fit, dict{"name": names.DeferredPodScheduling})
	}
	return slices.DeleteFunc(plugins, func(plugin dict) bool { return slices.Contains(g.off, plugin["name"].(string)) })
}

func except(plugins, off []string) []string {
	return slices.DeleteFunc(slices.Clone(plugins), func(name string) bool { return slices.Contains(off, name) })
}

func (g *generator) scorePlugins(scorers []string) dict {
	r := g.random
	switch {
	case r.chance(0.1):
		return dict{"disabled": named([]string{"*"})}
	case r.chance(0.4):
		return dict{"disabled": named(some(r, scorers, 1, 4))}
	}
	var enabled []any
	for _, name := range some(r, scorers, 1, 4) {
		enabled = append(enabled, dict{"name": name, "weight": pick(r, weights)})
	}
	return dict{"enabled": enabled}
}

// pluginConfig draws arguments for some of the plugins that take any.
func (g *generator) pluginConfig() []any {
	var list []any
	add := func(name string, args dict) {
		if g.chance(0.4) {
			args["apiVersion"], args["kind"] = configAPI, name+"Args"
			list = append(list, dict{"name": name, "args": args})
		}
	}
	add(names.NodeResourcesFit, g.fitArgs())
	add(names.NodeResourcesBalancedAllocation, dict{"resources": g.weighedResources(1, notOfDevices)})
	add(names.PodTopologySpread, g.spreadArgs())
	add(names.VolumeBinding, dict{"bindTimeoutSeconds": g.between(0, 600), "shape": g.shape()})
	add(names.DefaultPreemption, dict{
		"minCandidateNodesPercentage": g.between(0, 100), "minCandidateNodesAbsolute": g.between(1, 20)})
	add(names.InterPodAffinity, dict{
		"hardPodAffinityWeight": g.between(0, 100), "ignorePreferredTermsOfExistingPods": g.chance(0.5)})
	if affinity := g.nodeAffinity(0.2, 0.7); affinity != nil {
		add(names.NodeAffinity, dict{"addedAffinity": asDict(affinity)})
	}
	return list
}

const (
	mayBeOfDevices = true
	// For NodeResourcesBalancedAllocation: see what ../README.md leaves out.
	notOfDevices = false
)

func (g *generator) weighedResources(highest int, ofDevices bool) []any {
	all := []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage, gpu, hugePages2Mi}
	var list []any
	if g.mood.mappedClasses > 0 {
		all = slices.DeleteFunc(all, func(name corev1.ResourceName) bool { return name == gpu })
		for _, name := range []corev1.ResourceName{gpu, nic} {
			if ofDevices && g.chance(0.8) {
				list = append(list, dict{"name": string(name), "weight": g.between(1, highest)})
			}
		}
	}
	for _, name := range some(g.random, all, 1, 4) {
		list = append(list, dict{"name": string(name), "weight": g.between(1, highest)})
	}
	return list
}

func (g *generator) fitArgs() dict {
	r := g.random
	args := dict{}
	strategy := dict{"type": pick(r, []string{"LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"})}
	if strategy["type"] == "RequestedToCapacityRatio" {
		strategy["requestedToCapacityRatio"] = dict{"shape": g.shape()}
	}
	if r.chance(0.7) {
		strategy["resources"] = g.weighedResources(100, mayBeOfDevices)
	}
	args["scoringStrategy"] = strategy
	if r.chance(0.3) {
		args["ignoredResources"] = []any{string(pick(r, extendedResources))}
	}
	if r.chance(0.3) {
		args["ignoredResourceGroups"] = []any{pick(r, []string{"example.com", "vendor.example"})}
	}
	return args
}

func (g *generator) shape() []any {
	var shape []any
	for utilization := g.between(0, 40); utilization <= 100; utilization += g.between(1, 60) {
		shape = append(shape, dict{"utilization": utilization, "score": g.between(0, 10)})
	}
	return shape
}

func (g *generator) spreadArgs() dict {
	r := g.random
	if r.chance(0.3) {
		return dict{"defaultingType": "System"}
	}
	var constraints []any
	for _, key := range some(r, []string{corev1.LabelHostname, corev1.LabelTopologyZone, rackLabel}, 0, 2) {
		constraints = append(constraints, dict{
			"maxSkew": r.between(1, 3), "topologyKey": key,
			"whenUnsatisfiable": string(pick(r, []corev1.UnsatisfiableConstraintAction{corev1.DoNotSchedule, corev1.ScheduleAnyway})),
		})
	}
	args := dict{"defaultingType": "List"}
	if len(constraints) > 0 {
		args["defaultConstraints"] = constraints
	}
	return args
}

// SPDX-License-Identifier: Apache-2.0

// Package generate makes random clusters and configurations over all that scheduling reads, such as an API
// server would have admitted. The same seed makes the same case.
package generate

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"sigs.k8s.io/yaml"

	"berth.dev/tests/oracle/upstream"
)

// Case is a cluster with pods to schedule, and a configuration to do it by. Both are trees of plain JSON
// values, as files have them.
type Case struct {
	Seed    uint64
	Objects []map[string]any
	Config  map[string]any
	// PodGroups says whether pods may belong to groups.
	PodGroups upstream.PodGroups
	// DeferredResizes says that pods whose resize is deferred are queued.
	DeferredResizes bool
}

// generator has what the objects of one case share.
type generator struct {
	random
	mood mood
	// off has the plugins that no profile may have.
	off []string

	profiles    []string
	zones       int
	betaZones   bool
	imageSizes  []int64
	controllers []controller
	resizeStep  int
	// onNode counts the pods that have been placed.
	onNode     []int
	portsTaken map[string]bool

	classes []*storagev1.StorageClass
	volumes []*corev1.PersistentVolume
	// claims are by namespace, and those of a pod's ephemeral volumes by the pod.
	claims map[string][]*corev1.PersistentVolumeClaim
	// deviceClaims are by namespace, and those made for a pod by the pod.
	deviceClaims map[string][]*resourcev1.ResourceClaim
	devicesTaken map[string]bool
	groups       []*podGroup
}

// Options bound what is made.
type Options struct {
	// Nodes is the greatest number of nodes.
	Nodes int
	// Without names plugins to switch off in every profile.
	Without []string
	// Volumes compares the plugins of volumes too.
	Volumes bool
	// Devices compares DynamicResources too.
	Devices bool
	// PodGroups makes clusters with pod groups, or trees of them, without volumes, and without devices but where the groups
	// have claims of them.
	PodGroups upstream.PodGroups
	// DeferredResizes makes clusters with pods that wait on their nodes for room for their resize.
	DeferredResizes bool
}

// New makes the case of a seed.
func New(seed uint64, options Options) Case {
	if options.PodGroups != upstream.NoPodGroups {
		options.Volumes, options.Devices = false, options.PodGroups == upstream.PodGroupsWithClaims
	}
	r := newRandom(seed)
	g := &generator{random: r, mood: newMood(r, options), off: slices.Clone(options.Without)}
	if !options.Volumes {
		g.off = append(g.off, volumePlugins...)
	}
	if !options.Devices {
		g.off = append(g.off, names.DynamicResources)
	}
	g.profiles = []string{"default-scheduler", "packer", "spreader"}[:pick(r, []int{1, 1, 2, 3})]
	g.onNode, g.portsTaken = make([]int, g.mood.nodes), map[string]bool{}
	g.zones = g.between(1, len(zones))
	g.betaZones = g.chance(0.1)
	g.imageSizes = r.imageSizes()
	g.deviceClaims, g.devicesTaken = map[string][]*resourcev1.ResourceClaim{}, map[string]bool{}

	objects := slices.Concat(g.namespaceObjects(), g.workloads(), g.budgets(), g.storageObjects(), g.deviceObjects())
	if options.PodGroups == upstream.NoPodGroups {
		g.sharedDeviceClaims()
	}
	for i := range g.mood.nodes {
		objects = append(objects, g.node(i))
	}
	var pods []*corev1.Pod
	for i := range g.mood.pods {
		pods = append(pods, g.pod(i, g.chance(g.mood.placed)))
		objects = append(objects, pods[i])
	}
	objects = append(objects, g.podGroups(pods)...)
	if options.PodGroups == upstream.PodGroupsWithClaims {
		g.groupClaims(pods)
	}
	for _, pv := range g.volumes {
		objects = append(objects, pv)
	}
	for _, of := range slices.Sorted(maps.Keys(g.claims)) {
		for _, claim := range g.claims[of] {
			objects = append(objects, claim)
		}
	}
	for _, of := range slices.Sorted(maps.Keys(g.deviceClaims)) {
		for _, claim := range g.deviceClaims[of] {
			objects = append(objects, claim)
		}
	}
	// Files have their objects in any order.
	if g.chance(0.3) {
		g.Shuffle(len(objects), func(i, j int) { objects[i], objects[j] = objects[j], objects[i] })
	}
	c := Case{Seed: seed, Config: asDict(g.config()), PodGroups: options.PodGroups, DeferredResizes: options.DeferredResizes}
	for _, object := range objects {
		plain := asDict(object)
		if g.mood.oddQuantities > 0 {
			g.respell(plain, g.mood.oddQuantities)
		}
		c.Objects = append(c.Objects, plain)
	}
	return c
}

// asDict turns what encodes as a JSON object into plain values.
func asDict(object any) dict {
	text, err := json.Marshal(object)
	if err != nil {
		panic(err) // The generator makes nothing that cannot be encoded.
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var plain dict
	if err := decoder.Decode(&plain); err != nil {
		panic(err)
	}
	return plain
}

// ClusterJSON is the cluster as `kubectl get -o json` prints it, without the spaces.
func (c *Case) ClusterJSON() []byte {
	text, err := json.Marshal(dict{"apiVersion": "v1", "kind": "List", "items": c.Objects})
	if err != nil {
		panic(err)
	}
	return text
}

// ClusterYAML is the cluster as documents of YAML.
func (c *Case) ClusterYAML() []byte {
	var text bytes.Buffer
	for i, object := range c.Objects {
		if i > 0 {
			text.WriteString("---\n")
		}
		text.Write(asYAML(object))
	}
	return text.Bytes()
}

// ConfigYAML is the KubeSchedulerConfiguration.
func (c *Case) ConfigYAML() []byte { return asYAML(c.Config) }

func asYAML(object dict) []byte {
	text, err := yaml.Marshal(object)
	if err != nil {
		panic(err)
	}
	return text
}

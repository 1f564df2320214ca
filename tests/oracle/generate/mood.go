// SPDX-License-Identifier: Apache-2.0

package generate

import "berth.dev/tests/oracle/upstream"

// mood says how much of each feature a cluster has: the share of nodes or pods that have it. A mood leaves
// many features out, so that those which are in decide.
type mood struct {
	nodes, pods int
	// placed is the share of pods that run on a node.
	placed float64

	// Of the nodes.
	taints, unschedulable, missingLabels, bareNodes, extended, hugePages, declared, images float64
	// small is the share of nodes that a few pods fill.
	small float64

	// Of the pods.
	tolerations, nodeSelector, nodeAffinity, preferredNodes      float64
	ports, affinity, antiAffinity, preferredPods                 float64
	hardSpread, softSpread, owners, services                     float64
	initContainers, overhead, podLevel, resize, limits           float64
	noRequests, zeroRequests, wantsExtended, wantsHuge, huge     float64
	priority, nominated, terminating, gated, ended, needsFeature float64
	imageVolumes, otherNamespace, otherScheduler                 float64
	// noStart is the share of placed pods that have not started, startTimes how many different times the others have.
	noStart    float64
	startTimes int
	// placedPriorities and waitingPriorities are what those of the pods that have a priority choose from.
	placedPriorities, waitingPriorities []int32
	// never is the share of pods that must not preempt.
	never float64

	// storage says that there are volumes. Of the pods, of the nodes, and of the volumes:
	storage                               bool
	claims, ephemeral, disks              float64
	csiNodes, volumeLimits                float64
	volumeAffinity, zonedVolumes, oncePod float64

	// devices says that there are devices. Of the pods, of the nodes, of their pools, and of the devices:
	devices                                bool
	deviceClaimsOfPods, deviceNodes        float64
	brokenPools, partitions, mappedClasses float64
	deviceTaints, sharedDevices            float64

	// groups is how many pod groups there are; members, of the pods, those in a group; of the groups, lone are those without
	// an object; strange are members that differ from the others in what they must not.
	groups, composites     int
	members, lone, strange float64

	// budgets is how many PodDisruptionBudgets there are.
	budgets int

	// oddQuantities is the share of quantities that are spelled as an API server would not.
	oddQuantities float64
	// plainConfig leaves everything to the defaults.
	plainConfig bool

	// deferred is the share of resizes under way that are deferred; the nodes' policies are of those with this gate. 0: half
	// of those that cannot go on, and no policies.
	deferred, resizePolicies float64
}

// deferResizes has most placed pods wait for a resize.
func (m *mood) deferResizes(r random) {
	m.resize, m.placed = 0.4+r.feature(0.6), 0.5+0.4*r.Float64()
	m.deferred, m.resizePolicies = 0.5+0.5*r.Float64(), r.feature(0.5)
	m.priority, m.small = max(m.priority, 0.5), max(m.small, 0.5)
	m.placedPriorities, m.waitingPriorities = priorities, priorities
}

// feature is how much of a thing there is: mostly none, some, or a lot.
func (r random) feature(lot float64) float64 {
	switch r.IntN(5) {
	case 0, 1:
		return 0
	case 2, 3:
		return lot * r.Float64() / 2
	default:
		return lot * (0.5 + r.Float64()/2)
	}
}

func newMood(r random, options Options) mood {
	nodes := options.Nodes
	m := mood{
		nodes: r.between(min(5, nodes), max(5, nodes/pick(r, []int{1, 2, 2, 4, 4}))), pods: r.between(20, 40),
		placed: 0.3 + 0.5*r.Float64(),
		taints: r.feature(0.7), unschedulable: r.feature(0.2), missingLabels: r.feature(0.3), bareNodes: r.feature(0.1),
		extended: r.feature(0.7), hugePages: r.feature(0.6), declared: r.feature(0.7), images: r.feature(0.9),
		small:       r.feature(0.6),
		tolerations: r.feature(0.7), nodeSelector: r.feature(0.3), nodeAffinity: r.feature(0.5), preferredNodes: r.feature(0.6),
		ports: r.feature(0.6), affinity: r.feature(0.4), antiAffinity: r.feature(0.3), preferredPods: r.feature(0.6),
		hardSpread: r.feature(0.7), softSpread: r.feature(0.6), owners: r.feature(0.7), services: r.feature(1),
		initContainers: r.feature(0.4), overhead: r.feature(0.3), podLevel: r.feature(0.4), resize: r.feature(0.5),
		limits:     r.feature(0.5),
		noRequests: 0.1 + r.feature(0.4), zeroRequests: r.feature(0.3), wantsExtended: r.feature(0.2), wantsHuge: r.feature(0.2),
		huge: r.feature(0.1), priority: r.feature(0.8), nominated: r.feature(0.4), terminating: r.feature(0.2),
		gated: r.feature(0.2), ended: r.feature(0.1), needsFeature: r.feature(0.3),
		imageVolumes: r.feature(0.3), otherNamespace: r.feature(0.7), otherScheduler: r.feature(0.1),
		oddQuantities: r.feature(0.5), plainConfig: r.chance(0.3), startTimes: 1,
		placedPriorities: priorities, waitingPriorities: priorities,
	}
	if r.chance(0.3) {
		m.pods = r.between(40, 100)
	}
	if r.chance(0.3) {
		m.budgets = r.between(1, 8)
	}
	if r.chance(0.6) {
		m.crowd(r)
	}
	if options.DeferredResizes {
		m.deferResizes(r)
	}
	if options.Volumes && r.chance(0.4) {
		m.store(r)
	}
	if options.PodGroups != upstream.NoPodGroups {
		m.gather(r, options.PodGroups == upstream.CompositePodGroups)
	}
	// A pod that waits for volumes is not asked for devices, nor the other way round.
	if options.Devices && !m.storage && (m.groups > 0 || r.chance(0.6)) {
		m.equip(r)
	}
	if m.groups > 0 {
		m.mappedClasses = 0 // What extended resources get is on its way for ever.
	}
	return m
}

// equip has pods that want devices.
func (m *mood) equip(r random) {
	m.devices = true
	m.deviceClaimsOfPods, m.deviceNodes = 0.4+r.feature(0.6), 0.5+r.feature(0.5)
	m.brokenPools, m.partitions = r.feature(0.2), r.feature(0.7)
	if r.chance(0.5) {
		m.mappedClasses = 0.5 + r.feature(0.5)
	}
	m.deviceTaints, m.sharedDevices = r.feature(0.6), r.feature(0.8)
	for _, feature := range []*float64{&m.taints, &m.unschedulable, &m.nodeSelector, &m.nodeAffinity, &m.affinity,
		&m.antiAffinity, &m.hardSpread, &m.wantsHuge, &m.huge, &m.needsFeature, &m.ports, &m.small} {
		*feature /= 4
	}
	if m.mappedClasses > 0 {
		// Devices give what pods want of extended resources, but for some nodes that have it themselves.
		m.wantsExtended, m.extended = 0.2+r.feature(0.4), m.extended/4
	}
}

// store has pods that want volumes, and little else that keeps them off nodes.
func (m *mood) store(r random) {
	m.storage = true
	m.claims, m.ephemeral, m.disks = 0.4+r.feature(0.6), r.feature(0.3), r.feature(0.5)
	m.csiNodes, m.volumeLimits = pick(r, []float64{0, 0.8, 1, 1}), r.feature(0.9)
	m.volumeAffinity, m.zonedVolumes, m.oncePod = r.feature(0.8), r.feature(0.6), r.feature(0.5)
	for _, feature := range []*float64{&m.taints, &m.unschedulable, &m.nodeSelector, &m.nodeAffinity, &m.affinity,
		&m.antiAffinity, &m.hardSpread, &m.wantsExtended, &m.wantsHuge, &m.huge, &m.needsFeature, &m.ports, &m.small} {
		*feature /= 4
	}
}

// crowd leaves important pods no room but what evictions make.
func (m *mood) crowd(r random) {
	m.nodes = min(m.nodes, r.between(3, 8))
	m.pods, m.placed = r.between(30, 90), 0.6+0.3*r.Float64()
	m.priority, m.waitingPriorities = 0.8+0.2*r.Float64(), []int32{0, 10, 100, 1000, 1000}
	m.placedPriorities = pick(r, [][]int32{{0}, {0}, {0, 10}, {-5, 0, 10, 100, 1000}})
	m.startTimes, m.noStart = pick(r, []int{1, 1, 3, 60}), r.feature(0.1)
	if r.chance(0.7) {
		m.budgets = r.between(2, 8)
	}
	m.never, m.terminating, m.nominated = r.feature(0.2), r.feature(0.5), r.feature(0.9)
	// What else keeps pods off nodes is there, but seldom.
	for _, feature := range []*float64{&m.small, &m.taints, &m.unschedulable, &m.nodeSelector, &m.nodeAffinity, &m.affinity,
		&m.antiAffinity, &m.hardSpread, &m.wantsExtended, &m.wantsHuge, &m.huge, &m.needsFeature, &m.noRequests, &m.otherNamespace} {
		*feature /= 3
	}
}

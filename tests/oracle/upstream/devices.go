// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	typedresourcev1 "k8s.io/client-go/kubernetes/typed/resource/v1"
	"k8s.io/client-go/tools/cache"
	cachetesting "k8s.io/client-go/tools/cache/testing"
	"k8s.io/dynamic-resource-allocation/resourceclaim"
	"k8s.io/dynamic-resource-allocation/structured"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/profile"
)

// devices are claims, classes, slices and taint rules. Unlike all else upstream follows these by events, so their
// informers run, over lists in memory.
type devices struct {
	cluster   *Cluster
	informers []cache.SharedIndexInformer
	claims    *cachetesting.FakeControllerSource
	tracker   fwk.ResourceClaimTracker
	// followsClasses says that some plugin does; where none does, upstream maps no extended resources to them.
	followsClasses bool
	// allocated are the claims that got devices since the beginning.
	allocated map[string]*resourcev1.ResourceClaim
	// reserved are the claims with devices that pods got since the beginning, as they were before the first of these.
	reserved map[string]*resourcev1.ResourceClaim
	// reservations say how many pods got a claim since the beginning.
	reservations map[string]int
	// deallocated are the claims that PostFilter takes devices from.
	deallocated map[string]*resourcev1.ResourceClaim
	// freed are the claims that lost their devices since the beginning.
	freed map[string]freed
	// extended are the devices that extended resources got since the beginning.
	extended sets.Set[structured.DeviceID]
	// written is what upstream writes while its own loop runs; nil while it does not.
	written *claimWrites
}

// informersLimit is how long upstream may take to hear of objects in memory.
const informersLimit = 30 * time.Second

// use must be called before upstream asks the factory for these informers.
func (d *devices) use(factory informers.SharedInformerFactory, cluster *Cluster) {
	d.cluster = cluster
	d.allocated, d.reserved = map[string]*resourcev1.ResourceClaim{}, map[string]*resourcev1.ResourceClaim{}
	d.reservations = map[string]int{}
	d.freed, d.extended = map[string]freed{}, sets.New[structured.DeviceID]()
	claims, source := inMemory(factory, cluster.ResourceClaims)
	rules, _ := inMemory(factory, cluster.DeviceTaintRules)
	classes, _ := inMemory(factory, cluster.DeviceClasses)
	pools, _ := inMemory(factory, cluster.ResourceSlices)
	d.claims = source
	// Rules and classes are there before slices and claims.
	d.informers = []cache.SharedIndexInformer{rules, classes, pools, claims}
}

func inMemory[T any, P interface {
	object[T]
	runtime.Object
}](factory informers.SharedInformerFactory, objects []P) (cache.SharedIndexInformer, *cachetesting.FakeControllerSource) {
	source := cachetesting.NewFakeControllerSource()
	for _, object := range objects {
		source.Add(object)
	}
	example := P(new(T))
	return factory.InformerFor(example, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
		return cache.NewSharedIndexInformer(source, example, 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	}), source
}

// start returns when upstream knows all of them.
func (d *devices) start(ctx context.Context, profiles profile.Map) error {
	var manager fwk.SharedDRAManager // All profiles share it.
	for _, profile := range profiles {
		manager = profile.SharedDRAManager()
		for _, plugin := range profile.EnqueueExtensions() {
			events, err := plugin.EventsToRegister(ctx)
			if err != nil {
				return err
			}
			d.followsClasses = d.followsClasses || slices.ContainsFunc(events, func(e fwk.ClusterEventWithHint) bool {
				return e.Event.Resource == fwk.DeviceClass
			})
		}
	}
	d.tracker = manager.ResourceClaims()
	if !d.any() {
		return nil
	}
	for _, informer := range d.informers {
		go informer.RunWithContext(ctx)
		if !cache.WaitFor(ctx, "", informer.HasSyncedChecker()) {
			return context.Cause(ctx)
		}
	}
	return waitFor(informersLimit, func() bool { return d.known(manager) })
}

func waitFor(limit time.Duration, known func() bool) error {
	for begin := time.Now(); !known(); time.Sleep(100 * time.Microsecond) {
		if time.Since(begin) > limit {
			return errors.New("upstream does not hear of the devices")
		}
	}
	return nil
}

// any says whether there is something to hear of; pods may want devices all the same.
func (d *devices) any() bool {
	c := d.cluster
	return len(c.DeviceTaintRules)+len(c.DeviceClasses)+len(c.ResourceSlices)+len(c.ResourceClaims) > 0
}

func (d *devices) known(manager fwk.SharedDRAManager) bool {
	claims, err := manager.ResourceClaims().List()
	if err != nil || len(claims) != len(d.cluster.ResourceClaims) {
		return false
	}
	whole, shared := d.countAllocated()
	state, err := manager.ResourceClaims().GatherAllocatedState()
	if err != nil || len(state.AllocatedDevices) != whole || len(state.AllocatedSharedDeviceIDs) != shared {
		return false
	}
	slices, err := manager.ResourceSlices().ListWithDeviceTaintRules()
	if err != nil || len(slices) != len(d.cluster.ResourceSlices) {
		return false
	}
	for _, class := range d.cluster.DeviceClasses {
		if name := class.Spec.ExtendedResourceName; name != nil && d.followsClasses && manager.DeviceClassResolver().GetDeviceClass(corev1.ResourceName(*name)) == nil {
			return false
		}
	}
	return true
}

// countAllocated counts the devices that claims have, as upstream does: those of administrators do not count.
func (d *devices) countAllocated() (whole, shared int) {
	seen := map[string]bool{}
	for _, claim := range d.cluster.ResourceClaims {
		if claim.Status.Allocation == nil {
			continue
		}
		for _, result := range claim.Status.Allocation.Devices.Results {
			if result.AdminAccess != nil && *result.AdminAccess {
				continue
			}
			id, count := strings.Join([]string{result.Driver, result.Pool, result.Device}, "/"), &whole
			if result.ShareID != nil {
				id, count = id+"/"+string(*result.ShareID), &shared
			}
			if !seen[id] {
				seen[id] = true
				*count++
			}
		}
	}
	return whole, shared
}

// ExtendedResources is what documents call the claim that upstream makes up for a pod's extended resources.
const ExtendedResources = "<extended resources>"

// wantsDevices says whether DynamicResources has something to give the pod, or may have: by claims, or by classes that stand
// for extended resources.
func (c *cycle) wantsDevices() bool {
	tells := func(plugin config.Plugin) bool { return plugin.Name == names.DynamicResources }
	wants := len(c.devices.cluster.DeviceClasses) > 0 || len(c.pod.Spec.ResourceClaims) > 0
	return wants && slices.ContainsFunc(c.ListPlugins().Filter.Enabled, tells)
}

// chooseDevices notes for each node what Reserve gives the pod there, and has it undone.
func (c *cycle) chooseDevices(nodes []fwk.NodeInfo) error {
	if c.verdict.choices == nil {
		c.verdict.choices = map[string]choice{}
	}
	for _, info := range nodes {
		name := info.Node().Name
		claims, err := c.devicesOn(name)
		if err != nil {
			return err
		}
		if len(claims) == 0 {
			continue // Some nodes have extended resources without devices.
		}
		chosen := c.verdict.choices[name]
		chosen.allocate = func() error { return c.allocate(name) }
		c.verdict.choices[name] = chosen
		node := c.verdict.Nodes[name]
		node.Claims = append(node.Claims, claims...)
		c.verdict.Nodes[name] = node
	}
	return nil
}

func (c *cycle) devicesOn(node string) ([]Claim, error) {
	tracker := c.devices.tracker
	defer c.RunReservePluginsUnreserve(c.ctx, c.state, c.pod, node)
	reserved, err := c.reserve(node)
	if err != nil {
		return nil, err
	}
	var claims []Claim
	for _, claim := range c.deviceClaims() {
		allocation := claim.Status.Allocation
		if pending := tracker.GetPendingAllocation(claim.UID); pending != nil {
			allocation = pending
		}
		shown := Claim{Claim: Name(claim), Devices: []string{}}
		if allocation == nil {
			return nil, fmt.Errorf("Reserve gives claim %s of %s nothing", Name(claim), Name(c.pod))
		}
		for _, result := range allocation.Devices.Results {
			reserved.Delete(structured.MakeSharedDeviceID(deviceOf(result), result.ShareID))
			shown.Devices = append(shown.Devices, result.Request+": "+deviceOf(result).String()+consumed(result))
		}
		claims = append(claims, shown)
	}
	if len(reserved) > 0 {
		extended := Claim{Claim: ExtendedResources}
		for id := range reserved {
			extended.Devices = append(extended.Devices, id.GetDeviceID().String())
		}
		slices.Sort(extended.Devices)
		extended.Devices = slices.Compact(extended.Devices)
		claims = append(claims, extended)
	}
	return claims, nil
}

// reserve runs Reserve and says which devices, and which shares of devices, are taken since.
func (c *cycle) reserve(node string) (sets.Set[structured.SharedDeviceID], error) {
	before, err := c.devices.tracker.GatherAllocatedState()
	if err != nil {
		return nil, err
	}
	if status := c.RunReservePluginsReserve(c.ctx, c.state, c.pod, node); !status.IsSuccess() {
		return nil, status.AsError()
	}
	after, err := c.devices.tracker.GatherAllocatedState()
	if err != nil {
		return nil, err
	}
	taken := after.AllocatedSharedDeviceIDs.Difference(before.AllocatedSharedDeviceIDs)
	for id := range after.AllocatedDevices.Difference(before.AllocatedDevices) {
		taken.Insert(structured.MakeSharedDeviceID(id, nil))
	}
	return taken, nil
}

func deviceOf(result resourcev1.DeviceRequestAllocationResult) structured.DeviceID {
	return structured.MakeDeviceID(result.Driver, result.Pool, result.Device)
}

// consumed says whether the device is a share, and what is taken of its capacities, in the order of their names.
func consumed(result resourcev1.DeviceRequestAllocationResult) string {
	var text strings.Builder
	if result.ShareID != nil {
		text.WriteString(" share")
	}
	for _, name := range slices.Sorted(maps.Keys(result.ConsumedCapacity)) {
		amount := result.ConsumedCapacity[name]
		fmt.Fprintf(&text, " %s=%s", name, amount.String())
	}
	return text.String()
}

// deviceClaims are the pod's, those that are there, in the order in which it names them.
func (c *cycle) deviceClaims() []*resourcev1.ResourceClaim {
	var claims []*resourcev1.ResourceClaim
	for _, name := range deviceClaimsOf(c.pod) {
		_, name, _ := strings.Cut(name, "/")
		if claim, err := c.devices.tracker.Get(c.pod.Namespace, name); err == nil {
			claims = append(claims, claim)
		}
	}
	return claims
}

// deviceClaimsOf are the names of the pod's claims, as far as they are known.
func deviceClaimsOf(pod *corev1.Pod) []string {
	var claims []string
	for i := range pod.Spec.ResourceClaims {
		if name, _, err := resourceclaim.Name(pod, &pod.Spec.ResourceClaims[i]); err == nil && name != nil {
			claims = append(claims, pod.Namespace+"/"+*name)
		}
	}
	return claims
}

// ResourceV1 answers what Unreserve and PostFilter ask, and keeps which claims lose their devices.
func (c client) ResourceV1() typedresourcev1.ResourceV1Interface {
	return resourceClient{c.Interface.ResourceV1(), c.devices}
}

type resourceClient struct {
	typedresourcev1.ResourceV1Interface
	devices *devices
}

func (c resourceClient) ResourceClaims(namespace string) typedresourcev1.ResourceClaimInterface {
	return deviceClaimClient{c.ResourceV1Interface.ResourceClaims(namespace), c.devices}
}

type deviceClaimClient struct {
	typedresourcev1.ResourceClaimInterface
	devices *devices
}

func (c deviceClaimClient) Update(_ context.Context, claim *resourcev1.ResourceClaim, _ metav1.UpdateOptions) (*resourcev1.ResourceClaim, error) {
	if c.devices.written == nil {
		return nil, errors.New("upstream writes a claim outside of its own loop")
	}
	return c.devices.written.update(claim), nil
}

func (c deviceClaimClient) UpdateStatus(_ context.Context, claim *resourcev1.ResourceClaim, _ metav1.UpdateOptions) (*resourcev1.ResourceClaim, error) {
	if c.devices.written != nil {
		return c.devices.written.updateStatus(claim), nil
	}
	c.devices.deallocated[Name(claim)] = claim
	return claim, nil
}

func (c deviceClaimClient) Patch(context.Context, string, types.PatchType, []byte, metav1.PatchOptions, ...string) (*resourcev1.ResourceClaim, error) {
	if c.devices.written != nil {
		c.devices.written.giveUp()
	}
	return &resourcev1.ResourceClaim{}, nil
}

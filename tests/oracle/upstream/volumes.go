// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/component-helpers/storage/ephemeral"
	"k8s.io/component-helpers/storage/volume"
	csitrans "k8s.io/csi-translation-lib"
	csiplugins "k8s.io/csi-translation-lib/plugins"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

// volumes is what the oracle knows of volumes besides upstream's own caches.
type volumes struct {
	// asked is what VolumeBinding has asked the API server for.
	asked    choice
	pvs      cache.Indexer
	claims   cache.Indexer
	classes  storagelisters.StorageClassLister
	csiNodes storagelisters.CSINodeLister
	// chosen has how volume and claim were between choice and binding, bound how they are since, by the claim's name.
	chosen, bound map[string]binding
	// order has the names of these claims as they were chosen, one after the other.
	order []string
}

// binding is a claim and its volume; it has none while it is still to be made.
type binding struct {
	pv    *corev1.PersistentVolume
	claim *corev1.PersistentVolumeClaim
}

// choice is what VolumeBinding writes when it binds a pod's volumes.
type choice struct {
	// bound are volumes that refer to the claim chosen for them.
	bound []*corev1.PersistentVolume
	// selected are claims that name the node for which a volume is to be made.
	selected []*corev1.PersistentVolumeClaim
	// allocate gives the pod its devices; nil: it wants none.
	allocate func() error
}

func (v *volumes) use(factory informers.SharedInformerFactory) {
	core, storage := factory.Core().V1(), factory.Storage().V1()
	v.pvs, v.claims = core.PersistentVolumes().Informer().GetIndexer(), core.PersistentVolumeClaims().Informer().GetIndexer()
	v.chosen, v.bound = map[string]binding{}, map[string]binding{}
	v.classes, v.csiNodes = storage.StorageClasses().Lister(), storage.CSINodes().Lister()
}

// chooseVolumes notes for each node what Reserve and PreBind do there, and has them undone.
func (c *cycle) chooseVolumes(nodes []fwk.NodeInfo) error {
	tells := func(plugin config.Plugin) bool { return plugin.Name == names.VolumeBinding }
	if !slices.ContainsFunc(c.pod.Spec.Volumes, hasClaim) || !slices.ContainsFunc(c.ListPlugins().Filter.Enabled, tells) {
		return nil
	}
	c.verdict.choices = map[string]choice{}
	for _, info := range nodes {
		name := info.Node().Name
		chosen, err := c.chooseVolumesOn(name)
		if err != nil {
			return err
		}
		c.verdict.choices[name] = chosen
		node := c.verdict.Nodes[name]
		if node.Claims, err = c.claimsWith(chosen); err != nil {
			return err
		}
		c.verdict.Nodes[name] = node
	}
	return nil
}

// claimsWith are the pod's claims as they are with these volumes.
func (c *cycle) claimsWith(chosen choice) ([]Claim, error) {
	volumes := map[string]string{}
	for _, pv := range chosen.bound {
		volumes[pv.Spec.ClaimRef.Namespace+"/"+pv.Spec.ClaimRef.Name] = pv.Name
	}
	var claims []Claim
	for _, name := range claimsOf(c.pod) {
		stored, exists, err := c.volumes.claims.GetByKey(name)
		if err != nil || !exists {
			continue // Profiles without the plugins of volumes do not mind.
		}
		claim := stored.(*corev1.PersistentVolumeClaim)
		shown := Claim{Claim: name, Volume: volumes[name]}
		if claim.Spec.VolumeName != "" {
			shown.Volume = claim.Spec.VolumeName
		}
		if slices.ContainsFunc(chosen.selected, func(s *corev1.PersistentVolumeClaim) bool { return Name(s) == name }) {
			class, err := c.volumes.classes.Get(volume.GetPersistentVolumeClaimClass(claim))
			if err != nil {
				return nil, err
			}
			shown.Provisioner = class.Provisioner
		}
		claims = append(claims, shown)
	}
	return claims, nil
}

func hasClaim(v corev1.Volume) bool { return v.PersistentVolumeClaim != nil || v.Ephemeral != nil }

func (c *cycle) chooseVolumesOn(node string) (choice, error) {
	defer c.RunReservePluginsUnreserve(c.ctx, c.state, c.pod, node)
	if status := c.RunReservePluginsReserve(c.ctx, c.state, c.pod, node); !status.IsSuccess() {
		return choice{}, status.AsError()
	}
	switch status := c.RunPreBindPreFlights(c.ctx, c.state, c.pod, node); {
	case status.IsSkip():
		return choice{}, nil
	case !status.IsSuccess():
		return choice{}, status.AsError()
	}
	// PreBind asks the API server first, and then waits for the binding: in vain, and here not at all.
	over, end := context.WithCancel(c.ctx)
	end()
	c.volumes.asked = choice{}
	c.RunPreBindPlugins(over, c.state, c.pod, node)
	return c.volumes.asked, nil
}

// bindVolumes does what the PV controller and a provisioner do when a pod's volumes are chosen.
func (s *State) bindVolumes(node string, chosen choice) error {
	for _, pv := range chosen.bound {
		claim, exists, err := s.volumes.claims.GetByKey(pv.Spec.ClaimRef.Namespace + "/" + pv.Spec.ClaimRef.Name)
		if err != nil {
			return err
		}
		if !exists {
			return fmt.Errorf("volume %s is chosen for a claim that is not there", pv.Name)
		}
		if err := s.volumes.bind(binding{pv, claim.(*corev1.PersistentVolumeClaim)}, pv); err != nil {
			return err
		}
	}
	for _, claim := range chosen.selected {
		pv, err := s.provision(claim, node)
		if err != nil {
			return err
		}
		if err := s.volumes.bind(binding{claim: claim}, pv); err != nil {
			return err
		}
	}
	return nil
}

// failsToBind says whether PreBind may fail: it finds claims bound that Filter saw without a volume, and of volumes of in-tree
// plugins, by their labels, where CSI drivers reach them, which Filter asks only about volumes that are bound.
func (s *State) failsToBind(pod *corev1.Pod, chosen choice, nodeName string) bool {
	node, err := s.snapshot.Get(nodeName)
	if err != nil {
		return false
	}
	for _, name := range claimsOf(pod) {
		if pv := s.volumes.bound[name].pv; pv != nil && volume.CheckNodeAffinity(pv, node.Node().Labels) != nil {
			return true
		}
	}
	translator := csitrans.New()
	return slices.ContainsFunc(chosen.bound, func(pv *corev1.PersistentVolume) bool {
		if !translator.IsPVMigratable(pv) {
			return false
		}
		translated, err := translator.TranslateInTreePVToCSI(klog.FromContext(s.ctx), pv)
		return err != nil || volume.CheckNodeAffinity(translated, node.Node().Labels) != nil
	})
}

// bind binds what is chosen: the volume is the one chosen or one made since.
func (v *volumes) bind(chosen binding, pv *corev1.PersistentVolume) error {
	pv, claim := pv.DeepCopy(), chosen.claim.DeepCopy()
	pv.Status.Phase = corev1.VolumeBound
	claim.Spec.VolumeName = pv.Name
	claim.Status.Phase = corev1.ClaimBound
	metav1.SetMetaDataAnnotation(&claim.ObjectMeta, volume.AnnBindCompleted, "yes")
	metav1.SetMetaDataAnnotation(&claim.ObjectMeta, volume.AnnBoundByController, "yes")
	if _, again := v.chosen[Name(claim)]; !again {
		v.chosen[Name(claim)] = chosen
		v.order = append(v.order, Name(claim))
	}
	v.bound[Name(claim)] = binding{pv, claim}
	return v.store(v.bound[Name(claim)])
}

func (v *volumes) store(b binding) error {
	var err error
	if b.pv != nil {
		err = v.pvs.Add(b.pv)
	}
	return firstError(err, v.claims.Update(b.claim))
}

// withClaimsOrWithout tries a decision. Volumes that were chosen for pods before may be bound by now, or only chosen, the last
// ones first; and devices of claims that the pod shares with them allocated, or on their way. Whatever is so, it may be what the
// decision came from. early says that not all volumes were bound.
func (s *State) withClaimsOrWithout(pod *corev1.Pod, try func() error) (early bool, err error) {
	refused := try()
	if refused == nil {
		return false, nil
	}
	for bound := len(s.volumes.order) - 1; bound >= 0; bound-- {
		chosen := s.volumes.order[bound:]
		s.volumes.show(chosen[:1], s.volumes.chosen)
		again := try()
		if again == nil || bound == 0 {
			s.volumes.show(chosen, s.volumes.bound)
		}
		if again == nil {
			return true, nil
		}
	}
	shown, giveBack, err := s.devices.showOnTheirWay(pod)
	if err != nil {
		return false, err
	}
	again := refused
	if shown {
		again = try()
	}
	if err := giveBack(); err != nil {
		return false, err
	}
	if again == nil {
		return false, nil
	}
	return false, refused
}

// show stores the claims of these names, and their volumes, as they are there.
func (v *volumes) show(claims []string, as map[string]binding) {
	for _, name := range claims {
		_ = v.store(as[name]) // The stores are in memory and take everything.
	}
}

func claimsOf(pod *corev1.Pod) []string {
	var claims []string
	for _, v := range pod.Spec.Volumes {
		switch {
		case v.PersistentVolumeClaim != nil:
			claims = append(claims, pod.Namespace+"/"+v.PersistentVolumeClaim.ClaimName)
		case v.Ephemeral != nil:
			claims = append(claims, pod.Namespace+"/"+ephemeral.VolumeClaimName(pod, &v))
		}
	}
	return claims
}

// waitsForVolumes says whether a claim of the pod is not bound.
func (c *cycle) waitsForVolumes() bool {
	return slices.ContainsFunc(claimsOf(c.pod), func(name string) bool {
		claim, exists, err := c.volumes.claims.GetByKey(name)
		return err == nil && exists && !metav1.HasAnnotation(claim.(*corev1.PersistentVolumeClaim).ObjectMeta, volume.AnnBindCompleted)
	})
}

// provision makes a volume that the node can reach, by what its CSI driver says of the topology, or else its class. For
// a class of an in-tree plugin the driver that stands for it makes a volume of that plugin, in the node's zone.
func (s *State) provision(claim *corev1.PersistentVolumeClaim, nodeName string) (*corev1.PersistentVolume, error) {
	className := volume.GetPersistentVolumeClaimClass(claim)
	class, err := s.volumes.classes.Get(className)
	if err != nil {
		return nil, err
	}
	pv := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "pvc-" + string(claim.UID)},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:                  corev1.ResourceList{corev1.ResourceStorage: claim.Spec.Resources.Requests[corev1.ResourceStorage]},
			AccessModes:               claim.Spec.AccessModes,
			StorageClassName:          className,
			VolumeMode:                claim.Spec.VolumeMode,
			VolumeAttributesClassName: claim.Spec.VolumeAttributesClassName,
			ClaimRef: &corev1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1",
				Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID},
		},
	}
	pv.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: class.Provisioner, VolumeHandle: pv.Name}
	if translator := csitrans.New(); translator.IsMigratableIntreePluginByName(class.Provisioner) {
		if pv.Spec.CSI.Driver, err = translator.GetCSINameFromInTreeName(class.Provisioner); err != nil {
			return nil, err
		}
		if pv.Spec.CSI.Driver == csiplugins.GCEPDDriverName {
			pv.Spec.CSI.VolumeHandle = "projects/p/zones/z/disks/" + pv.Name
		}
		if pv, err = translator.TranslateCSIPVToInTree(pv); err != nil {
			return nil, err
		}
		return pv, s.putIntoZone(pv, driverZones[class.Provisioner], nodeName)
	}
	var terms []corev1.NodeSelectorTerm
	if labels := s.topology(class.Provisioner, nodeName); len(labels) > 0 {
		terms = []corev1.NodeSelectorTerm{{MatchExpressions: labels}}
	} else {
		for _, allowed := range class.AllowedTopologies {
			var term corev1.NodeSelectorTerm
			for _, label := range allowed.MatchLabelExpressions {
				term.MatchExpressions = append(term.MatchExpressions, in(label.Key, label.Values...))
			}
			terms = append(terms, term)
		}
	}
	if len(terms) > 0 {
		pv.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: terms}}
	}
	return pv, nil
}

// driverZones are the labels by which drivers of in-tree plugins know a node's zone.
var driverZones = map[string]string{
	csiplugins.AWSEBSInTreePluginName: csiplugins.AWSEBSTopologyKey,
	csiplugins.GCEPDInTreePluginName:  csiplugins.GCEPDTopologyKey,
	csiplugins.CinderInTreePluginName: csiplugins.CinderTopologyKey,
}

// putIntoZone says that the volume is in the node's zone, if the driver knows it by the same name.
func (s *State) putIntoZone(pv *corev1.PersistentVolume, driverZone, nodeName string) error {
	node, err := s.snapshot.Get(nodeName)
	if err != nil {
		return err
	}
	zone, known := node.Node().Labels[corev1.LabelTopologyZone]
	if ofDriver, has := node.Node().Labels[driverZone]; !known || !has || zone != ofDriver {
		return nil
	}
	pv.Labels = map[string]string{corev1.LabelTopologyZone: zone}
	pv.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
		{MatchExpressions: []corev1.NodeSelectorRequirement{in(corev1.LabelTopologyZone, zone)}}}}}
	return nil
}

func in(key string, values ...string) corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}
}

// topology has the node's labels of the keys that the driver reports there.
func (s *State) topology(driver, nodeName string) []corev1.NodeSelectorRequirement {
	csiNode, err := s.volumes.csiNodes.Get(nodeName)
	if err != nil {
		return nil // Most nodes of a cluster without CSI drivers have none.
	}
	node, err := s.snapshot.Get(nodeName)
	if err != nil {
		return nil
	}
	var terms []corev1.NodeSelectorRequirement
	for _, d := range csiNode.Spec.Drivers {
		if d.Name != driver {
			continue
		}
		for _, key := range d.TopologyKeys {
			if value, has := node.Node().Labels[key]; has {
				terms = append(terms, in(key, value))
			}
		}
	}
	return terms
}

// client keeps what plugins ask of the API server, and says that it is done. For all else there is no server.
type client struct {
	kubernetes.Interface
	asked    *choice
	devices  *devices
	requests *requests
}

func (c client) CoreV1() typedcorev1.CoreV1Interface {
	return coreClient{c.Interface.CoreV1(), c.asked, c.requests}
}

type coreClient struct {
	typedcorev1.CoreV1Interface
	asked    *choice
	requests *requests
}

func (c coreClient) PersistentVolumes() typedcorev1.PersistentVolumeInterface {
	return volumeClient{c.CoreV1Interface.PersistentVolumes(), c.asked}
}

func (c coreClient) PersistentVolumeClaims(namespace string) typedcorev1.PersistentVolumeClaimInterface {
	return claimClient{c.CoreV1Interface.PersistentVolumeClaims(namespace), c.asked}
}

type volumeClient struct {
	typedcorev1.PersistentVolumeInterface
	asked *choice
}

func (c volumeClient) Update(_ context.Context, pv *corev1.PersistentVolume, _ metav1.UpdateOptions) (*corev1.PersistentVolume, error) {
	c.asked.bound = append(c.asked.bound, pv)
	return pv, nil
}

type claimClient struct {
	typedcorev1.PersistentVolumeClaimInterface
	asked *choice
}

func (c claimClient) Update(_ context.Context, claim *corev1.PersistentVolumeClaim, _ metav1.UpdateOptions) (*corev1.PersistentVolumeClaim, error) {
	c.asked.selected = append(c.asked.selected, claim)
	return claim, nil
}

// SPDX-License-Identifier: Apache-2.0

package generate

import corev1 "k8s.io/api/core/v1"

// The vocabularies are small, so that things match often.

const (
	rackLabel    = "example.com/rack"
	diskLabel    = "disk"
	coresLabel   = "cores"
	missingLabel = "example.com/nowhere"

	betaZoneLabel   = "failure-domain.beta.kubernetes.io/zone"
	betaRegionLabel = "failure-domain.beta.kubernetes.io/region"
)

var (
	zones        = []string{"za", "zb", "zc"}
	topologyKeys = []string{corev1.LabelHostname, corev1.LabelHostname, corev1.LabelTopologyZone,
		corev1.LabelTopologyZone, rackLabel, corev1.LabelTopologyRegion, missingLabel}

	// nodeLabels has the values of labels that are not names of places; cores are numbers, or not.
	nodeLabels = map[string][]string{
		diskLabel:  {"ssd", "hdd", ""},
		coresLabel: {"4", "8", "16", "007", "many"},
		rackLabel:  {"r1", "r2", "r3", "r4"},
	}
	nodeLabelKeys = []string{diskLabel, coresLabel, rackLabel, corev1.LabelTopologyZone}

	podLabels = map[string][]string{
		"app":  {"web", "db", "cache"},
		"tier": {"front", "back"},
		"rev":  {"1", "2"},
	}
	podLabelKeys = []string{"app", "tier", "rev"}

	namespaceLabels    = map[string][]string{"team": {"red", "blue"}, "env": {"prod", "test"}}
	namespaceLabelKeys = []string{"team", "env"}

	// The last namespace has no Namespace object.
	namespaces = []string{"default", "red", "blue", "ghost"}

	taintKeys    = []string{"dedicated", "gpu", "level"}
	taintValues  = []string{"", "a", "b", "5", "10"}
	taintEffects = []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute}

	hostPorts = []int32{80, 443, 8080}
	hostIPs   = []string{"", "", "0.0.0.0", "127.0.0.1", "10.0.0.1", "::", "::1"}
	protocols = []corev1.Protocol{"", corev1.ProtocolTCP, corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP}

	// A name without a tag means "latest".
	images = []string{"registry.example/web:1", "registry.example/web", "registry.example/db:2", "cache",
		"registry.example:5000/db", "registry.example/model@sha256:5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"}

	priorities = []int32{0, 0, 10, 100, 1000, -5}

	features = []string{"RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport", "VolumeBindMountOptions"}
)

const (
	gpu  corev1.ResourceName = "example.com/gpu"
	fpga corev1.ResourceName = "example.com/fpga"
	nic  corev1.ResourceName = "vendor.example/nic"

	hugePages2Mi corev1.ResourceName = corev1.ResourceHugePagesPrefix + "2Mi"
	hugePages1Gi corev1.ResourceName = corev1.ResourceHugePagesPrefix + "1Gi"
)

var extendedResources = []corev1.ResourceName{gpu, fpga, nic}

// What pods ask for. Several spellings are such as an API server would print otherwise.
var (
	cpuRequests    = []string{"100m", "250m", "500m", "1", "0.1", "1500m", "2", "0.5m", "1e-1", "333m"}
	memoryRequests = []string{"64Mi", "128Mi", "1Gi", "1.5Gi", "12e6", "100M", "2Gi", "128974848", "0.1Gi", "1e9", "1e3"}
	diskRequests   = []string{"100Mi", "1Gi", "5G"}

	// In cpu 1E is beyond an int64 of thousandths, which upstream takes for 0.
	hugeCPURequests    = []string{"100", "1000000", "1P"}
	hugeMemoryRequests = []string{"1Ti", "1E", "1e15"}
)

const noProvisioner = "kubernetes.io/no-provisioner"

// Volumes have classes, which are there or not, and drivers; in-tree plugins have moved to the later two drivers.
var (
	classNames        = []string{"fast", "slow", "local", "zonal", "absent"}
	provisioners      = []string{"a.csi.example", "a.csi.example", "b.csi.example", noProvisioner, noProvisioner, "example.com/nfs", "kubernetes.io/gce-pd", "kubernetes.io/aws-ebs"}
	csiDrivers        = []string{"a.csi.example", "b.csi.example", "pd.csi.storage.gke.io", "ebs.csi.aws.com"}
	inTreePlugins     = []string{"kubernetes.io/gce-pd", "kubernetes.io/aws-ebs", "kubernetes.io/azure-disk", "kubernetes.io/cinder", "kubernetes.io/vsphere-volume"}
	attributesClasses = []string{"gold", "silver"}

	accessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce, corev1.ReadOnlyMany, corev1.ReadWriteMany}

	claimSizes    = []string{"1Gi", "1Gi", "5Gi", "10Gi", "50Gi"}
	capacitySizes = []string{"500Mi", "4Gi", "20Gi", "100Gi"}

	volumeLabels    = map[string][]string{"media": {"flash", "tape"}, "owner": {"red", "blue"}}
	volumeLabelKeys = []string{"media", "owner"}

	disks      = []string{"disk-1", "disk-2", "disk-3"}
	ebsVolumes = []string{"vol-1", "vol-2", "aws://za/vol-3"}

	// csiZoneLabels are the labels by which the drivers of in-tree plugins know a node's zone.
	csiZoneLabels = []string{"topology.gke.io/zone", "topology.ebs.csi.aws.com/zone", "topology.disk.csi.azure.com/zone",
		"topology.cinder.csi.openstack.org/zone"}
)

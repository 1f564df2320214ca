// SPDX-License-Identifier: Apache-2.0

package integration

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"

	"berth.dev/tests/internal/daemon/workload"
)

// The objects whose fields admitted_test.go changes, one at a time: the API server takes each as it is, and between them they
// have a value in most fields that Berth reads.

func offeredKinds(client kubernetes.Interface) []offered {
	core, apps := client.CoreV1().RESTClient(), client.AppsV1().RESTClient()
	storage, devices := client.StorageV1().RESTClient(), client.ResourceV1().RESTClient()
	groups, trees := client.SchedulingV1beta1().RESTClient(), client.SchedulingV1alpha3().RESTClient()
	return []offered{
		{core, "pods", true, true, []runtime.Object{plainPod(), fullPod(), podOfVolumes()}},
		{core, "nodes", false, true, []runtime.Object{fullNode()}},
		{core, "namespaces", false, false, []runtime.Object{&corev1.Namespace{ObjectMeta: fullMeta()}}},
		{core, "services", true, false, []runtime.Object{&corev1.Service{ObjectMeta: fullMeta(),
			Spec: corev1.ServiceSpec{Selector: labels(), Ports: []corev1.ServicePort{{Port: 80}}}}}},
		{core, "replicationcontrollers", true, false, []runtime.Object{&corev1.ReplicationController{ObjectMeta: fullMeta(),
			Spec: corev1.ReplicationControllerSpec{Replicas: pointer(int32(0)), Selector: labels(), Template: pointer(template())}}}},
		{apps, "replicasets", true, false, []runtime.Object{&appsv1.ReplicaSet{ObjectMeta: fullMeta(),
			Spec: appsv1.ReplicaSetSpec{Replicas: pointer(int32(0)), Selector: fullSelector(), Template: template()}}}},
		{apps, "statefulsets", true, false, []runtime.Object{&appsv1.StatefulSet{ObjectMeta: fullMeta(),
			Spec: appsv1.StatefulSetSpec{Replicas: pointer(int32(0)), Selector: fullSelector(), Template: template()}}}},
		{client.PolicyV1().RESTClient(), "poddisruptionbudgets", true, true, []runtime.Object{fullBudget()}},
		{core, "persistentvolumes", false, true, fullVolumes()},
		{core, "persistentvolumeclaims", true, true, []runtime.Object{&corev1.PersistentVolumeClaim{ObjectMeta: fullMeta(), Spec: claimOfVolume(),
			Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending, Capacity: storageOf("1Gi")}}}},
		{storage, "storageclasses", false, false, []runtime.Object{&storagev1.StorageClass{ObjectMeta: fullMeta(), Provisioner: "odd.example.com",
			VolumeBindingMode: pointer(storagev1.VolumeBindingWaitForFirstConsumer), AllowedTopologies: []corev1.TopologySelectorTerm{
				{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: "zone", Values: []string{"a"}}}}}}}},
		{storage, "csinodes", false, false, []runtime.Object{&storagev1.CSINode{ObjectMeta: fullMeta(), Spec: storagev1.CSINodeSpec{
			Drivers: []storagev1.CSINodeDriver{{Name: "odd.example.com", NodeID: "n", TopologyKeys: []string{"zone"},
				Allocatable: &storagev1.VolumeNodeResources{Count: pointer(int32(5))}}}}}}},
		{storage, "csidrivers", false, false, []runtime.Object{&storagev1.CSIDriver{ObjectMeta: fullMeta(),
			Spec: storagev1.CSIDriverSpec{StorageCapacity: pointer(true)}}}},
		{storage, "csistoragecapacities", true, false, []runtime.Object{&storagev1.CSIStorageCapacity{ObjectMeta: fullMeta(), StorageClassName: "odd",
			NodeTopology: fullSelector(), Capacity: pointer(resource.MustParse("5Gi")), MaximumVolumeSize: pointer(resource.MustParse("1Gi"))}}},
		{storage, "volumeattachments", false, true, []runtime.Object{&storagev1.VolumeAttachment{ObjectMeta: fullMeta(),
			Spec: storagev1.VolumeAttachmentSpec{Attacher: "odd.example.com", NodeName: "n", Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: pointer("odd")}}}}},
		{storage, "volumeattributesclasses", false, false, []runtime.Object{&storagev1.VolumeAttributesClass{ObjectMeta: fullMeta(),
			DriverName: "odd.example.com", Parameters: labels()}}},
		{devices, "resourceclaims", true, true, []runtime.Object{fullDeviceClaim(), choosingDeviceClaim()}},
		{devices, "resourceclaimtemplates", true, false, []runtime.Object{&resourcev1.ResourceClaimTemplate{ObjectMeta: fullMeta(),
			Spec: resourcev1.ResourceClaimTemplateSpec{ObjectMeta: fullMeta(), Spec: fullDeviceClaim().Spec}}}},
		{devices, "deviceclasses", false, false, []runtime.Object{&resourcev1.DeviceClass{ObjectMeta: fullMeta(), Spec: resourcev1.DeviceClassSpec{
			Selectors: selectors(), Config: []resourcev1.DeviceClassConfiguration{{DeviceConfiguration: opaqueConfiguration()}}}}}},
		{devices, "resourceslices", false, false, fullSlices()},
		{devices, "devicetaintrules", false, false, []runtime.Object{&resourcev1.DeviceTaintRule{ObjectMeta: fullMeta(), Spec: resourcev1.DeviceTaintRuleSpec{
			DeviceSelector: &resourcev1.DeviceTaintSelector{Driver: pointer("odd.example.com"), Pool: pointer("odd"), Device: pointer("d")},
			Taint:          resourcev1.DeviceTaint{Key: "k", Value: "v", Effect: resourcev1.DeviceTaintEffectNoSchedule}}}}},
		{groups, "podgroups", true, true, []runtime.Object{&schedulingv1beta1.PodGroup{ObjectMeta: fullMeta(), Spec: schedulingv1beta1.PodGroupSpec{
			SchedulingPolicy: schedulingv1beta1.PodGroupSchedulingPolicy{Gang: &schedulingv1beta1.GangSchedulingPolicy{MinCount: 2}}}}}},
		{trees, "compositepodgroups", true, true, []runtime.Object{&schedulingv1alpha3.CompositePodGroup{ObjectMeta: fullMeta(), Spec: schedulingv1alpha3.CompositePodGroupSpec{
			WorkloadRef: &schedulingv1alpha3.WorkloadReference{WorkloadName: "odd", TemplateName: "odd"},
			SchedulingPolicy: schedulingv1alpha3.CompositePodGroupSchedulingPolicy{
				Gang: &schedulingv1alpha3.CompositeGangSchedulingPolicy{MinGroupCount: 2}}}}}},
		{groups, "workloads", true, false, []runtime.Object{&schedulingv1beta1.Workload{ObjectMeta: fullMeta(), Spec: schedulingv1beta1.WorkloadSpec{
			ControllerRef: &schedulingv1beta1.TypedLocalObjectReference{APIGroup: "apps", Kind: "Deployment", Name: "odd"},
			PodGroupTemplates: []schedulingv1beta1.PodGroupTemplate{{Name: "t", SchedulingPolicy: schedulingv1beta1.PodGroupSchedulingPolicy{
				Gang: &schedulingv1beta1.GangSchedulingPolicy{MinCount: 2}}}}}}}},
	}
}

func pointer[T any](value T) *T { return &value }

func labels() map[string]string { return map[string]string{"app": "odd"} }

func fullMeta() metav1.ObjectMeta {
	return metav1.ObjectMeta{Labels: labels(), Annotations: map[string]string{"a": "b"}}
}

func fullSelector() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: labels(),
		MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpIn, Values: []string{"odd", "even"}}}}
}

func nodeSelectorTerm() corev1.NodeSelectorTerm {
	return corev1.NodeSelectorTerm{
		MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "zone", Operator: corev1.NodeSelectorOpIn, Values: []string{"a"}}},
		MatchFields:      []corev1.NodeSelectorRequirement{{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{"a"}}}}
}

func storageOf(amount string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(amount)}
}

func requirements() corev1.ResourceRequirements {
	amounts := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1m")}
	return corev1.ResourceRequirements{Requests: amounts, Limits: amounts.DeepCopy()}
}

func template() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{ObjectMeta: fullMeta(), Spec: workload.Pod("").Spec}
}

// plainPod is on a node of its own, which admission.offer names.
func plainPod() *corev1.Pod {
	pod := workload.Pod("", workload.OnNode("full"))
	pod.ObjectMeta = fullMeta()
	pod.Spec.SchedulerName = "another"
	return pod
}

func fullPod() *corev1.Pod {
	pod := plainPod()
	term := corev1.PodAffinityTerm{LabelSelector: fullSelector(), Namespaces: []string{"odd"}, TopologyKey: corev1.LabelHostname,
		NamespaceSelector: fullSelector(), MatchLabelKeys: []string{"k"}, MismatchLabelKeys: []string{"m"}}
	pods := corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term},
		PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 5, PodAffinityTerm: term}}}
	container := corev1.Container{Name: "main", Image: "image", Resources: requirements(),
		Ports: []corev1.ContainerPort{{HostPort: 80, ContainerPort: 80, Protocol: corev1.ProtocolTCP, HostIP: "10.0.0.1"}}}
	sidecar := container
	sidecar.Name, sidecar.Ports, sidecar.RestartPolicy = "first", nil, pointer(corev1.ContainerRestartPolicyAlways)
	pod.Spec.Containers, pod.Spec.InitContainers = []corev1.Container{container}, []corev1.Container{sidecar}
	pod.Spec.NodeSelector = labels()
	pod.Spec.Affinity = &corev1.Affinity{
		NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{nodeSelectorTerm()}},
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{
				{Weight: 5, Preference: nodeSelectorTerm()}}},
		PodAffinity: &pods,
		PodAntiAffinity: (*corev1.PodAntiAffinity)(&corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution:  pods.RequiredDuringSchedulingIgnoredDuringExecution,
			PreferredDuringSchedulingIgnoredDuringExecution: pods.PreferredDuringSchedulingIgnoredDuringExecution})}
	pod.Spec.Tolerations = []corev1.Toleration{{Key: "k", Operator: corev1.TolerationOpEqual, Value: "v",
		Effect: corev1.TaintEffectNoExecute, TolerationSeconds: pointer(int64(5))}}
	pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: "zone",
		WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: fullSelector(), MinDomains: pointer(int32(2)), MatchLabelKeys: []string{"k"},
		NodeAffinityPolicy: pointer(corev1.NodeInclusionPolicyHonor), NodeTaintsPolicy: pointer(corev1.NodeInclusionPolicyHonor)}}
	pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "c", ResourceClaimName: pointer("none")}}
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, StartTime: pointer(metav1.Unix(1, 0)), NominatedNodeName: "n",
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Unix(1, 0)}},
		ContainerStatuses: []corev1.ContainerStatus{{Name: "main", Image: "image",
			AllocatedResources: requirements().Requests, Resources: pointer(requirements())}},
		InitContainerStatuses: []corev1.ContainerStatus{{Name: "first", Image: "image",
			AllocatedResources: requirements().Requests, Resources: pointer(requirements())}},
		AllocatedResources: requirements().Requests, Resources: pointer(requirements())}
	return pod
}

func podOfVolumes() *corev1.Pod {
	pod := plainPod()
	sources := []corev1.VolumeSource{
		{Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{ObjectMeta: fullMeta(), Spec: claimOfVolume()}}},
		{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: pointer(resource.MustParse("1Gi"))}},
		{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "none"}},
		{CSI: &corev1.CSIVolumeSource{Driver: "odd.example.com", VolumeAttributes: labels()}},
		{ISCSI: &corev1.ISCSIVolumeSource{TargetPortal: "10.0.0.1", IQN: "iqn.2026-01.com.example:odd", Lun: 1}},
		{AzureDisk: &corev1.AzureDiskVolumeSource{DiskName: "d", DataDiskURI: "https://odd.example.com/d", Kind: pointer(corev1.AzureSharedBlobDisk)}},
		{Image: &corev1.ImageVolumeSource{Reference: "image"}},
	}
	for i, source := range sources {
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: string(rune('a' + i)), VolumeSource: source})
	}
	return pod
}

func claimOfVolume() corev1.PersistentVolumeClaimSpec {
	return corev1.PersistentVolumeClaimSpec{AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: pointer("none"),
		VolumeMode: pointer(corev1.PersistentVolumeFilesystem), Selector: fullSelector(),
		Resources: corev1.VolumeResourceRequirements{Requests: storageOf("1Gi"), Limits: storageOf("2Gi")}}
}

func fullNode() *corev1.Node {
	node := workload.Node("")
	node.ObjectMeta = fullMeta()
	node.Spec.Taints = []corev1.Taint{{Key: "odd", Value: "v", Effect: corev1.TaintEffectNoSchedule}}
	node.Status.Images = []corev1.ContainerImage{{Names: []string{"image"}, SizeBytes: 5}}
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	return node
}

func fullBudget() *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{ObjectMeta: fullMeta(),
		Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: pointer(intstr.FromInt32(1)), Selector: fullSelector()},
		Status: policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: 1, CurrentHealthy: 1, DesiredHealthy: 1, ExpectedPods: 1,
			DisruptedPods: map[string]metav1.Time{"pod": metav1.Unix(1, 0)}}}
}

func fullVolumes() []runtime.Object {
	var volumes []runtime.Object
	for _, source := range []corev1.PersistentVolumeSource{
		{CSI: &corev1.CSIPersistentVolumeSource{Driver: "odd.example.com", VolumeHandle: "h", VolumeAttributes: labels()}},
		{Local: &corev1.LocalVolumeSource{Path: "/odd"}},
		{HostPath: &corev1.HostPathVolumeSource{Path: "/odd"}},
	} {
		volumes = append(volumes, &corev1.PersistentVolume{ObjectMeta: fullMeta(), Spec: corev1.PersistentVolumeSpec{
			Capacity: storageOf("1Gi"), AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: "none",
			PersistentVolumeSource: source, VolumeMode: pointer(corev1.PersistentVolumeFilesystem), MountOptions: []string{"ro"},
			ClaimRef: &corev1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: "odd", Name: "none", UID: "u", APIVersion: "v1"},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
				{MatchExpressions: nodeSelectorTerm().MatchExpressions}}}}},
			Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeAvailable}})
	}
	return volumes
}

func selectors() []resourcev1.DeviceSelector {
	return []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: "true"}}}
}

func opaqueConfiguration() resourcev1.DeviceConfiguration {
	return resourcev1.DeviceConfiguration{Opaque: &resourcev1.OpaqueDeviceConfiguration{Driver: "odd.example.com",
		Parameters: runtime.RawExtension{Raw: []byte(`{"b":1,"a":2}`)}}}
}

func capacities() *resourcev1.CapacityRequirements {
	return &resourcev1.CapacityRequirements{Requests: map[resourcev1.QualifiedName]resource.Quantity{"memory": resource.MustParse("1Gi")}}
}

func deviceTolerations() []resourcev1.DeviceToleration {
	return []resourcev1.DeviceToleration{{Key: "k", Operator: resourcev1.DeviceTolerationOpEqual, Value: "v",
		Effect: resourcev1.DeviceTaintEffectNoExecute, TolerationSeconds: pointer(int64(5))}}
}

func fullDeviceClaim() *resourcev1.ResourceClaim {
	exactly := &resourcev1.ExactDeviceRequest{DeviceClassName: "odd", Selectors: selectors(), AllocationMode: resourcev1.DeviceAllocationModeExactCount,
		Count: 1, Tolerations: deviceTolerations(), Capacity: capacities()}
	return &resourcev1.ResourceClaim{ObjectMeta: fullMeta(),
		Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{
			Requests:    []resourcev1.DeviceRequest{{Name: "r", Exactly: exactly}},
			Constraints: []resourcev1.DeviceConstraint{{Requests: []string{"r"}, MatchAttribute: pointer(resourcev1.FullyQualifiedName("odd.example.com/a"))}},
			Config:      []resourcev1.DeviceClaimConfiguration{{Requests: []string{"r"}, DeviceConfiguration: opaqueConfiguration()}}}},
		Status: resourcev1.ResourceClaimStatus{
			Allocation: &resourcev1.AllocationResult{
				Devices: resourcev1.DeviceAllocationResult{
					Results: []resourcev1.DeviceRequestAllocationResult{{Request: "r", Driver: "odd.example.com", Pool: "odd", Device: "d",
						Tolerations: deviceTolerations()}},
					Config: []resourcev1.DeviceAllocationConfiguration{{Source: resourcev1.AllocationConfigSourceClaim, Requests: []string{"r"}, DeviceConfiguration: opaqueConfiguration()}}},
				NodeSelector:        &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{nodeSelectorTerm()}},
				AllocationTimestamp: pointer(metav1.Unix(1, 0))},
			ReservedFor: []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: "p", UID: "u"}},
			Devices: []resourcev1.AllocatedDeviceStatus{{Driver: "odd.example.com", Pool: "odd", Device: "d",
				Data:        &runtime.RawExtension{Raw: []byte(`{"b":1,"a":2}`)},
				Conditions:  []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue, Reason: "R", LastTransitionTime: metav1.Unix(1, 0)}},
				NetworkData: &resourcev1.NetworkDeviceData{InterfaceName: "eth0", IPs: []string{"10.0.0.1/24"}, HardwareAddress: "a"}}}}}
}

func choosingDeviceClaim() *resourcev1.ResourceClaim {
	choice := resourcev1.DeviceSubRequest{Name: "s", DeviceClassName: "odd", Selectors: selectors(),
		AllocationMode: resourcev1.DeviceAllocationModeAll, Tolerations: deviceTolerations(), Capacity: capacities()}
	return &resourcev1.ResourceClaim{ObjectMeta: fullMeta(), Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{
		Requests: []resourcev1.DeviceRequest{{Name: "r", FirstAvailable: []resourcev1.DeviceSubRequest{choice}}}}}}
}

func fullSlices() []runtime.Object {
	spec := resourcev1.ResourceSliceSpec{Driver: "odd.example.com", NodeName: pointer("none"),
		Pool: resourcev1.ResourcePool{Name: "odd", Generation: 1, ResourceSliceCount: 1}}
	devices, counters := spec, spec
	devices.Devices = []resourcev1.Device{{Name: "d",
		Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"a": {IntValue: pointer(int64(5))}},
		Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse("5Gi"),
			RequestPolicy: &resourcev1.CapacityRequestPolicy{Default: pointer(resource.MustParse("1Gi")), ValidRange: &resourcev1.CapacityRequestPolicyRange{
				Min: pointer(resource.MustParse("1Gi")), Max: pointer(resource.MustParse("5Gi")), Step: pointer(resource.MustParse("1Gi"))}}}},
		AllowMultipleAllocations: pointer(true),
		ConsumesCounters: []resourcev1.DeviceCounterConsumption{{CounterSet: "s",
			Counters: map[string]resourcev1.Counter{"c": {Value: resource.MustParse("1")}}}},
		Taints: []resourcev1.DeviceTaint{{Key: "k", Value: "v", Effect: resourcev1.DeviceTaintEffectNoSchedule, TimeAdded: pointer(metav1.Unix(1, 0))}}}}
	counters.SharedCounters = []resourcev1.CounterSet{{Name: "s", Counters: map[string]resourcev1.Counter{"c": {Value: resource.MustParse("5")}}}}
	return []runtime.Object{&resourcev1.ResourceSlice{ObjectMeta: fullMeta(), Spec: devices}, &resourcev1.ResourceSlice{ObjectMeta: fullMeta(), Spec: counters}}
}

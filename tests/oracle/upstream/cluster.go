// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kjson "k8s.io/apimachinery/pkg/util/json"
	kyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// Cluster has the objects of cluster files that scheduling reads, in the order of the files.
type Cluster struct {
	Nodes                  []*corev1.Node
	Pods                   []*corev1.Pod
	Namespaces             []*corev1.Namespace
	Services               []*corev1.Service
	ReplicationControllers []*corev1.ReplicationController
	ReplicaSets            []*appsv1.ReplicaSet
	StatefulSets           []*appsv1.StatefulSet
	PodDisruptionBudgets   []*policyv1.PodDisruptionBudget

	PersistentVolumes      []*corev1.PersistentVolume
	PersistentVolumeClaims []*corev1.PersistentVolumeClaim
	StorageClasses         []*storagev1.StorageClass
	CSINodes               []*storagev1.CSINode
	CSIDrivers             []*storagev1.CSIDriver
	CSIStorageCapacities   []*storagev1.CSIStorageCapacity
	VolumeAttachments      []*storagev1.VolumeAttachment

	ResourceClaims   []*resourcev1.ResourceClaim
	ResourceSlices   []*resourcev1.ResourceSlice
	DeviceClasses    []*resourcev1.DeviceClass
	DeviceTaintRules []*resourcev1.DeviceTaintRule

	PodGroups          []*schedulingv1beta1.PodGroup
	CompositePodGroups []*schedulingv1alpha3.CompositePodGroup
}

// ReadCluster reads what `kubectl get -o json|yaml` prints: documents and Lists, YAML or JSON. Kinds that
// scheduling does not read are passed over. Nothing is defaulted but namespace, uid and schedulerName.
func ReadCluster(files ...[]byte) (*Cluster, error) {
	cluster := &Cluster{}
	for _, text := range files {
		if err := cluster.readFile(text); err != nil {
			return nil, err
		}
	}
	return cluster, nil
}

func (c *Cluster) readFile(text []byte) error {
	decoder := kyaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		var document json.RawMessage
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if len(document) == 0 || string(document) == "null" {
			continue
		}
		if err := c.readObject(document, metav1.TypeMeta{}); err != nil {
			return err
		}
	}
}

// readObject takes what the object's list says about its type where the object does not say it.
func (c *Cluster) readObject(text []byte, ofList metav1.TypeMeta) error {
	var head struct {
		metav1.TypeMeta `json:",inline"`
		Items           []json.RawMessage `json:"items"`
	}
	if err := kjson.Unmarshal(text, &head); err != nil {
		return err
	}
	if head.Kind == "" {
		head.TypeMeta = ofList
	}
	if kind, isList := strings.CutSuffix(head.Kind, "List"); isList {
		for _, item := range head.Items {
			if err := c.readObject(item, metav1.TypeMeta{Kind: kind, APIVersion: head.APIVersion}); err != nil {
				return err
			}
		}
		return nil
	}
	switch head.APIVersion + "/" + head.Kind {
	case "v1/Node":
		return read(text, &c.Nodes)
	case "v1/Pod":
		if err := read(text, &c.Pods); err != nil {
			return err
		}
		return c.completePod()
	case "v1/Namespace":
		return read(text, &c.Namespaces)
	case "v1/Service":
		return read(text, &c.Services)
	case "v1/ReplicationController":
		return read(text, &c.ReplicationControllers)
	case "apps/v1/ReplicaSet":
		return read(text, &c.ReplicaSets)
	case "apps/v1/StatefulSet":
		return read(text, &c.StatefulSets)
	case "policy/v1/PodDisruptionBudget":
		return read(text, &c.PodDisruptionBudgets)
	case "v1/PersistentVolume":
		return read(text, &c.PersistentVolumes)
	case "v1/PersistentVolumeClaim":
		return read(text, &c.PersistentVolumeClaims)
	case "storage.k8s.io/v1/StorageClass":
		return read(text, &c.StorageClasses)
	case "storage.k8s.io/v1/CSINode":
		return read(text, &c.CSINodes)
	case "storage.k8s.io/v1/CSIDriver":
		return read(text, &c.CSIDrivers)
	case "storage.k8s.io/v1/CSIStorageCapacity":
		return read(text, &c.CSIStorageCapacities)
	case "storage.k8s.io/v1/VolumeAttachment":
		return read(text, &c.VolumeAttachments)
	case "resource.k8s.io/v1/ResourceClaim":
		return read(text, &c.ResourceClaims)
	case "resource.k8s.io/v1/ResourceSlice":
		return read(text, &c.ResourceSlices)
	case "resource.k8s.io/v1/DeviceClass":
		return read(text, &c.DeviceClasses)
	case "resource.k8s.io/v1/DeviceTaintRule":
		return read(text, &c.DeviceTaintRules)
	case "scheduling.k8s.io/v1beta1/PodGroup":
		return read(text, &c.PodGroups)
	case "scheduling.k8s.io/v1alpha3/CompositePodGroup":
		return read(text, &c.CompositePodGroups)
	}
	return nil
}

// object is a pointer to T that is an API object.
type object[T any] interface {
	*T
	metav1.Object
}

func read[T any, P object[T]](text []byte, into *[]P) error {
	o := P(new(T))
	if err := kjson.Unmarshal(text, o); err != nil {
		return fmt.Errorf("%T %s/%s: %w", o, o.GetNamespace(), o.GetName(), err)
	}
	switch any(o).(type) {
	case *corev1.Node, *corev1.Namespace, *corev1.PersistentVolume, *storagev1.StorageClass, *storagev1.CSINode,
		*storagev1.CSIDriver, *storagev1.VolumeAttachment, *resourcev1.ResourceSlice, *resourcev1.DeviceClass, *resourcev1.DeviceTaintRule:
		o.SetNamespace("")
	default:
		if o.GetNamespace() == "" {
			o.SetNamespace(metav1.NamespaceDefault)
		}
	}
	if o.GetUID() == "" {
		o.SetUID(types.UID(fmt.Sprintf("%T/%s/%s", o, o.GetNamespace(), o.GetName())))
	}
	*into = append(*into, o)
	return nil
}

// completePod names the last pod's scheduler, and drops the pod if it has ended: the scheduler's informer
// does not see such pods.
func (c *Cluster) completePod() error {
	last := len(c.Pods) - 1
	pod := c.Pods[last]
	if pod.Spec.SchedulerName == "" {
		pod.Spec.SchedulerName = corev1.DefaultSchedulerName
	}
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		c.Pods = c.Pods[:last]
	}
	return nil
}

// Pending has the pods that no node has been given, in the order of their names.
func (c *Cluster) Pending() []*corev1.Pod {
	var pending []*corev1.Pod
	for _, pod := range c.Pods {
		if pod.Spec.NodeName == "" {
			pending = append(pending, pod)
		}
	}
	slices.SortFunc(pending, func(a, b *corev1.Pod) int { return strings.Compare(Name(a), Name(b)) })
	return pending
}

// Name is an object's "namespace/name".
func Name(o metav1.Object) string { return o.GetNamespace() + "/" + o.GetName() }

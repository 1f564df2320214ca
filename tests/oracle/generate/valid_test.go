// SPDX-License-Identifier: Apache-2.0

package generate_test

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	podutil "k8s.io/kubernetes/pkg/api/pod"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install" // Registers the types and their defaults.
	"k8s.io/kubernetes/pkg/apis/core/validation"
	"k8s.io/kubernetes/pkg/apis/resource"
	_ "k8s.io/kubernetes/pkg/apis/resource/install" // As above.
	resourcevalidation "k8s.io/kubernetes/pkg/apis/resource/validation"
	"k8s.io/kubernetes/pkg/apis/storage"
	_ "k8s.io/kubernetes/pkg/apis/storage/install" // As above.
	storagevalidation "k8s.io/kubernetes/pkg/apis/storage/validation"

	"berth.dev/tests/oracle/generate"
)

// An API server validates what it has defaulted. The other kinds are too plain to be wrong.
func TestObjectsAreSuchAsAnAPIServerAdmits(t *testing.T) {
	for seed := range uint64(200) {
		c := generate.New(seed, generate.Options{Nodes: 30, Volumes: true, Devices: true})
		for _, object := range c.Objects {
			text, err := json.Marshal(object)
			if err != nil {
				t.Fatal(err)
			}
			var problems field.ErrorList
			switch object["kind"] {
			case "Pod":
				problems = podProblems(t, text)
			case "Node":
				problems = nodeProblems(t, text)
			case "PersistentVolume":
				problems = volumeProblems(t, text)
			case "PersistentVolumeClaim":
				problems = claimProblems(t, text)
			case "ResourceClaim", "ResourceSlice", "DeviceClass", "DeviceTaintRule":
				problems = deviceProblems(t, object["kind"].(string), text)
			default:
				problems = storageProblems(t, object["kind"].(string), text)
			}
			for _, problem := range problems {
				if strings.HasSuffix(problem.Field, "cel.expression") && problem.Type == field.ErrorTypeInvalid {
					// Another release may know more than this one, and an expression that was stored stays.
					continue
				}
				t.Errorf("seed %d: %v\n%s", seed, problem, text)
			}
		}
	}
}

func podProblems(t *testing.T, text []byte) field.ErrorList {
	var pod corev1.Pod
	var internal core.Pod
	admit(t, text, &pod, &internal)
	// Of the API server's own making.
	internal.DeletionTimestamp, internal.DeletionGracePeriodSeconds = nil, nil
	options := podutil.GetValidationOptionsFromPodSpecAndMeta(&internal.Spec, nil, &internal.ObjectMeta, nil)
	// Gates that are off by default; objects of a time when they were on stay.
	options.AllowTaintTolerationComparisonOperators = true
	options.AllowUserNamespacesHostNetworkSupport = true
	options.AllowContainerRestartPolicyRules, options.AllowRestartAllContainers = true, true
	return validation.ValidatePodCreate(&internal, options)
}

func nodeProblems(t *testing.T, text []byte) field.ErrorList {
	var node corev1.Node
	var internal core.Node
	admit(t, text, &node, &internal)
	return validation.ValidateNode(&internal)
}

func volumeProblems(t *testing.T, text []byte) field.ErrorList {
	var pv corev1.PersistentVolume
	var internal core.PersistentVolume
	admit(t, text, &pv, &internal)
	internal.DeletionTimestamp = nil
	return validation.ValidatePersistentVolume(&internal, validation.ValidationOptionsForPersistentVolume(&internal, nil))
}

func claimProblems(t *testing.T, text []byte) field.ErrorList {
	var claim corev1.PersistentVolumeClaim
	var internal core.PersistentVolumeClaim
	admit(t, text, &claim, &internal)
	internal.DeletionTimestamp = nil
	return validation.ValidatePersistentVolumeClaim(&internal, validation.ValidationOptionsForPersistentVolumeClaim(&internal, nil))
}

// deviceProblems are those of the kinds of group resource.k8s.io.
func deviceProblems(t *testing.T, kind string, text []byte) field.ErrorList {
	switch kind {
	case "ResourceClaim":
		var internal resource.ResourceClaim
		admit(t, text, &resourcev1.ResourceClaim{}, &internal)
		return resourcevalidation.ValidateResourceClaim(&internal)
	case "ResourceSlice":
		var internal resource.ResourceSlice
		admit(t, text, &resourcev1.ResourceSlice{}, &internal)
		return resourcevalidation.ValidateResourceSlice(&internal)
	case "DeviceClass":
		var internal resource.DeviceClass
		admit(t, text, &resourcev1.DeviceClass{}, &internal)
		return resourcevalidation.ValidateDeviceClass(&internal)
	default:
		var internal resource.DeviceTaintRule
		admit(t, text, &resourcev1.DeviceTaintRule{}, &internal)
		return resourcevalidation.ValidateDeviceTaintRule(&internal)
	}
}

// storageProblems are those of the kinds of group storage.k8s.io; none of others.
func storageProblems(t *testing.T, kind string, text []byte) field.ErrorList {
	switch kind {
	case "StorageClass":
		var internal storage.StorageClass
		admit(t, text, &storagev1.StorageClass{}, &internal)
		return storagevalidation.ValidateStorageClass(&internal)
	case "CSINode":
		var internal storage.CSINode
		admit(t, text, &storagev1.CSINode{}, &internal)
		return storagevalidation.ValidateCSINode(&internal)
	case "CSIDriver":
		var internal storage.CSIDriver
		admit(t, text, &storagev1.CSIDriver{}, &internal)
		return storagevalidation.ValidateCSIDriver(&internal)
	case "CSIStorageCapacity":
		var internal storage.CSIStorageCapacity
		admit(t, text, &storagev1.CSIStorageCapacity{}, &internal)
		return storagevalidation.ValidateCSIStorageCapacity(&internal, storagevalidation.CSIStorageCapacityValidateOptions{})
	case "VolumeAttachment":
		var internal storage.VolumeAttachment
		admit(t, text, &storagev1.VolumeAttachment{}, &internal)
		return storagevalidation.ValidateVolumeAttachment(&internal)
	case "VolumeAttributesClass":
		var internal storage.VolumeAttributesClass
		admit(t, text, &storagev1.VolumeAttributesClass{}, &internal)
		return storagevalidation.ValidateVolumeAttributesClass(&internal)
	}
	return nil
}

// admit does what an API server does with a new object before it validates it.
func admit(t *testing.T, text []byte, object interface {
	metav1.Object
	runtime.Object
}, internal any) {
	t.Helper()
	if err := json.Unmarshal(text, object); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	legacyscheme.Scheme.Default(object)
	if err := legacyscheme.Scheme.Convert(object, internal, nil); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
}

// SPDX-License-Identifier: Apache-2.0

package generate_test

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	podutil "k8s.io/kubernetes/pkg/api/pod"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install" // Registers the types and their defaults.
	"k8s.io/kubernetes/pkg/apis/core/validation"
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
			problemsOf := validations[object["kind"].(string)]
			if problemsOf == nil {
				continue
			}
			for _, problem := range problemsOf(t, text) {
				if strings.HasSuffix(problem.Field, "cel.expression") && problem.Type == field.ErrorTypeInvalid {
					// Another release may know more than this one, and an expression that was stored stays.
					continue
				}
				t.Errorf("seed %d: %v\n%s", seed, problem, text)
			}
		}
	}
}

// validations are by kind.
var validations = map[string]func(*testing.T, []byte) field.ErrorList{
	"Pod":                   admitted[corev1.Pod](podProblems),
	"Node":                  admitted[corev1.Node](validation.ValidateNode),
	"PersistentVolume":      admitted[corev1.PersistentVolume](volumeProblems),
	"PersistentVolumeClaim": admitted[corev1.PersistentVolumeClaim](claimProblems),
	"ResourceClaim":         admitted[resourcev1.ResourceClaim](resourcevalidation.ValidateResourceClaim),
	"ResourceSlice":         admitted[resourcev1.ResourceSlice](resourcevalidation.ValidateResourceSlice),
	"DeviceClass":           admitted[resourcev1.DeviceClass](resourcevalidation.ValidateDeviceClass),
	"DeviceTaintRule":       admitted[resourcev1.DeviceTaintRule](resourcevalidation.ValidateDeviceTaintRule),
	"StorageClass":          admitted[storagev1.StorageClass](storagevalidation.ValidateStorageClass),
	"CSINode":               admitted[storagev1.CSINode](storagevalidation.ValidateCSINode),
	"CSIDriver":             admitted[storagev1.CSIDriver](storagevalidation.ValidateCSIDriver),
	"CSIStorageCapacity":    admitted[storagev1.CSIStorageCapacity](capacityProblems),
	"VolumeAttachment":      admitted[storagev1.VolumeAttachment](storagevalidation.ValidateVolumeAttachment),
	"VolumeAttributesClass": admitted[storagev1.VolumeAttributesClass](storagevalidation.ValidateVolumeAttributesClass),
}

func podProblems(pod *core.Pod) field.ErrorList {
	// Of the API server's own making.
	pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = nil, nil
	options := podutil.GetValidationOptionsFromPodSpecAndMeta(&pod.Spec, nil, &pod.ObjectMeta, nil)
	// Gates that are off by default; objects of a time when they were on stay.
	options.AllowTaintTolerationComparisonOperators = true
	options.AllowUserNamespacesHostNetworkSupport = true
	options.AllowContainerRestartPolicyRules, options.AllowRestartAllContainers = true, true
	return validation.ValidatePodCreate(pod, options)
}

func volumeProblems(pv *core.PersistentVolume) field.ErrorList {
	pv.DeletionTimestamp = nil
	return validation.ValidatePersistentVolume(pv, validation.ValidationOptionsForPersistentVolume(pv, nil))
}

func claimProblems(claim *core.PersistentVolumeClaim) field.ErrorList {
	claim.DeletionTimestamp = nil
	return validation.ValidatePersistentVolumeClaim(claim, validation.ValidationOptionsForPersistentVolumeClaim(claim, nil))
}

func capacityProblems(capacity *storage.CSIStorageCapacity) field.ErrorList {
	return storagevalidation.ValidateCSIStorageCapacity(capacity, storagevalidation.CSIStorageCapacityValidateOptions{})
}

// admitted validates an object after what an API server does with a new one before.
func admitted[External, Internal any, Object interface {
	*External
	runtime.Object
}](validate func(*Internal) field.ErrorList) func(*testing.T, []byte) field.ErrorList {
	return func(t *testing.T, text []byte) field.ErrorList {
		t.Helper()
		object, internal := Object(new(External)), new(Internal)
		err := json.Unmarshal(text, object)
		if err == nil {
			legacyscheme.Scheme.Default(object)
			err = legacyscheme.Scheme.Convert(object, internal, nil)
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		return validate(internal)
	}
}

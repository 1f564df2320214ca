// SPDX-License-Identifier: Apache-2.0

package generate_test

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	podutil "k8s.io/kubernetes/pkg/api/pod"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install" // Registers the types and their defaults.
	"k8s.io/kubernetes/pkg/apis/core/validation"

	"berth.dev/tests/oracle/generate"
)

// An API server validates what it has defaulted. The other kinds are too plain to be wrong.
func TestPodsAndNodesAreSuchAsAnAPIServerAdmits(t *testing.T) {
	for seed := range uint64(200) {
		c := generate.New(seed, generate.Options{Nodes: 30})
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
			}
			for _, problem := range problems {
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

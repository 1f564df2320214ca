// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/controlplane/programs"
	"berth.dev/tests/internal/daemon"
	"berth.dev/tests/internal/daemon/workload"
	"berth.dev/tests/internal/machine"
)

const (
	// etcd takes 1.5 MiB; the server adds what it defaults.
	largestObject = 1_250_000
	// The smaller test's objects.
	largeObject = 150_000
)

// container is a list or a map in an object.
type container struct {
	path string
	t    reflect.Type
	at   place
}

// sized is an object of Kubernetes that can say how long it is in protobuf.
type sized interface {
	runtime.Object
	Size() int
}

// filler fills the lists and maps of an object.
type filler struct {
	*env
	client   kubernetes.Interface
	base     sized
	resource string
}

// change makes the text or number the i-th of many that differ.
type change func(value reflect.Value, i int)

// changes are tried in this order; what the API server refuses is left as it is.
func changesOf(value reflect.Value) []change {
	switch value.Kind() {
	case reflect.String:
		return []change{
			func(value reflect.Value, i int) { value.SetString(fmt.Sprintf("%s-%d", value.String(), i)) },
			func(value reflect.Value, i int) {
				value.SetString(fmt.Sprintf("%s && \"x\" != \"%d\"", value.String(), i))
			},
		}
	case reflect.Int32, reflect.Int64:
		return []change{func(value reflect.Value, i int) { value.SetInt(value.Int() + int64(i)) }}
	}
	return nil
}

// differing are the changes that make an element another one, by where in the element they are made.
type differing map[string]change

func (d differing) apply(element reflect.Value, i int) {
	eachLeaf(element, "", func(path string, leaf reflect.Value) {
		if change := d[path]; change != nil {
			change(leaf, i)
		}
	})
}

// eachLeaf visits the texts and numbers that are set in the value.
func eachLeaf(value reflect.Value, path string, visit func(path string, leaf reflect.Value)) {
	switch {
	case slices.Contains(leaves, value.Type()):
	case value.Kind() == reflect.Pointer:
		if !value.IsNil() {
			eachLeaf(value.Elem(), path, visit)
		}
	case value.Kind() == reflect.Struct:
		for i := range value.NumField() {
			eachLeaf(value.Field(i), path+"."+value.Type().Field(i).Name, visit)
		}
	case value.Kind() == reflect.Slice:
		// Long lists in an element are the same in each.
		for i := range min(value.Len(), 2) {
			eachLeaf(value.Index(i), fmt.Sprintf("%s[%d]", path, i), visit)
		}
	case value.Kind() != reflect.Map && value.Kind() != reflect.Bool && !value.IsZero():
		visit(path, value)
	}
}

// with is the object with so many elements in the container, which differ as that says.
func with(object sized, c container, n int, d differing) sized {
	filled := object.DeepCopyObject().(sized)
	c.at(reflect.ValueOf(filled).Elem(), func(value reflect.Value) {
		if c.t.Kind() == reflect.Map {
			entries := reflect.MakeMap(c.t)
			key, element := firstOf(value)
			entries.SetMapIndex(key, element)
			for i := 1; i < n; i++ {
				other := reflect.New(c.t.Key()).Elem()
				other.Set(key)
				d[""](other, i)
				entries.SetMapIndex(other, element)
			}
			value.Set(entries)
			return
		}
		text, err := json.Marshal(value.Index(0).Interface())
		if err != nil {
			panic(err)
		}
		elements := reflect.MakeSlice(c.t, n, n)
		for i := range n {
			element := elements.Index(i)
			if err := json.Unmarshal(text, element.Addr().Interface()); err != nil {
				panic(err)
			}
			if i > 0 {
				d.apply(element, i)
			}
		}
		value.Set(elements)
	})
	return filled
}

func firstOf(entries reflect.Value) (key, value reflect.Value) {
	keys := entries.MapKeys()
	key = slices.MinFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	return key, entries.MapIndex(key)
}

// isAdmitted asks the API server, which does not keep the object.
func (f *filler) isAdmitted(object sized) bool {
	f.Helper()
	copied := object.DeepCopyObject()
	accessor, err := meta.Accessor(copied)
	f.must(err)
	accessor.SetName("asked")
	err = f.create(copied, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	switch {
	case err == nil, apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsRequestEntityTooLargeError(err):
	case apierrors.IsTimeout(err):
		f.Logf("%s: so large that the API server does not come to an end: %.100v", f.resource, err)
	default:
		f.Fatalf("%s: %v", f.resource, err)
	}
	return err == nil
}

func (f *filler) rest() rest.Interface {
	if f.resource == "resourceclaims" {
		return f.client.ResourceV1().RESTClient()
	}
	return f.client.CoreV1().RESTClient()
}

func (f *filler) create(object runtime.Object, options metav1.CreateOptions) error {
	return f.rest().Post().Namespace(f.namespace).Resource(f.resource).VersionedParams(&options, scheme.ParameterCodec).
		Body(object).Do(f.ctx).Error()
}

// differingIn finds how elements of the container may differ; nil: there can be one only.
func (f *filler) differingIn(object sized, c container) differing {
	var element reflect.Value
	c.at(reflect.ValueOf(object.DeepCopyObject()).Elem(), func(value reflect.Value) {
		if c.t.Kind() == reflect.Map {
			element, _ = firstOf(value)
		} else {
			element = value.Index(0)
		}
	})
	if c.t.Kind() == reflect.Map {
		for _, prefix := range []string{"", "example.com/"} {
			d := differing{"": func(key reflect.Value, i int) { key.SetString(fmt.Sprintf("%s%s-%d", prefix, key.String(), i)) }}
			if f.isAdmitted(with(object, c, 3, d)) {
				return d
			}
		}
		return nil
	}
	found := differing{}
	eachLeaf(element, "", func(path string, leaf reflect.Value) {
		if strings.HasSuffix(path, "DeviceClassName") || strings.HasSuffix(path, "ResourceClaimName") || strings.HasSuffix(path, "Weight") {
			return // there is one of them, and a request for another is soon refused; weights end at 100
		}
		for _, try := range changesOf(leaf) {
			found[path] = try
			if f.isAdmitted(with(object, c, 3, found)) {
				return
			}
			delete(found, path)
		}
	})
	if len(found) == 0 && !f.isAdmitted(with(object, c, 3, found)) {
		return nil
	}
	return found
}

// mostBySize is how many elements of the container an object of so many bytes has.
func mostBySize(object sized, c container, d differing, most int) int {
	few, more := with(object, c, 10, d).Size(), with(object, c, 30, d).Size()
	// The later ones have longer numbers in them.
	return 10 + (most-few)/((more-few)/20+8)
}

// fill is the object with as many elements in the containers as the API server and etcd take: in the innermost first, then in
// those that hold it. The chain is in the order of the walk, the innermost last.
func (f *filler) fill(chain []container, most int) (filled sized, counts string) {
	f.Helper()
	for ; ; most = most * 3 / 4 {
		if filled, counts = f.fillTo(chain, most); f.isStored(filled) {
			return filled, counts
		}
	}
}

// isStored creates the object for a moment, of another scheduler. What the server notes of who wrote which field counts in etcd's
// limit, and may be more than the object.
func (f *filler) isStored(object sized) bool {
	f.Helper()
	copied := object.DeepCopyObject()
	accessor, err := meta.Accessor(copied)
	f.must(err)
	accessor.SetName("stored")
	if pod, ok := copied.(*corev1.Pod); ok {
		pod.Spec.SchedulerName = "another"
	}
	err = f.create(copied, metav1.CreateOptions{})
	// Of what is too large the server tries to store less, and may then find invalid what it has itself added.
	tooLarge := err != nil && (strings.Contains(err.Error(), "too large") || strings.Contains(err.Error(), "larger than max"))
	const least = 10_000
	if err != nil && !tooLarge && !apierrors.IsTimeout(err) && (!apierrors.IsInvalid(err) || object.Size() < least) {
		f.Fatalf("%s: admitted when asked, and refused: %v", f.resource, err)
	}
	now := int64(0)
	deleted := f.rest().Delete().Namespace(f.namespace).Resource(f.resource).Name("stored").
		Body(&metav1.DeleteOptions{GracePeriodSeconds: &now}).Do(f.ctx).Error()
	if err == nil || !apierrors.IsNotFound(deleted) {
		f.must(deleted)
	}
	return err == nil
}

func (f *filler) fillTo(chain []container, most int) (filled sized, counts string) {
	filled = f.base
	for _, c := range slices.Backward(chain) {
		d := f.differingIn(filled, c)
		if d == nil {
			continue
		}
		// By size alone first: that is one question, and mostly the answer.
		least := max(1, mostBySize(filled, c, d, most))
		if least > 1 && !f.isAdmitted(with(filled, c, least, d)) {
			over := 2
			for over < least && f.isAdmitted(with(filled, c, over, d)) {
				over *= 2
			}
			over = min(over, least)
			for least = over / 2; over-least > max(1, least/10); {
				if middle := (least + over) / 2; f.isAdmitted(with(filled, c, middle, d)) {
					least = middle
				} else {
					over = middle
				}
			}
		}
		filled = with(filled, c, least, d)
		counts = fmt.Sprintf("%d ", least) + counts
	}
	return filled, strings.TrimSpace(counts)
}

// containersOf are the lists and maps that have something in the object, by path, each with those that hold it.
func containersOf(tables fieldTables, object sized) (chains [][]container) {
	var all []container
	walk := fieldWalk{tables: tables, reached: map[string]bool{}}
	walk.visit = func(path string, t reflect.Type, at place) {
		if (t.Kind() != reflect.Slice && t.Kind() != reflect.Map) || slices.Contains(leaves, t) || strings.HasPrefix(path, "status") {
			return
		}
		at(reflect.ValueOf(object.DeepCopyObject()).Elem(), func(value reflect.Value) {
			if value.Len() == 0 {
				return
			}
			all = append(all, container{path, t, at})
			var chain []container
			for _, outer := range all {
				if outer.path == path || strings.HasPrefix(path, outer.path+"[") {
					chain = append(chain, outer)
				}
			}
			chains = append(chains, chain)
		})
	}
	walk.over(object)
	return chains
}

// featured is an object of which lists and maps are filled.
type featured struct {
	// name tells fillings of the same list apart; "" for the first one.
	name   string
	object sized
}

// podsOfOneFeature are pods that a scheduler has to look at on each node, each for one reason.
func podsOfOneFeature() []featured {
	not := func(key string) corev1.NodeSelectorRequirement {
		return corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpNotIn, Values: []string{"a"}}
	}
	expressions := corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{not("k")}}
	names := corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{not(metav1.ObjectNameField)}}
	term := corev1.PodAffinityTerm{TopologyKey: corev1.LabelHostname, Namespaces: []string{"default"}, LabelSelector: notOfSet("x")}
	// By labels and namespaces' labels, which a scheduler looks up.
	found := corev1.PodAffinityTerm{TopologyKey: corev1.LabelHostname,
		LabelSelector:     &metav1.LabelSelector{MatchLabels: map[string]string{"set": "1"}},
		NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"k": "v"}, MatchExpressions: notOfSet("x").MatchExpressions},
		MatchLabelKeys:    []string{"m"}, MismatchLabelKeys: []string{"n"}}
	var pods []featured
	add := func(name string, change func(pod *corev1.Pod), options ...workload.PodOption) {
		pod := workload.Pod("large", options...)
		change(pod)
		pods = append(pods, featured{name, pod})
	}
	plain := func(*corev1.Pod) {}
	add("", func(pod *corev1.Pod) {
		pod.Labels, pod.Annotations = map[string]string{"app": "large"}, map[string]string{"example.com/a": "b"}
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "none", UID: "u"}}
	})
	add("", plain, workload.NodeSelector("k", "v"))
	nodeTerms := map[string]corev1.NodeSelectorTerm{"": expressions, "names": names}
	for _, name := range slices.Sorted(maps.Keys(nodeTerms)) {
		term := nodeTerms[name]
		add(name, func(pod *corev1.Pod) {
			pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution:  &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{term}},
				PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Weight: 5, Preference: term}}}}
		})
	}
	podTerms := map[string]corev1.PodAffinityTerm{"": term, "labels": found}
	for _, name := range slices.Sorted(maps.Keys(podTerms)) {
		term := podTerms[name]
		required := []corev1.PodAffinityTerm{term}
		preferred := []corev1.WeightedPodAffinityTerm{{Weight: 5, PodAffinityTerm: term}}
		for _, affinity := range []*corev1.Affinity{
			{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: required}},
			{PodAffinity: &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: preferred}},
			{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: required}},
			{PodAntiAffinity: &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: preferred}},
		} {
			add(name, func(pod *corev1.Pod) { pod.Labels, pod.Spec.Affinity = map[string]string{"m": "v", "n": "v"}, affinity })
		}
	}
	selectors := map[string]*metav1.LabelSelector{"": notOfSet("x"), "labels": found.LabelSelector}
	for _, name := range slices.Sorted(maps.Keys(selectors)) {
		selector := selectors[name]
		add(name, func(pod *corev1.Pod) {
			pod.Labels = map[string]string{"m": "v"}
			pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 5, TopologyKey: corev1.LabelHostname,
				WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: selector, MatchLabelKeys: []string{"m"}}}
		})
	}
	add("", plain, workload.Tolerate("k"))
	add("", plain, workload.HostPort(1))
	add("", plain, workload.Gates("example.com/gate"))
	add("", fillContainers, workload.UseDevices(heldClaim, ""))
	return append(pods, podsOfVolumes()...)
}

// heldClaim is one that is there, of one device.
const heldClaim = "held"

func notOfSet(set string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: "set", Operator: metav1.LabelSelectorOpNotIn, Values: []string{set}}}}
}

// fillContainers has in an initial container, a plain one and the pod itself what each may ask for.
func fillContainers(pod *corev1.Pod) {
	none := corev1.ResourceList{"example.com/thing": resource.MustParse("0")}
	main := &pod.Spec.Containers[0]
	main.Resources.Requests, main.Resources.Limits = none, none
	main.VolumeMounts = []corev1.VolumeMount{{Name: "v", MountPath: "/v"}}
	main.RestartPolicy = pointer(corev1.ContainerRestartPolicyNever)
	main.RestartPolicyRules = []corev1.ContainerRestartRule{{Action: corev1.ContainerRestartRuleActionRestart,
		ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: corev1.ContainerRestartRuleOnExitCodesOpIn, Values: []int32{3}}}}
	first := *main.DeepCopy()
	first.Name = "first"
	first.RestartPolicy, first.RestartPolicyRules = pointer(corev1.ContainerRestartPolicyNever), main.RestartPolicyRules
	first.Ports = []corev1.ContainerPort{{ContainerPort: 1}}
	pod.Spec.InitContainers = []corev1.Container{first}
	pod.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	pod.Spec.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("1m")},
		Limits: corev1.ResourceList{"cpu": resource.MustParse("1m")}}
}

// podsOfVolumes have a volume of each kind that a plugin looks at.
func podsOfVolumes() (pods []featured) {
	template := &corev1.PersistentVolumeClaimTemplate{ObjectMeta: fullMeta(), Spec: claimOfVolume()}
	sources := map[string]corev1.VolumeSource{
		"claims":    {PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "none"}},
		"ephemeral": {Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: template}},
		"csi":       {CSI: &corev1.CSIVolumeSource{Driver: "odd.example.com", VolumeAttributes: labels()}},
		"rbd":       {RBD: &corev1.RBDVolumeSource{CephMonitors: []string{"m"}, RBDImage: "i"}},
		"image":     {Image: &corev1.ImageVolumeSource{Reference: "image"}},
		"emptyDir":  {EmptyDir: &corev1.EmptyDirVolumeSource{}},
	}
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		pod := workload.Pod("large")
		pod.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: sources[name]}}
		pods = append(pods, featured{name, pod})
	}
	return pods
}

// claimsOfOneFeature are claims that no device satisfies before all was looked at.
func claimsOfOneFeature() []featured {
	plain := workload.DeviceClaim("large", workload.DeviceRequest("gpu", 1, `device.driver != "x"`))
	request := plain.Spec.Devices.Requests[0].Exactly
	request.Tolerations = []resourcev1.DeviceToleration{{Key: "k", Operator: resourcev1.DeviceTolerationOpExists}}
	request.Capacity = &resourcev1.CapacityRequirements{Requests: map[resourcev1.QualifiedName]resource.Quantity{"memory": resource.MustParse("0")}}
	plain.Spec.Devices.Constraints = []resourcev1.DeviceConstraint{{Requests: []string{"gpu"},
		MatchAttribute: pointer(resourcev1.FullyQualifiedName(workload.DeviceDriver + "/model"))}}
	plain.ObjectMeta.Labels, plain.ObjectMeta.Annotations = map[string]string{"app": "large"}, map[string]string{"example.com/a": "b"}
	plain.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "none", UID: "u"}}
	plain.Spec.Devices.Config = []resourcev1.DeviceClaimConfiguration{{Requests: []string{"gpu"}, DeviceConfiguration: opaqueConfiguration()}}
	choosing := workload.DeviceClaim("large", resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{
		Requests: []resourcev1.DeviceRequest{{Name: "gpu", FirstAvailable: []resourcev1.DeviceSubRequest{{Name: "s", DeviceClassName: "gpu",
			AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1, Tolerations: request.Tolerations, Capacity: request.Capacity,
			Selectors: []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: `device.driver == "x"`}}}}}}}}})
	// As many patterns as an expression may have, each of another program.
	var patterns []string
	for i := range 150 {
		patterns = append(patterns, fmt.Sprintf(`device.driver.matches("(x%d|[a-z]{2,40}){1,20}")`, i))
	}
	matching := workload.DeviceClaim("large", workload.DeviceRequest("gpu", 1, strings.Join(patterns, " && ")))
	return []featured{{"choosing", choosing}, {"patterns", matching}, {"plain", plain}}
}

// notFilled are lists and maps of pods and claims that the test cannot fill, by a part of their path, and why.
var notFilled = map[string]string{
	" spec.overhead":                               "an administrator's RuntimeClass says what it is",
	" spec.ephemeralContainers":                    "they come by a subresource of their own, and only their mounts are read",
	" spec.resources.claims":                       "refused for a pod as a whole",
	"volumeClaimTemplate.metadata.ownerReferences": "refused",
	".bindMountOptions":                            "of the gate VolumeBindMountOptions, which is off, and three at most",
	".derivedAttributes":                           "of the gate DRADerivedAttributes, which is off",
}

// TestEachListAndMapIsFilled looks in the field tables for lists and maps of what tenants write, pods' and claims' specs and
// metadata, that TestTheLargestObjectsStopNothing does not fill.
func TestEachListAndMapIsFilled(t *testing.T) {
	tables, err := readFieldTables("../../src/api")
	if err != nil {
		t.Fatal(err)
	}
	for kind, c := range map[string]struct {
		empty sized
		bases []featured
	}{
		"pods":           {&corev1.Pod{}, podsOfOneFeature()},
		"resourceclaims": {&resourcev1.ResourceClaim{}, claimsOfOneFeature()},
	} {
		filled := map[string]bool{}
		for _, base := range c.bases {
			for _, chain := range containersOf(tables, base.object) {
				filled[chain[len(chain)-1].path] = true
			}
		}
		walk := fieldWalk{tables: tables, reached: map[string]bool{}}
		walk.visit = func(path string, of reflect.Type, _ place) {
			isContainer := (of.Kind() == reflect.Slice || of.Kind() == reflect.Map) && !slices.Contains(leaves, of)
			if !isContainer || filled[path] || strings.HasPrefix(path, "status") {
				return
			}
			for part := range notFilled {
				if strings.Contains(kind+" "+path, part) {
					return
				}
			}
			t.Errorf("%s %s is not filled, and nothing says why", kind, path)
		}
		walk.over(c.empty)
	}
}

// TestTheLargestObjectsStopNothing fills each list and map of a pod's and a claim's spec to what the API server admits. Two
// replicas run; the pod that comes after the large one is bound within a minute, and no process ends. With BERTH_TEST_WHOLE=1
// objects have the size that etcd takes, in a large cluster, and each is also tried at a quarter of its size: what it costs
// grows no worse than in proportion. After that kube-scheduler decides the same ones: with Berth the later pod waits at most
// twice as long. BERTH_TEST_LARGEST, a regular expression, has those that it matches tried, and by kube-scheduler, too.
func TestTheLargestObjectsStopNothing(t *testing.T) {
	only, err := regexp.Compile(os.Getenv("BERTH_TEST_LARGEST"))
	if err != nil {
		t.Fatal(err)
	}
	e := newDeviceEnv(t, 20, 22)
	nodes, sets, most := 80, 300, largeObject
	if wholeEdges {
		nodes, sets, most = 980, 5000, largestObject
	}
	e.manyNodes(nodes, workload.Allocatable("cpu", "64", "memory", "256Gi", "pods", "1000"))
	e.createDeviceClaim(heldClaim, workload.DeviceRequest("gpu", 1))
	e.must(workload.CreatePods(e.ctx, e.admin, e.namespace, sets, func(i int) *corev1.Pod {
		pod := workload.Pod(fmt.Sprintf("set-%d", i), workload.OnNode(fmt.Sprintf("g-%d", i%20)))
		pod.Labels = map[string]string{"set": fmt.Sprint(i)}
		return pod
	}))
	tables, err := readFieldTables("../../src/api")
	e.must(err)
	config, err := shared.RESTConfig(controlplane.Admin)
	e.must(err)
	config.ContentType, config.QPS = runtime.ContentTypeProtobuf, -1
	client, err := kubernetes.NewForConfig(config)
	e.must(err)
	leader, standby := e.replicasWith(shortLease.election() + deviceConfig)
	test := largestTest{env: e, replicas: []*daemon.Daemon{leader, standby}, lease: e.lease().Spec.LeaseTransitions}
	e.Logf("%-80s %-12s %9s %8s %8s %8s %s", "path", "elements", "bytes", "CPU s", "peak MB", "bound s", "large")

	var tried []*large
	seen := map[string]bool{}
	bases := map[string][]featured{"pods": podsOfOneFeature(), "resourceclaims": claimsOfOneFeature()}
	for _, kind := range slices.Sorted(maps.Keys(bases)) {
		for _, base := range bases[kind] {
			f := &filler{env: e, client: client, base: base.object, resource: kind}
			if !f.isAdmitted(base.object) {
				e.Errorf("%s %s: not admitted as it is: %v", kind, base.name, base.object)
				continue
			}
			for _, chain := range containersOf(tables, base.object) {
				path := kind + " " + chain[len(chain)-1].path
				if base.name != "" && (kind != "pods" || isOfFeature(path)) {
					path += " of " + base.name
				}
				if seen[path] || !only.MatchString(path) || (!wholeEdges && only.String() == "" && !drawnLarge(path)) {
					continue
				}
				seen[path] = true
				filled, counts := f.fill(chain, most)
				whole := &large{path: path, counts: counts, object: filled, f: f}
				whole.ours = test.cost(whole)
				if tried = append(tried, whole); !wholeEdges || e.Failed() {
					continue
				}
				if filled, counts := f.fill(chain, filled.Size()/4); 2*filled.Size() < whole.object.Size() {
					part := test.cost(&large{path: path, counts: counts, object: filled, f: f})
					if whole.ours.cpu > 2*time.Second+8*part.cpu {
						e.Errorf("%s: four times the size takes %s of CPU instead of %s", path, whole.ours.cpu, part.cpu)
					}
				}
			}
		}
	}
	e.Logf("%d lists and maps", len(seen))
	if (wholeEdges || only.String() != "") && !program.Peer {
		e.stop(standby)
		e.stop(leader)
		test.compare(tried)
	}
}

// isOfFeature is whether pods of several names have something of their own there.
func isOfFeature(path string) bool {
	return slices.ContainsFunc([]string{"pods spec.affinity", "pods spec.topologySpreadConstraints", "pods spec.volumes"},
		func(of string) bool { return strings.HasPrefix(path, of) })
}

// drawnLarge is whether the smaller test fills the list or map.
func drawnLarge(path string) bool {
	return slices.ContainsFunc([]string{"podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution", "spec.tolerations",
		"nodeSelectorTerms", "topologySpreadConstraints", "exactly.selectors of patterns"},
		func(known string) bool { return strings.HasSuffix(path, known) })
}

// large is an object with a list or map that is filled.
type large struct {
	path, counts string
	object       sized
	f            *filler
	ours         cost
}

// cost is the CPU time that a scheduler used until a plain pod was bound that came after the large one, and how long that
// took.
type cost struct{ cpu, bound time.Duration }

// largestTest has replicas decide large objects, the leader the first of them.
type largestTest struct {
	*env
	replicas []*daemon.Daemon
	lease    *int32 // nil: without leader election
	tried    int
}

// compare has kube-scheduler decide the same objects.
func (l *largestTest) compare(tried []*large) {
	l.Helper()
	peer, err := daemon.Start(daemon.Peer(shared.Binary(programs.Scheduler)),
		daemon.Options{Config: deviceConfig, Kubeconfig: shared.Kubeconfig(controlplane.Admin), Dir: l.dir})
	l.must(err)
	l.Cleanup(peer.Kill)
	beside := largestTest{env: l.env, replicas: []*daemon.Daemon{peer}, tried: l.tried}
	l.Logf("kube-scheduler")
	var ours, theirs cost
	for _, object := range tried {
		with := beside.cost(object)
		if object.ours.bound > 3*time.Second+2*with.bound {
			l.Errorf("%s: with Berth the later pod was bound after %s, with kube-scheduler after %s", object.path, object.ours.bound, with.bound)
		}
		ours = cost{ours.cpu + object.ours.cpu, max(ours.bound, object.ours.bound)}
		theirs = cost{theirs.cpu + with.cpu, max(theirs.bound, with.bound)}
	}
	l.Logf("all: %s of CPU, later pods bound within %s; kube-scheduler %s and %s", ours.cpu, ours.bound, theirs.cpu, theirs.bound)
}

// cost creates the object and then a plain pod.
func (l *largestTest) cost(of *large) cost {
	l.Helper()
	leader := l.replicas[0]
	before, err := leader.CPUTime()
	l.must(err)
	object := of.object.DeepCopyObject()
	accessor, err := meta.Accessor(object)
	l.must(err)
	accessor.SetName("large")
	l.must(of.f.create(object, metav1.CreateOptions{}))
	if of.f.resource == "resourceclaims" {
		l.createPods(workload.Pod("large", workload.UseDevices("large", "")))
	}
	l.tried++
	after := workload.Pod(fmt.Sprintf("after-%d", l.tried))
	l.createPods(after)
	begin := time.Now()
	if _, err := l.pods.AwaitPod(l.within(time.Minute), after.Name, "bound after a large one", workload.IsBound); err != nil {
		if leader.Program.Peer {
			l.Logf("%s: %v", of.path, err)
		} else {
			l.Errorf("%s: %v", of.path, err)
		}
	}
	bound := time.Since(begin)
	// The large one is decided by then or right after; its attempt is part of the cost.
	ctx, cancel := context.WithTimeout(l.ctx, 20*time.Second)
	defer cancel()
	outcome := "undecided"
	_, _ = l.pods.AwaitPod(ctx, "large", "decided", func(pod *corev1.Pod) bool {
		if condition := workload.ScheduledCondition(pod); workload.IsBound(pod) {
			outcome = "bound"
		} else if condition != nil {
			outcome = fmt.Sprintf("%s: %.160s", condition.Reason, condition.Message)
		} else {
			return false
		}
		return true
	})
	now, err := leader.CPUTime()
	l.must(err)
	l.Logf("%-80s %-12s %9d %8.2f %8d %8.2f %s", of.path, of.counts, of.object.Size(), (now - before).Seconds(),
		machine.PeakMemory(leader.PID())>>20, bound.Seconds(), outcome)
	for _, d := range l.replicas {
		if !d.Running() {
			l.Fatalf("%s: a replica has ended with code %d", of.path, d.ExitCode())
		}
	}
	if l.lease != nil && *l.env.lease().Spec.LeaseTransitions != *l.lease {
		l.Fatalf("%s: the lease has changed hands", of.path)
	}
	for _, name := range []string{"large", after.Name} {
		l.must(workload.DeletePod(l.ctx, l.admin, l.namespace, name))
	}
	l.eventually("the large pod to be gone", func() bool { return l.pods.Pod("large") == nil })
	if of.f.resource == "resourceclaims" {
		claims := l.admin.ResourceV1().ResourceClaims(l.namespace)
		l.must(claims.Delete(l.ctx, "large", metav1.DeleteOptions{}))
		l.eventually("the large claim to be gone", func() bool {
			_, err := claims.Get(l.ctx, "large", metav1.GetOptions{})
			return apierrors.IsNotFound(err)
		})
	}
	return cost{now - before, bound}
}

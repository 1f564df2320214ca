// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"hash/fnv"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/internal/daemon"
	"berth.dev/tests/internal/daemon/workload"
)

// wholeEdges has tests of what tenants write try all there is, which takes long, not one in so many.
var wholeEdges = os.Getenv("BERTH_TEST_WHOLE") != ""

// offered is a kind whose fields are offered to the API server.
type offered struct {
	client     rest.Interface
	resource   string
	namespaced bool
	hasStatus  bool
	bases      []runtime.Object
}

// admission offers variants to the API server.
type admission struct {
	*env
	daemon daemon.Options

	mu       sync.Mutex
	objects  int
	admitted map[string]int // by path
	nodes    []string       // of pods, each with a node of its own
	full     map[string]bool
}

// TestWhateverTheAPIServerAdmitsIsRead offers edge values of each field that Berth reads to the API server. No object that it
// admits may be one that Berth cannot decode, in protobuf or in JSON, and beside each pod another one still binds: a pod with
// odd values must not close its node.
func TestWhateverTheAPIServerAdmitsIsRead(t *testing.T) {
	// With all that a release has off by default, so that each field is there.
	e, c, switches := newGangControlPlane(t, "CompositePodGroup", "TopologyAwareWorkloadScheduling", "PodGroupPreemptionPolicy",
		"DRADerivedAttributes", "DRADeviceCompatibilityGroups", "DRAFractionalCapacityRange", "DRAListTypeAttributes",
		"DRANodeAllocatableResources", "DRAOptionalNodeOperations", "DRAWorkloadResourceClaims")
	tables, err := readFieldTables("../../src/api")
	e.must(err)
	config, err := c.RESTConfig(controlplane.Admin)
	e.must(err)
	config.ContentType, config.QPS = runtime.ContentTypeProtobuf, -1
	client, err := kubernetes.NewForConfig(config)
	e.must(err)

	a := &admission{env: e, admitted: map[string]int{}, full: map[string]bool{},
		daemon: daemon.Options{Kubeconfig: c.Kubeconfig(controlplane.Berth), Args: []string{switches}}}
	reached := map[string]bool{}
	for _, kind := range offeredKinds(client) {
		found := &edges{fieldWalk: fieldWalk{tables: tables, reached: reached}}
		for i, base := range kind.bases {
			found.add(base)
			a.checkIsAdmitted(kind, i)
		}
		for _, problem := range found.unknown {
			e.Errorf("%s: %s", kind.resource, problem)
		}
		before := a.objects
		e.must(workload.Each(e.ctx, len(found.variants), func(ctx context.Context, i int) error {
			v := found.variants[i]
			if !wholeEdges && !drawn(kind.resource+v.path+v.value) {
				return nil
			}
			return a.offer(ctx, kind, v, fmt.Sprintf("%s-%d", kind.resource, i))
		}))
		e.Logf("%s: %d variants, %d objects", kind.resource, len(found.variants), a.objects-before)
	}
	missing := slices.DeleteFunc((&fieldWalk{tables: tables, reached: reached}).unreached(), isOfCustomResource)
	if len(missing) > 0 {
		e.Errorf("no kind here has what these tables tell of: %v", missing)
	}
	for _, path := range []string{"pods spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources.limits[first]",
		"resourceclaims spec.devices.requests[0].exactly.capacity.requests[first]",
		"resourceclaims spec.devices.config[0].opaque.parameters"} {
		if a.admitted[path] == 0 {
			e.Errorf("the API server has admitted no value of %s: the test is about less than it was", path)
		}
	}
	a.checkBinds("protobuf", "clientConnection: {qps: 5000, burst: 5000}")
	a.checkBinds("json", "clientConnection: {qps: 5000, burst: 5000, contentType: application/json}")
}

// isOfCustomResource is whether a table is about a kind that the API server has no Go type for: what it admits of one is what
// the schema in the kind's definition says, and it sends JSON alone.
func isOfCustomResource(table string) bool {
	for _, custom := range []string{"CoschedulingPodGroup", "NodeResourceTopology", "NodeTopology", "ElasticQuota"} {
		if strings.HasPrefix(table, custom) {
			return true
		}
	}
	return false
}

// drawn is whether the smaller test offers the variant; always what has been at fault.
func drawn(name string) bool {
	for _, known := range []string{"resources.limits[first]", "capacity.requests", "opaque.parameters", "].data"} {
		if strings.Contains(name, known) {
			return true
		}
	}
	hash := fnv.New32a()
	hash.Write([]byte(name))
	return hash.Sum32()%12 == 0
}

// checkIsAdmitted offers the object as it is: where it is refused, so are its variants, and the test tells nothing.
func (a *admission) checkIsAdmitted(kind offered, index int) {
	a.Helper()
	base := kind.bases[index].DeepCopyObject()
	object, err := meta.Accessor(base)
	a.must(err)
	object.SetName(fmt.Sprintf("%s-base-%d", kind.resource, index))
	err = kind.client.Post().NamespaceIfScoped(a.namespace, kind.namespaced).Resource(kind.resource).
		VersionedParams(&metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}, scheme.ParameterCodec).Body(base).Do(a.ctx).Error()
	switch {
	case apierrors.IsNotFound(err):
		a.Logf("%s: not served here", kind.resource)
	case err != nil:
		a.Errorf("%s: object %d is not admitted as it is: %v", kind.resource, index, err)
	}
}

// offer creates the variant, and its status where it has one; the API server may refuse either.
func (a *admission) offer(ctx context.Context, kind offered, v variant, name string) error {
	object, err := meta.Accessor(v.object)
	if err != nil {
		return err
	}
	object.SetName(name)
	request := func(verb *rest.Request) *rest.Request {
		return verb.NamespaceIfScoped(a.namespace, kind.namespaced).Resource(kind.resource)
	}
	pod, isPod := v.object.(*corev1.Pod)
	if isPod && pod.Spec.NodeName == "full" {
		pod.Spec.NodeName = "of-" + name
	}
	// What is offered in the status is in the object, too: creating drops it.
	created := v.object.DeepCopyObject()
	if err := request(kind.client.Post()).Body(v.object).Do(ctx).Into(created); err != nil {
		return refused(kind, v, err)
	}
	a.mu.Lock()
	a.admitted[kind.resource+" "+v.path]++
	a.objects++
	a.mu.Unlock()
	if kind.hasStatus {
		accessor, err := meta.Accessor(created)
		if err != nil {
			return err
		}
		object.SetResourceVersion(accessor.GetResourceVersion())
		object.SetUID(accessor.GetUID())
		if err := request(kind.client.Put()).Name(name).SubResource("status").Body(v.object).Do(ctx).Error(); refused(kind, v, err) != nil {
			return refused(kind, v, err)
		}
	}
	if isPod && pod.Spec.NodeName == "of-"+name {
		node := workload.Node(pod.Spec.NodeName)
		if _, err := a.admin.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
			return err
		}
		a.mu.Lock()
		a.nodes = append(a.nodes, node.Name)
		a.full[node.Name] = takesAll(v)
		a.mu.Unlock()
	}
	return nil
}

// refused is nil where the server answered that the object is not as it should be.
func refused(kind offered, v variant, err error) error {
	if err == nil || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsForbidden(err) ||
		apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) || apierrors.IsInternalError(err) ||
		apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsRequestEntityTooLargeError(err) {
		return nil
	}
	return fmt.Errorf("%s %s with %s: %w", kind.resource, v.path, v.value, err)
}

// takesAll is whether the pod rightly leaves no room: it asks for more than any node has.
func takesAll(v variant) bool {
	huge := slices.Contains([]string{`"1e18"`, `"1e30"`, `"9223372036854775807"`}, v.value)
	return huge && (strings.Contains(v.path, "esources") || strings.Contains(v.path, "overhead"))
}

// checkBinds starts the daemon, which lists all that was admitted, and has it bind a pod to each node of a pod.
func (a *admission) checkBinds(encoding, config string) {
	a.Helper()
	options := a.daemon
	options.Config = config
	d := a.startWith(options)
	var pods []*corev1.Pod
	for _, node := range a.nodes {
		if a.full[node] {
			continue
		}
		// Odd pods that repel others mean those of their own names.
		probe := workload.Pod(fmt.Sprintf("%s-%s", encoding, node), workload.RequireNode(corev1.LabelHostname, node))
		probe.Labels = map[string]string{"probe": encoding}
		pods = append(pods, probe)
	}
	a.createPods(pods...)
	err := a.pods.Await(a.within(2*time.Minute), "a pod beside each odd one", func(seen map[string]*corev1.Pod) bool {
		return !slices.ContainsFunc(pods, func(pod *corev1.Pod) bool {
			return seen[pod.Name] == nil || !workload.IsBound(seen[pod.Name])
		})
	})
	if err != nil {
		a.Error(err)
	}
	a.Logf("%s: %d pods beside odd ones", encoding, len(pods))
	a.stop(d)
	for line := range strings.Lines(d.Log()) {
		if strings.Contains(line, "cannot be decoded") {
			a.Errorf("%s: %s", encoding, line)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/controlplane/programs"
	"berth.dev/tests/internal/daemon"
	"berth.dev/tests/internal/daemon/workload"
)

// testLimit is how long one test may take.
func testLimit() time.Duration {
	if wholeEdges || os.Getenv("BERTH_TEST_LARGEST") != "" {
		return 2 * time.Hour
	}
	return 3 * time.Minute
}

// promptly is how soon a pod is bound after the event that lets it fit.
const promptly = time.Second

// env is what one test works in.
type env struct {
	*testing.T
	ctx       context.Context
	admin     kubernetes.Interface
	namespace string
	pods      *workload.Tracker
	dir       string
	daemons   []*daemon.Daemon
	plane     *controlplane.ControlPlane

	// refusals lets the daemon's log speak of missing rights.
	refusals bool
	// volumes are there, to be deleted at the end.
	volumes bool
}

// newEnv makes a namespace of the test's name. When the test ends, its daemons are stopped, and its
// pods and all nodes deleted.
func newEnv(t *testing.T) *env {
	t.Helper()
	limit := testLimit()
	ctx, cancel := context.WithTimeoutCause(t.Context(), limit, fmt.Errorf("the test took more than %s", limit))
	t.Cleanup(cancel)
	e := &env{T: t, ctx: ctx, admin: shared.Client(controlplane.Admin), namespace: namespaceOf(t), dir: logDir(t), plane: shared}
	e.must(workload.CreateNamespace(ctx, e.admin, e.namespace))
	var err error
	e.pods, err = workload.Track(ctx, e.admin, e.namespace)
	e.must(err)
	t.Cleanup(e.cleanUp)
	return e
}

// needsKubernetes skips the test where the servers are of a release before that minor, such as 1.37, which do not serve what
// the test is about.
func needsKubernetes(t *testing.T, minor, what string) {
	t.Helper()
	running, err := programs.Kubernetes()
	if err != nil {
		t.Fatal(err)
	}
	if version.MustParseGeneric(running).LessThan(version.MustParseGeneric(minor)) {
		t.Skipf("Kubernetes %s does not serve %s", running, what)
	}
}

func namespaceOf(t *testing.T) string {
	words := regexp.MustCompile(`[A-Z]+[a-z0-9]*`).FindAllString(strings.TrimPrefix(t.Name(), "Test"), -1)
	name := strings.ToLower(strings.Join(words, "-"))
	return name[:min(len(name), 63)]
}

// logDir is where the test's daemons write; it is kept when the test fails.
func logDir(t *testing.T) string {
	dir, err := os.MkdirTemp("", "berth-"+namespaceOf(t)+"-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !t.Failed() {
			_ = os.RemoveAll(dir)
		}
	})
	return dir
}

func (e *env) cleanUp() {
	e.pods.Stop()
	for _, d := range e.daemons {
		if d.Running() {
			e.stop(d)
		}
		if e.Failed() {
			e.Log(d.Tail())
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if e.volumes {
		if err := workload.DeleteStatefulSets(ctx, e.admin, e.namespace); err != nil {
			e.Error(err)
		}
		if err := workload.DeleteVolumes(ctx, e.admin, e.namespace); err != nil {
			e.Error(err)
		}
	}
	if err := workload.DeletePods(ctx, e.admin, e.namespace); err != nil {
		e.Error(err)
	}
	if err := workload.DeleteNodes(ctx, e.admin, ""); err != nil {
		e.Error(err)
	}
}

// stop ends the daemon in its orderly way and reads in its log that no right was missing.
func (e *env) stop(d *daemon.Daemon) {
	e.Helper()
	if err := d.Stop(); err != nil {
		e.Error(err)
	}
	if e.refusals {
		return
	}
	for line := range strings.Lines(d.Log()) {
		if strings.Contains(line, "forbidden") {
			e.Errorf("the daemon was refused something: %s", line)
			return
		}
	}
}

// must ends the test when there is an error.
func (e *env) must(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(err)
	}
}

// start starts the daemon with a KubeSchedulerConfiguration, as the user with the shipped role.
func (e *env) start(config string) *daemon.Daemon {
	e.Helper()
	return e.startAs(controlplane.Berth, config)
}

func (e *env) startAs(user controlplane.User, config string, args ...string) *daemon.Daemon {
	e.Helper()
	return e.startWith(daemon.Options{Config: config, Kubeconfig: e.plane.Kubeconfig(user), Args: args})
}

func (e *env) startWith(options daemon.Options) *daemon.Daemon {
	e.Helper()
	return e.startProgram(program, options)
}

func (e *env) startProgram(program daemon.Program, options daemon.Options) *daemon.Daemon {
	e.Helper()
	options.Dir, options.Seed = e.dir, 1
	options.Name = fmt.Sprintf("%s-%d", program.Name, len(e.daemons)+1)
	d, err := daemon.Start(program, options)
	e.must(err)
	e.daemons = append(e.daemons, d)
	return d
}

func (e *env) createNodes(nodes ...*corev1.Node) {
	e.Helper()
	e.must(workload.CreateNodes(e.ctx, e.admin, nodes...))
}

// manyNodes creates node-0 to node-(n-1).
func (e *env) manyNodes(n int, options ...workload.NodeOption) {
	e.Helper()
	nodes := make([]*corev1.Node, n)
	for i := range nodes {
		nodes[i] = workload.Node(fmt.Sprintf("node-%d", i), options...)
	}
	e.createNodes(nodes...)
}

func (e *env) createPods(pods ...*corev1.Pod) {
	e.Helper()
	e.must(workload.CreatePods(e.ctx, e.admin, e.namespace, len(pods), func(i int) *corev1.Pod { return pods[i] }))
}

// manyPods creates name-0 to name-(n-1).
func (e *env) manyPods(n int, name string, options ...workload.PodOption) {
	e.Helper()
	e.must(workload.CreatePods(e.ctx, e.admin, e.namespace, n, func(i int) *corev1.Pod {
		return workload.Pod(fmt.Sprintf("%s-%d", name, i), options...)
	}))
}

// within is the test's context with a deadline.
func (e *env) within(limit time.Duration) context.Context {
	ctx, cancel := context.WithTimeoutCause(e.ctx, limit, fmt.Errorf("not within %s", limit))
	e.Cleanup(cancel)
	return ctx
}

// awaitNode waits until the pod is bound, and checks where.
func (e *env) awaitNode(ctx context.Context, pod, node string) {
	e.Helper()
	bound, err := e.pods.AwaitPod(ctx, pod, "bound", workload.IsBound)
	e.must(err)
	if bound.Spec.NodeName != node {
		e.Errorf("pod %s is on node %s, want %s", pod, bound.Spec.NodeName, node)
	}
}

// awaitUnschedulable waits until the pod has been tried in vain, and checks the message.
func (e *env) awaitUnschedulable(pod, message string) {
	e.Helper()
	e.awaitCondition(pod, corev1.PodReasonUnschedulable, message)
}

func (e *env) awaitCondition(pod, reason, message string) {
	e.Helper()
	_, err := e.pods.AwaitPod(e.within(30*time.Second), pod, fmt.Sprintf("in state %s: %s", reason, message),
		func(pod *corev1.Pod) bool {
			return workload.HasReason(pod, reason) && workload.ScheduledCondition(pod).Message == message
		})
	e.must(err)
}

// events are the events of that reason about the pod; about all pods of the test if the name is "".
func (e *env) events(reason, pod string) []eventsv1.Event {
	e.Helper()
	list, err := e.admin.EventsV1().Events(e.namespace).List(e.ctx, eventsOf(reason, pod))
	e.must(err)
	return list.Items
}

func eventsOf(reason, pod string) metav1.ListOptions {
	selector := "reason=" + reason
	if pod != "" {
		selector += ",regarding.name=" + pod
	}
	return metav1.ListOptions{FieldSelector: selector}
}

// awaitEvents waits until there are that many events, and returns them.
func (e *env) awaitEvents(reason, pod string, want int) []eventsv1.Event {
	e.Helper()
	// Begins with the events that are there.
	watcher, err := e.admin.EventsV1().Events(e.namespace).Watch(e.within(30*time.Second), eventsOf(reason, pod))
	e.must(err)
	defer watcher.Stop()
	for there := 0; there < want; {
		event, more := <-watcher.ResultChan()
		if !more {
			e.Fatalf("there are %d events %s, want %d", there, reason, want)
		}
		if event.Type == watch.Added {
			there++
		}
	}
	return e.events(reason, pod)
}

// eventually polls what no watch tells.
func (e *env) eventually(what string, done func() bool) {
	e.Helper()
	ctx := e.within(30 * time.Second)
	for !done() {
		select {
		case <-ctx.Done():
			e.Fatalf("waited in vain for %s", what)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// letPass waits for time itself to pass, where that is what the test is about.
func (e *env) letPass(d time.Duration) {
	e.Helper()
	select {
	case <-time.After(d):
	case <-e.ctx.Done():
		e.Fatal(context.Cause(e.ctx))
	}
}

// bindings are the requests to bind this test's pods, as the API server saw them.
func (e *env) bindings() []controlplane.Binding {
	e.Helper()
	all, err := shared.AuditBindings()
	e.must(err)
	var own []controlplane.Binding
	for _, b := range all {
		if b.Namespace == e.namespace {
			own = append(own, b)
		}
	}
	return own
}

// checkBoundOnce checks that every pod is on the one node to which it was bound once. Of a request
// under way when the API server or its client was killed, the audit log may lack the good end.
func (e *env) checkBoundOnce(pods int, crashed bool) {
	e.Helper()
	times, nodes := map[string]int{}, map[string]string{}
	e.eventually("the audit log", func() bool {
		clear(times)
		for _, b := range e.bindings() {
			if b.Bound() {
				times[b.UID]++
				nodes[b.UID] = b.Node
			}
		}
		return len(times) >= pods || crashed
	})
	seen := e.pods.Pods()
	if len(seen) != pods {
		e.Errorf("there are %d pods, want %d", len(seen), pods)
	}
	for _, pod := range seen {
		uid := string(pod.UID)
		if n := times[uid]; n > 1 {
			e.Errorf("pod %s was bound %d times", pod.Name, n)
		}
		if node, ok := nodes[uid]; ok && node != pod.Spec.NodeName {
			e.Errorf("pod %s is on node %s but was bound to %s", pod.Name, pod.Spec.NodeName, node)
		}
	}
}

// checkAllocatable checks that no node has more on it than it can hold.
func (e *env) checkAllocatable() {
	e.Helper()
	nodes, err := e.admin.CoreV1().Nodes().List(e.ctx, metav1.ListOptions{})
	e.must(err)
	if wrong := workload.Overfull(workload.Pointers(nodes.Items), e.pods.Pods()); wrong != "" {
		e.Error(wrong)
	}
}

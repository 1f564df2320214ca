// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"berth.dev/tests/controlplane/programs"
)

func TestAControlPlaneRunsPodsAndComesBackAfterARestart(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	if _, err := programs.Build(ctx, os.Stderr); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	c, err := Start(ctx, Options{ControllerManager: true, Kwok: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(c.Dir); err == nil {
			t.Errorf("%s is still there", c.Dir)
		}
	})
	t.Logf("ready after %s", time.Since(begin).Round(time.Millisecond))

	t.Run("reports its release", func(t *testing.T) { checkVersion(t, c) })
	t.Run("gives each user its rights", func(t *testing.T) { checkRights(ctx, t, c) })
	t.Run("knows users by certificate", func(t *testing.T) { checkCertificates(ctx, t, c) })
	t.Run("runs a pod on a fake node", func(t *testing.T) { checkPodRuns(ctx, t, c, "node-a", "pod-a") })
	t.Run("records bindings", func(t *testing.T) { checkBinding(ctx, t, c) })
	t.Run("restarts its API server", func(t *testing.T) {
		before := c.Process(programs.APIServer).PID()
		url := c.URL()
		begin := time.Now()
		if err := c.RestartAPIServer(ctx); err != nil {
			t.Fatal(err)
		}
		t.Logf("restarted in %s", time.Since(begin).Round(time.Millisecond))
		if c.Process(programs.APIServer).PID() == before || c.URL() != url {
			t.Errorf("the API server is the same process or has moved to %s", c.URL())
		}
		checkPodRuns(ctx, t, c, "node-b", "pod-b")
	})
	t.Run("survives the crash of its API server", func(t *testing.T) {
		c.KillAPIServer()
		if err := c.StartAPIServer(ctx); err != nil {
			t.Fatal(err)
		}
		checkPodRuns(ctx, t, c, "node-c", "pod-c")
	})
	t.Run("runs kube-scheduler", func(t *testing.T) { checkScheduler(ctx, t, c) })
}

func checkVersion(t *testing.T, c *ControlPlane) {
	version, err := c.Client(Nobody).Discovery().ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	if version.GitVersion != programs.KubernetesVersion {
		t.Errorf("the API server is %s, want %s", version.GitVersion, programs.KubernetesVersion)
	}
}

func checkRights(ctx context.Context, t *testing.T, c *ControlPlane) {
	everyone := map[User]bool{Admin: true, Berth: true, KubeScheduler: true, Nobody: false}
	// Each has its own lease.
	berthOnly := map[User]bool{Admin: true, Berth: true, KubeScheduler: false, Nobody: false}
	peerOnly := map[User]bool{Admin: true, Berth: false, KubeScheduler: true, Nobody: false}
	adminOnly := map[User]bool{Admin: true, Berth: false, KubeScheduler: false, Nobody: false}
	cases := []struct {
		verb, group, resource, subresource, namespace, name string
		want                                                map[User]bool
	}{
		{verb: "watch", resource: "pods", want: everyone},
		{verb: "delete", resource: "pods", want: everyone},
		{verb: "create", resource: "pods", subresource: "binding", want: everyone},
		{verb: "patch", resource: "pods", subresource: "status", want: everyone},
		{verb: "list", resource: "nodes", want: everyone},
		{verb: "list", resource: "namespaces", want: everyone},
		{verb: "watch", group: "policy", resource: "poddisruptionbudgets", want: everyone},
		{verb: "patch", resource: "persistentvolumeclaims", want: everyone},
		{verb: "list", group: "storage.k8s.io", resource: "storageclasses", want: everyone},
		{verb: "list", group: "storage.k8s.io", resource: "csinodes", want: everyone},
		{verb: "create", group: "resource.k8s.io", resource: "resourceclaims", want: everyone},
		{verb: "update", group: "resource.k8s.io", resource: "resourceclaims", subresource: "binding", want: everyone},
		{verb: "patch", group: "resource.k8s.io", resource: "resourceclaims", subresource: "binding", want: peerOnly},
		{verb: "create", group: "events.k8s.io", resource: "events", want: everyone},
		{verb: "create", group: "authentication.k8s.io", resource: "tokenreviews", want: everyone},
		{verb: "create", group: "coordination.k8s.io", resource: "leases", namespace: BerthNamespace, want: everyone},
		{verb: "update", group: "coordination.k8s.io", resource: "leases", namespace: BerthNamespace, name: "berth", want: berthOnly},
		{verb: "update", group: "coordination.k8s.io", resource: "leases", namespace: "kube-system", name: "kube-scheduler", want: peerOnly},
		{verb: "get", resource: "configmaps", namespace: "kube-system", name: "extension-apiserver-authentication", want: everyone},

		{verb: "create", resource: "pods", want: adminOnly},
		{verb: "patch", resource: "pods", want: adminOnly},
		{verb: "patch", resource: "nodes", want: adminOnly},
		{verb: "get", resource: "secrets", want: adminOnly},
		{verb: "delete", resource: "persistentvolumes", want: adminOnly},
		{verb: "create", resource: "pods", subresource: "eviction", want: adminOnly},
		{verb: "update", group: "coordination.k8s.io", resource: "leases", namespace: "default", name: "other", want: adminOnly},
	}
	for _, test := range cases {
		attributes := authorizationv1.ResourceAttributes{
			Verb: test.verb, Group: test.group, Resource: test.resource, Subresource: test.subresource,
			Namespace: test.namespace, Name: test.name,
		}
		for user, want := range test.want {
			review := &authorizationv1.SelfSubjectAccessReview{
				Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &attributes},
			}
			answer, err := c.Client(user).AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if answer.Status.Allowed != want {
				t.Errorf("%s: %+v allowed is %t, want %t", user, attributes, answer.Status.Allowed, want)
			}
		}
	}
}

func checkCertificates(ctx context.Context, t *testing.T, c *ControlPlane) {
	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig(Berth+"-cert"))
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{}); err != nil {
		t.Error(err)
	}
}

func makeNode(ctx context.Context, t *testing.T, c *ControlPlane, name string) {
	t.Helper()
	resources := corev1.ResourceList{"cpu": resource.MustParse("4"), "memory": resource.MustParse("8Gi"), "pods": resource.MustParse("110")}
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status:     corev1.NodeStatus{Allocatable: resources, Capacity: resources},
	}
	if _, err := c.Client(Admin).CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func makePod(ctx context.Context, t *testing.T, c *ControlPlane, name, node string) {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "main", Image: "image"}}},
	}
	eventually(ctx, t, "the default service account", func() bool {
		_, err := c.Client(Admin).CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
		return err == nil
	})
	if _, err := c.Client(Admin).CoreV1().Pods("default").Create(ctx, pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// checkPodRuns makes a node and a pod on it, sees both come up, and sees the pod go when deleted.
func checkPodRuns(ctx context.Context, t *testing.T, c *ControlPlane, node, pod string) {
	makeNode(ctx, t, c, node)
	makePod(ctx, t, c, pod, node)
	awaitRunning(ctx, t, c, pod)
	got, err := c.Client(Admin).CoreV1().Nodes().Get(ctx, node, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !nodeReady(got) || len(got.Spec.Taints) > 0 {
		t.Errorf("node %s has conditions %v and taints %v", node, got.Status.Conditions, got.Spec.Taints)
	}
	if cpu := got.Status.Allocatable.Cpu().String(); cpu != "4" {
		t.Errorf("node %s offers %s CPUs, want the 4 that it was made with", node, cpu)
	}
	pods := c.Client(Admin).CoreV1().Pods("default")
	if err := pods.Delete(ctx, pod, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(ctx, t, pod+" to vanish", func() bool {
		_, err := pods.Get(ctx, pod, metav1.GetOptions{})
		return err != nil
	})
}

func nodeReady(node *corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

func awaitRunning(ctx context.Context, t *testing.T, c *ControlPlane, name string) {
	t.Helper()
	eventually(ctx, t, name+" to run", func() bool {
		pod, err := c.Client(Admin).CoreV1().Pods("default").Get(ctx, name, metav1.GetOptions{})
		return err == nil && pod.Status.Phase == corev1.PodRunning
	})
}

// checkBinding binds a pod as Berth would, twice, and finds both attempts in the audit log.
func checkBinding(ctx context.Context, t *testing.T, c *ControlPlane) {
	makePod(ctx, t, c, "bound", "")
	pod, err := c.Client(Berth).CoreV1().Pods("default").Get(ctx, "bound", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	bind := func(uid types.UID) error {
		return c.Client(Berth).CoreV1().Pods("default").Bind(ctx, &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Name: "bound", Namespace: "default", UID: uid},
			Target:     corev1.ObjectReference{Kind: "Node", Name: "node-a"},
		}, metav1.CreateOptions{})
	}
	if err := bind(pod.UID); err != nil {
		t.Fatal(err)
	}
	if bind(pod.UID) == nil {
		t.Error("a bound pod was bound again")
	}
	awaitRunning(ctx, t, c, "bound")
	eventually(ctx, t, "two lines in the audit log", func() bool {
		bindings, err := c.AuditBindings()
		return err == nil && len(bindings) == 2
	})
	bindings, _ := c.AuditBindings()
	for i, code := range []int{201, 409} {
		got := bindings[i]
		got.Received, got.Answered, got.Message = time.Time{}, time.Time{}, ""
		want := Binding{Namespace: "default", Pod: "bound", UID: string(pod.UID), Node: "node-a", User: "berth", Code: code}
		if got != want {
			t.Errorf("binding %d is %+v, want %+v", i, got, want)
		}
	}
}

func checkScheduler(ctx context.Context, t *testing.T, c *ControlPlane) {
	const name = "peer"
	scheduler, err := c.StartScheduler(ctx, "profiles: [{schedulerName: peer}]")
	if err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.PodSpec{SchedulerName: name, Containers: []corev1.Container{{Name: "main", Image: "image"}}},
	}
	if _, err := c.Client(Admin).CoreV1().Pods("default").Create(ctx, pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	awaitRunning(ctx, t, c, name)
	eventually(ctx, t, "its event", func() bool {
		events, err := c.Client(Admin).EventsV1().Events("default").List(ctx, metav1.ListOptions{FieldSelector: "reason=Scheduled,reportingController=" + name})
		return err == nil && len(events.Items) == 1
	})
	if used, err := scheduler.CPUTime(); err != nil || used <= 0 {
		t.Errorf("the scheduler used %s of CPU, error %v", used, err)
	}
	scheduler.Stop()
	if c.Process(programs.Scheduler) != nil {
		t.Error("the scheduler still runs")
	}
	log, err := os.ReadFile(c.path("logs", programs.Scheduler+".log"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(log)) {
		if strings.Contains(line, "forbidden") {
			t.Errorf("refused: %s", line)
		}
	}
}

func TestADetachedControlPlaneStartsAgainInItsFolder(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	options := Options{Dir: filepath.Join(t.TempDir(), "cluster"), Detached: true}
	t.Cleanup(func() {
		if err := Down(options.Dir); err != nil {
			t.Error(err)
		}
	})
	first, err := Start(ctx, options)
	if err != nil {
		t.Fatal(err)
	}
	makeNode(ctx, t, first, "kept")
	makeBarePod(ctx, t, first)
	pids := []int{first.Process(programs.Etcd).PID(), first.Process(programs.APIServer).PID()}
	second, err := Start(ctx, options)
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		if startTicks(pid) != "" {
			t.Errorf("process %d of the first start still runs", pid)
		}
	}
	if second.URL() != first.URL() {
		t.Errorf("the API server moved from %s to %s", first.URL(), second.URL())
	}
	// The first client, with the token and the CA of the first start, finds the data of the first start.
	if _, err := first.Client(Admin).CoreV1().Nodes().Get(ctx, "kept", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
	if err := Down(options.Dir); err != nil {
		t.Fatal(err)
	}
	if second.Process(programs.APIServer) != nil || second.Process(programs.Etcd) != nil {
		t.Error("processes run after Down")
	}
}

// makeBarePod shows that without a controller manager pods need no service account.
func makeBarePod(ctx context.Context, t *testing.T, c *ControlPlane) {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "bare"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "image"}}},
	}
	if _, err := c.Client(Admin).CoreV1().Pods("default").Create(ctx, pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func eventually(ctx context.Context, t *testing.T, what string, done func() bool) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	for !done() {
		select {
		case <-ctx.Done():
			t.Fatalf("waiting for %s: %v", what, ctx.Err())
		case <-deadline:
			t.Fatalf("waited in vain for %s", what)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/internal/daemon"
	"berth.dev/tests/internal/daemon/workload"
)

// right is one thing that a rule allows. Empty names mean all.
type right struct {
	verb, group, resource, name string
	namespace                   string
}

func (r right) String() string {
	text := r.verb + " " + r.resource
	for _, part := range []struct{ word, value string }{{" of ", r.group}, {" named ", r.name}, {" in ", r.namespace}} {
		if part.value != "" {
			text += part.word + part.value
		}
	}
	return text
}

func (r right) covers(q controlplane.Request) bool {
	if r.resource == "resourceclaims/binding" {
		// Of no request: the API server asks for it when one writes a claim's allocation or reservation.
		r.resource = "resourceclaims/status"
	}
	return r.verb == q.Verb && r.group == q.Group && r.resource == q.Resource &&
		(r.name == "" || r.name == q.Name) && (r.namespace == "" || r.namespace == q.Namespace)
}

// rights are all that the rules allow, one by one.
func rights(namespace string, rules []rbacv1.PolicyRule) []right {
	var all []right
	for _, rule := range rules {
		names := rule.ResourceNames
		if len(names) == 0 {
			names = []string{""}
		}
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					for _, name := range names {
						all = append(all, right{verb, group, resource, name, namespace})
					}
				}
			}
		}
	}
	return all
}

// shippedRights are those of the roles in deploy/base, and by name those of the roles of Kubernetes
// itself that deploy/base binds.
func shippedRights(t *testing.T) (own []right, borrowed map[string][]right) {
	t.Helper()
	ctx, rbac := t.Context(), shared.Client(controlplane.Admin).RbacV1()
	ours := metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=berth"}
	clusterRoles, err := rbac.ClusterRoles().List(ctx, ours)
	must(t, err)
	known := map[string]bool{}
	for _, role := range clusterRoles.Items {
		known[role.Name] = true
		own = append(own, rights("", role.Rules)...)
	}
	roles, err := rbac.Roles("").List(ctx, ours)
	must(t, err)
	for _, role := range roles.Items {
		known[role.Name] = true
		own = append(own, rights(role.Namespace, role.Rules)...)
	}
	borrowed = map[string][]right{}
	clusterBindings, err := rbac.ClusterRoleBindings().List(ctx, ours)
	must(t, err)
	for _, binding := range clusterBindings.Items {
		if name := binding.RoleRef.Name; !known[name] {
			role, err := rbac.ClusterRoles().Get(ctx, name, metav1.GetOptions{})
			must(t, err)
			borrowed[name] = rights("", role.Rules)
		}
	}
	bindings, err := rbac.RoleBindings("").List(ctx, ours)
	must(t, err)
	for _, binding := range bindings.Items {
		if name := binding.RoleRef.Name; !known[name] {
			role, err := rbac.Roles(binding.Namespace).Get(ctx, name, metav1.GetOptions{})
			must(t, err)
			borrowed[name] = rights(binding.Namespace, role.Rules)
		}
	}
	if len(own) == 0 || len(borrowed) == 0 {
		t.Fatalf("deploy/base has rights %v and borrows %v", own, borrowed)
	}
	return own, borrowed
}

// pathsForAll are those that every user may read, by a role that each API server makes.
func pathsForAll(t *testing.T) (paths []string) {
	t.Helper()
	role, err := shared.Client(controlplane.Admin).RbacV1().ClusterRoles().Get(t.Context(), "system:public-info-viewer", metav1.GetOptions{})
	must(t, err)
	for _, rule := range role.Rules {
		paths = append(paths, rule.NonResourceURLs...)
	}
	return paths
}

// unused are those of the rights that no request needed.
func unused(rights []right, requests []controlplane.Request) []right {
	return slices.DeleteFunc(slices.Clone(rights), func(r right) bool {
		return slices.ContainsFunc(requests, r.covers)
	})
}

func TestTheRulesAreWhatAFullRunAsksFor(t *testing.T) {
	admin := shared.Client(controlplane.Admin)
	// Another test's would be taken over instead of made.
	err := admin.CoordinationV1().Leases(controlplane.BerthNamespace).Delete(t.Context(), "berth", metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	_, port := startShipped(t)
	own, borrowed := shippedRights(t)
	busy(t, "rights", "berth")
	failAgain(t)
	refuseABinding(t)
	bindVolumes(t)
	bindDevices(t)
	get(t, port, "/metrics")
	var requests []controlplane.Request
	elsewhere := requestsElsewhere(t)
	deadline := time.Now().Add(time.Minute)
	for {
		requests, err = shared.AuditRequests(controlplane.BerthServiceAccountUser)
		must(t, err)
		requests = append(requests, elsewhere...)
		if len(unused(own, requests)) == 0 || time.Now().After(deadline) {
			break
		}
		time.Sleep(200 * time.Millisecond)
	}
	for _, r := range unused(own, requests) {
		t.Errorf("a rule lets it %s, which it never does", r)
	}
	granted := slices.Clone(own)
	for role, rights := range borrowed {
		granted = append(granted, rights...)
		if len(unused(rights, requests)) == len(rights) {
			t.Errorf("it never uses role %s", role)
		}
	}
	open := pathsForAll(t)
	beyond := map[string]bool{}
	for _, q := range requests {
		allowed := slices.ContainsFunc(granted, func(r right) bool { return r.covers(q) }) || slices.Contains(open, q.URI)
		if !allowed || q.Code == http.StatusForbidden {
			beyond[fmt.Sprintf("%s %s (%s of %q), answered with %d", q.Verb, q.URI, q.Resource, q.Group, q.Code)] = true
		}
	}
	for _, what := range slices.Sorted(maps.Keys(beyond)) {
		t.Errorf("no rule lets it %s", what)
	}
}

// failAgain lets a pod be refused again and again for the same reason, so that its event becomes a
// series: it is tried once more whenever one of the pods goes that hold what it lacks.
func failAgain(t *testing.T) {
	t.Helper()
	const name, others = "rights-again", 3
	ctx, admin := t.Context(), shared.Client(controlplane.Admin)
	pods := inNamespace(t, name)
	must(t, workload.CreateNodes(ctx, admin, workload.Node(name, workload.NodeLabel("for", name))))
	create := func(pod, cpu string) {
		made := workload.Pod(pod, workload.Requests("cpu", cpu), workload.Scheduler("berth"), workload.NodeSelector("for", name))
		must(t, workload.CreatePods(ctx, admin, name, 1, func(int) *corev1.Pod { return made }))
	}
	create("stays", "1")
	for i := range others {
		create(fmt.Sprintf("goes-%d", i), "100m")
	}
	must(t, pods.AwaitBound(ctx, others+1))
	create("big", "3500m")
	for i := range others {
		waitFor(t, "its refusal", func() bool { return refusals(t, name, "big") > i })
		must(t, workload.DeletePod(ctx, admin, name, fmt.Sprintf("goes-%d", i)))
	}
}

// bindVolumes lets one pod be given a volume that is there, and another one that is to be made. Nothing completes the
// bindings, so that both pods wait.
func bindVolumes(t *testing.T) {
	t.Helper()
	const name = "rights-volumes"
	ctx, admin := t.Context(), shared.Client(controlplane.Admin)
	inNamespace(t, name)
	must(t, workload.CreateNodes(ctx, admin, workload.Node(name, workload.NodeLabel("for", name))))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := workload.DeleteVolumes(ctx, admin, name); err != nil {
			t.Error(err)
		}
	})
	volume, err := admin.CoreV1().PersistentVolumes().Create(ctx, workload.Volume(name, "there", "1Gi", "for", name), metav1.CreateOptions{})
	must(t, err)
	volume.Status.Phase = corev1.VolumeAvailable
	_, err = admin.CoreV1().PersistentVolumes().UpdateStatus(ctx, volume, metav1.UpdateOptions{})
	must(t, err)
	for class, provisioner := range map[string]string{"there": workload.NoProvisioner, "made": "disk.csi.example"} {
		_, err := admin.StorageV1().StorageClasses().Create(ctx, workload.WaitingClass(class, provisioner), metav1.CreateOptions{})
		must(t, err)
		_, err = admin.CoreV1().PersistentVolumeClaims(name).Create(ctx, workload.Claim(class, class, "1Gi"), metav1.CreateOptions{})
		must(t, err)
		pod := workload.Pod(class, workload.UseClaim(class), workload.Scheduler("berth"), workload.NodeSelector("for", name))
		must(t, workload.CreatePods(ctx, admin, name, 1, func(int) *corev1.Pod { return pod }))
	}
}

// bindDevices lets pods be given devices, after an answer about their claims got lost: the API server cannot reach a webhook.
// The claim of one stands for an extended resource: it is made, and deleted when the pod is given up.
func bindDevices(t *testing.T) {
	t.Helper()
	const name = "rights-devices"
	ctx, admin := t.Context(), shared.Client(controlplane.Admin)
	inNamespace(t, name)
	must(t, workload.CreateNodes(ctx, admin, workload.Node(name, workload.NodeLabel("for", name))))
	class, resource := workload.DeviceClass(name), "devices.example.com/rights"
	class.Spec.ExtendedResourceName = &resource
	_, err := admin.ResourceV1().DeviceClasses().Create(ctx, class, metav1.CreateOptions{})
	must(t, err)
	_, err = admin.ResourceV1().ResourceSlices().Create(ctx, workload.DevicesOf(name, 2), metav1.CreateOptions{})
	must(t, err)
	t.Cleanup(func() {
		ctx := context.Background()
		if err := admin.ResourceV1().ResourceSlices().Delete(ctx, workload.DevicesOf(name, 1).Name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
		if err := admin.ResourceV1().DeviceClasses().Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	_, err = admin.ResourceV1().ResourceClaims(name).Create(ctx, workload.DeviceClaim("claim", workload.DeviceRequest(name, 1)), metav1.CreateOptions{})
	must(t, err)
	failWrites(t, name, "resource.k8s.io", "v1", "resourceclaims/status", admissionv1.Update)
	pod := workload.Pod("pod", workload.UseDevices("claim", ""), workload.Scheduler("berth"), workload.NodeSelector("for", name))
	extended := workload.Pod("extended", workload.Requests(resource, "1"), workload.Scheduler("berth"), workload.NodeSelector("for", name))
	extended.Spec.Containers[0].Resources.Limits = extended.Spec.Containers[0].Resources.Requests
	must(t, workload.CreatePods(ctx, admin, name, 2, func(i int) *corev1.Pod { return []*corev1.Pod{pod, extended}[i] }))
}

// refusals are the attempts to schedule a pod that its events tell of.
func refusals(t *testing.T, namespace, pod string) (attempts int) {
	t.Helper()
	selector := "reason=FailedScheduling,regarding.name=" + pod
	list, err := shared.Client(controlplane.Admin).EventsV1().Events(namespace).List(t.Context(), metav1.ListOptions{FieldSelector: selector})
	must(t, err)
	for _, event := range list.Items {
		attempts++
		if event.Series != nil {
			attempts += int(event.Series.Count) - 1
		}
	}
	return attempts
}

// refuseABinding lets the API server fail to answer a binding, after which the pod is read.
func refuseABinding(t *testing.T) {
	t.Helper()
	const name = "rights-refused"
	ctx, admin := t.Context(), shared.Client(controlplane.Admin)
	inNamespace(t, name)
	failWrites(t, name, "", "v1", "pods/binding", admissionv1.Create)
	// The API server learns of the webhook through a watch; until then pods are bound.
	number := 0
	waitFor(t, "a binding that fails", func() bool {
		number++
		pod := workload.Pod(fmt.Sprintf("pod-%d", number), workload.Scheduler("berth"))
		must(t, workload.CreatePods(ctx, admin, name, 1, func(int) *corev1.Pod { return pod }))
		bindings, err := shared.AuditBindings()
		must(t, err)
		return slices.ContainsFunc(bindings, func(b controlplane.Binding) bool {
			return b.Namespace == name && b.Code >= http.StatusInternalServerError
		})
	})
}

// failWrites lets the API server fail to answer such writes in the namespace, until the test ends.
func failWrites(t *testing.T, namespace, group, version, resource string, operation admissionv1.OperationType) {
	t.Helper()
	nowhere, fail, none := "https://127.0.0.1:1/", admissionv1.Fail, admissionv1.SideEffectClassNone
	webhooks := shared.Client(controlplane.Admin).AdmissionregistrationV1().ValidatingWebhookConfigurations()
	_, err := webhooks.Create(t.Context(), &admissionv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		Webhooks: []admissionv1.ValidatingWebhook{{
			Name: "nowhere.berth.dev", AdmissionReviewVersions: []string{"v1"}, SideEffects: &none, FailurePolicy: &fail,
			ClientConfig:      admissionv1.WebhookClientConfig{URL: &nowhere},
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}},
			Rules: []admissionv1.RuleWithOperations{{
				Operations: []admissionv1.OperationType{operation},
				Rule:       admissionv1.Rule{APIGroups: []string{group}, APIVersions: []string{version}, Resources: []string{resource}},
			}},
		}},
	}, metav1.CreateOptions{})
	must(t, err)
	t.Cleanup(func() {
		if err := webhooks.Delete(context.Background(), namespace, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
}

// inNamespace makes the namespace and follows its pods, which it deletes in the end.
func inNamespace(t *testing.T, name string) *workload.Tracker {
	t.Helper()
	admin := shared.Client(controlplane.Admin)
	must(t, workload.CreateNamespace(t.Context(), admin, name))
	pods, err := workload.Track(t.Context(), admin, name)
	must(t, err)
	t.Cleanup(func() {
		pods.Stop()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := workload.DeletePods(ctx, admin, name); err != nil {
			t.Error(err)
		}
	})
	return pods
}

// requestsElsewhere are what Berth asks of an API server that does not stream lists, where it lists each kind; and what it asks
// about pod groups, with the gates on that the shared control plane and deploy/base have off.
func requestsElsewhere(t *testing.T) []controlplane.Request {
	t.Helper()
	const gates = "GenericWorkload=true,TopologyAwareWorkloadScheduling=true,CompositePodGroup=true"
	user := string(controlplane.Berth)
	c, err := controlplane.Start(t.Context(), controlplane.Options{
		APIServerArgs: []string{
			"--feature-gates=WatchList=false," + gates,
			"--runtime-config=scheduling.k8s.io/v1beta1=true,scheduling.k8s.io/v1alpha3=true",
		},
		AuditUsers: []string{user},
	})
	must(t, err)
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	createGangWithoutRoom(t, c.Client(controlplane.Admin))
	d, err := daemon.Start(program, daemon.Options{
		Kubeconfig: c.Kubeconfig(controlplane.Berth), Dir: t.TempDir(), Args: []string{"--feature-gates=" + gates},
	})
	must(t, err)
	defer d.Kill()
	ofPodGroups := func(q controlplane.Request) bool { return q.Group == schedulingv1beta1.GroupName }
	watched := map[string]bool{}
	var requests []controlplane.Request
	waitFor(t, "each kind that is watched to be listed, and the status of the group", func() bool {
		requests, err = c.AuditRequests(user)
		must(t, err)
		listed, told := map[string]bool{}, false
		for _, q := range requests {
			switch q.Verb {
			case "watch":
				watched[q.Group+"/"+q.Resource] = true
			case "list":
				listed[q.Group+"/"+q.Resource] = true
			case "patch":
				told = told || ofPodGroups(q)
			}
		}
		return told && len(watched) > 0 && maps.Equal(watched, listed)
	})
	return slices.DeleteFunc(requests, func(q controlplane.Request) bool { return q.Verb != "list" && !ofPodGroups(q) })
}

// createGangWithoutRoom makes a gang of one pod on a cluster without nodes, so that its status says that it does not start.
func createGangWithoutRoom(t *testing.T, admin kubernetes.Interface) {
	t.Helper()
	const name = "rights-gang"
	must(t, workload.CreateNamespace(t.Context(), admin, name))
	group := &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: name}}
	group.Spec.SchedulingPolicy.Gang = &schedulingv1beta1.GangSchedulingPolicy{MinCount: 1}
	_, err := admin.SchedulingV1beta1().PodGroups(name).Create(t.Context(), group, metav1.CreateOptions{})
	must(t, err)
	pod := workload.Pod("member")
	pod.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: &group.Name}
	must(t, workload.CreatePods(t.Context(), admin, name, 1, func(int) *corev1.Pod { return pod }))
}

func TestARightTellsWhichRequestsItCovers(t *testing.T) {
	rules := []rbacv1.PolicyRule{
		{APIGroups: []string{"", "apps"}, Resources: []string{"pods/status"}, Verbs: []string{"patch", "update"}},
		{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, ResourceNames: []string{"berth"}, Verbs: []string{"get"}},
	}
	all := append(rights("", rules[:1]), rights("berth-system", rules[1:])...)
	cases := []struct {
		request controlplane.Request
		want    string
	}{
		{controlplane.Request{Verb: "patch", Resource: "pods/status", Namespace: "a", Name: "p"}, "patch pods/status"},
		{controlplane.Request{Verb: "update", Group: "apps", Resource: "pods/status"}, "update pods/status of apps"},
		{controlplane.Request{Verb: "patch", Resource: "pods"}, ""},
		{controlplane.Request{Verb: "patch", Group: "batch", Resource: "pods/status"}, ""},
		{controlplane.Request{Verb: "get", Group: "coordination.k8s.io", Resource: "leases", Namespace: "berth-system", Name: "berth"},
			"get leases of coordination.k8s.io named berth in berth-system"},
		{controlplane.Request{Verb: "get", Group: "coordination.k8s.io", Resource: "leases", Namespace: "berth-system", Name: "other"}, ""},
		{controlplane.Request{Verb: "get", Group: "coordination.k8s.io", Resource: "leases", Namespace: "default", Name: "berth"}, ""},
	}
	for _, c := range cases {
		var covering []string
		for _, r := range all {
			if r.covers(c.request) {
				covering = append(covering, r.String())
			}
		}
		if got := strings.Join(covering, ", "); got != c.want {
			t.Errorf("%+v is covered by %q, want %q", c.request, got, c.want)
		}
		if left := len(unused(all, []controlplane.Request{c.request})); left != len(all)-len(covering) {
			t.Errorf("%+v leaves %d of %d rights unused", c.request, left, len(all))
		}
	}
	slices.SortFunc(all, func(a, b right) int { return cmp.Compare(a.String(), b.String()) })
	if got := len(slices.Compact(all)); got != 5 {
		t.Errorf("the rules have %d rights, want 5: %v", got, all)
	}
}

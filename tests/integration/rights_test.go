// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/internal/daemon/workload"
)

// Every other test runs as user berth, and fails when the log says that something was forbidden.

// says makes the test whether one line of a log has all the words, in upper or lower case. Quotes
// are left out on both sides, since a log may write them with backslashes.
func says(words ...string) func(log string) bool {
	plain := func(text string) string {
		return strings.NewReplacer(`"`, "", `\`, "").Replace(strings.ToLower(text))
	}
	return func(log string) bool {
		for line := range strings.Lines(plain(log)) {
			if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(line, plain(word)) }) {
				return true
			}
		}
		return false
	}
}

func TestWithoutRightsTheLogNamesWhatIsMissing(t *testing.T) {
	e := newEnv(t)
	e.refusals = true
	d := e.startAs(controlplane.Nobody, fast())
	for _, resource := range []string{"pods", "nodes"} {
		// The first request is a list or, where the server streams lists, a watch.
		e.must(d.AwaitLog(e.within(20*time.Second), func(log string) bool {
			return says(`"nobody" cannot list resource "`+resource+`"`)(log) ||
				says(`"nobody" cannot watch resource "`+resource+`"`)(log)
		}))
	}
	if !d.Running() {
		e.Errorf("it ended with code %d instead of trying again", d.ExitCode())
	}
}

// grantNobodyAllBut gives user nobody the shipped role without one right, and returns the repair.
func (e *env) grantNobodyAllBut(group, resource string, verbs ...string) (repair func()) {
	e.Helper()
	roles := e.admin.RbacV1().ClusterRoles()
	shipped, err := roles.Get(e.ctx, "berth", metav1.GetOptions{})
	e.must(err)
	name := "nobody-without-" + strings.ReplaceAll(resource, "/", "-")
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, rule := range shipped.Rules {
		role.Rules = append(role.Rules, without(rule, group, resource, verbs)...)
	}
	role, err = roles.Create(e.ctx, role, metav1.CreateOptions{})
	e.must(err)
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: string(controlplane.Nobody)}},
	}
	_, err = e.admin.RbacV1().ClusterRoleBindings().Create(e.ctx, binding, metav1.CreateOptions{})
	e.must(err)
	e.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := e.admin.RbacV1().ClusterRoleBindings().Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
			e.Error(err)
		}
		if err := roles.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
			e.Error(err)
		}
	})
	// The API server learns of its own rules through a watch.
	e.awaitNobodyMay("list", "", "namespaces", true)
	for _, verb := range verbs {
		e.awaitNobodyMay(verb, group, resource, false)
	}
	return func() {
		role.Rules = shipped.Rules
		_, err := roles.Update(e.ctx, role, metav1.UpdateOptions{})
		e.must(err)
	}
}

func (e *env) awaitNobodyMay(verb, group, resource string, want bool) {
	e.Helper()
	name, subresource, _ := strings.Cut(resource, "/")
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: verb, Group: group, Resource: name, Subresource: subresource, Namespace: e.namespace,
		},
	}}
	reviews := shared.Client(controlplane.Nobody).AuthorizationV1().SelfSubjectAccessReviews()
	e.eventually("the new rights", func() bool {
		answer, err := reviews.Create(e.ctx, review, metav1.CreateOptions{})
		e.must(err)
		return answer.Status.Allowed == want
	})
}

// without is the rule as rules that lack the verbs on that resource.
func without(rule rbacv1.PolicyRule, group, resource string, verbs []string) []rbacv1.PolicyRule {
	if !slices.Contains(rule.APIGroups, group) || !slices.Contains(rule.Resources, resource) {
		return []rbacv1.PolicyRule{rule}
	}
	others, less := *rule.DeepCopy(), *rule.DeepCopy()
	others.Resources = slices.DeleteFunc(others.Resources, func(r string) bool { return r == resource })
	less.Resources = []string{resource}
	less.Verbs = slices.DeleteFunc(less.Verbs, func(verb string) bool { return slices.Contains(verbs, verb) })
	return slices.DeleteFunc([]rbacv1.PolicyRule{others, less}, func(r rbacv1.PolicyRule) bool {
		return len(r.Resources) == 0 || len(r.Verbs) == 0
	})
}

func TestWithoutOneRightTheLogNamesIt(t *testing.T) {
	cases := []struct {
		name, group, resource string
		verbs, words          []string
	}{
		{"reading nodes", "", "nodes", []string{"list", "watch"}, []string{`"nobody" cannot`, "nodes"}},
		{"patching the status of pods", "", "pods/status", []string{"patch", "update"},
			[]string{`"nobody" cannot patch resource`, "pods/status"}},
		{"creating events", "events.k8s.io", "events", []string{"create"},
			[]string{`"nobody" cannot create resource`, "events", "events.k8s.io"}},
	}
	e := newEnv(t)
	e.refusals = true
	e.createNodes(workload.Node("a"))
	e.createPods(workload.Pod("unschedulable", workload.NodeSelector("no", "such")))
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			inner := *e
			inner.T = t
			inner.grantNobodyAllBut(c.group, c.resource, c.verbs...)
			d := inner.startAs(controlplane.Nobody, fast())
			defer inner.stop(d)
			inner.must(d.AwaitLog(inner.within(20*time.Second), says(c.words...)))
		})
	}
}

func TestWithoutTheRightToBindThePodSaysSoAndIsBoundLater(t *testing.T) {
	e := newEnv(t)
	e.refusals = true
	repair := e.grantNobodyAllBut("", "pods/binding", "create")
	e.createNodes(workload.Node("a"))
	e.startAs(controlplane.Nobody, fast())
	e.createPods(workload.Pod("pod"))
	message := `running Bind plugin "DefaultBinder": pods "pod" is forbidden: User "nobody" cannot create resource ` +
		`"pods/binding" in API group "" in the namespace "` + e.namespace + `"`
	e.awaitCondition("pod", corev1.PodReasonSchedulerError, message)
	if event := e.awaitEvents("FailedScheduling", "pod", 1)[0]; event.Note != message {
		e.Errorf("the event says %q, want %q", event.Note, message)
	}
	repair()
	e.awaitNode(e.within(30*time.Second), "pod", "a")
}

func TestWithoutTheRightToReadVolumesThePodsWithoutClaimsAreBound(t *testing.T) {
	e := newVolumeEnv(t)
	e.refusals = true
	repair := e.grantNobodyAllBut("", "persistentvolumes", "list", "watch")
	e.createVolume("volume", "5Gi", "zb")
	e.awaitVolumesAvailable()
	d := e.startAs(controlplane.Nobody, volumeConfig(time.Minute))
	e.createClaims(workload.Claim("data", "static", "3Gi"))
	e.createPods(workload.Pod("plain", workload.NodeSelector(corev1.LabelTopologyZone, "za")),
		workload.Pod("claiming", workload.UseClaim("data")))
	e.awaitZone("plain", "za")
	e.awaitUnschedulable("claiming", "0/4 nodes are available: 4 node(s) didn't find available persistent volumes to bind. "+
		"preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling.")
	repair()
	e.awaitZone("claiming", "zb")
	told := `"nobody" cannot (list|watch) resource "persistentvolumes"`
	if times := len(regexp.MustCompile(told).FindAllString(strings.ReplaceAll(d.Log(), `\`, ""), -1)); times != 1 {
		e.Errorf("the log says %d times that volumes may not be read, want once", times)
	}
}

// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/internal/daemon/workload"
)

// A profile as it is written for kubernetes-sigs/scheduler-plugins.
const coschedulingProfile = `
clientConnection: {qps: 5000, burst: 5000}
podInitialBackoffSeconds: 1
podMaxBackoffSeconds: 1
profiles:
- schedulerName: default-scheduler
  plugins:
    queueSort:
      enabled: [{name: Coscheduling}]
      disabled: [{name: "*"}]
    preFilter: {enabled: [{name: Coscheduling}]}
    postFilter: {enabled: [{name: Coscheduling}]}
    permit: {enabled: [{name: Coscheduling}]}
    reserve: {enabled: [{name: Coscheduling}]}
  pluginConfig:
  - name: Coscheduling
    args:
      apiVersion: kubescheduler.config.k8s.io/v1
      kind: CoschedulingArgs
      permitWaitingTimeSeconds: 10
      podGroupBackoffSeconds: 0
`

// What of scheduler-plugins' CustomResourceDefinition matters here.
const podGroupDefinition = `{
  "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
  "metadata": {"name": "podgroups.scheduling.x-k8s.io",
    "annotations": {"api-approved.kubernetes.io": "https://github.com/kubernetes-sigs/scheduler-plugins/pull/50"}},
  "spec": {"group": "scheduling.x-k8s.io", "scope": "Namespaced",
    "names": {"kind": "PodGroup", "listKind": "PodGroupList", "plural": "podgroups", "singular": "podgroup"},
    "versions": [{"name": "v1alpha1", "served": true, "storage": true, "subresources": {"status": {}},
      "schema": {"openAPIV3Schema": {"type": "object", "properties": {
        "spec": {"type": "object", "properties": {
          "minMember": {"type": "integer", "format": "int32"},
          "minResources": {"type": "object", "additionalProperties": {"x-kubernetes-int-or-string": true}},
          "scheduleTimeoutSeconds": {"type": "integer", "format": "int32"}}},
        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}}}]}}`

const (
	definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	podGroupsPath   = "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/%s/podgroups"
)

func (e *env) rest() rest.Interface { return e.admin.Discovery().RESTClient() }

func (e *env) definePodGroups() {
	e.Helper()
	e.defineKind("podgroups.scheduling.x-k8s.io", podGroupDefinition, fmt.Sprintf(podGroupsPath, e.namespace))
}

// defineKind installs a CustomResourceDefinition, and waits until objects are served at the path.
func (e *env) defineKind(name, definition, path string) {
	e.Helper()
	e.must(e.rest().Post().AbsPath(definitionsPath).Body([]byte(definition)).Do(e.ctx).Error())
	e.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := e.rest().Delete().AbsPath(definitionsPath, name).Do(ctx).Error(); err != nil {
			e.Error(err)
		}
	})
	e.eventually(name, func() bool { return e.rest().Get().AbsPath(path).Do(e.ctx).Error() == nil })
}

// grantComponent gives user berth what the component of deploy gives the service account.
func (e *env) grantComponent(name string) {
	e.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "deploy", "components", name, "rbac.yaml"))
	e.must(err)
	e.grantRole([]byte(strings.Split(string(text), "\n---\n")[0]))
}

// grantRole gives user berth what the ClusterRole allows.
func (e *env) grantRole(text []byte) {
	e.Helper()
	var role rbacv1.ClusterRole
	e.must(yaml.UnmarshalStrict(text, &role))
	_, err := e.admin.RbacV1().ClusterRoles().Create(e.ctx, &role, metav1.CreateOptions{})
	e.must(err)
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: string(controlplane.Berth)}},
	}
	_, err = e.admin.RbacV1().ClusterRoleBindings().Create(e.ctx, binding, metav1.CreateOptions{})
	e.must(err)
	e.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		for _, err := range []error{
			e.admin.RbacV1().ClusterRoleBindings().Delete(ctx, role.Name, metav1.DeleteOptions{}),
			e.admin.RbacV1().ClusterRoles().Delete(ctx, role.Name, metav1.DeleteOptions{}),
		} {
			if err != nil {
				e.Error(err)
			}
		}
	})
}

func (e *env) createCustomGroup(name string, minMember int) {
	e.Helper()
	body := fmt.Sprintf(`{"apiVersion":"scheduling.x-k8s.io/v1alpha1","kind":"PodGroup","metadata":{"name":%q},
		"spec":{"minMember":%d,"scheduleTimeoutSeconds":10}}`, name, minMember)
	e.must(e.rest().Post().AbsPath(fmt.Sprintf(podGroupsPath, e.namespace)).Body([]byte(body)).Do(e.ctx).Error())
}

func (e *env) createLabelled(group string, n int) {
	e.Helper()
	e.must(workload.CreatePods(e.ctx, e.admin, e.namespace, n, func(i int) *corev1.Pod {
		return workload.Pod(fmt.Sprintf("%s-%d", group, i), workload.Requests("cpu", "1"), func(pod *corev1.Pod) {
			pod.Labels = map[string]string{"scheduling.x-k8s.io/pod-group": group}
		})
	}))
}

func (e *env) awaitBoundOf(group string, n int) {
	e.Helper()
	for i := range n {
		_, err := e.pods.AwaitPod(e.within(60*time.Second), fmt.Sprintf("%s-%d", group, i), "bound", workload.IsBound)
		e.must(err)
	}
}

// TestGroupsOfSchedulerPluginsStartWholeOrNotAtAll with the custom resource, the label and a profile of scheduler-plugins,
// and with no right that deploy/components/coscheduling does not give.
func TestGroupsOfSchedulerPluginsStartWholeOrNotAtAll(t *testing.T) {
	e := newEnv(t)
	e.definePodGroups()
	e.grantComponent("coscheduling")
	e.createNodes(workload.Node("a", workload.Allocatable("cpu", "2", "pods", "110")))
	e.start(coschedulingProfile)

	// Two of three fit.
	e.createCustomGroup("train", 3)
	e.createLabelled("train", 3)
	_, err := e.pods.AwaitPod(e.within(30*time.Second), "train-0", "unschedulable with its group", func(pod *corev1.Pod) bool {
		condition := workload.ScheduledCondition(pod)
		return condition != nil && strings.Contains(condition.Message, "minMember (3) cannot be satisfied: 2 scheduled, 0 remaining")
	})
	e.must(err)
	if bound := e.boundOf("train", 3); bound != 0 {
		t.Errorf("%d pods of a group that does not fit are bound", bound)
	}

	// It holds no room, and a group that does not exist has no say about plain pods.
	e.createLabelled("late", 2)
	e.createPods(workload.Pod("plain", workload.Requests("cpu", "1")))
	e.awaitNode(e.within(30*time.Second), "plain", "a")
	if bound := e.boundOf("late", 2); bound != 0 {
		t.Errorf("%d pods are bound whose PodGroup does not exist", bound)
	}

	e.createNodes(workload.Node("b", workload.Allocatable("cpu", "2", "pods", "110")))
	e.awaitBoundOf("train", 3)
	e.createNodes(workload.Node("c", workload.Allocatable("cpu", "2", "pods", "110")))
	e.createCustomGroup("late", 2)
	e.awaitBoundOf("late", 2)
	e.checkAllocatable()
}

// TestPodGroupsAreFoundWhenTheirDefinitionAndTheRightCome: until then that is told once, labelled pods wait and others do not.
func TestPodGroupsAreFoundWhenTheirDefinitionAndTheRightCome(t *testing.T) {
	e := newEnv(t)
	e.refusals = true
	e.createNodes(workload.Node("a", workload.Allocatable("cpu", "4", "pods", "110")))
	d := e.start(coschedulingProfile)
	e.createLabelled("train", 2)
	e.createPods(workload.Pod("plain", workload.Requests("cpu", "1")))
	e.awaitNode(e.within(30*time.Second), "plain", "a")
	absent := func() int {
		return strings.Count(d.Log(), `it counts as empty until that changes" resource="podgroups.scheduling.x-k8s.io"`)
	}
	e.eventually("the line about the right", func() bool { return absent() > 0 })
	e.letPass(3 * time.Second)
	if bound := e.boundOf("train", 2); bound != 0 || absent() != 1 {
		t.Errorf("%d labelled pods are bound, and %d lines about the kind: want none and one", bound, absent())
	}
	e.definePodGroups()
	e.grantComponent("coscheduling")
	e.createCustomGroup("train", 2)
	e.awaitBoundOf("train", 2)
	e.checkAllocatable()
}

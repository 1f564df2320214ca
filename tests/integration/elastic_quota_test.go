// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/tests/internal/daemon/workload"
)

// The profile that kubernetes-sigs/scheduler-plugins ships for CapacityScheduling.
const capacityProfile = `
clientConnection: {qps: 5000, burst: 5000}
podInitialBackoffSeconds: 1
podMaxBackoffSeconds: 1
profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint:
      enabled: [{name: CapacityScheduling}]
    postFilter:
      enabled: [{name: CapacityScheduling}]
      disabled: [{name: "*"}]
`

// What of scheduler-plugins' CustomResourceDefinition matters here.
const quotaDefinition = `{
  "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
  "metadata": {"name": "elasticquotas.scheduling.x-k8s.io",
    "annotations": {"api-approved.kubernetes.io": "https://github.com/kubernetes-sigs/scheduler-plugins/pull/52"}},
  "spec": {"group": "scheduling.x-k8s.io", "scope": "Namespaced",
    "names": {"kind": "ElasticQuota", "listKind": "ElasticQuotaList", "plural": "elasticquotas", "singular": "elasticquota"},
    "versions": [{"name": "v1alpha1", "served": true, "storage": true, "subresources": {"status": {}},
      "schema": {"openAPIV3Schema": {"type": "object", "properties": {
        "spec": {"type": "object", "properties": {
          "min": {"type": "object", "additionalProperties": {"x-kubernetes-int-or-string": true}},
          "max": {"type": "object", "additionalProperties": {"x-kubernetes-int-or-string": true}}}},
        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}}}]}}`

const quotasPath = "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/%s/elasticquotas"

// createQuota says how many cpus a namespace has for itself, and at most. One is a number in the API, one is text.
func (e *env) createQuota(namespace string, min, max int) {
	e.Helper()
	body := fmt.Sprintf(`{"apiVersion":"scheduling.x-k8s.io/v1alpha1","kind":"ElasticQuota","metadata":{"name":"quota"},
		"spec":{"min":{"cpu":%d},"max":{"cpu":"%d"}}}`, min, max)
	e.must(e.rest().Post().AbsPath(fmt.Sprintf(quotasPath, namespace)).Body([]byte(body)).Do(e.ctx).Error())
}

// quotaNamespace makes a namespace beside the test's own.
func (e *env) quotaNamespace(suffix string) string {
	e.Helper()
	name := e.namespace + "-" + suffix
	e.must(workload.CreateNamespace(e.ctx, e.admin, name))
	e.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := workload.DeletePods(ctx, e.admin, name); err != nil {
			e.Error(err)
		}
	})
	return name
}

func (e *env) createIn(namespace, name string, cpus int) {
	e.Helper()
	e.must(workload.CreatePod(e.ctx, e.admin, namespace, workload.Pod(name, workload.Requests("cpu", fmt.Sprint(cpus)))))
}

// onNodes is the names of the pods of a namespace that have a node. Those that are going end, as kubelets end them.
func (e *env) onNodes(namespace string) []string {
	e.Helper()
	pods, err := e.admin.CoreV1().Pods(namespace).List(e.ctx, metav1.ListOptions{})
	e.must(err)
	var names []string
	for _, pod := range pods.Items {
		if pod.DeletionTimestamp != nil {
			e.must(workload.DeletePod(e.ctx, e.admin, namespace, pod.Name))
		} else if pod.Spec.NodeName != "" {
			names = append(names, pod.Name)
		}
	}
	return names
}

func (e *env) awaitNumberOnNodes(namespace string, n int) {
	e.Helper()
	e.eventually(fmt.Sprintf("%d pods of %s have a node", n, namespace), func() bool { return len(e.onNodes(namespace)) == n })
}

// TestElasticQuotasLendAndGiveBack is the example of scheduler-plugins: eight cpus, two namespaces with a min of four and a max of six each.
func TestElasticQuotasLendAndGiveBack(t *testing.T) {
	e := newEnv(t)
	one, two := e.quotaNamespace("one"), e.quotaNamespace("two")
	e.defineKind("elasticquotas.scheduling.x-k8s.io", quotaDefinition, fmt.Sprintf(quotasPath, one))
	e.grantComponent("capacity")
	e.createNodes(workload.Node("n-0", workload.Allocatable("cpu", "8", "memory", "32Gi", "pods", "110")))
	e.createQuota(one, 4, 6)
	e.createQuota(two, 4, 6)
	e.start(capacityProfile)
	for i := range 4 {
		e.createIn(one, fmt.Sprintf("web-%d", i), 2)
	}
	e.awaitNumberOnNodes(one, 3)
	e.eventually("the fourth is refused by its quota", func() bool {
		pods, err := e.admin.CoreV1().Pods(one).List(e.ctx, metav1.ListOptions{})
		e.must(err)
		for _, pod := range pods.Items {
			condition := workload.ScheduledCondition(&pod)
			if condition != nil && strings.Contains(condition.Message, "because ElasticQuota "+one+" is more than Max") {
				return true
			}
		}
		return false
	})
	e.createIn(two, "job-0", 2)
	e.awaitNumberOnNodes(two, 1)
	e.createIn(two, "job-1", 2)
	e.eventually("the borrower goes and job-1 has its place", func() bool {
		return len(e.onNodes(one)) == 2 && len(e.onNodes(two)) == 2
	})
	// Nothing more moves: both have their min.
	e.createIn(two, "job-2", 2)
	e.letPass(3 * time.Second)
	e.awaitNumberOnNodes(two, 2)
	e.awaitNumberOnNodes(one, 2)
}

// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/tests/internal/daemon/workload"
)

// TestBindingsThatTheServerFailsAtHoldUpNoOthers has more pods than may await their binding in a
// namespace whose bindings the API server answers with 500.
func TestBindingsThatTheServerFailsAtHoldUpNoOthers(t *testing.T) {
	const failing, others, tried = 150, 50, 100
	e := newEnv(t)
	e.manyNodes(10)
	free := e.namespace + "-free"
	e.must(workload.CreateNamespace(e.ctx, e.admin, free))
	pods, err := workload.Track(e.ctx, e.admin, free)
	e.must(err)
	t.Cleanup(func() {
		pods.Stop()
		if err := workload.DeletePods(context.Background(), e.admin, free); err != nil {
			e.Error(err)
		}
	})
	e.failBindings("node-0")
	e.manyPods(failing, "failing")
	e.start(plainConfig(50, tried))
	e.eventually("bindings that fail, as many as may be awaited", func() bool {
		pods := map[string]bool{}
		for _, b := range e.bindings() {
			if strings.HasPrefix(b.Pod, "failing-") {
				pods[b.Pod] = true
			}
		}
		return len(pods) >= tried
	})

	begin := time.Now()
	e.must(workload.CreatePods(e.ctx, e.admin, free, others, func(i int) *corev1.Pod {
		return workload.Pod(fmt.Sprintf("other-%d", i))
	}))
	e.must(pods.AwaitBound(e.within(15*time.Second), others))
	e.Logf("%d pods bound within %s of their creation", others, time.Since(begin).Round(10*time.Millisecond))

	e.eventually("an event for each pod that was not bound", func() bool {
		told := map[string]bool{}
		for _, event := range e.events("FailedScheduling", "") {
			if strings.Contains(event.Note, "failed calling webhook") {
				told[event.Regarding.Name] = true
			}
		}
		return len(told) == failing
	})
	e.must(e.pods.Await(e.within(30*time.Second), "a condition for each", func(pods map[string]*corev1.Pod) bool {
		for _, pod := range pods {
			if !workload.HasReason(pod, corev1.PodReasonSchedulerError) {
				return false
			}
			if message := workload.ScheduledCondition(pod).Message; !strings.Contains(message, "failed calling webhook") {
				e.Errorf("the condition of %s says %q", pod.Name, message)
			}
		}
		return len(pods) == failing
	}))
	if n := e.pods.Bound(); n > 0 {
		e.Errorf("%d pods were bound though the webhook is down", n)
	}
}

// failBindings returns when the API server fails to bind this test's pods: it asks a webhook that is
// not there.
func (e *env) failBindings(node string) {
	e.Helper()
	url := "https://127.0.0.1:1/"
	e.reviewBindings("down.example.com", admissionv1.WebhookClientConfig{URL: &url}, 5)
	e.awaitRefusal(node)
}

// reviewBindings has the API server ask a webhook about each binding of this test's pods, for so many seconds, until the test
// ends. Without an answer the binding fails.
func (e *env) reviewBindings(name string, client admissionv1.WebhookClientConfig, seconds int32) {
	e.Helper()
	hooks := e.admin.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	fail, none := admissionv1.Fail, admissionv1.SideEffectClassNone
	_, err := hooks.Create(e.ctx, &admissionv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: e.namespace},
		Webhooks: []admissionv1.ValidatingWebhook{{
			Name:         name,
			ClientConfig: client,
			Rules: []admissionv1.RuleWithOperations{{
				Operations: []admissionv1.OperationType{admissionv1.Create},
				Rule: admissionv1.Rule{
					APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods/binding"},
				},
			}},
			FailurePolicy: &fail,
			NamespaceSelector: &metav1.LabelSelector{
				MatchLabels: map[string]string{corev1.LabelMetadataName: e.namespace},
			},
			SideEffects:             &none,
			TimeoutSeconds:          &seconds,
			AdmissionReviewVersions: []string{"v1"},
		}},
	}, metav1.CreateOptions{})
	e.must(err)
	e.Cleanup(func() {
		if err := hooks.Delete(context.Background(), e.namespace, metav1.DeleteOptions{}); err != nil {
			e.Error(err)
		}
	})
}

// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestAFaultInOneNamespaceHoldsUpNoOther has the API server fail for what concerns one namespace alone, for ever: pods
// of another are bound meanwhile as if nothing were; also where there are more pods than may await their bind, and than
// requests may be under way.
func TestAFaultInOneNamespaceHoldsUpNoOther(t *testing.T) {
	const (
		pods    = 5
		crowd   = 150
		promise = 10 * time.Second
	)
	r := newRun(t, schedule{seed: 1, replicas: 1, burst: 50})
	r.start()
	r.awaitFirst()
	create := func(namespace, name string, pods int) {
		for i := range pods {
			r.create(wanted{namespace: namespace, name: fmt.Sprintf("%s-%d", name, i)})
		}
	}
	await := func(namespace, name string, pods int, limit time.Duration) {
		r.Helper()
		r.await(fmt.Sprintf("pods %s in %s", name, namespace), limit, func() string {
			for i := range pods {
				pod, err := r.admin.CoreV1().Pods(namespace).Get(r.ctx, fmt.Sprintf("%s-%d", name, i), metav1.GetOptions{})
				if err != nil {
					return err.Error()
				}
				if pod.Spec.NodeName == "" {
					return pod.Name + " is not bound"
				}
			}
			return ""
		})
	}
	a, b := r.namespaces[0], r.namespaces[1]
	for i, rule := range []Rule{
		{Scope{"create", "pods/binding", a}, Fault{Kind: Answer, Code: 503, Reason: "ServiceUnavailable"}, 1},
		{Scope{"create", "pods/binding", a}, Fault{Kind: Answer, Code: 429, Reason: "TooManyRequests", RetryAfter: 2}, 1},
		{Scope{"create", "pods/binding", a}, Fault{Kind: Answer, Code: 409, Reason: "Conflict"}, 1},
		{Scope{"create", "pods/binding", a}, Fault{Kind: Reset}, 1},
		{Scope{"", "", a}, Fault{Kind: Answer, Code: 500, Reason: "InternalError"}, 1},
		{Scope{"", "", a}, Fault{Kind: Delay, Delay: 5 * time.Second}, 1},
		{Scope{"create", "pods/binding", a}, Fault{Kind: Delay, Delay: 10 * time.Second}, 1},
	} {
		t.Log(rule)
		name := fmt.Sprintf("case-%d", i)
		disturbed := pods
		if rule.Kind == Delay {
			disturbed = crowd
		}
		lift := r.proxy.add(rule)
		create(a, name, disturbed)
		create(b, name, pods)
		await(b, name, pods, promise)
		lift()
		await(a, name, disturbed, settleLimit)
	}
	if err := r.keepers[0].stop(); err != nil {
		t.Error(err)
	}
}

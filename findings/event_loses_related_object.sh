#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What we tried: an event of events.k8s.io/v1 about a pod, with a related object of a Go type that is not in the recorder's
# scheme, such as a wrapper around a Pod.
# Our guess: the recorder reports an error, as it does for the regarding object, or refers to the pod inside.
# What happens (k8s.io/client-go v0.37.1): the event is sent without `related`, and that is logged at verbosity 9 only, which
# hardly anything runs with. A wrapper around the regarding object costs the whole event instead. So who reads events cannot rely
# on `related` even where the sender's code names one: kube-scheduler 1.37.1 names the preemptor in each Preempted event, and
# `related` is missing wherever the preemptor is a single pod.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export GOFLAGS=-mod=mod
go mod init finding 2>/dev/null
go get k8s.io/api@v0.37.1 k8s.io/apimachinery@v0.37.1 k8s.io/client-go@v0.37.1 2>/dev/null

cat >main.go <<'GO'
package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
)

// wrapped is an object of Kubernetes by its methods, and of no type that a scheme knows.
type wrapped struct{ *corev1.Pod }

func main() {
	ctx := context.Background()
	pod := func(name string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: "u"}}
	}
	for _, try := range []struct {
		what              string
		regarding, related runtime.Object
	}{
		{"related pod", pod("victim"), pod("preemptor")},
		{"related wrapper", pod("victim"), &wrapped{pod("preemptor")}},
		{"regarding wrapper", &wrapped{pod("victim")}, pod("preemptor")},
	} {
		client := fake.NewClientset()
		broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: client.EventsV1()})
		if err := broadcaster.StartRecordingToSinkWithContext(ctx); err != nil {
			panic(err)
		}
		broadcaster.NewRecorder(scheme.Scheme, "finding").Eventf(try.regarding, try.related, corev1.EventTypeNormal, "Preempted",
			"Preempting", "preempted")
		result := "no event"
		for range 30 {
			time.Sleep(100 * time.Millisecond)
			list, err := client.EventsV1().Events("default").List(ctx, metav1.ListOptions{})
			if err != nil {
				panic(err)
			}
			if len(list.Items) == 0 {
				continue
			}
			result = "an event without related"
			if related := list.Items[0].Related; related != nil {
				result = "an event, related " + related.Name
			}
			break
		}
		broadcaster.Shutdown()
		fmt.Printf("%s: %s\n", try.what, result)
	}
}
GO

diff - <(go run . 2>log) <<'SEEN'
related pod: an event, related preemptor
related wrapper: an event without related
regarding wrapper: no event
SEEN
echo "as seen: k8s.io/client-go v0.37.1 leaves out a related object that its scheme does not know, and sends the event"

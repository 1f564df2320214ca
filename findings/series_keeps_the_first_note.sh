#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What we tried: the recorder of events.k8s.io/v1 is called twice for one pod, with the same reason and another note, as a
# scheduler does whose next attempt fails for other nodes; and twice with the same note, where the pod was updated in between.
# Our guess: another note makes another event, or the series shows the newest note; the same note again counts in the series.
# What happens (k8s.io/client-go v0.37.1): it is the other way round. What makes two calls one series is the reference to the
# object, the reason and the action, not the note: the second note is nowhere, and the series keeps the first. But the reference
# has the object's resourceVersion, so an update of anything in the object makes the same note a new event. Whoever reads
# why a pod waits from its newest event may read a reason that no longer holds; the condition PodScheduled has the newest.
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
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
)

type call struct{ resourceVersion, note string }

func main() {
	ctx := context.Background()
	for _, try := range []struct {
		what          string
		first, second call
	}{
		{"another note", call{"1", "0/2 nodes fit"}, call{"1", "0/3 nodes fit"}},
		{"the pod was updated", call{"1", "0/2 nodes fit"}, call{"2", "0/2 nodes fit"}},
	} {
		client := fake.NewClientset()
		broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: client.EventsV1()})
		if err := broadcaster.StartRecordingToSinkWithContext(ctx); err != nil {
			panic(err)
		}
		recorder := broadcaster.NewRecorder(scheme.Scheme, "finding")
		var seen []string
		for n, call := range []call{try.first, try.second} {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
				Name: "web", Namespace: "default", UID: "u", ResourceVersion: call.resourceVersion}}
			recorder.Eventf(pod, nil, corev1.EventTypeWarning, "FailedScheduling", "Scheduling", call.note)
			// The recorder writes on threads of its own: wait until the sink has had one more call.
			for tries := 0; len(client.Actions()) <= n && tries < 100; tries++ {
				time.Sleep(100 * time.Millisecond)
			}
		}
		list, err := client.EventsV1().Events("default").List(ctx, metav1.ListOptions{})
		if err != nil {
			panic(err)
		}
		for _, event := range list.Items {
			count := int32(1)
			if event.Series != nil {
				count = event.Series.Count
			}
			seen = append(seen, fmt.Sprintf("%q %d times", event.Note, count))
		}
		slices.Sort(seen)
		fmt.Printf("%s: %s\n", try.what, strings.Join(seen, ", "))
		broadcaster.Shutdown()
	}
}
GO

diff - <(go run . 2>log) <<'SEEN'
another note: "0/2 nodes fit" 2 times
the pod was updated: "0/2 nodes fit" 1 times, "0/2 nodes fit" 1 times
SEEN
echo "as seen: k8s.io/client-go v0.37.1 keeps a series' first note, and an updated object makes another event"

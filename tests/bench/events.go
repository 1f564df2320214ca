// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
)

// scheduledEvents watches the events of reason Scheduled come in. Its methods may be called from any
// goroutine.
type scheduledEvents struct {
	watch watch.Interface

	mu   sync.Mutex
	pods map[string]bool // that have one
	last time.Time       // when the last one came
}

func watchScheduled(ctx context.Context, client kubernetes.Interface) (*scheduledEvents, error) {
	events := client.EventsV1().Events(namespace)
	list, err := events.List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return nil, fmt.Errorf("list the events: %w", err)
	}
	w, err := events.Watch(ctx, metav1.ListOptions{
		FieldSelector: "reason=Scheduled", ResourceVersion: list.ResourceVersion,
	})
	if err != nil {
		return nil, fmt.Errorf("watch the events: %w", err)
	}
	s := &scheduledEvents{watch: w, pods: map[string]bool{}}
	go s.follow()
	return s, nil
}

func (s *scheduledEvents) follow() {
	for change := range s.watch.ResultChan() {
		event, ok := change.Object.(*eventsv1.Event)
		if !ok || change.Type != watch.Added {
			continue
		}
		s.mu.Lock()
		s.pods[event.Regarding.Name] = true
		s.last = time.Now()
		s.mu.Unlock()
	}
}

func (s *scheduledEvents) stop() { s.watch.Stop() }

// count is how many pods have their event, and when the last one came.
func (s *scheduledEvents) count() (int, time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.pods), s.last
}

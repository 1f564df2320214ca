// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// Tracker follows the pods of one namespace through a watch and notes when it saw each one bound.
// The watch survives restarts of the API server. Its methods may be called from any goroutine.
type Tracker struct {
	stop context.CancelFunc

	mu      sync.Mutex
	changed chan struct{} // closed, and replaced, at each change
	pods    map[string]*corev1.Pod
	seen    map[string]time.Time // first, of each pod by name, also after it has gone
	bound   map[string]time.Time // likewise
}

// Track begins to follow the namespace's pods, and returns when it knows those that are there.
func Track(ctx context.Context, client kubernetes.Interface, namespace string) (*Tracker, error) {
	return track(ctx, client, namespace, fields.Everything())
}

// TrackBound follows only the pods that are bound, which costs the API server less.
func TrackBound(ctx context.Context, client kubernetes.Interface, namespace string) (*Tracker, error) {
	return track(ctx, client, namespace, fields.OneTermNotEqualSelector("spec.nodeName", ""))
}

func track(ctx context.Context, client kubernetes.Interface, namespace string, which fields.Selector) (*Tracker, error) {
	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	t := &Tracker{
		stop:    stop,
		changed: make(chan struct{}),
		pods:    map[string]*corev1.Pod{},
		seen:    map[string]time.Time{},
		bound:   map[string]time.Time{},
	}
	_, informer := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "pods", namespace, which),
		ObjectType:    &corev1.Pod{},
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc:    func(object any) { t.see(object.(*corev1.Pod)) },
			UpdateFunc: func(_, object any) { t.see(object.(*corev1.Pod)) },
			DeleteFunc: t.forget,
		},
	})
	go informer.RunWithContext(watching)
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		stop()
		return nil, fmt.Errorf("list the pods of %s: %w", namespace, context.Cause(ctx))
	}
	return t, nil
}

// Stop ends the watch.
func (t *Tracker) Stop() { t.stop() }

func (t *Tracker) see(pod *corev1.Pod) {
	now := time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pods[pod.Name] = pod
	if _, known := t.seen[pod.Name]; !known {
		t.seen[pod.Name] = now
	}
	if _, known := t.bound[pod.Name]; !known && pod.Spec.NodeName != "" {
		t.bound[pod.Name] = now
	}
	t.announceLocked()
}

func (t *Tracker) forget(object any) {
	if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = tombstone.Obj
	}
	pod := object.(*corev1.Pod)
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.pods, pod.Name)
	t.announceLocked()
}

func (t *Tracker) announceLocked() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// await waits until done says so. It is called with the lock held, after each change.
func (t *Tracker) await(ctx context.Context, what string, done func() bool) error {
	for {
		t.mu.Lock()
		over, changed := done(), t.changed
		t.mu.Unlock()
		if over {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", what, context.Cause(ctx))
		}
	}
}

// AwaitBound waits until n pods have been seen bound, pods gone since included.
func (t *Tracker) AwaitBound(ctx context.Context, n int) error {
	err := t.await(ctx, fmt.Sprintf("%d bound pods", n), func() bool { return len(t.bound) >= n })
	if err != nil {
		return fmt.Errorf("%w: %d are bound%s", err, t.Bound(), t.describeUnbound(5))
	}
	return nil
}

// describeUnbound says of the pods that wait for a node, and of those that will not go, what they show: of so many.
func (t *Tracker) describeUnbound(most int) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var text strings.Builder
	unbound, ending := 0, 0
	for _, name := range slices.Sorted(maps.Keys(t.pods)) {
		pod := t.pods[name]
		if _, bound := t.bound[name]; !bound {
			if unbound++; unbound <= most {
				fmt.Fprintf(&text, "\n%s waits: %s, nominated for %q", name, describe(pod), pod.Status.NominatedNodeName)
			}
		} else if pod.DeletionTimestamp != nil {
			if ending++; ending <= most {
				fmt.Fprintf(&text, "\n%s on %s is to end since %s", name, pod.Spec.NodeName, pod.DeletionTimestamp)
			}
		}
	}
	fmt.Fprintf(&text, "\n%d pods wait for a node, %d are to end", unbound, ending)
	return text.String()
}

// AwaitPod waits until the pod passes the test, and returns it.
func (t *Tracker) AwaitPod(ctx context.Context, name, what string, passes func(*corev1.Pod) bool) (*corev1.Pod, error) {
	var found *corev1.Pod
	err := t.await(ctx, fmt.Sprintf("pod %s to be %s", name, what), func() bool {
		pod, ok := t.pods[name]
		if !ok || !passes(pod) {
			return false
		}
		found = pod
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, describe(t.Pod(name)))
	}
	return found, nil
}

// Await waits until all pods together, by name, pass the test.
func (t *Tracker) Await(ctx context.Context, what string, passes func(pods map[string]*corev1.Pod) bool) error {
	return t.await(ctx, what, func() bool { return passes(t.pods) })
}

// AwaitGone waits until no pod is left.
func (t *Tracker) AwaitGone(ctx context.Context) error {
	return t.await(ctx, "all pods to be gone", func() bool { return len(t.pods) == 0 })
}

// Bound is how many pods have been seen bound.
func (t *Tracker) Bound() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.bound)
}

// SeenAt is when the watch first told of the pod.
func (t *Tracker) SeenAt(name string) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.seen[name]
}

// BoundAt is when the watch told that the pod is bound; the zero time if it has not.
func (t *Tracker) BoundAt(name string) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.bound[name]
}

// BoundTimes are those times of all pods, in ascending order.
func (t *Tracker) BoundTimes() []time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.SortedFunc(maps.Values(t.bound), time.Time.Compare)
}

// Latencies are how long each bound pod that came after `since` and that `which` picks by name took,
// from when the watch first told of it until it told that it is bound; ascending.
func (t *Tracker) Latencies(since time.Time, which func(name string) bool) []time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []time.Duration
	for name, bound := range t.bound {
		if seen := t.seen[name]; seen.After(since) && which(name) {
			all = append(all, bound.Sub(seen))
		}
	}
	slices.Sort(all)
	return all
}

// Pod is the pod as last seen, or nil.
func (t *Tracker) Pod(name string) *corev1.Pod {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.pods[name]
}

// Pods are all pods as last seen, by name.
func (t *Tracker) Pods() []*corev1.Pod {
	t.mu.Lock()
	defer t.mu.Unlock()
	pods := slices.Collect(maps.Values(t.pods))
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return pods
}

func describe(pod *corev1.Pod) string {
	if pod == nil {
		return "there is no such pod"
	}
	text := fmt.Sprintf("it has node %q", pod.Spec.NodeName)
	if condition := ScheduledCondition(pod); condition != nil {
		text += fmt.Sprintf(", PodScheduled=%s, reason %q, message %q", condition.Status, condition.Reason, condition.Message)
	}
	return text
}

// Forget drops what is known of pods that have gone, so that others may have their names.
func (t *Tracker) Forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	gone := func(name string, _ time.Time) bool { return t.pods[name] == nil }
	maps.DeleteFunc(t.seen, gone)
	maps.DeleteFunc(t.bound, gone)
}

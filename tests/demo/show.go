// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/tests/daemon"
	"berth.dev/tests/daemon/workload"
)

// show is one performance.
type show struct {
	*screen
	cluster *cluster
	tracker *workload.Tracker
	pods    func() []*corev1.Pod // those that there are now
	nodes   map[string]*corev1.Node
	groups  []group
	begin   time.Time // of the crowd
	faults  []string
}

// prepare makes all that is there before the daemon starts.
func (s *show) prepare(ctx context.Context) error {
	client := s.cluster.client
	if err := workload.CreateNamespace(ctx, client, namespace); err != nil {
		return err
	}
	class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: urgentClass}, Value: urgentPriority}
	_, err := client.SchedulingV1().PriorityClasses().Create(ctx, class, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create priority class %s: %w", urgentClass, err)
	}
	nodes := s.cast()
	if err := workload.CreateNodes(ctx, client, nodes...); err != nil {
		return err
	}
	err = workload.AwaitServiceAccount(ctx, client, namespace)
	if err != nil {
		return err
	}
	if s.tracker, err = workload.Track(ctx, client, namespace); err != nil {
		return err
	}
	s.pods = s.tracker.Pods
	return nil
}

// cast decides who takes part.
func (s *show) cast() []*corev1.Node {
	nodes := demoNodes()
	s.nodes = map[string]*corev1.Node{}
	for _, node := range nodes {
		s.nodes[node.Name] = node
	}
	s.groups = append(crowd(len(nodes)), urgent())
	s.step("%d nodes in %d zones: some with SSDs or GPUs, some tainted, %d at the edge", len(nodes), len(zones), edgeNodes(nodes))
	return nodes
}

// play lets the pods come and shows what becomes of them.
func (s *show) play(ctx context.Context, d *daemon.Daemon) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-d.Exited():
			cancel(errors.New("the daemon ended"))
		case <-ctx.Done():
		}
	}()
	if err := s.createCrowd(ctx); err != nil {
		return err
	}
	if err := s.awaitCrowd(ctx); err != nil {
		return err
	}
	used, err := d.CPUTime()
	if err != nil {
		return err
	}
	s.checkCrowd()
	s.reportCrowd(used)
	if err := s.reportMisfits(ctx); err != nil {
		return err
	}
	return s.addLateNode(ctx)
}

func (s *show) createCrowd(ctx context.Context) error {
	s.begin = time.Now()
	last := len(s.groups) - 1
	for _, g := range s.groups[:last] {
		if err := s.createGroup(ctx, g); err != nil {
			return fmt.Errorf("create %s: %w", g.name, err)
		}
	}
	// They come after the crowd, which takes the last free port of them.
	for _, m := range misfits() {
		if err := s.createPod(ctx, m.pod); err != nil {
			return err
		}
	}
	if err := s.createPod(ctx, gated()); err != nil {
		return err
	}
	// The urgent ones come when a third of the others are bound.
	if err := s.tracker.AwaitBound(ctx, s.crowdSize()/3); err != nil {
		return err
	}
	return s.createGroup(ctx, s.groups[last])
}

func (s *show) createGroup(ctx context.Context, g group) (err error) {
	client := s.cluster.client
	switch g.kind {
	case "Deployment":
		_, err = client.AppsV1().Deployments(namespace).Create(ctx, g.deployment(), metav1.CreateOptions{})
	case "DaemonSet":
		_, err = client.AppsV1().DaemonSets(namespace).Create(ctx, g.daemonSet(), metav1.CreateOptions{})
	default:
		err = workload.CreatePods(ctx, client, namespace, g.replicas, func(i int) *corev1.Pod {
			template := g.template()
			template.ObjectMeta.Name = fmt.Sprintf("%s-%d", g.name, i)
			return &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
		})
	}
	return err
}

func (s *show) createPod(ctx context.Context, pod *corev1.Pod) error {
	return workload.CreatePods(ctx, s.cluster.client, namespace, 1, func(int) *corev1.Pod { return pod })
}

func (s *show) crowdSize() (size int) {
	for _, g := range s.groups {
		size += g.replicas
	}
	return size
}

// awaitCrowd waits until every pod of the crowd is bound and every misfit is known as such.
func (s *show) awaitCrowd(ctx context.Context) error {
	size := s.crowdSize()
	stop := s.follow("placing pods", size, s.tracker.Bound)
	defer stop()
	if err := s.tracker.AwaitBound(ctx, size); err != nil {
		return err
	}
	for _, m := range misfits() {
		if _, err := s.tracker.AwaitPod(ctx, m.pod.Name, "found unschedulable", workload.IsUnschedulable); err != nil {
			return err
		}
	}
	return nil
}

// podsOf are the group's pods.
func (s *show) podsOf(g group) []*corev1.Pod {
	return slices.DeleteFunc(s.pods(), func(pod *corev1.Pod) bool { return pod.Labels["app"] != g.name })
}

func (s *show) fault(format string, args ...any) {
	s.faults = append(s.faults, fmt.Sprintf(format, args...))
}

// verdict is an error when anything was not as expected.
func (s *show) verdict() error {
	if len(s.faults) == 0 {
		s.step("%s", s.green("All pods are where they belong"))
		return nil
	}
	for _, fault := range s.faults {
		s.line("  %s %s", s.red("✗"), fault)
	}
	return fmt.Errorf("%d things are not as expected", len(s.faults))
}

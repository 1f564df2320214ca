// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/tests/demo/story"
	"berth.dev/tests/internal/daemon"
	"berth.dev/tests/internal/daemon/workload"
)

// show is the story on a cluster.
type show struct {
	*story.Story
	cluster *cluster
	tracker *workload.Tracker
	begin   time.Time // of the crowd
}

// prepare makes all that is there before the daemon starts.
func (s *show) prepare(ctx context.Context) error {
	client := s.cluster.client
	if err := workload.CreateNamespace(ctx, client, story.Namespace); err != nil {
		return err
	}
	class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: story.UrgentClass}, Value: story.UrgentPriority}
	_, err := client.SchedulingV1().PriorityClasses().Create(ctx, class, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create priority class %s: %w", story.UrgentClass, err)
	}
	var nodes []*corev1.Node
	for _, node := range s.SortedNodes() {
		nodes = append(nodes, convert[corev1.Node](node))
	}
	if err := workload.CreateNodes(ctx, client, nodes...); err != nil {
		return err
	}
	err = workload.AwaitServiceAccount(ctx, client, story.Namespace)
	if err != nil {
		return err
	}
	if s.tracker, err = workload.Track(ctx, client, story.Namespace); err != nil {
		return err
	}
	s.Pods = s.plainPods
	return nil
}

// plainPods are the pods of the cluster, as the story knows pods.
func (s *show) plainPods() (pods []*story.Pod) {
	for _, pod := range s.tracker.Pods() {
		pods = append(pods, convert[story.Pod](pod))
	}
	return pods
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
	s.CheckCrowd()
	s.reportCrowd(used)
	if err := s.reportMisfits(ctx); err != nil {
		return err
	}
	if err := s.addLateNode(ctx); err != nil {
		return err
	}
	if d.Program.Peer {
		return nil // kube-scheduler answers no questions
	}
	return s.askQuestions(ctx, d.Program)
}

func (s *show) createCrowd(ctx context.Context) error {
	s.begin = time.Now()
	last := len(s.Groups) - 1
	for _, g := range s.Groups[:last] {
		if err := s.createGroup(ctx, g); err != nil {
			return fmt.Errorf("create %s: %w", g.Name, err)
		}
	}
	if err := s.createPod(ctx, story.Gated()); err != nil {
		return err
	}
	// The urgent ones come when a third of the others are bound.
	if err := s.tracker.AwaitBound(ctx, s.CrowdSize()/3); err != nil {
		return err
	}
	if err := s.createGroup(ctx, s.Groups[last]); err != nil {
		return err
	}
	// They come after the pods that take the last free ports, in whatever order a scheduler that starts late finds them.
	for _, g := range s.Groups[:last] {
		for i := 0; g.Name == "ingress" && i < g.Replicas; i++ {
			if _, err := s.tracker.AwaitPod(ctx, convert[corev1.Pod](g.Pod(i)).Name, "bound", workload.IsBound); err != nil {
				return err
			}
		}
	}
	for _, m := range story.Misfits() {
		if err := s.createPod(ctx, m.Pod); err != nil {
			return err
		}
	}
	return nil
}

func (s *show) createGroup(ctx context.Context, g story.Group) (err error) {
	client := s.cluster.client
	switch g.Kind {
	case "Deployment":
		_, err = client.AppsV1().Deployments(story.Namespace).Create(ctx, deployment(g), metav1.CreateOptions{})
	case "DaemonSet":
		_, err = client.AppsV1().DaemonSets(story.Namespace).Create(ctx, daemonSet(g), metav1.CreateOptions{})
	default:
		err = workload.CreatePods(ctx, client, story.Namespace, g.Replicas, func(i int) *corev1.Pod { return convert[corev1.Pod](g.Pod(i)) })
	}
	return err
}

func (s *show) createPod(ctx context.Context, pod *story.Pod) error {
	return workload.CreatePod(ctx, s.cluster.client, story.Namespace, convert[corev1.Pod](pod))
}

// awaitCrowd waits until every pod of the crowd is bound and every misfit is known as such.
func (s *show) awaitCrowd(ctx context.Context) error {
	size := s.CrowdSize()
	stop := s.Follow("placing pods", size, s.tracker.Bound)
	defer stop()
	if err := s.tracker.AwaitBound(ctx, size); err != nil {
		return err
	}
	for _, m := range story.Misfits() {
		if _, err := s.tracker.AwaitPod(ctx, m.Name(), "found unschedulable", workload.IsUnschedulable); err != nil {
			return err
		}
	}
	return nil
}

// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"berth.dev/tests/internal/daemon/workload"
)

const (
	volumeClass = "static"
	deviceClass = "gpu"
	template    = "one-gpu"
	pool        = "pool"
	urgent      = "urgent" // a PriorityClass
	// patience is how long the API server may be away while the test wants something of it.
	patience = time.Minute
)

// wanted is a pod that is to be there at some time of the run.
type wanted struct {
	namespace  string
	name       string
	options    []workload.PodOption
	at         time.Duration // when it is made
	deletedAt  time.Duration // zero: never
	impossible bool          // no node will ever fit
	evictable  bool          // urgent pods will want its place
}

// crowd is what a run puts into the cluster: nodes in pools, and pods that fill each pool to the last place, so that a
// place that is lost or counted twice leaves a pod without one.
type crowd struct {
	id     string // all names begin with it
	nodes  []*corev1.Node
	pods   []wanted
	claims []wanted // of volumes, by namespace and name
	slices map[string]int
	moves  []step
	late   *corev1.Node // is made by a move
}

// restored says that etcd will go back in time: then there is nothing that controllers have a part in.
func newCrowd(id string, namespaces []string, random *rand.Rand, length time.Duration, restored bool) *crowd {
	c := &crowd{id: id, slices: map[string]int{}}
	names := map[string]int{}
	add := func(kind string, change func(*wanted), options ...workload.PodOption) {
		w := wanted{
			namespace: namespaces[random.IntN(len(namespaces))],
			name:      fmt.Sprintf("%s-%d", kind, names[kind]),
			at:        time.Duration(random.Int64N(int64(length))),
			options: append([]workload.PodOption{
				func(pod *corev1.Pod) { pod.Labels["app"] = kind }, workload.NodeSelector(pool, c.pool(kind))}, options...),
		}
		names[kind]++
		if change != nil {
			change(&w)
		}
		c.pods = append(c.pods, w)
	}
	together := func(w *wanted) { w.namespace = namespaces[0] }

	c.addNodes("fill", 3, 0, "cpu", "2", "memory", "8Gi")
	small := workload.Requests("cpu", "200m", "memory", "100Mi")
	for range 30 {
		add("fill", nil, small)
	}
	for range 8 { // while these are there, others wait for room
		add("fill", func(w *wanted) {
			w.at /= 2
			w.deletedAt = w.at + time.Duration(random.Int64N(int64(length)))
		}, small)
	}
	c.addNodes("ports", 4, 0)
	for range 4 {
		add("ports", nil, workload.HostPort(8080))
	}
	c.addNodes("apart", 4, 0)
	for range 4 {
		add("apart", together, workload.Apart())
	}
	c.addNodes("spread", 6, 3, "pods", "2")
	for range 12 {
		add("spread", together, workload.Spread(corev1.LabelTopologyZone, corev1.DoNotSchedule))
	}
	add("nowhere", func(w *wanted) { w.impossible = true })
	if restored {
		return c
	}
	c.addNodes("disks", 2, 2)
	for i := range 6 {
		name := fmt.Sprintf("data-%d", i)
		add("disks", together, workload.UseClaim(name))
		c.claims = append(c.claims, wanted{namespace: namespaces[0], name: name})
	}
	// The urgent come late, and take the places of the others.
	c.addNodes("ranks", 2, 0, "pods", "2")
	for range 4 {
		add("ranks", func(w *wanted) { w.at, w.evictable = w.at/2, true })
	}
	for range 4 {
		add("ranks", func(w *wanted) { w.at = length/2 + w.at/2 }, workload.PriorityClass(urgent))
	}
	c.addNodes("moving", 3, 0, "pods", "3")
	for range 9 {
		add("moving", nil)
	}
	c.drawMoves(c.nodes[len(c.nodes)-3:], random, length)
	c.addNodes("gpus", 2, 0)
	for _, node := range c.nodes[len(c.nodes)-2:] {
		c.slices[node.Name] = 3
	}
	for range 6 {
		add("gpus", together, workload.UseDevices("", template))
	}
	return c
}

func (c *crowd) pool(kind string) string { return c.id + "-" + kind }

func (c *crowd) addNodes(kind string, n, zones int, allocatable ...string) {
	for i := range n {
		node := workload.Node(fmt.Sprintf("%s-%d", c.pool(kind), i), workload.NodeLabel(pool, c.pool(kind)), workload.Allocatable(allocatable...))
		if zones > 0 {
			workload.NodeLabel(corev1.LabelTopologyZone, fmt.Sprintf("%s-z%d", c.id, i%zones))(node)
		}
		c.nodes = append(c.nodes, node)
	}
}

// place makes everything but the pods.
func (c *crowd) place(ctx context.Context, client kubernetes.Interface, namespace string) error {
	there := slices.DeleteFunc(slices.Clone(c.nodes), func(node *corev1.Node) bool { return node == c.late })
	if err := workload.CreateNodes(ctx, client, there...); err != nil {
		return err
	}
	if len(c.slices) == 0 {
		return nil
	}
	for i, claim := range c.claims {
		pv := workload.Volume(c.id+"-"+claim.name, volumeClass, "5Gi", corev1.LabelTopologyZone, fmt.Sprintf("%s-z%d", c.id, i%2))
		if _, err := client.CoreV1().PersistentVolumes().Create(ctx, pv, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create volume %s: %w", pv.Name, err)
		}
		made := workload.Claim(claim.name, volumeClass, "1Gi")
		if _, err := client.CoreV1().PersistentVolumeClaims(claim.namespace).Create(ctx, made, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create claim %s: %w", claim.name, err)
		}
	}
	for node, devices := range c.slices {
		if _, err := client.ResourceV1().ResourceSlices().Create(ctx, workload.DevicesOf(node, devices), metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("publish the devices of %s: %w", node, err)
		}
	}
	claims := workload.DeviceClaimTemplate(template, workload.DeviceRequest(deviceClass, 1))
	_, err := client.ResourceV1().ResourceClaimTemplates(namespace).Create(ctx, claims, metav1.CreateOptions{})
	return err
}

// create makes the pod, or finds that an earlier try has made it.
func (w wanted) create(ctx context.Context, client kubernetes.Interface) (pod *corev1.Pod, err error) {
	err = workload.Persist(ctx, patience, func() error {
		pod, err = client.CoreV1().Pods(w.namespace).Create(ctx, workload.Pod(w.name, w.options...), metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			pod, err = client.CoreV1().Pods(w.namespace).Get(ctx, w.name, metav1.GetOptions{})
		}
		return err
	})
	return pod, err
}

// remove deletes the pod of that UID, and returns when the first request to do so was sent.
func (w wanted) remove(ctx context.Context, client kubernetes.Interface, uid types.UID) (time.Time, error) {
	sent, now := time.Now(), int64(0)
	return sent, workload.Persist(ctx, patience, func() error {
		err := client.CoreV1().Pods(w.namespace).Delete(ctx, w.name,
			metav1.DeleteOptions{GracePeriodSeconds: &now, Preconditions: &metav1.Preconditions{UID: &uid}})
		if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
			return nil
		}
		return err
	})
}

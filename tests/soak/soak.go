// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/faults"
	"berth.dev/tests/internal/daemon"
	"berth.dev/tests/internal/daemon/workload"
	"berth.dev/tests/internal/progress"
)

const (
	namespace = "soak"

	// pools are what nodes are relabelled between.
	pools       = 4
	podsPerNode = 20
	// fewestNodes leave each pool and zone some that are not cordoned.
	fewestNodes = 20

	// settleLimit is how long the cluster may take to come to rest after the last change.
	settleLimit = 5 * time.Minute
	// dumpLimit is how long the daemon may take to write its state into its log.
	dumpLimit = time.Minute
)

// config is what deploy/base ships, for pods that name no scheduler.
const config = `
leaderElection: {leaderElect: true, resourceName: berth, resourceNamespace: berth-system}
clientConnection: {qps: 200, burst: 400}
`

// controllers are those that make, ready and remove the pods of Deployments behind Services, and what pods claim.
var controllers = []string{
	"deployment-controller", "replicaset-controller", "endpointslice-controller", "pod-garbage-collector-controller",
	"garbage-collector-controller", "serviceaccount-controller", "root-ca-certificate-publisher-controller",
	"ephemeral-volume-controller", "persistentvolume-binder-controller", "persistentvolume-protection-controller",
	"persistentvolumeclaim-protection-controller", "resourceclaim-controller",
}

// soak is one run.
type soak struct {
	options
	control *controlplane.ControlPlane
	admin   kubernetes.Interface
	proxy   *faults.Proxy // between the daemon and the API server
	daemon  *daemon.Daemon
	sampler *sampler
	tracker *workload.Tracker
	churn   *churn
	claimed *supplies
	dir     string // of the daemon's configuration and log
	line    *progress.Line
}

func newSoak(ctx context.Context, o options, program daemon.Program) (s *soak, err error) {
	s = &soak{options: o, line: progress.New(os.Stderr)}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close(true))
		}
	}()
	if s.dir, err = os.MkdirTemp("", "berth-soak-"); err != nil {
		return nil, err
	}
	s.line.Say("starting the control plane")
	s.control, err = controlplane.Start(ctx, controlplane.Options{
		ControllerManager: true, Controllers: controllers, Kwok: true,
		// The events of an hour are nothing that is looked at, and many.
		APIServerArgs: []string{"--event-ttl=10m"},
	})
	if err != nil {
		return nil, err
	}
	s.admin = s.control.Client(controlplane.Admin)
	if err := workload.CreateNamespace(ctx, s.admin, namespace); err != nil {
		return nil, err
	}
	nodes := make([]*corev1.Node, o.nodes)
	for i := range nodes {
		nodes[i] = node(i)
	}
	s.line.Say("creating %d nodes", o.nodes)
	if err := workload.CreateNodes(ctx, s.admin, nodes...); err != nil {
		return nil, err
	}
	if s.claimed, err = supply(ctx, s.admin, o.nodes); err != nil {
		return nil, err
	}
	if s.tracker, err = workload.Track(ctx, s.admin, namespace); err != nil {
		return nil, err
	}
	if err := s.startDaemon(program, nodes); err != nil {
		return nil, err
	}
	s.churn = newChurn(s.admin, s.tracker, o)
	return s, s.churn.create(ctx)
}

func nodeName(i int) string { return fmt.Sprintf("node-%d", i) }

func node(i int) *corev1.Node {
	return workload.Node(nodeName(i),
		workload.NodeLabel(corev1.LabelTopologyZone, fmt.Sprintf("zone-%d", i%3)),
		workload.NodeLabel(poolLabel, poolName(i%pools)),
		workload.Allocatable("cpu", "4", "memory", "16Gi", "pods", fmt.Sprint(podsPerNode)))
}

func (s *soak) startDaemon(program daemon.Program, nodes []*corev1.Node) error {
	port, err := controlplane.FreePort()
	if err != nil {
		return err
	}
	cert, key, err := s.control.IssueServerCert("soak")
	if err != nil {
		return err
	}
	var kubeconfig string
	if s.proxy, kubeconfig, err = faults.Before(s.control, s.dir, s.seed); err != nil {
		return err
	}
	s.daemon, err = daemon.Start(program, daemon.Options{
		Config: config, Kubeconfig: kubeconfig, Dir: s.dir, LeaderElect: true, Quiet: true,
		Args: []string{
			"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port),
			"--tls-cert-file=" + cert, "--tls-private-key-file=" + key,
			"--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig,
		},
	})
	if err != nil {
		return err
	}
	client, err := s.control.HTTPClient()
	if err != nil {
		return err
	}
	s.sampler = &sampler{
		daemon: s.daemon, tracker: s.tracker, nodes: nodes, client: client,
		metrics: fmt.Sprintf("https://127.0.0.1:%d/metrics", port),
	}
	return nil
}

// close ends everything. The daemon's log is kept where something went wrong.
func (s *soak) close(failed bool) error {
	s.line.Clear()
	if s.tracker != nil {
		s.tracker.Stop()
	}
	if s.daemon != nil {
		s.daemon.Kill()
	}
	if s.proxy != nil {
		s.proxy.Close()
	}
	var err error
	if s.claimed != nil {
		err = s.claimed.close()
	}
	if s.control != nil {
		err = errors.Join(err, s.control.Stop())
	}
	if failed {
		fmt.Fprintf(os.Stderr, "the daemon's log is kept in %s\n", s.dir)
		return err
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}

// run lets the cluster change for the time asked for and come to rest, and judges.
func (s *soak) run(ctx context.Context) (*report, error) {
	if err := s.settle(ctx); err != nil {
		return nil, fmt.Errorf("before the first change: %w", err)
	}
	before, err := s.daemon.CPUTime()
	if err != nil {
		return nil, err
	}
	begin, boundBefore := time.Now(), s.tracker.Bound()
	if err := s.change(ctx); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, s.daemon.Tail())
	}
	if err := s.churn.calmDown(ctx); err != nil {
		return nil, err
	}
	settled := s.settle(ctx)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	after, err := s.daemon.CPUTime()
	if err != nil {
		return nil, err
	}
	found, err := s.observe(ctx)
	if err != nil {
		return nil, err
	}
	found.settled = settled
	found.stopped = s.daemon.Stop()
	return s.report(found, begin, s.tracker.Bound()-boundBefore, after-before), nil
}

// change keeps changing the cluster, and takes samples.
func (s *soak) change(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	changing, enough := context.WithTimeout(ctx, s.duration)
	defer enough()
	changed := make(chan error, 1)
	go func() { changed <- s.churn.run(changing) }()
	if !s.calm {
		go s.proxy.Trouble(changing, troubles, longestTrouble, longestCalm, s.seed)
	}
	begin := time.Now()
	show := s.line.Follow("soak", int(s.duration.Seconds()), func() (int, string) {
		return int(time.Since(begin).Seconds()), "s; " + s.sampler.last()
	})
	defer show()
	ticker := time.NewTicker(s.every)
	defer ticker.Stop()
	for {
		select {
		case err := <-changed:
			return err
		case <-s.daemon.Exited():
			return fmt.Errorf("the daemon ended by itself with code %d", s.daemon.ExitCode())
		case <-ticker.C:
			if err := s.sampler.take(ctx, time.Since(begin)); err != nil {
				return err
			}
		}
	}
}

// settle waits until every Deployment has the pods that it should have. That it does not is the
// error that the judges want to see.
func (s *soak) settle(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, settleLimit, fmt.Errorf("not within %s", settleLimit))
	defer cancel()
	for {
		lags, err := s.lags(ctx)
		if err == nil && lags == "" {
			return nil
		}
		s.line.Say("waiting for the cluster to come to rest: %s", lags)
		select {
		case <-s.daemon.Exited():
			return fmt.Errorf("the daemon ended by itself with code %d", s.daemon.ExitCode())
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), errors.New(lags), err)
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// lags is what is still to be done, "" if nothing is.
func (s *soak) lags(ctx context.Context) (string, error) {
	list, err := s.admin.AppsV1().Deployments(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", fmt.Errorf("list the Deployments: %w", err)
	}
	wanted := 0
	for i := range list.Items {
		if lags := workload.Lags(&list.Items[i]); lags != "" {
			return lags, nil
		}
		wanted += int(*list.Items[i].Spec.Replicas)
	}
	pods := s.tracker.Pods()
	for _, pod := range pods {
		if pod.Spec.NodeName == "" {
			return fmt.Sprintf("pod %s is not bound", pod.Name), nil
		}
	}
	if left, err := s.claimsLeft(ctx); left != "" || err != nil {
		return left, err
	}
	if len(pods) != wanted {
		return fmt.Sprintf("there are %d pods instead of %d", len(pods), wanted), nil
	}
	return "", nil
}

// claimsLeft names what is still there of what pods claimed that are gone.
func (s *soak) claimsLeft(ctx context.Context) (string, error) {
	volumes, err := s.admin.CoreV1().PersistentVolumes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", fmt.Errorf("list the volumes: %w", err)
	}
	for _, pv := range volumes.Items {
		if pv.Status.Phase != corev1.VolumeBound {
			return fmt.Sprintf("volume %s is %s", pv.Name, pv.Status.Phase), nil
		}
	}
	claims, err := s.admin.ResourceV1().ResourceClaims(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", fmt.Errorf("list the claims of devices: %w", err)
	}
	for _, claim := range claims.Items {
		if claim.DeletionTimestamp != nil || len(claim.Status.ReservedFor) != 1 {
			return fmt.Sprintf("claim %s is reserved for %d pods", claim.Name, len(claim.Status.ReservedFor)), nil
		}
	}
	return "", nil
}

// observe takes down what the API server has and what the daemon says that it has.
func (s *soak) observe(ctx context.Context) (findings, error) {
	var f findings
	if err := s.daemon.Signal(syscall.SIGUSR2); err != nil {
		return f, err
	}
	within, cancel := context.WithTimeoutCause(ctx, dumpLimit, fmt.Errorf("not within %s", dumpLimit))
	defer cancel()
	if err := s.daemon.AwaitLog(within, dumped); err != nil {
		return f, err
	}
	f.log = s.daemon.Log()
	pods, err := s.admin.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return f, fmt.Errorf("list the pods: %w", err)
	}
	nodes, err := s.admin.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return f, fmt.Errorf("list the nodes: %w", err)
	}
	f.pods, f.nodes = pods.Items, nodes.Items
	volumes, err := s.admin.CoreV1().PersistentVolumes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return f, fmt.Errorf("list the volumes: %w", err)
	}
	claims, err := s.admin.CoreV1().PersistentVolumeClaims(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return f, fmt.Errorf("list the claims of volumes: %w", err)
	}
	deviceClaims, err := s.admin.ResourceV1().ResourceClaims(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return f, fmt.Errorf("list the claims of devices: %w", err)
	}
	f.volumes, f.claims, f.deviceClaims = volumes.Items, claims.Items, deviceClaims.Items
	f.bindings, err = s.control.AuditBindings()
	return f, err
}

// SPDX-License-Identifier: Apache-2.0

// Command starvation measures how much longer pods wait when a crowd that fits nowhere comes with
// them, on a real control plane: the time from each pod's creation until it is seen bound, alone and
// among ten times as many others.
//
//	go run ./bench/starvation                 # 1,000 pods that fit, 5 a second, with 10,000 that do not
//	go run ./bench/starvation --berth F -o json
//	go run ./bench/starvation --peer          # what kube-scheduler does
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"berth.dev/tests/checkout"
	"berth.dev/tests/controlplane"
	"berth.dev/tests/controlplane/programs"
	"berth.dev/tests/internal/daemon"
	"berth.dev/tests/internal/daemon/workload"
	"berth.dev/tests/internal/progress"
)

const namespace = "starvation"

type options struct {
	nodes, pods, crowd int
	rate               float64
	berth, output      string
	peer               bool
}

// figures are what one run came to.
type figures struct {
	Scheduler string  `json:"scheduler"`
	Crowd     int     `json:"crowd"`
	Median    float64 `json:"medianMilliseconds"`
	P99       float64 `json:"p99Milliseconds"`
}

func main() {
	var o options
	flag.IntVar(&o.nodes, "nodes", 1000, "number of nodes")
	flag.IntVar(&o.pods, "pods", 1000, "number of pods that fit")
	flag.IntVar(&o.crowd, "crowd", 10, "pods that do not fit, for each one that does")
	flag.Float64Var(&o.rate, "rate", 5, "pods that fit created in a second; 20 keep two cores busy with the API server alone")
	flag.StringVar(&o.berth, "berth", "", "Berth's binary; default $"+checkout.BinaryVariable+", then what the presets build")
	flag.BoolVar(&o.peer, "peer", false, "measure kube-scheduler instead of Berth")
	flag.StringVar(&o.output, "o", "table", "table or json")
	flag.Parse()
	if err := run(context.Background(), o); err != nil {
		fmt.Fprintln(os.Stderr, "starvation:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) (err error) {
	program := daemon.Peer("") // the control plane knows where it is
	if !o.peer {
		if program, err = daemon.Berth(o.berth); err != nil {
			return err
		}
	}
	c, err := controlplane.Start(ctx, controlplane.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	if o.peer {
		program.Path = c.Binary(programs.Scheduler)
	}
	admin := c.Client(controlplane.Admin)
	if err := workload.CreateNamespace(ctx, admin, namespace); err != nil {
		return err
	}
	nodes := make([]*corev1.Node, o.nodes)
	for i := range nodes {
		nodes[i] = workload.Node(fmt.Sprintf("node-%d", i))
	}
	if err := workload.CreateNodes(ctx, admin, nodes...); err != nil {
		return err
	}
	var all []figures
	for _, crowd := range []int{0, o.crowd} {
		one, err := measure(ctx, o, c, admin, program, crowd)
		if err != nil {
			return err
		}
		all = append(all, one)
	}
	return report(o, all)
}

// measure creates the pods at an even rate, each after its part of the crowd.
func measure(ctx context.Context, o options, c *controlplane.ControlPlane, admin kubernetes.Interface,
	program daemon.Program, crowd int,
) (f figures, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, 10*time.Minute, errors.New("not done within 10 minutes"))
	defer cancel()
	dir, err := os.MkdirTemp("", "berth-starvation-")
	if err != nil {
		return f, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	tracker, err := workload.TrackBound(ctx, admin, namespace)
	if err != nil {
		return f, err
	}
	defer tracker.Stop()
	user := controlplane.Berth
	if program.Peer {
		user = controlplane.KubeScheduler
	}
	d, err := daemon.Start(program, daemon.Options{
		Config:     "clientConnection: {qps: 5000, burst: 10000}",
		Kubeconfig: c.Kubeconfig(user),
		Dir:        dir,
		Quiet:      true,
	})
	if err != nil {
		return f, err
	}
	defer d.Kill()
	create := func(pod *corev1.Pod) error {
		_, err := admin.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{})
		return err
	}
	if err := create(workload.Pod("first", workload.Requests("cpu", "10m"))); err != nil {
		return f, err
	}
	if err := tracker.AwaitBound(ctx, 1); err != nil {
		return f, err
	}

	created := make([]time.Time, o.pods)
	failed := make([]error, o.pods)
	var group sync.WaitGroup
	bar := progress.New(os.Stderr)
	defer bar.Clear()
	begin := time.Now()
	for i := range o.pods {
		time.Sleep(time.Until(begin.Add(time.Duration(float64(i) / o.rate * float64(time.Second)))))
		group.Go(func() {
			for n := range crowd {
				unfit := workload.Pod(fmt.Sprintf("unfit-%d-%d", i, n), workload.Requests("cpu", "64"))
				unfit.Labels = map[string]string{"app": "unfit"}
				if failed[i] = create(unfit); failed[i] != nil {
					return
				}
			}
			created[i] = time.Now()
			failed[i] = create(workload.Pod(fmt.Sprintf("fits-%d", i), workload.Requests("cpu", "10m")))
		})
		bar.Say("crowd of %d: %d/%d pods", crowd*o.pods, i+1, o.pods)
	}
	group.Wait()
	if err := errors.Join(failed...); err != nil {
		return f, err
	}
	if err := tracker.AwaitBound(ctx, o.pods+1); err != nil {
		return f, err
	}
	waits := make([]float64, o.pods)
	for i := range waits {
		took := tracker.BoundAt(fmt.Sprintf("fits-%d", i)).Sub(created[i])
		waits[i] = float64(took.Microseconds()) / 1000
	}
	slices.Sort(waits)
	if err := d.Stop(); err != nil {
		return f, err
	}
	return figures{program.Name, crowd * o.pods, waits[len(waits)/2], waits[len(waits)*99/100]},
		workload.DeletePods(ctx, admin, namespace)
}

func report(o options, all []figures) error {
	if o.output == "json" {
		return json.NewEncoder(os.Stdout).Encode(all)
	}
	fmt.Printf("%-16s %8s %12s %12s\n", "SCHEDULER", "CROWD", "MEDIAN", "P99")
	for _, f := range all {
		fmt.Printf("%-16s %8d %9.1f ms %9.1f ms\n", f.Scheduler, f.Crowd, f.Median, f.P99)
	}
	fmt.Printf("p99 in the crowd: %.2f times that without it\n", all[1].P99/all[0].P99)
	return nil
}

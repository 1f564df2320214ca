// SPDX-License-Identifier: Apache-2.0

package neighbours

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/controlplane/programs"
	"berth.dev/tests/internal/daemon"
	"berth.dev/tests/internal/daemon/workload"
	"berth.dev/tests/internal/spawn"
)

// storyLimit is how long a story may take beside one scheduler.
const storyLimit = 8 * time.Minute

// namespace is where a story's pods are.
const namespace = "story"

// story is what a test works in: a control plane of its own and a scheduler.
type story struct {
	*testing.T
	ctx       context.Context
	plane     *controlplane.ControlPlane
	admin     kubernetes.Interface
	scheduler *daemon.Daemon
	pods      *workload.Tracker
	dir       string // of logs; kept when the story fails
	files     int    // that were applied
}

// besideBoth tells the story beside Berth and then beside kube-scheduler, each with its default configuration, and logs
// the figure of each. `told` says whether both came to their end.
func besideBoth[Figure fmt.Stringer](t *testing.T, options controlplane.Options, tell func(s *story) Figure) (
	ours, theirs Figure, told bool,
) {
	t.Helper()
	told = t.Run("Berth", func(t *testing.T) { ours = tell(newStory(t, options, false)) }) &&
		t.Run("KubeScheduler", func(t *testing.T) { theirs = tell(newStory(t, options, true)) })
	if told {
		t.Logf("beside berth:          %s", ours)
		t.Logf("beside kube-scheduler: %s", theirs)
	}
	return ours, theirs, told
}

func newStory(t *testing.T, options controlplane.Options, peer bool) *story {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), storyLimit, fmt.Errorf("the story took more than %s", storyLimit))
	t.Cleanup(cancel)
	s := &story{T: t, ctx: ctx}
	var err error
	s.dir, err = os.MkdirTemp("", "berth-neighbours-")
	s.must(err)
	options.Dir = filepath.Join(s.dir, "controlplane")
	s.plane, err = controlplane.Start(ctx, options)
	s.must(err)
	t.Cleanup(func() {
		if err := s.plane.Stop(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("logs are in %s", s.dir)
		} else {
			_ = os.RemoveAll(s.dir)
		}
	})
	s.admin = s.plane.Client(controlplane.Admin)
	s.must(workload.CreateNamespace(ctx, s.admin, namespace))
	if s.plane.HasControllers() {
		s.must(workload.AwaitServiceAccount(s.within(time.Minute), s.admin, namespace))
	}
	s.pods, err = workload.Track(ctx, s.admin, namespace)
	s.must(err)
	t.Cleanup(s.pods.Stop)
	s.scheduler = s.startScheduler(peer, "", "")
	return s
}

// startScheduler starts Berth or its peer with that configuration; "" is the default one.
func (s *story) startScheduler(peer bool, name, config string) *daemon.Daemon {
	s.Helper()
	program, user := daemon.Peer(s.plane.Binary(programs.Scheduler)), controlplane.KubeScheduler
	if !peer {
		var err error
		program, err = daemon.Berth("")
		s.must(err)
		user = controlplane.Berth
	}
	d, err := daemon.Start(program, daemon.Options{
		Config: config, Kubeconfig: s.plane.Kubeconfig(user), Dir: s.dir, Name: name, Seed: 1,
	})
	s.must(err)
	s.Cleanup(func() {
		if err := d.Stop(); err != nil {
			s.Error(err)
		}
		if !peer && strings.Contains(d.Log(), "forbidden") {
			s.Errorf("berth lacks a right\n%s", d.Tail())
		}
		if s.Failed() {
			s.Log(d.Tail())
		}
	})
	return d
}

// process is a neighbour that runs.
type process struct {
	log    string
	cmd    *exec.Cmd
	exited chan struct{}
}

// start builds the neighbour if need be and starts it. It ends with the story.
func (s *story) start(n Neighbour, env []string, args ...string) *process {
	s.Helper()
	binary, err := n.Build(context.WithoutCancel(s.ctx), os.Stderr)
	s.must(err)
	p := &process{log: filepath.Join(s.dir, n.Name+".log"), cmd: exec.Command(binary, args...), exited: make(chan struct{})}
	log, err := os.Create(p.log)
	s.must(err)
	defer log.Close()
	p.cmd.Dir = s.dir
	p.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir}, env...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	s.must(spawn.Start(p.cmd))
	go func() {
		_ = p.cmd.Wait() // its log tells
		close(p.exited)
	}()
	s.Cleanup(func() {
		p.stop()
		if s.Failed() {
			s.Logf("the end of %s:\n%s", p.log, tail(p.text()))
		}
	})
	return p
}

// stop asks it to end, and insists after a while.
func (p *process) stop() {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		select {
		case <-p.exited:
			return
		default:
			_ = p.cmd.Process.Signal(signal)
		}
		select {
		case <-p.exited:
		case <-time.After(15 * time.Second):
		}
	}
}

// text is all that it has printed.
func (p *process) text() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func tail(text string) string {
	const limit = 3000
	return text[max(0, len(text)-limit):]
}

// must ends the story when there is an error.
func (s *story) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// within is the story's context with a deadline.
func (s *story) within(limit time.Duration) context.Context {
	ctx, cancel := context.WithTimeoutCause(s.ctx, limit, fmt.Errorf("not within %s", limit))
	s.Cleanup(cancel)
	return ctx
}

// letPass waits for time itself to pass.
func (s *story) letPass(d time.Duration) {
	s.Helper()
	select {
	case <-time.After(d):
	case <-s.ctx.Done():
		s.Fatal(context.Cause(s.ctx))
	}
}

// eventually polls what no watch of the story tells.
func (s *story) eventually(limit time.Duration, what string, done func() bool) {
	s.Helper()
	ctx := s.within(limit)
	for !done() {
		select {
		case <-ctx.Done():
			s.Fatalf("waited in vain for %s: %v", what, context.Cause(ctx))
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// apply has kubectl create what the YAML or JSON text says.
func (s *story) apply(text string) {
	s.Helper()
	s.files++
	file := filepath.Join(s.dir, fmt.Sprintf("applied-%d.yaml", s.files))
	s.must(os.WriteFile(file, []byte(text), 0o644))
	s.kubectl("apply", "--server-side", "-f", file)
}

// applySource has kubectl create what a file or folder of the neighbour's module says.
func (s *story) applySource(n Neighbour, file string) {
	s.Helper()
	path, err := n.Source(s.ctx, file)
	s.must(err)
	s.kubectl("apply", "--server-side", "-f", path)
}

// kubectl runs kubectl as administrator and returns what it printed.
func (s *story) kubectl(args ...string) string {
	s.Helper()
	out, err := s.plane.Kubectl(s.ctx, controlplane.Admin, args...)
	s.must(err)
	return out
}

func (s *story) createNodes(nodes ...*corev1.Node) {
	s.Helper()
	s.must(workload.CreateNodes(s.ctx, s.admin, nodes...))
}

func (s *story) createPods(pods ...*corev1.Pod) {
	s.Helper()
	s.must(workload.CreatePods(s.ctx, s.admin, namespace, len(pods), func(i int) *corev1.Pod { return pods[i] }))
}

// createDeployment makes a Deployment of so many pods.
func (s *story) createDeployment(name string, replicas int, options ...workload.PodOption) {
	s.Helper()
	_, err := s.admin.AppsV1().Deployments(namespace).Create(s.ctx, workload.Deployment(name, replicas, options...),
		metav1.CreateOptions{})
	s.must(err)
}

// scale changes how many pods a Deployment wants.
func (s *story) scale(name string, replicas int) {
	s.Helper()
	s.kubectl("-n", namespace, "scale", "deployment", name, fmt.Sprintf("--replicas=%d", replicas))
}

// awaitPlaced waits until there are that many pods that are not to end, each on a node.
func (s *story) awaitPlaced(limit time.Duration, want int) {
	s.Helper()
	placed := 0
	err := s.pods.Await(s.within(limit), fmt.Sprintf("%d placed pods", want), func(pods map[string]*corev1.Pod) bool {
		placed = 0
		for _, pod := range pods {
			if pod.DeletionTimestamp == nil {
				if pod.Spec.NodeName == "" {
					return false
				}
				placed++
			}
		}
		return placed == want
	})
	if err != nil {
		s.Fatalf("%v: %d are placed\n%s", err, placed, s.kubectl("-n", namespace, "get", "pods,events", "-o", "wide"))
	}
}

// nodes are all nodes, by name.
func (s *story) nodes() map[string]*corev1.Node {
	s.Helper()
	list, err := s.admin.CoreV1().Nodes().List(s.ctx, metav1.ListOptions{})
	s.must(err)
	nodes := map[string]*corev1.Node{}
	for i := range list.Items {
		nodes[list.Items[i].Name] = &list.Items[i]
	}
	return nodes
}

// checkRoom checks that no node has more on it than it can hold.
func (s *story) checkRoom() {
	s.Helper()
	var nodes []*corev1.Node
	for _, node := range s.nodes() {
		nodes = append(nodes, node)
	}
	ended := func(pod *corev1.Pod) bool {
		return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	}
	if wrong := workload.Overfull(nodes, slices.DeleteFunc(s.pods.Pods(), ended)); wrong != "" {
		s.Error(wrong)
	}
}

// events are those of the story's namespace.
func (s *story) events() []eventsv1.Event {
	s.Helper()
	list, err := s.admin.EventsV1().Events(namespace).List(s.ctx, metav1.ListOptions{})
	s.must(err)
	return list.Items
}

// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/controlplane/programs"
	"berth.dev/tests/internal/daemon"
	"berth.dev/tests/internal/daemon/workload"
)

// stopShared stops the control plane, if a test has started it.
var stopShared = func() error { return nil }

// cluster starts the control plane that all pages share, with what the pages speak of: nodes,
// namespaces, Prometheus's service account, the Prometheus operator's kinds.
var cluster = sync.OnceValues(func() (*controlplane.ControlPlane, error) {
	ctx := context.Background()
	c, err := controlplane.Start(ctx, controlplane.Options{})
	if err != nil {
		return nil, err
	}
	stopShared = c.Stop
	return c, furnish(ctx, c)
})

func TestMain(m *testing.M) {
	code := m.Run()
	if err := stopShared(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func furnish(ctx context.Context, c *controlplane.ControlPlane) error {
	admin := c.Client(controlplane.Admin)
	for i := range 3 {
		node := workload.Node(fmt.Sprintf("node-%d", i), workload.NodeLabel("topology.kubernetes.io/zone", "east"))
		if i == 0 {
			node = workload.Node("node-0", workload.NodeLabel("topology.kubernetes.io/zone", "west"))
		}
		if err := workload.CreateNodes(ctx, admin, node); err != nil {
			return err
		}
	}
	for _, namespace := range []string{"shop", "monitoring"} {
		if err := workload.CreateNamespace(ctx, admin, namespace); err != nil {
			return err
		}
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "prometheus"}}
	if _, err := admin.CoreV1().ServiceAccounts("monitoring").Create(ctx, account, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create the service account of Prometheus: %w", err)
	}
	return defineOperatorKinds(ctx, c)
}

// createPods makes the pending pods that the pages speak of, in place of those that the page before
// has left: two that fit, and default/web, which no node takes.
func (s *scene) createPods() {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), 30*time.Second)
	defer cancel()
	admin := s.cluster.Client(controlplane.Admin)
	for _, namespace := range []string{"shop", "default"} {
		s.must(workload.DeletePods(ctx, admin, namespace))
	}
	create := func(namespace string, pod *corev1.Pod) {
		s.Helper()
		s.must(workload.CreatePods(ctx, admin, namespace, 1, func(int) *corev1.Pod { return pod }))
	}
	create("shop", workload.Pod("web-3"))
	create("shop", workload.Pod("web-4"))
	create("default", workload.Pod("web", workload.NodeSelector("disk", "none")))
}

// operatorKind is a kind of the Prometheus operator's that accepts everything.
const operatorKind = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]ss.monitoring.coreos.com}
spec:
  group: monitoring.coreos.com
  names: {kind: %[2]s, plural: %[1]ss}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

func defineOperatorKinds(ctx context.Context, c *controlplane.ControlPlane) error {
	for _, kind := range []string{"ServiceMonitor", "PrometheusRule"} {
		file := filepath.Join(c.Dir, kind+".yaml")
		text := fmt.Sprintf(operatorKind, strings.ToLower(kind), kind)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return err
		}
		if _, err := c.Kubectl(ctx, controlplane.Admin, "apply", "-f", file); err != nil {
			return err
		}
		_, err := c.Kubectl(ctx, controlplane.Admin, "wait", "--for=condition=Established", "--timeout=30s", "-f", file)
		if err != nil {
			return err
		}
	}
	return nil
}

// scene is where the commands of one page run: a folder that holds links to what a checkout holds, a
// home whose kubeconfig is the admin's, and berth, also as ./dev berth, and kubectl on the path.
type scene struct {
	*testing.T
	cluster     *controlplane.ControlPlane
	program     daemon.Program
	checkout    string
	programs    string // first on the path
	host        string // stands for /etc/kubernetes and /tmp
	pidFile     string // of the daemon that was started last
	port        string
	environment []string
	replace     *strings.Replacer
	printed     string // by the block that ran last
}

// liveManifest is the static pod that a scene's host has.
const liveManifest = "kind: Pod # kube-scheduler's\n"

// berthScript stands for berth on the path: a daemon that names no port gets one of its own, and
// leaves its process id.
const berthScript = `#!/bin/sh
echo $$ >%[3]q
if [ "$1" = run ]; then shift; exec %[1]q run --secure-port=%[2]s "$@"; fi
exec %[1]q "$@"
`

// devScript stands for ./dev, whose verb berth builds the program and runs it.
const devScript = `#!/bin/sh
[ "$1" = berth ] || { echo "the scene has no ./dev $1" >&2; exit 1; }
shift
exec berth "$@"
`

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{T: t, checkout: t.TempDir(), port: freePort(t)}
	var err error
	s.program, err = daemon.Berth("")
	s.must(err)
	s.cluster, err = cluster()
	s.must(err)
	s.createPods()

	entries, err := filepath.Abs(root)
	s.must(err)
	names, err := os.ReadDir(entries)
	s.must(err)
	for _, name := range names {
		if name.Name() != "dev" {
			s.must(os.Symlink(filepath.Join(entries, name.Name()), filepath.Join(s.checkout, name.Name())))
		}
	}
	s.must(os.WriteFile(filepath.Join(s.checkout, "dev"), []byte(devScript), 0o755))

	home := t.TempDir()
	s.programs, s.host = t.TempDir(), t.TempDir()
	s.pidFile = filepath.Join(s.programs, "pid")
	s.must(os.WriteFile(filepath.Join(s.programs, "berth"), fmt.Appendf(nil, berthScript, s.program.Path, s.port, s.pidFile), 0o755))
	s.must(os.Symlink(s.cluster.Binary(programs.Kubectl), filepath.Join(s.programs, "kubectl")))
	s.must(os.Mkdir(filepath.Join(home, ".kube"), 0o700))
	kubeconfig, err := os.ReadFile(s.cluster.Kubeconfig(controlplane.Admin))
	s.must(err)
	s.must(os.WriteFile(filepath.Join(home, ".kube", "config"), kubeconfig, 0o600))
	s.must(os.Mkdir(filepath.Join(s.host, "manifests"), 0o700))
	for _, file := range []string{"manifests/kube-scheduler.yaml", "kube-scheduler.before"} {
		s.must(os.WriteFile(filepath.Join(s.host, file), []byte(liveManifest), 0o600))
	}

	s.environment = []string{"HOME=" + home, "PATH=" + s.programs + ":" + os.Getenv("PATH"), "LANG=C.UTF-8"}
	// What a machine that runs tests has only one of.
	s.replace = strings.NewReplacer(
		"10259", s.port,
		"/etc/kubernetes/", s.host+"/",
		"/tmp/", s.host+"/",
	)
	return s
}

func (s *scene) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// write puts a file into the folder, never through one of its links into the real checkout.
func (s *scene) write(name, text string) {
	s.Helper()
	file := filepath.Join(s.checkout, name)
	if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
		s.Fatal(err)
	}
	s.must(os.WriteFile(file, []byte(text), 0o644))
}

// read is what a file of the host holds.
func (s *scene) read(name string) string {
	s.Helper()
	text, err := os.ReadFile(filepath.Join(s.host, name))
	s.must(err)
	return string(text)
}

func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	return port
}

// arrangements are what some pages take for granted besides.
var arrangements = map[string]func(s *scene){
	"docs/endpoints.md": (*scene).startBerth,
}

// startBerth starts a daemon that serves on the scene's port.
func (s *scene) startBerth() {
	s.Helper()
	kubeconfig := s.cluster.Kubeconfig(controlplane.Berth)
	running, err := daemon.Start(s.program, daemon.Options{
		Kubeconfig: kubeconfig,
		Dir:        s.TempDir(),
		Args: []string{
			"--bind-address=127.0.0.1", "--secure-port=" + s.port,
			"--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig,
		},
	})
	s.must(err)
	s.Cleanup(func() {
		if err := running.Stop(); err != nil {
			s.Error(err)
		}
	})
	ctx, cancel := context.WithTimeout(s.Context(), 30*time.Second)
	defer cancel()
	s.must(running.AwaitLog(ctx, func(log string) bool { return strings.Contains(log, "Serving securely") }))
}

// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"

	"k8s.io/client-go/kubernetes"

	"berth.dev/tests/controlplane/programs"
)

// Options says what a control plane consists of, besides etcd and the API server.
type Options struct {
	// Dir holds everything the control plane writes. If it held one before, that is stopped and its
	// ports, certificates and data are used again. Empty: a temporary folder, which Stop removes.
	Dir string

	// ControllerManager runs DefaultControllers, or those named in Controllers.
	ControllerManager bool
	Controllers       []string

	// NodeLifecycle lets nodes be tainted by their conditions, and pods evicted from them, as in
	// production. It needs ControllerManager, and Kwok or something else that makes nodes Ready.
	NodeLifecycle bool

	// Kwok plays the kubelet of every node.
	Kwok bool

	// Scheduler runs kube-scheduler, with its default configuration if SchedulerConfig is empty.
	Scheduler       bool
	SchedulerConfig string

	// More flags, such as --feature-gates. They win over the built-in ones.
	APIServerArgs         []string
	ControllerManagerArgs []string

	// AuditUsers are those, by the names that the API server has for them, of whom the audit log has
	// every request, not only those to bind a pod.
	AuditUsers []string

	// Detached lets the processes outlive this one; Down stops them.
	Detached bool

	// Programs are those that are built first if the cache lacks them. Nil: all.
	Programs []string

	// Progress gets how far a build is. Nil: standard error.
	Progress io.Writer
}

// ControlPlane is one running control plane. Its methods may be called from any goroutine; those that
// start or stop something, one at a time.
type ControlPlane struct {
	// Dir holds the kubeconfigs, logs/, audit.log, pki/ and all data.
	Dir string

	options  Options
	binaries programs.Binaries
	pki      pki
	tokens   map[User]string
	clients  map[User]kubernetes.Interface

	mu        sync.Mutex
	state     state
	processes []*Process // in the order in which they were started
}

// Start brings a control plane up and returns when all of it is ready. It builds the programs first
// if the cache lacks them, which takes minutes.
func Start(ctx context.Context, options Options) (*ControlPlane, error) {
	if options.NodeLifecycle && !options.ControllerManager {
		return nil, errors.New("start the control plane: NodeLifecycle needs ControllerManager")
	}
	if options.Progress == nil {
		options.Progress = os.Stderr
	}
	binaries, err := programs.Build(ctx, options.Progress, options.Programs...)
	if err != nil {
		return nil, err
	}
	c := &ControlPlane{options: options, binaries: binaries}
	if err := c.prepare(); err != nil {
		return nil, fmt.Errorf("prepare the control plane: %w", err)
	}
	if err := c.startAll(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start the control plane: %w", err), c.Stop())
	}
	return c, nil
}

// prepare makes the folder, ports, certificates, tokens and configuration files.
func (c *ControlPlane) prepare() error {
	var err error
	if c.options.Dir == "" {
		c.Dir, err = os.MkdirTemp("", "berth-controlplane-")
	} else {
		c.Dir, err = filepath.Abs(c.options.Dir)
	}
	if err != nil {
		return err
	}
	for _, dir := range []string{"logs", "work"} {
		if err := os.MkdirAll(c.path(dir), 0o755); err != nil {
			return err
		}
	}
	if err := Down(c.Dir); err != nil {
		return err
	}
	if c.state, err = readState(c.Dir); err != nil {
		return err
	}
	if err := c.choosePorts(); err != nil {
		return err
	}
	c.pki = pki{dir: c.path("pki")}
	if err := c.pki.create(); err != nil {
		return err
	}
	if c.tokens, err = createTokens(c.path("tokens.csv")); err != nil {
		return err
	}
	if err := os.WriteFile(c.path("audit-policy.yaml"), []byte(auditPolicy(c.options.AuditUsers)), 0o644); err != nil {
		return err
	}
	if err := c.writeKubeconfigs(); err != nil {
		return err
	}
	return c.makeClients()
}

func (c *ControlPlane) choosePorts() error {
	needed := []string{programs.Etcd, "etcd-peer", programs.APIServer, programs.ControllerManager, programs.Scheduler, programs.Kwok}
	if len(c.state.Ports) == len(needed) {
		return nil
	}
	ports, err := pickPorts(len(needed))
	if err != nil {
		return err
	}
	for i, program := range needed {
		c.state.Ports[program] = ports[i]
	}
	return c.state.write(c.Dir)
}

func (c *ControlPlane) makeClients() error {
	c.clients = map[User]kubernetes.Interface{}
	for _, u := range users {
		config, err := c.RESTConfig(u.User)
		if err != nil {
			return err
		}
		if c.clients[u.User], err = kubernetes.NewForConfig(config); err != nil {
			return fmt.Errorf("make the client of %s: %w", u.User, err)
		}
	}
	return nil
}

func (c *ControlPlane) startAll(ctx context.Context) error {
	if err := c.startEtcd(ctx); err != nil {
		return err
	}
	if err := c.StartAPIServer(ctx); err != nil {
		return err
	}
	if err := c.grantBerth(ctx); err != nil {
		return err
	}
	var started []*Process
	if c.options.ControllerManager {
		p, err := c.run(c.controllerManagerLaunch(c.controllersToRun()))
		if err != nil {
			return err
		}
		started = append(started, p)
	}
	if c.options.Kwok {
		p, err := c.run(c.kwokLaunch())
		if err != nil {
			return err
		}
		started = append(started, p)
	}
	for _, p := range started {
		if err := c.awaitHTTPS(ctx, p, "/healthz"); err != nil {
			return err
		}
	}
	if c.options.Scheduler {
		if _, err := c.StartScheduler(ctx, c.options.SchedulerConfig); err != nil {
			return err
		}
	}
	return nil
}

// run starts a process and notes it in the state.
func (c *ControlPlane) run(l launch) (*Process, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, err := l.start(c.path("logs"))
	if err != nil {
		return nil, err
	}
	kept := c.processes[:0]
	c.state.Processes = nil
	for _, other := range append(c.processes, p) {
		if ticks := startTicks(other.pid); ticks != "" {
			kept = append(kept, other)
			c.state.Processes = append(c.state.Processes, processRecord{Name: other.name, PID: other.pid, Started: ticks})
		}
	}
	c.processes = kept
	return p, c.state.write(c.Dir)
}

// Stop ends every process, the last started first, and removes the folder if it was temporary.
func (c *ControlPlane) Stop() error {
	c.mu.Lock()
	processes := c.processes
	c.processes = nil
	c.mu.Unlock()
	signal := syscall.SIGTERM
	if c.options.Dir == "" {
		signal = syscall.SIGKILL // the data is not read again
	}
	for i := len(processes) - 1; i >= 0; i-- {
		processes[i].end(signal)
	}
	if c.options.Dir == "" {
		return os.RemoveAll(c.Dir)
	}
	return Down(c.Dir)
}

// Process is the running process of that name (programs.APIServer, programs.Etcd, ...), or nil.
func (c *ControlPlane) Process(name string) *Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.processes {
		if p.name == name && startTicks(p.pid) != "" {
			return p
		}
	}
	return nil
}

// StartControllers runs these controllers on a control plane that was started without any, and waits until they are
// healthy. Pods still need no service account.
func (c *ControlPlane) StartControllers(ctx context.Context, names ...string) (*Process, error) {
	if c.Process(programs.ControllerManager) != nil {
		return nil, errors.New("the controller manager runs already")
	}
	p, err := c.run(c.controllerManagerLaunch(names))
	if err != nil {
		return nil, err
	}
	return p, c.awaitHTTPS(ctx, p, "/healthz")
}

// StartAPIServer starts the API server, on the same port as ever, and waits for /readyz.
func (c *ControlPlane) StartAPIServer(ctx context.Context) error {
	if c.Process(programs.APIServer) != nil {
		return errors.New("the API server runs already")
	}
	p, err := c.run(c.apiServerLaunch())
	if err != nil {
		return err
	}
	return c.awaitHTTPS(ctx, p, "/readyz")
}

// StopAPIServer ends the API server in its orderly way: requests under way are answered.
func (c *ControlPlane) StopAPIServer() {
	if p := c.Process(programs.APIServer); p != nil {
		p.Stop()
	}
}

// KillAPIServer ends the API server as a crash would.
func (c *ControlPlane) KillAPIServer() {
	if p := c.Process(programs.APIServer); p != nil {
		p.Kill()
	}
}

// RestartAPIServer stops the API server in its orderly way and starts it again.
func (c *ControlPlane) RestartAPIServer(ctx context.Context) error {
	c.StopAPIServer()
	return c.StartAPIServer(ctx)
}

// URL is where the API server listens.
func (c *ControlPlane) URL() string { return loopback(c.state.Ports[programs.APIServer]) }

// CAFile is the certificate that signed every server's.
func (c *ControlPlane) CAFile() string { return c.pki.cert(caName) }

// AuditLog is the file into which the API server writes each binding, and what Options.AuditUsers ask.
func (c *ControlPlane) AuditLog() string { return c.path("audit.log") }

// HasControllers says whether it runs kube-controller-manager.
func (c *ControlPlane) HasControllers() bool { return c.options.ControllerManager }

// Binary is the file of a program, by its constant.
func (c *ControlPlane) Binary(program string) string { return c.binaries.Path(program) }

// Kubeconfig is the file with which the user comes in by token. With "-cert" behind the user's name
// it is the file with which the same user comes in by client certificate.
func (c *ControlPlane) Kubeconfig(user User) string { return c.path(string(user) + ".kubeconfig") }

// Token is what the user's kubeconfig authenticates with.
func (c *ControlPlane) Token(user User) string { return c.tokens[user] }

// Client is the user's client, without a rate limit.
func (c *ControlPlane) Client(user User) kubernetes.Interface {
	client, ok := c.clients[user]
	if !ok {
		panic(fmt.Sprintf("controlplane: no user %q", user))
	}
	return client
}

// Kubectl runs kubectl as the user and returns what it printed, errors included.
func (c *ControlPlane) Kubectl(ctx context.Context, user User, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, c.Binary(programs.Kubectl), args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.Kubeconfig(user), "KUBECACHEDIR="+c.path("work", programs.Kubectl))
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("kubectl %v: %w\n%s", args, err, out)
	}
	return string(out), nil
}

func (c *ControlPlane) path(parts ...string) string {
	return filepath.Join(append([]string{c.Dir}, parts...)...)
}

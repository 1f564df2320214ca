// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/opencontainers/runtime-spec/specs-go"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/tests/controlplane"
)

// serviceAccountFolder is where a pod finds its credentials.
const serviceAccountFolder = "/var/run/secrets/kubernetes.io/serviceaccount"

// container is the one container of a Deployment's pod, as a kubelet would run it from an unpacked image. The only
// liberties: it shares the machine's network, where the control plane is, and serves on a free port.
type container struct {
	name     string
	root     string // the unpacked image
	args     []string
	env      []string
	uid, gid uint32
	memory   int64             // its limit
	mounts   map[string]string // folders of this machine by their path inside, all read-only
	port     int
}

// containerOf reads the Deployment from the API server, and makes what its pod mounts.
func containerOf(t *testing.T, namespace, deployment, root string, image *v1.Config) container {
	t.Helper()
	admin := shared.Client(controlplane.Admin)
	found, err := admin.AppsV1().Deployments(namespace).Get(t.Context(), deployment, metav1.GetOptions{})
	must(t, err)
	pod := found.Spec.Template.Spec
	described := pod.Containers[0]
	c := container{name: deployment, root: root, mounts: map[string]string{}, port: freePort(t)}
	c.args = append(slices.Clone(image.Entrypoint), described.Args...)
	port := slices.IndexFunc(c.args, func(arg string) bool { return strings.HasPrefix(arg, "--secure-port=") })
	if port < 0 {
		t.Fatalf("the Deployment does not say its port: %q", c.args)
	}
	c.args[port] = fmt.Sprintf("--secure-port=%d", c.port)
	host, apiPort, _ := strings.Cut(strings.TrimPrefix(shared.URL(), "https://"), ":")
	c.env = append(slices.Clone(image.Env), "KUBERNETES_SERVICE_HOST="+host, "KUBERNETES_SERVICE_PORT="+apiPort)
	c.memory = described.Resources.Limits.Memory().Value()
	c.secure(t, pod.SecurityContext, described.SecurityContext)

	c.mounts[serviceAccountFolder] = credentials(t, namespace, pod.ServiceAccountName)
	for _, mount := range described.VolumeMounts {
		at := slices.IndexFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == mount.Name })
		if at < 0 || pod.Volumes[at].ConfigMap == nil || !mount.ReadOnly {
			t.Fatalf("volume %s is no ConfigMap mounted read-only", mount.Name)
		}
		data, err := admin.CoreV1().ConfigMaps(namespace).Get(t.Context(), pod.Volumes[at].ConfigMap.Name, metav1.GetOptions{})
		must(t, err)
		c.mounts[mount.MountPath] = folder(t, data.Data)
	}
	return c
}

// secure takes over the manifest's security contexts, and refuses those that allow more than Berth needs.
func (c *container) secure(t *testing.T, pod *corev1.PodSecurityContext, own *corev1.SecurityContext) {
	t.Helper()
	if pod == nil || own == nil || pod.RunAsUser == nil || pod.RunAsGroup == nil || *pod.RunAsUser == 0 || *pod.RunAsGroup == 0 ||
		!*pod.RunAsNonRoot || *own.AllowPrivilegeEscalation || !*own.ReadOnlyRootFilesystem ||
		own.Capabilities == nil || !slices.Contains(own.Capabilities.Drop, "ALL") || len(own.Capabilities.Add) > 0 {
		t.Fatalf("the Deployment asks for more than it needs: %v, %v", pod, own)
	}
	c.uid, c.gid = uint32(*pod.RunAsUser), uint32(*pod.RunAsGroup)
}

// credentials are what the kubelet puts into a pod of the service account.
func credentials(t *testing.T, namespace, account string) string {
	t.Helper()
	hour := int64(3600)
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &hour}}
	answer, err := shared.Client(controlplane.Admin).CoreV1().ServiceAccounts(namespace).
		CreateToken(t.Context(), account, request, metav1.CreateOptions{})
	must(t, err)
	ca, err := os.ReadFile(shared.CAFile())
	must(t, err)
	return folder(t, map[string]string{"token": answer.Status.Token, "ca.crt": string(ca), "namespace": namespace})
}

// folder holds the files, for every user to read.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := sharedDir(t)
	for name, text := range files {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	return dir
}

// sharedDir is a temporary folder that other users can enter.
func sharedDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	must(t, os.Chmod(filepath.Dir(dir), 0o755))
	must(t, os.Chmod(dir, 0o755))
	return dir
}

// containerRuntime is a way to run a container.
type containerRuntime struct {
	name  string
	start func(*testing.T, container) *exec.Cmd
}

// runtimes are those that this machine has and lets run.
func runtimes(t *testing.T) []containerRuntime {
	t.Helper()
	var usable []containerRuntime
	for _, r := range []containerRuntime{{"runc", runc}, {"bwrap", bubblewrap}} {
		if _, err := exec.LookPath(r.name); err != nil {
			t.Logf("%s is not installed", r.name)
		} else if r.name == "runc" && os.Getuid() != 0 {
			t.Log("runc needs root")
		} else {
			usable = append(usable, r)
		}
	}
	if len(usable) == 0 {
		t.Fatal("neither runc nor bwrap can run the image here")
	}
	return usable
}

// runc runs it as a container runtime does: each right is named in an OCI configuration.
func runc(t *testing.T, c container) *exec.Cmd {
	t.Helper()
	dir := t.TempDir()
	id := fmt.Sprintf("berth-%d-%s", os.Getpid(), filepath.Base(filepath.Dir(dir)))
	spec := specs.Spec{
		Version: "1.0.2",
		Root:    &specs.Root{Path: c.root, Readonly: true},
		Process: &specs.Process{
			User: specs.User{UID: c.uid, GID: c.gid}, Args: c.args, Env: c.env, Cwd: "/",
			NoNewPrivileges: true, Capabilities: &specs.LinuxCapabilities{},
		},
		Mounts: []specs.Mount{
			{Destination: "/proc", Type: "proc", Source: "proc"},
			{Destination: "/dev", Type: "tmpfs", Source: "tmpfs", Options: []string{"nosuid", "strictatime", "mode=755"}},
		},
		Linux: &specs.Linux{
			Namespaces:    []specs.LinuxNamespace{{Type: specs.PIDNamespace}, {Type: specs.IPCNamespace}, {Type: specs.UTSNamespace}, {Type: specs.MountNamespace}},
			Resources:     &specs.LinuxResources{Memory: &specs.LinuxMemory{Limit: &c.memory}},
			MaskedPaths:   []string{"/proc/kcore", "/proc/keys", "/proc/timer_list"},
			ReadonlyPaths: []string{"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"},
		},
	}
	for to, from := range c.mounts {
		spec.Mounts = append(spec.Mounts, specs.Mount{Destination: to, Type: "bind", Source: from, Options: []string{"rbind", "ro"}})
	}
	text, err := json.Marshal(spec)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "config.json"), text, 0o644))
	t.Cleanup(func() { _ = exec.Command("runc", "delete", "--force", id).Run() })
	return exec.Command("runc", "run", "--bundle", dir, id)
}

// bubblewrap runs it where there is no root or no runtime: by user namespaces.
func bubblewrap(t *testing.T, c container) *exec.Cmd {
	t.Helper()
	args := []string{
		"--ro-bind", c.root, "/", "--proc", "/proc", "--dev", "/dev", "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts",
		"--uid", fmt.Sprint(c.uid), "--gid", fmt.Sprint(c.gid), "--cap-drop", "ALL", "--clearenv", "--die-with-parent",
	}
	for to, from := range c.mounts {
		args = append(args, "--ro-bind", from, to)
	}
	for _, variable := range c.env {
		name, value, _ := strings.Cut(variable, "=")
		args = append(args, "--setenv", name, value)
	}
	command := exec.Command("bwrap", append(append(args, "--"), c.args...)...)
	command.SysProcAttr = &syscall.SysProcAttr{}
	if os.Getuid() == 0 {
		command.SysProcAttr.Credential = &syscall.Credential{Uid: c.uid, Gid: c.gid}
	}
	return command
}

// run starts the container and ends it with the test, as the kubelet does.
func (r containerRuntime) run(t *testing.T, c container) {
	t.Helper()
	command := r.start(t, c)
	log := &bytes.Buffer{}
	command.Stdout, command.Stderr = log, log
	if command.SysProcAttr == nil {
		command.SysProcAttr = &syscall.SysProcAttr{}
	}
	command.SysProcAttr.Setpgid = true
	must(t, command.Start())
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	t.Cleanup(func() {
		// To berth itself: bwrap does not pass the signal on.
		for _, pid := range below(command.Process.Pid, "berth") {
			_ = syscall.Kill(pid, syscall.SIGTERM)
		}
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("%s: it ended with %v", r.name, err)
			}
		case <-time.After(30 * time.Second):
			_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
			t.Errorf("%s: it did not end when told to", r.name)
			<-ended
		}
		if t.Failed() || strings.Contains(log.String(), "forbidden") {
			t.Errorf("%s: its log:\n%s", r.name, log)
		}
	})
}

// below finds the processes of that name among a process's children and theirs.
func below(pid int, name string) (found []int) {
	// A file for each thread that may have started some.
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, file := range files {
		children, _ := os.ReadFile(file)
		for _, field := range strings.Fields(string(children)) {
			child, _ := strconv.Atoi(field)
			if comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", child)); strings.TrimSpace(string(comm)) == name {
				found = append(found, child)
			}
			found = append(found, below(child, name)...)
		}
	}
	return found
}

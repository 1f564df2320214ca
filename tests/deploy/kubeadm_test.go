// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	kubeadmapi "k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm"
	phase "k8s.io/kubernetes/cmd/kubeadm/app/phases/controlplane"
	"sigs.k8s.io/yaml"

	"berth.dev/tests/controlplane"
)

// kubeadmPod is the static pod that kubeadm writes for kube-scheduler.
func kubeadmPod(t *testing.T) corev1.Pod {
	t.Helper()
	config := &kubeadmapi.ClusterConfiguration{KubernetesVersion: "v1.37.1"}
	pod, ok := phase.GetStaticPodSpecs(config, &kubeadmapi.APIEndpoint{}, nil)["kube-scheduler"]
	if !ok {
		t.Fatal("kubeadm knows no kube-scheduler")
	}
	return pod
}

func TestTheStaticPodIsKubeadmsWithAnotherImage(t *testing.T) {
	var ours corev1.Pod
	must(t, yaml.UnmarshalStrict(kubectl(t, "kustomize", inDeploy("overlays", "kube-scheduler")), &ours))
	theirs := kubeadmPod(t)
	a, b := ours.Spec.Containers[0], theirs.Spec.Containers[0]
	slices.Sort(a.Command[1:])
	slices.Sort(b.Command[1:])
	for _, c := range []struct {
		what       string
		have, want any
	}{
		{"labels", ours.Labels, theirs.Labels},
		{"command", a.Command, b.Command},
		{"ports", a.Ports, b.Ports},
		{"startupProbe", a.StartupProbe, b.StartupProbe},
		{"livenessProbe", a.LivenessProbe, b.LivenessProbe},
		{"readinessProbe", a.ReadinessProbe, b.ReadinessProbe},
		{"resources", a.Resources, b.Resources},
		{"volumeMounts", a.VolumeMounts, b.VolumeMounts},
		{"volumes", ours.Spec.Volumes, theirs.Spec.Volumes},
		{"hostNetwork", ours.Spec.HostNetwork, theirs.Spec.HostNetwork},
		{"priority", ours.Spec.Priority, theirs.Spec.Priority},
		{"priorityClassName", ours.Spec.PriorityClassName, theirs.Spec.PriorityClassName},
		{"securityContext", ours.Spec.SecurityContext, theirs.Spec.SecurityContext},
	} {
		if !equality.Semantic.DeepEqual(c.have, c.want) {
			t.Errorf("%s: %+v, kubeadm has %+v", c.what, c.have, c.want)
		}
	}
}

func TestKubeadmsCommandLineStartsBerth(t *testing.T) {
	// The command line says nothing of the port, so it is the default one.
	if listener, err := net.Listen("tcp", "127.0.0.1:10259"); err != nil {
		t.Skip("another process has port 10259")
	} else {
		listener.Close()
	}
	dir := t.TempDir()
	must(t, os.Symlink(program.Path, filepath.Join(dir, "kube-scheduler")))
	args := kubeadmPod(t).Spec.Containers[0].Command
	for i := range args {
		// As in the pod, where a file of the host is under that name.
		args[i] = strings.Replace(args[i], "/etc/kubernetes/scheduler.conf", shared.Kubeconfig(controlplane.KubeScheduler), 1)
	}
	command := exec.Command(filepath.Join(dir, args[0]), args[1:]...)
	log, err := os.Create(filepath.Join(dir, "log"))
	must(t, err)
	defer log.Close()
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	must(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		if err := command.Wait(); err != nil {
			t.Errorf("it ended with %v", err)
		}
		if t.Failed() {
			text, _ := os.ReadFile(log.Name())
			t.Logf("%s", text)
		}
	})
	busy(t, "kubeadm", "default-scheduler")
	// As the kubelet asks: without credentials.
	for _, path := range []string{"/livez", "/readyz"} {
		waitFor(t, path, func() bool {
			response, err := anyCertificate.Get("https://127.0.0.1:10259" + path)
			if err != nil {
				return false
			}
			response.Body.Close()
			return response.StatusCode == http.StatusOK
		})
	}
}

// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/internal/daemon"
)

// kubectl runs it as the admin and returns what it prints. A warning, such as of a pod that the
// namespace's security level would refuse, is a failure.
func kubectl(t *testing.T, args ...string) []byte {
	t.Helper()
	out, err := shared.Kubectl(t.Context(), controlplane.Admin, args...)
	must(t, err)
	if strings.Contains(out, "Warning:") {
		t.Errorf("kubectl %s: %s", strings.Join(args, " "), out)
	}
	return []byte(out)
}

// serviceAccount writes a kubeconfig that holds nothing but a token of the shipped service account.
func serviceAccount(t *testing.T) (kubeconfig, token string) {
	t.Helper()
	return serviceAccountOf(t, shared)
}

func serviceAccountOf(t *testing.T, c *controlplane.ControlPlane) (kubeconfig, token string) {
	t.Helper()
	hour := int64(3600)
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &hour}}
	answer, err := c.Client(controlplane.Admin).CoreV1().ServiceAccounts(controlplane.BerthNamespace).
		CreateToken(t.Context(), controlplane.BerthServiceAccount, request, metav1.CreateOptions{})
	must(t, err)
	config := clientcmdapi.NewConfig()
	config.Clusters["c"] = &clientcmdapi.Cluster{Server: c.URL(), CertificateAuthority: c.CAFile()}
	config.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: answer.Status.Token}
	config.Contexts["c"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	config.CurrentContext = "c"
	kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	must(t, clientcmd.WriteToFile(*config, kubeconfig))
	return kubeconfig, answer.Status.Token
}

// replica is Berth as the Deployment runs it: with the shipped configuration, as the shipped service account and with its
// rights alone. It serves on the port. The base is applied.
func replica(t *testing.T) (options daemon.Options, port int) {
	t.Helper()
	config, err := os.ReadFile(inDeploy("base", "config.yaml"))
	must(t, err)
	kubeconfig, _ := serviceAccount(t)
	port = freePort(t)
	return daemon.Options{
		// In a pod the service account is found without a kubeconfig.
		Config:     strings.Replace(string(config), "clientConnection:\n", "clientConnection:\n  kubeconfig: "+kubeconfig+"\n", 1),
		Kubeconfig: kubeconfig,
		Dir:        t.TempDir(),
		Args: []string{
			"--leader-elect=true",
			"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port),
			"--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig,
		},
	}, port
}

// startShipped applies the base and runs one replica until the test's end.
func startShipped(t *testing.T) (running *daemon.Daemon, port int) {
	t.Helper()
	// Server-side, since the control plane made some of it already, in its own way.
	kubectl(t, "apply", "--server-side", "--force-conflicts", "-k", inDeploy("base"))
	options, port := replica(t)
	running, err := daemon.Start(program, options)
	must(t, err)
	t.Cleanup(func() {
		if err := running.Stop(); err != nil {
			t.Error(err)
		}
		for line := range strings.Lines(running.Log()) {
			if strings.Contains(line, "forbidden") {
				t.Errorf("it was refused something: %s", line)
			}
		}
		if t.Failed() {
			t.Log(running.Tail())
		}
	})
	return running, port
}

func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

func TestTheBaseAppliesAndItsServiceAccountMaySchedule(t *testing.T) {
	startShipped(t)
	busy(t, "base", "berth")
	admin := shared.Client(controlplane.Admin)
	lease, err := admin.CoordinationV1().Leases(controlplane.BerthNamespace).Get(t.Context(), "berth", metav1.GetOptions{})
	must(t, err)
	if lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "" {
		t.Error("the lease has no holder")
	}
	deployment, err := admin.AppsV1().Deployments(controlplane.BerthNamespace).Get(t.Context(), "berth", metav1.GetOptions{})
	must(t, err)
	if got := deployment.Spec.Template.Spec.SchedulerName; got != "default-scheduler" {
		t.Errorf("Berth's own pods are scheduled by %s", got)
	}
}

func TestTheSamplesAndTheOverlaysAreValid(t *testing.T) {
	for _, file := range []string{"pod.yaml", "deployment.yaml"} {
		kubectl(t, "apply", "--dry-run=server", "-f", inDeploy("samples", file))
	}
	manifest := filepath.Join(t.TempDir(), "kube-scheduler.yaml")
	must(t, os.WriteFile(manifest, kubectl(t, "kustomize", inDeploy("overlays", "kube-scheduler")), 0o644))
	kubectl(t, "apply", "--dry-run=server", "-f", manifest)
	for _, overlay := range []string{"capacity", "coscheduling", "load-aware", "numa", "relocation"} {
		kubectl(t, "apply", "--server-side", "--force-conflicts", "--dry-run=server", "-k", inDeploy("overlays", overlay))
	}
	// The operator's kinds are unknown to this API server.
	monitored := string(kubectl(t, "kustomize", inDeploy("overlays", "monitored")))
	for _, kind := range []string{"ServiceMonitor", "PrometheusRule", "Service", "Deployment"} {
		if !strings.Contains(monitored, "kind: "+kind+"\n") {
			t.Errorf("overlays/monitored has no %s", kind)
		}
	}
}

// waitFor polls what no watch tells.
func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	for !done() {
		select {
		case <-deadline:
			t.Fatalf("waited in vain for %s", what)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"berth.dev/tests/controlplane"
)

// kubeconfigOf names a server, and a token to show to it.
func (e *env) kubeconfigOf(server, token string) string {
	e.Helper()
	config := clientcmdapi.NewConfig()
	config.Clusters["c"] = &clientcmdapi.Cluster{Server: server, CertificateAuthority: shared.CAFile()}
	config.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: token}
	config.Contexts["c"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	config.CurrentContext = "c"
	file := filepath.Join(e.TempDir(), "kubeconfig")
	e.must(clientcmd.WriteToFile(*config, file))
	return file
}

func TestCommandsEndAtOnceWhereWaitingIsInVain(t *testing.T) {
	if program.Peer {
		t.Skip("kube-scheduler has no such commands")
	}
	e := newEnv(t)
	// Far less than the minute that a busy server has; without other load it is less than two seconds.
	const soon = 20 * time.Second
	cases := []struct{ name, kubeconfig, says string }{
		{"no rights", shared.Kubeconfig(controlplane.Nobody),
			"Missing rights, at the cluster scope: list pods, list nodes, list namespaces, list services, list replicationcontrollers, " +
				"list replicasets.apps, list statefulsets.apps, list poddisruptionbudgets.policy\n"},
		{"a wrong token", e.kubeconfigOf(shared.URL(), "made-up"), "You must be logged in to the server (Unauthorized)\n"},
		{"a closed port", e.kubeconfigOf("https://127.0.0.1:1", "any"),
			"The connection to the server 127.0.0.1:1 was refused - did you specify the right host or port?\n"},
	}
	for _, c := range cases {
		for _, command := range [][]string{{"explain"}, {"simulate"}, {"packing"}, {"plan", "--goal", "pending"}, {"dump"}, {"why", "web"}, {"ui"}} {
			began := time.Now()
			out, err := exec.CommandContext(e.ctx, program.Path, append(command, "--kubeconfig", c.kubeconfig)...).CombinedOutput()
			took := time.Since(began)
			var failed *exec.ExitError
			if !errors.As(err, &failed) || failed.ExitCode() != 2 || !strings.HasSuffix(string(out), c.says) || took > soon {
				e.Errorf("%s: berth %v took %s: %v\n%s", c.name, command, took, err, out)
			}
			e.Logf("%s: berth %v took %s", c.name, command, took.Round(time.Millisecond))
		}
	}
}

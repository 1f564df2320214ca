// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"berth.dev/tests/controlplane"
)

// kubeconfigOf names a server and who vouches for it, and a token to show to it.
func (e *env) kubeconfigOf(server string, authority []byte, token string) string {
	e.Helper()
	config := clientcmdapi.NewConfig()
	config.Clusters["c"] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: authority}
	config.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: token}
	config.Contexts["c"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	config.CurrentContext = "c"
	file := filepath.Join(e.TempDir(), "kubeconfig")
	e.must(clientcmd.WriteToFile(*config, file))
	return file
}

// counter passes requests on to the API server, and counts them.
type counter struct {
	*httptest.Server
	mutex sync.Mutex
	tries map[string]int // by method and path, since take()
}

func (e *env) newCounter() *counter {
	e.Helper()
	to, err := url.Parse(shared.URL())
	e.must(err)
	authority, err := os.ReadFile(shared.CAFile())
	e.must(err)
	known := x509.NewCertPool()
	known.AppendCertsFromPEM(authority)
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: known}}
	proxy.ErrorLog = log.New(io.Discard, "", 0) // of those that went away
	c := &counter{tries: map[string]int{}}
	c.Server = httptest.NewTLSServer(http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		c.mutex.Lock()
		c.tries[request.Method+" "+request.URL.Path]++
		c.mutex.Unlock()
		proxy.ServeHTTP(writer, request)
	}))
	e.Cleanup(c.Close)
	return c
}

func (c *counter) take() map[string]int {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	taken := c.tries
	c.tries = map[string]int{}
	return taken
}

func (c *counter) authority() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate().Raw})
}

func TestCommandsEndAtOnceWhereWaitingIsInVain(t *testing.T) {
	if program.Peer {
		t.Skip("kube-scheduler has no such commands")
	}
	e := newEnv(t)
	// Without other load it takes less than two seconds. On any machine: what is refused is asked for once, or a second time
	// while the other lists come, and not as often as the minute that a busy server has allows.
	const mostTries, soon = 2, 20 * time.Second
	server := e.newCounter()
	nobody, err := shared.RESTConfig(controlplane.Nobody)
	e.must(err)
	cases := []struct{ name, kubeconfig, says string }{
		{"no rights", e.kubeconfigOf(server.URL, server.authority(), nobody.BearerToken),
			"Missing rights, at the cluster scope: list pods, list nodes, list namespaces, list services, list replicationcontrollers, " +
				"list replicasets.apps, list statefulsets.apps, list poddisruptionbudgets.policy\n"},
		{"a wrong token", e.kubeconfigOf(server.URL, server.authority(), "made-up"), "You must be logged in to the server (Unauthorized)\n"},
		{"a closed port", e.kubeconfigOf("https://127.0.0.1:1", server.authority(), "any"),
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
			tries := server.take()
			if closed := c.name == "a closed port"; closed != (len(tries) == 0) {
				e.Errorf("%s: berth %v asked for %v", c.name, command, tries)
			}
			for path, times := range tries {
				if times > mostTries {
					e.Errorf("%s: berth %v asked %d times for %s", c.name, command, times, path)
				}
			}
			e.Logf("%s: berth %v took %s", c.name, command, took.Round(time.Millisecond))
		}
	}
}

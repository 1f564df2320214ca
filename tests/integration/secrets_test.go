// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"berth.dev/tests/controlplane"
)

func TestNoSecretIsTold(t *testing.T) {
	if program.Peer {
		t.Skip("kube-scheduler's /configz shows keys")
	}
	user, err := clientcmd.BuildConfigFromFlags("", shared.Kubeconfig(controlplane.Admin+"-cert"))
	if err != nil {
		t.Fatal(err)
	}
	key := base64.StdEncoding.EncodeToString(user.KeyData)
	config := fmt.Sprintf(`%s
extenders:
- urlPrefix: https://127.0.0.1:1/x
  filterVerb: filter
  enableHTTPS: true
  ignorable: true
  httpTimeout: 1s
  tlsConfig: {insecure: true, certData: %s, keyData: %s}
`, fast(), base64.StdEncoding.EncodeToString(user.CertData), key)
	e := serveWith(t, config, "--v=9")
	admin := tokenOf(e, controlplane.Admin)
	const foreign = "a-token-that-is-no-ones"

	code, body := e.get(e.client(), "/configz", admin)
	if code != http.StatusOK || !strings.Contains(body, base64.StdEncoding.EncodeToString([]byte("REDACTED"))) {
		e.Errorf("/configz: %d %s", code, body)
	}
	if code, _ := e.get(e.client(), "/metrics", foreign); code != http.StatusUnauthorized {
		e.Errorf("a foreign token gets %d", code)
	}
	e.must(e.daemon.Signal(syscall.SIGUSR2))
	e.must(e.daemon.AwaitLog(e.within(10*time.Second), says("Dump of scheduling queue")))
	told := body + e.daemon.Log()
	if !strings.Contains(told, "Using component config") {
		e.Error("the log does not tell the configuration")
	}
	for what, secret := range map[string]string{
		"the extender's key":           key,
		"a line of the extender's key": strings.Split(string(user.KeyData), "\n")[1],
		"a caller's token":             admin,
		"a token that is refused":      foreign,
		"the scheduler's own token":    tokenOf(e, controlplane.Berth),
	} {
		if strings.Contains(told, secret) {
			e.Errorf("%s is told", what)
		}
	}
}

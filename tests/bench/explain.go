// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"berth.dev/tests/controlplane"
)

// explainer asks a daemon about one pod after the other, without a pause, over one connection. It
// is a process of the lowest priority, so that what it costs is what answering costs.
type explainer struct {
	command *exec.Cmd
	codes   bytes.Buffer
}

// served is what a daemon is started with to be asked, and where.
func (b *bench) served() (port int, args []string, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, nil, err
	}
	defer listener.Close()
	port = listener.Addr().(*net.TCPAddr).Port
	kubeconfig := b.control.Kubeconfig(controlplane.Berth)
	return port, []string{"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port),
		"--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig}, nil
}

// explain begins with the pods that are decided last, and asks about all of them again and again.
func (b *bench) explain(ctx context.Context, port int, c crowd) (*explainer, error) {
	const laps = 10
	user, err := b.control.RESTConfig(controlplane.Admin)
	if err != nil {
		return nil, err
	}
	var config strings.Builder
	fmt.Fprintf(&config, "header = \"Authorization: Bearer %s\"\n", user.BearerToken)
	for range laps {
		for i := len(c.created) - 1; i >= 0; i-- {
			fmt.Fprintf(&config, "url = \"https://127.0.0.1:%d/debug/explain?pod=%s/%s\"\noutput = /dev/null\n", port, namespace, c.name(i))
		}
	}
	file := filepath.Join(b.dir, "explain.curl")
	if err := os.WriteFile(file, []byte(config.String()), 0o600); err != nil {
		return nil, err
	}
	const script = `until curl -skf -o /dev/null "$0"; do sleep 0.05; done
exec curl -sk --write-out '%{http_code}\n' --config "$1"`
	e := &explainer{command: exec.CommandContext(ctx, "nice", "-n", "19", "sh", "-c", script,
		fmt.Sprintf("https://127.0.0.1:%d/readyz", port), file)}
	e.command.Stdout = &e.codes
	return e, e.command.Start()
}

// stop ends the asking. answered: how many pods were explained; refused: all other answers, of which
// most are that a pod is not pending.
func (e *explainer) stop() (answered, refused int, err error) {
	_ = e.command.Process.Signal(syscall.SIGTERM)
	var exit *exec.ExitError
	if err := e.command.Wait(); err != nil && !errors.As(err, &exit) {
		return 0, 0, err
	}
	for code := range strings.FieldsSeq(e.codes.String()) {
		if code == "200" {
			answered++
		} else {
			refused++
		}
	}
	return answered, refused, nil
}

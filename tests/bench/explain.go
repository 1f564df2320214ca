// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"berth.dev/tests/controlplane"
)

// askCommand is the first argument of the process that asks.
const askCommand = "ask"

// explainer asks a daemon once about each pod that it is given, one after the other over one
// connection. It is a process of the lowest priority, so that what it costs is what answering costs.
type explainer struct {
	command *exec.Cmd
	names   io.WriteCloser
	pods    chan string
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

// explain starts an explainer of the daemon behind the port.
func (b *bench) explain(ctx context.Context, port int) (*explainer, error) {
	user, err := b.control.RESTConfig(controlplane.Admin)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	e := &explainer{
		command: exec.CommandContext(ctx, "nice", "-n", "19", self, askCommand, fmt.Sprintf("https://127.0.0.1:%d", port)),
		pods:    make(chan string, b.pods),
	}
	e.command.Stdout, e.command.Stderr = &e.codes, os.Stderr
	if e.names, err = e.command.StdinPipe(); err != nil {
		return nil, err
	}
	if err := e.command.Start(); err != nil {
		return nil, err
	}
	go func() {
		fmt.Fprintln(e.names, user.BearerToken)
		for pod := range e.pods {
			fmt.Fprintln(e.names, pod)
		}
	}()
	return e, nil
}

// ask never waits.
func (e *explainer) ask(pod string) { e.pods <- pod }

// stop ends the asking. answered: how many pods were explained; refused: all other answers, of which
// most are that a pod is not pending any more.
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

// ask is the process that asks: it reads a token and then names of pods, each on a line, and writes
// the code of each answer on another.
func ask(in io.Reader, out io.Writer, address string) error {
	// The daemon's certificate is its own.
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	lines := bufio.NewScanner(in)
	if !lines.Scan() {
		return errors.Join(errors.New("no token"), lines.Err())
	}
	token := lines.Text()
	get := func(path string) (int, error) {
		request, err := http.NewRequest(http.MethodGet, address+path, nil)
		if err != nil {
			return 0, err
		}
		request.Header.Set("Authorization", "Bearer "+token)
		response, err := client.Do(request)
		if err != nil {
			return 0, err
		}
		defer response.Body.Close()
		_, err = io.Copy(io.Discard, response.Body)
		return response.StatusCode, err
	}
	for code := 0; code != http.StatusOK; time.Sleep(50 * time.Millisecond) {
		code, _ = get("/readyz")
	}
	for lines.Scan() {
		code, err := get("/debug/explain?pod=" + namespace + "/" + lines.Text())
		if err != nil {
			return err
		}
		fmt.Fprintln(out, code)
	}
	return lines.Err()
}

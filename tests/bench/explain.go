// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
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

// explainer asks a daemon again and again why pods are pending, all of them at once. It is a process
// of the lowest priority, so that what it costs is what answering costs.
type explainer struct {
	command *exec.Cmd
	answers bytes.Buffer
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
	}
	e.command.Stdin = strings.NewReader(user.BearerToken + "\n")
	e.command.Stdout, e.command.Stderr = &e.answers, os.Stderr
	return e, e.command.Start()
}

// stop ends the asking. explained: how many pods were, each at least once; answers: how many answers
// that took.
func (e *explainer) stop() (explained, answers int, err error) {
	_ = e.command.Process.Signal(syscall.SIGTERM)
	var exit *exec.ExitError
	if err := e.command.Wait(); err != nil && !errors.As(err, &exit) {
		return 0, 0, err
	}
	for line := range strings.Lines(e.answers.String()) {
		var pods int
		if _, err := fmt.Sscan(line, &pods); err != nil {
			return 0, 0, fmt.Errorf("the asker wrote %q: %w", line, err)
		}
		explained += pods
		answers++
	}
	return explained, answers, nil
}

// askPeriod is how long the asker waits after an answer.
const askPeriod = 250 * time.Millisecond

// ask is the process that asks: it reads a token, and writes for each answer how many pods were
// explained for the first time.
func ask(in io.Reader, out io.Writer, address string) error {
	// The daemon's certificate is its own.
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	lines := bufio.NewScanner(in)
	if !lines.Scan() {
		return errors.Join(errors.New("no token"), lines.Err())
	}
	request, err := http.NewRequest(http.MethodGet, address+"/debug/explain", nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+lines.Text())
	known := map[string]bool{}
	for ; ; time.Sleep(askPeriod) {
		pods, err := explainedPods(client, request)
		if err != nil {
			continue // it has not started yet, or does not know all objects
		}
		before := len(known)
		for _, pod := range pods {
			known[pod] = true
		}
		fmt.Fprintln(out, len(known)-before)
	}
}

func explainedPods(client *http.Client, request *http.Request) ([]string, error) {
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("answered with %s", response.Status)
	}
	var document struct{ Groups []struct{ Pods []string } }
	if err := json.NewDecoder(response.Body).Decode(&document); err != nil {
		return nil, err
	}
	var pods []string
	for _, group := range document.Groups {
		pods = append(pods, group.Pods...)
	}
	return pods, nil
}

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
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/internal/daemon/workload"
)

// askCommand is the first argument of the process that asks.
const askCommand = "ask"

// explainer asks a daemon again and again why pods are pending, all of them at once. It is a process
// of the lowest priority, so that what it costs is what answering costs.
type explainer struct {
	command *exec.Cmd
	answers answers
}

// answers is what the asker writes. came is closed with the first.
type answers struct {
	text bytes.Buffer
	came chan struct{}
	once sync.Once
}

func (a *answers) Write(text []byte) (int, error) {
	defer a.once.Do(func() { close(a.came) })
	return a.text.Write(text)
}

// waitingNamespace holds the pods that fit nowhere.
const waitingNamespace = "waiting"

// createWaiting makes pods that fit nowhere, of twenty sorts, one for four that fit: they are what there
// is to explain.
func (b *bench) createWaiting(ctx context.Context) error {
	if err := workload.CreateNamespace(ctx, b.admin, waitingNamespace); err != nil {
		return err
	}
	return workload.CreatePods(ctx, b.admin, waitingNamespace, b.pods/4, func(i int) *corev1.Pod {
		return workload.Pod(fmt.Sprintf("waiting-%d", i), workload.Requests("cpu", fmt.Sprint(100+i%20)))
	})
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

// explain starts an explainer of the daemon, and waits for its first answer: the daemon makes what it
// answers from with the first question.
func (b *bench) explain(ctx context.Context, d process) (*explainer, error) {
	user, err := b.control.RESTConfig(controlplane.Admin)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	e := &explainer{
		command: exec.CommandContext(ctx, "nice", "-n", "19", self, askCommand, fmt.Sprintf("https://127.0.0.1:%d", d.port)),
		answers: answers{came: make(chan struct{})},
	}
	e.command.Stdin = strings.NewReader(user.BearerToken + "\n")
	e.command.Stdout, e.command.Stderr = &e.answers, os.Stderr
	if err := e.command.Start(); err != nil {
		return nil, err
	}
	err = d.await(ctx, func(ctx context.Context) error {
		select {
		case <-e.answers.came:
			return nil
		case <-ctx.Done():
			return fmt.Errorf("no answer: %w", context.Cause(ctx))
		}
	})
	if err != nil {
		_, _, _ = e.stop()
	}
	return e, err
}

// stop ends the asking. explained: how many pods were, each as often as it was, by so many answers; the
// first answer does not count.
func (e *explainer) stop() (explained, answers int, err error) {
	_ = e.command.Process.Signal(syscall.SIGTERM)
	var exit *exec.ExitError
	if err := e.command.Wait(); err != nil && !errors.As(err, &exit) {
		return 0, 0, err
	}
	_, lines, _ := strings.Cut(e.answers.text.String(), "\n")
	for line := range strings.Lines(lines) {
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
// explained.
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
	for ; ; time.Sleep(askPeriod) {
		pods, err := explainedPods(client, request)
		if err != nil {
			continue // it has not started yet, or does not know all objects
		}
		fmt.Fprintln(out, pods)
	}
}

// explainedPods asks once, and returns how many pods are explained.
func explainedPods(client *http.Client, request *http.Request) (int, error) {
	response, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("answered with %s", response.Status)
	}
	var document struct{ Groups []struct{ Pods []string } }
	if err := json.NewDecoder(response.Body).Decode(&document); err != nil {
		return 0, err
	}
	pods := 0
	for _, group := range document.Groups {
		pods += len(group.Pods)
	}
	return pods, nil
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"runtime"
	"strings"
	"syscall"

	"berth.dev/tests/daemon"
)

// page is a `berth ui` that runs.
type page struct {
	command *exec.Cmd
	address string // with the token
}

// openPage shows the address of a page on the cluster, once the page has been seen to have its
// nodes. It returns nil for kube-scheduler, which has no page.
func (s *show) openPage(ctx context.Context, program daemon.Program) (p *page, err error) {
	if program.Peer {
		return nil, nil
	}
	file, err := s.writeConfig()
	if err != nil {
		return nil, err
	}
	p = &page{command: exec.Command(program.Path, "ui", "--kubeconfig", s.cluster.daemonKubeconfig, "--config", file)}
	// It ends with the demo, or rather with the thread that starts it, which therefore stays. An
	// interrupt from the keyboard is the demo's to act on.
	runtime.LockOSThread()
	p.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	out, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.command.Start(); err != nil {
		return nil, fmt.Errorf("start berth ui: %w", err)
	}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return p, fmt.Errorf("berth ui printed no address: %w", err)
	}
	p.address = strings.TrimSpace(line)
	nodes, err := p.nodes(ctx)
	if err != nil {
		return p, err
	}
	if len(nodes) != len(s.nodes) {
		s.fault("the page shows %d nodes, want %d", len(nodes), len(s.nodes))
	}
	s.heading("The cluster in a browser: berth ui")
	s.line("  %s", s.bold(p.address))
	return p, nil
}

// nodes are the names of those that the page shows.
func (p *page) nodes(ctx context.Context) ([]string, error) {
	address, err := url.Parse(p.address)
	if err != nil {
		return nil, fmt.Errorf("berth ui printed %q: %w", p.address, err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address.Host+"/api/map", nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("X-Berth-Token", address.Query().Get("token"))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("ask the page: %w", err)
	}
	defer response.Body.Close()
	var document struct{ Nodes struct{ Name []string } }
	if err := json.NewDecoder(response.Body).Decode(&document); err != nil {
		return nil, fmt.Errorf("the page answers %s: %w", response.Status, err)
	}
	return document.Nodes.Name, nil
}

// close ends the page.
func (p *page) close() {
	_ = p.command.Process.Signal(syscall.SIGTERM)
	_ = p.command.Wait()
}

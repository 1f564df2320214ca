// SPDX-License-Identifier: Apache-2.0

package story

import (
	"bufio"
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
)

// Page is a `berth ui` that runs.
type Page struct {
	Address string // with the token
	command *exec.Cmd
}

// OpenPage starts a page and shows its address.
func (s *Story) OpenPage(berth Berth) (*Page, error) {
	p := &Page{command: exec.Command(berth.Path, slices.Concat([]string{"ui"}, berth.Of)...)}
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
	line, err := bufio.NewReader(out).ReadString('\n')
	if p.Address = strings.TrimSpace(line); err != nil || !strings.HasPrefix(p.Address, "http://") {
		p.Close()
		return nil, fmt.Errorf("berth ui printed %q for an address: %w", line, err)
	}
	s.Heading("The cluster in a browser (berth ui)")
	s.Line("  %s", s.Bold(p.Address))
	return p, nil
}

// Close ends the page.
func (p *Page) Close() {
	_ = p.command.Process.Signal(syscall.SIGTERM)
	_ = p.command.Wait()
}

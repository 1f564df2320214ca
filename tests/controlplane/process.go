// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"berth.dev/tests/internal/spawn"
)

// stopGrace is how long a process may take to end by itself before it is killed.
const stopGrace = 20 * time.Second

// Process is one running program of a control plane.
type Process struct {
	name   string
	pid    int
	port   int
	log    string
	exited chan struct{}
}

// Name is the program's name; a second process of the same program has a number behind it.
func (p *Process) Name() string { return p.name }

// PID is the process id.
func (p *Process) PID() int { return p.pid }

// Port is the loopback port on which the program serves: HTTPS, but for kwok.
func (p *Process) Port() int { return p.port }

// LogFile holds what the program printed.
func (p *Process) LogFile() string { return p.log }

// Exited is closed when the process has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Signal sends a signal, such as SIGSTOP, to the process.
func (p *Process) Signal(signal syscall.Signal) error {
	select {
	case <-p.exited:
		return fmt.Errorf("%s has ended", p.name)
	default:
		return syscall.Kill(p.pid, signal)
	}
}

// Stop ends the process as a node shutting down would: SIGTERM, and SIGKILL to one that lingers.
func (p *Process) Stop() { p.end(syscall.SIGTERM) }

// Kill ends the process at once, as a crash would.
func (p *Process) Kill() { p.end(syscall.SIGKILL) }

func (p *Process) end(signal syscall.Signal) {
	if p.Signal(signal) != nil {
		return
	}
	select {
	case <-p.exited:
	case <-time.After(stopGrace):
		_ = p.Signal(syscall.SIGKILL)
		<-p.exited
	}
}

// CPUTime is the time the process has spent on a CPU so far.
func (p *Process) CPUTime() (time.Duration, error) { return CPUTime(p.pid) }

// CPUTime is the user and system time that a process has used so far, in steps of 10 ms.
func CPUTime(pid int) (time.Duration, error) {
	fields, err := procStat(pid)
	if err != nil {
		return 0, err
	}
	var ticks int64
	for _, field := range []int{14, 15} { // utime, stime
		n, err := strconv.ParseInt(fields[field-3], 10, 64)
		if err != nil {
			return 0, fmt.Errorf("read the CPU time of process %d: %w", pid, err)
		}
		ticks += n
	}
	const ticksPerSecond = 100 // USER_HZ, which is 100 on every Linux that Go runs on
	return time.Duration(ticks) * time.Second / ticksPerSecond, nil
}

// procStat reads /proc/PID/stat from the third field on: those before it may hold spaces.
func procStat(pid int) ([]string, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil, fmt.Errorf("look at process %d: %w", pid, err)
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 20 {
		return nil, fmt.Errorf("look at process %d: /proc has too few fields", pid)
	}
	return fields, nil
}

// startTicks identifies a process together with its id, which the kernel reuses. It is "" for a
// process that has ended.
func startTicks(pid int) string {
	fields, err := procStat(pid)
	if err != nil || fields[0] == "Z" {
		return ""
	}
	return fields[22-3]
}

// launch describes a process to be started.
type launch struct {
	name     string
	port     int
	program  string
	args     []string
	env      []string // added to a nearly empty environment
	dir      string
	detached bool // outlives this process
}

// start runs the program in a process group of its own, with its output appended to a log.
func (l launch) start(logDir string) (*Process, error) {
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of %s: %w", l.name, err)
	}
	logName := filepath.Join(logDir, l.name+".log")
	log, err := os.OpenFile(logName, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the log of %s: %w", l.name, err)
	}
	defer log.Close()
	cmd := exec.Command(l.program, l.args...)
	cmd.Dir = l.dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + l.dir}, l.env...)
	cmd.Stdout, cmd.Stderr = log, log
	if l.detached {
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	} else {
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	}
	if err := spawn.Start(cmd); err != nil {
		return nil, fmt.Errorf("start %s: %w", l.name, err)
	}
	process := &Process{name: l.name, pid: cmd.Process.Pid, port: l.port, log: logName, exited: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // how it ended is in its log; waiting also takes the zombie away
		close(process.exited)
	}()
	return process, nil
}

// await polls until ready says yes. It gives up when the process ends or the context does, and then
// shows the end of the log.
func (p *Process) await(ctx context.Context, ready func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for {
		attempt, done := context.WithTimeout(ctx, 5*time.Second)
		err := ready(attempt)
		done()
		if err == nil {
			return nil
		}
		select {
		case <-p.exited:
			err = errors.New("it ended")
		case <-ctx.Done():
			err = fmt.Errorf("%w, last answer: %w", context.Cause(ctx), err)
		case <-time.After(20 * time.Millisecond):
			continue
		}
		return fmt.Errorf("%s did not become ready: %w\n%s", p.name, err, tail(p.log))
	}
}

// tail is the end of a log, for an error message.
func tail(file string) string {
	const limit = 3000
	text, _ := os.ReadFile(file)
	if len(text) > limit {
		text = text[len(text)-limit:]
	}
	return fmt.Sprintf("the end of %s:\n%s", file, text)
}

// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"strings"
	"sync"
	"syscall"
	"time"

	"berth.dev/tests/internal/daemon"
	"berth.dev/tests/internal/machine"
)

// keeper runs a daemon as a kubelet does: what ends is started again. Only a leader that has lost its lease may end by
// itself. Its methods may be called from any goroutine.
type keeper struct {
	program daemon.Program
	options daemon.Options
	problem func(text string)
	mute    bool // its log may lack lines

	mu      sync.Mutex
	now     *daemon.Daemon
	starts  int
	killed  bool // the end of `now` is meant
	closing bool
	over    chan struct{}
	kills   int
	lost    int // leases
}

func (k *keeper) start() error {
	k.over = make(chan struct{})
	if err := k.startOne(); err != nil {
		return err
	}
	go k.keep()
	return nil
}

func (k *keeper) startOne() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	options := k.options
	k.starts++
	options.Name = fmt.Sprintf("%s-%d", options.Name, k.starts)
	d, err := daemon.Start(k.program, options)
	if err == nil {
		k.now, k.killed = d, false
	}
	return err
}

func (k *keeper) keep() {
	defer close(k.over)
	for {
		d := k.daemon()
		<-d.Exited()
		k.mu.Lock()
		closing, killed := k.closing, k.killed
		k.mu.Unlock()
		switch {
		case closing:
			return
		case killed:
		case k.options.LeaderElect && d.ExitCode() == 1 && (k.mute || strings.Contains(d.Log(), "Leaderelection lost")):
			k.mu.Lock()
			k.lost++
			k.mu.Unlock()
		default:
			k.problem(fmt.Sprintf("the daemon ended by itself with code %d\n%s", d.ExitCode(), d.Tail()))
			return
		}
		if err := k.startOne(); err != nil {
			k.problem(err.Error())
			return
		}
	}
}

func (k *keeper) daemon() *daemon.Daemon {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.now
}

// kill ends the daemon as a crash would.
func (k *keeper) kill() {
	k.mu.Lock()
	d := k.now
	k.killed = true
	k.kills++
	k.mu.Unlock()
	_ = d.Signal(syscall.SIGKILL)
}

// pause stops the daemon for a while, as a machine does that is suspended: all clocks jump for it.
func (k *keeper) pause(length time.Duration) {
	d := k.daemon()
	_ = d.Signal(syscall.SIGSTOP)
	time.Sleep(length)
	_ = d.Signal(syscall.SIGCONT)
}

// stop ends it for good, in its orderly way.
func (k *keeper) stop() error {
	k.mu.Lock()
	k.closing = true
	d := k.now
	k.mu.Unlock()
	err := d.Stop()
	<-k.over
	return err
}

// abandon ends it for good if nothing else has: a run that failed does not stop its daemons.
func (k *keeper) abandon() {
	k.mu.Lock()
	k.closing = true
	d := k.now
	k.mu.Unlock()
	_ = d.Signal(syscall.SIGKILL)
	<-k.over
}

// restarted says whether it is still the process that was started first.
func (k *keeper) restarted() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.starts > 1
}

// footprint is what a process holds.
type footprint struct {
	resident             int64
	descriptors, threads int
}

func footprintOf(d *daemon.Daemon) footprint {
	return footprint{machine.ResidentMemory(d.PID()), machine.Descriptors(d.PID()), machine.Threads(d.PID())}
}

// spareConnections are those that a daemon without trouble may have more at the end than at the beginning: a few may be on
// their way, and over HTTP/1.1 each request of a burst takes one, which stays open for 2 minutes.
func (r *run) spareConnections() int {
	if r.schedule.http1 {
		return 40
	}
	return 8
}

// grown tells of growth that the work itself does not explain: a pod costs some kilobytes.
func (f footprint) grown(before footprint, connections int) string {
	const memory, threads = 32 << 20, 1
	switch {
	case f.resident > before.resident+memory:
		return fmt.Sprintf("it has %d MiB instead of %d", f.resident>>20, before.resident>>20)
	case f.descriptors > before.descriptors+connections:
		return fmt.Sprintf("it has %d descriptors instead of %d", f.descriptors, before.descriptors)
	case f.threads > before.threads+threads:
		return fmt.Sprintf("it has %d threads instead of %d", f.threads, before.threads)
	}
	return ""
}

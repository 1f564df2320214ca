// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/controlplane/programs"
	"berth.dev/tests/internal/spawn"
)

// stopGrace is how long a daemon may take to end by itself before it is killed.
const stopGrace = 30 * time.Second

// Options says how a daemon is started.
type Options struct {
	// Config is a KubeSchedulerConfiguration; what every start needs is filled in where it is left
	// out. Empty: the daemon runs without --config.
	Config string

	// Kubeconfig is how it reaches the API server, unless Config says otherwise.
	Kubeconfig string

	// Dir is where its configuration and its log are written, under names made from Name; without
	// Name, from the program's.
	Dir  string
	Name string

	// Seed decides ties; 0 leaves it to the daemon. The peer has none.
	Seed int64

	// LeaderElect leaves leader election to Config, instead of switching it off.
	LeaderElect bool

	// Quiet leaves --v at its default instead of 2.
	Quiet bool

	// Args are more flags, Env more variables of its environment.
	Args []string
	Env  []string
}

// Daemon is one running scheduler. Its methods may be called from any goroutine.
type Daemon struct {
	Program Program
	Started time.Time

	command     *exec.Cmd
	leaderElect bool
	log         string
	exited      chan struct{}
}

// Start starts the program and returns at once: it has no port to ask on, so a caller that needs it
// ready waits for what it does.
func Start(program Program, options Options) (*Daemon, error) {
	if options.Name == "" {
		options.Name = program.Name
	}
	args, err := commandLine(program, options)
	if err != nil {
		return nil, err
	}
	d := &Daemon{
		Program:     program,
		command:     exec.Command(program.Path, args...),
		leaderElect: options.LeaderElect,
		log:         filepath.Join(options.Dir, options.Name+".log"),
		exited:      make(chan struct{}),
	}
	log, err := os.OpenFile(d.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the log of %s: %w", options.Name, err)
	}
	defer log.Close()
	d.command.Dir = options.Dir
	d.command.Env = append(os.Environ(), options.Env...)
	d.command.Stdout, d.command.Stderr = log, log
	d.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	d.Started = time.Now()
	if err := spawn.Start(d.command); err != nil {
		return nil, fmt.Errorf("start %s: %w", options.Name, err)
	}
	go func() {
		_ = d.command.Wait() // ExitCode tells
		close(d.exited)
	}()
	return d, nil
}

func commandLine(program Program, options Options) ([]string, error) {
	var args []string
	if program.Peer {
		older, err := programs.SchedulerFlags()
		if err != nil {
			return nil, err
		}
		args = append(args, older...)
	} else {
		args = append(args, "run")
	}
	if options.Config != "" {
		text, err := controlplane.CompleteSchedulerConfig(options.Config, options.Kubeconfig)
		if err != nil {
			return nil, err
		}
		file := filepath.Join(options.Dir, options.Name+".yaml")
		if err := os.WriteFile(file, text, 0o644); err != nil {
			return nil, fmt.Errorf("write the configuration of %s: %w", options.Name, err)
		}
		args = append(args, "--config="+file)
	}
	args = append(args, "--kubeconfig="+options.Kubeconfig, "--secure-port=0")
	if !options.LeaderElect {
		args = append(args, "--leader-elect=false")
	}
	if !options.Quiet {
		args = append(args, "--v=2")
	}
	if options.Seed != 0 && !program.Peer {
		args = append(args, fmt.Sprintf("--seed=%d", options.Seed))
	}
	return append(args, options.Args...), nil
}

// PID is the process id.
func (d *Daemon) PID() int { return d.command.Process.Pid }

// CPUTime is the user and system time used so far, in steps of 10 ms. The process must still run.
func (d *Daemon) CPUTime() (time.Duration, error) { return controlplane.CPUTime(d.PID()) }

// Exited is closed when the process has ended.
func (d *Daemon) Exited() <-chan struct{} { return d.exited }

// Running says whether the process still runs.
func (d *Daemon) Running() bool {
	select {
	case <-d.exited:
		return false
	default:
		return true
	}
}

// ExitCode is the exit code of a process that has ended, or -1 for one that a signal ended.
func (d *Daemon) ExitCode() int { return d.command.ProcessState.ExitCode() }

// Signal sends a signal, such as SIGSTOP.
func (d *Daemon) Signal(signal syscall.Signal) error {
	if !d.Running() {
		return fmt.Errorf("%s has ended, see %s", d.Program.Name, d.log)
	}
	return syscall.Kill(d.PID(), signal)
}

// Kill ends the process as a crash would.
func (d *Daemon) Kill() {
	if d.Signal(syscall.SIGKILL) == nil {
		<-d.exited
	}
}

// Stop ends the process in its orderly way, and kills it when that takes too long. A process that
// had ended before, lingered or told of a failure by its exit code is an error.
func (d *Daemon) Stop() error {
	if !d.Running() {
		return fmt.Errorf("%s ended by itself with code %d\n%s", d.Program.Name, d.ExitCode(), d.Tail())
	}
	if err := d.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-d.exited:
	case <-time.After(stopGrace):
		d.Kill()
		return fmt.Errorf("%s did not end within %s\n%s", d.Program.Name, stopGrace, d.Tail())
	}
	want := 0
	if d.Program.Peer && !d.leaderElect {
		want = 1 // upstream calls the end without leader election a failure
	}
	if code := d.ExitCode(); code != want {
		return fmt.Errorf("%s ended with code %d, want %d\n%s", d.Program.Name, code, want, d.Tail())
	}
	return nil
}

// Log is all that the process has printed so far.
func (d *Daemon) Log() string {
	text, err := os.ReadFile(d.log)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// Tail is the end of the log, for an error message.
func (d *Daemon) Tail() string {
	const limit = 4000
	text := d.Log()
	if len(text) > limit {
		text = text[len(text)-limit:]
	}
	return fmt.Sprintf("the end of %s:\n%s", d.log, text)
}

// AwaitLog waits until the log passes the test.
func (d *Daemon) AwaitLog(ctx context.Context, passes func(log string) bool) error {
	for {
		if passes(d.Log()) {
			return nil
		}
		err := errors.New("it ended")
		select {
		case <-d.exited:
			if passes(d.Log()) {
				return nil
			}
		case <-ctx.Done():
			err = context.Cause(ctx)
		case <-time.After(20 * time.Millisecond):
			continue
		}
		return fmt.Errorf("the log of %s does not say it: %w\n%s", d.Program.Name, err, d.Tail())
	}
}

// SPDX-License-Identifier: Apache-2.0

// Package newcomer does what a person does who has just cloned the project, and what machines do that
// begin with nothing: README's first commands, the workflows' steps, the containers'. All of it happens in
// a clone of HEAD, with a home of its own, and each command runs as it is written.
//
// The caches of the machine make it fast: those of BERTH_CACHE, ccache and Go are handed in. With
// BERTH_NEWCOMER_COLD=1 they begin empty. With BERTH_NEWCOMER_BARE=1 the Dockerfiles are built on a bare
// Debian as well, which takes root and most of an hour.
package newcomer

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"berth.dev/tests/markdown"
)

// root is the project's folder.
const root = "../.."

// commandLimit is how long one block of commands, or one step, may take.
const commandLimit = 45 * time.Minute

// desk is where a newcomer works.
type desk struct {
	dir         string // holds all of the others
	clone       string
	home        string
	environment []string
}

// newcomer is the one that all tests share: what one has built, the next need not build again.
var newcomer = sync.OnceValues(func() (*desk, error) {
	dir, err := os.MkdirTemp("", "berth-newcomer-")
	if err != nil {
		return nil, err
	}
	d := &desk{dir: dir, clone: filepath.Join(dir, "berth"), home: filepath.Join(dir, "home")}
	removeDesk = d.remove
	if err := os.Mkdir(d.home, 0o700); err != nil {
		return nil, err
	}
	if out, err := exec.Command("git", "clone", "--quiet", root, d.clone).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("git clone: %w\n%s", err, out)
	}
	caches, err := machineCaches()
	if err != nil {
		return nil, err
	}
	d.environment = append(environment(), "HOME="+d.home)
	d.environment = append(d.environment, caches...)
	return d, nil
})

// removeDesk removes what the tests share, if one has made it.
var removeDesk = func() error { return nil }

// remove removes all, also the folders of Go's modules, which cannot be written to.
func (d *desk) remove() error {
	_ = filepath.WalkDir(d.home, func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			_ = os.Chmod(path, 0o755)
		}
		return nil
	})
	return os.RemoveAll(d.dir)
}

func TestMain(m *testing.M) {
	code := m.Run()
	if err := removeDesk(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func theNewcomer(t *testing.T) *desk {
	t.Helper()
	d, err := newcomer()
	must(t, err)
	return d
}

// environment is that of this process without what ./dev or a developer has put there.
func environment() []string {
	ours := regexp.MustCompile(`^(BERTH_\w*|CCACHE_\w*|GO(FLAGS|PATH|CACHE|MODCACHE)|CGO_ENABLED|KUBECONFIG|XDG_\w*|HOME)=`)
	return slices.DeleteFunc(os.Environ(), ours.MatchString)
}

// cold is whether the caches begin empty.
func cold() bool { return os.Getenv("BERTH_NEWCOMER_COLD") != "" }

// machineCaches are the variables that name the caches of this machine.
func machineCaches() (variables []string, err error) {
	if cold() {
		return nil, nil
	}
	for _, name := range []string{"BERTH_CACHE", "CCACHE_DIR"} {
		if value := os.Getenv(name); value != "" {
			variables = append(variables, name+"="+value)
		}
	}
	for _, name := range []string{"GOCACHE", "GOMODCACHE"} {
		value, err := exec.Command("go", "env", name).Output()
		if err != nil {
			return nil, fmt.Errorf("go env %s: %w", name, err)
		}
		variables = append(variables, name+"="+strings.TrimSpace(string(value)))
	}
	return variables, nil
}

// bash is a script as a person types it into the clone's folder.
func (d *desk) bash(ctx context.Context, script string) *exec.Cmd {
	command := exec.CommandContext(ctx, "bash", "-e", "-c", script)
	command.Dir, command.Env = d.clone, append(slices.Clone(d.environment), "GITHUB_WORKSPACE="+d.clone)
	// A group, so that it can be interrupted as a terminal does it.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	command.WaitDelay = 10 * time.Second
	return command
}

// transcript is what a command has printed; its two outputs may write at the same time.
type transcript struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (p *transcript) Write(text []byte) (int, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.text.Write(text)
}

// run runs the script and returns what it prints to its standard output.
func (d *desk) run(t *testing.T, what, script string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), commandLimit)
	defer cancel()
	command := d.bash(ctx, script)
	var stdout bytes.Buffer
	var all transcript
	command.Stdout, command.Stderr = io.MultiWriter(&stdout, &all), &all
	began := time.Now()
	if err := command.Run(); err != nil {
		t.Fatalf("%s: %v\n%s\n%s", what, err, script, all.text.Bytes())
	}
	t.Logf("%s: %s", what, time.Since(began).Round(time.Second))
	return stdout.String()
}

// runUntil runs the script until it has written a text, and interrupts it then.
func (d *desk) runUntil(t *testing.T, what, script, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), commandLimit)
	defer cancel()
	command := d.bash(ctx, script)
	reader, writer, err := os.Pipe()
	must(t, err)
	defer reader.Close()
	command.Stdout, command.Stderr = writer, writer
	must(t, command.Start())
	writer.Close()

	var printed bytes.Buffer
	interrupted := false
	for buffer := make([]byte, 4096); ; {
		n, err := reader.Read(buffer)
		printed.Write(buffer[:n])
		if !interrupted && strings.Contains(printed.String(), text) {
			interrupted = true
			must(t, syscall.Kill(-command.Process.Pid, syscall.SIGINT))
			impatience := time.AfterFunc(10*time.Second, cancel)
			defer impatience.Stop()
		}
		if err != nil {
			break
		}
	}
	err = command.Wait()
	switch {
	case !interrupted:
		t.Fatalf("%s: it ended before it wrote %q: %v\n%s", what, text, err, printed.Bytes())
	case ctx.Err() != nil:
		t.Errorf("%s: an interrupt does not end it", what)
	case command.ProcessState.ExitCode() != 0:
		t.Errorf("%s: interrupted, it ends with %v\n%s", what, err, printed.Bytes())
	}
}

// read is a file of the clone.
func (d *desk) read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(d.clone, name))
	must(t, err)
	return string(text)
}

// blocks are those of a page of the clone.
func (d *desk) blocks(t *testing.T, page string) []markdown.Block {
	t.Helper()
	found, err := markdown.Blocks(page, d.read(t, page))
	must(t, err)
	return found
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

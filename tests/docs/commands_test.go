// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"berth.dev/tests/markdown"
)

// commandLimit is how long one block may take. `go tool` compiles what it runs the first time.
const commandLimit = 4 * time.Minute

// languages are those that a block may be in.
var languages = []string{"sh", "yaml", "json", "cpp", "cmake", "text"}

// TestEveryCommandBlockRunsOrSaysWhyNot runs each page's commands in their order, in a folder that
// looks like a checkout, against a real control plane.
func TestEveryCommandBlockRunsOrSaysWhyNot(t *testing.T) {
	texts := pages(t)
	verbs := devVerbs(t)
	for _, page := range slices.Sorted(maps.Keys(texts)) {
		found, err := markdown.Blocks(page, texts[page])
		if err != nil {
			t.Error(err)
		}
		commands := 0
		for _, b := range found {
			if !slices.Contains(languages, b.Language) {
				t.Errorf("%s: the block's language is %q, want one of %v", b, b.Language, languages)
			}
			if b.Language == "sh" {
				checkVerbs(t, b, verbs)
			}
			if runsHere(b) {
				commands++
			}
		}
		if commands > 0 {
			t.Run(page, func(t *testing.T) { runPage(t, page, found) })
		}
	}
}

// runsHere is whether the block is of commands that a scene is enough for.
func runsHere(b markdown.Block) bool {
	return b.Language == "sh" && b.Marks[markdown.NotRun] == "" && b.Marks[markdown.InAClone] == ""
}

func runPage(t *testing.T, page string, found []markdown.Block) {
	s := newScene(t)
	if arrange := arrangements[page]; arrange != nil {
		arrange(s)
	}
	for _, b := range found {
		if name := b.Marks[markdown.File]; name != "" {
			s.write(name, b.Text)
		}
		if runsHere(b) {
			s.run(b)
		}
		if b.Marks[markdown.Output] != "" {
			if printed := markdown.WithoutTimes(s.printed); printed != markdown.WithoutTimes(b.Text) {
				s.Errorf("%s: the commands print\n%s", b, printed)
			}
		}
	}
}

// output is what a command wrote so far; it may be read while the command runs.
type output struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.text.String()
}

// run runs the block, which must succeed.
func (s *scene) run(b markdown.Block) {
	s.Helper()
	if err := s.try(b); err != nil {
		s.Fatal(err)
	}
}

// try runs the block as one script that ends at the first command that fails.
func (s *scene) try(b markdown.Block) error {
	s.Helper()
	out := &output{}
	command := exec.Command("bash", "-euo", "pipefail", "-c", s.replace.Replace(b.Text))
	command.Dir, command.Env = s.checkout, s.environment
	command.Stdout, command.Stderr = out, out
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := command.Start(); err != nil {
		return fmt.Errorf("%s: %w", b, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()

	limit := time.After(commandLimit)
	poll := time.NewTicker(50 * time.Millisecond)
	defer poll.Stop()
	for text, stopped := b.Marks[markdown.RunsUntil], false; ; {
		select {
		case err := <-ended:
			s.printed = out.String()
			if err == nil && text != "" && !stopped {
				err = fmt.Errorf("it ended before it wrote %q", text)
			}
			if err != nil {
				return fmt.Errorf("%s: %w\n%s", b, err, out)
			}
			return nil
		case <-limit:
			_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
			return fmt.Errorf("%s: not done within %s\n%s", b, commandLimit, out)
		case <-poll.C:
			if text != "" && !stopped && strings.Contains(out.String(), text) {
				stopped = true
				s.stopBerth(b)
			}
		}
	}
}

// stopBerth ends the daemon that the block has started, as a supervisor would.
func (s *scene) stopBerth(b markdown.Block) {
	s.Helper()
	text, err := os.ReadFile(s.pidFile)
	if err != nil {
		s.Fatalf("%s: no daemon was started: %v", b, err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err == nil {
		err = syscall.Kill(pid, syscall.SIGTERM)
	}
	if err != nil {
		s.Fatalf("%s: stop the daemon: %v", b, err)
	}
}

var devCall = regexp.MustCompile(`\./dev (\S+)`)

// checkVerbs checks that ./dev has the verbs that the block uses, whether the block is run or not.
func checkVerbs(t *testing.T, b markdown.Block, verbs []string) {
	t.Helper()
	for _, call := range devCall.FindAllStringSubmatch(b.Text, -1) {
		if !slices.Contains(verbs, call[1]) {
			t.Errorf("%s: ./dev has no verb %q", b, call[1])
		}
	}
}

func devVerbs(t *testing.T) []string {
	t.Helper()
	help, err := exec.CommandContext(t.Context(), filepath.Join(root, "dev"), "help").Output()
	if err != nil {
		t.Fatalf("./dev help: %v", err)
	}
	verbs := []string{"help"}
	for _, line := range regexp.MustCompile(`(?m)^  ([a-z|]+) `).FindAllStringSubmatch(string(help), -1) {
		verbs = append(verbs, strings.Split(line[1], "|")...)
	}
	return verbs
}

// TestAManifestThatCannotBeMadeLeavesTheLiveOne runs the commands that replace the static pod, with a
// kubectl that fails.
func TestAManifestThatCannotBeMadeLeavesTheLiveOne(t *testing.T) {
	const page = "deploy/README.md"
	found, err := markdown.Blocks(page, read(t, page))
	if err != nil {
		t.Fatal(err)
	}
	s := newScene(t)
	s.must(os.Remove(filepath.Join(s.programs, "kubectl")))
	s.must(os.WriteFile(filepath.Join(s.programs, "kubectl"), []byte("#!/bin/sh\necho half a manifest\nexit 1\n"), 0o755))
	tried := 0
	for _, b := range found {
		if b.Language != "sh" || !strings.Contains(b.Text, "/manifests/") {
			continue
		}
		tried++
		if err := s.try(b); err == nil {
			t.Errorf("%s succeeds although kubectl fails", b)
		}
	}
	if live := s.read("manifests/kube-scheduler.yaml"); tried == 0 || live != liveManifest {
		t.Errorf("of %d blocks that were tried, one has left %q", tried, live)
	}
}

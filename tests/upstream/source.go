// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"berth.dev/tests/checkout"
)

const kubernetes = "k8s.io/kubernetes"

//go:embed stand_in.go.txt
var standIn []byte

//go:embed queue_stand_in.go.txt
var queueStandIn []byte

// insertion is put after the only place that has `after`.
type insertion struct{ after, text string }

// patched are the sources that stand_in.go and queue_stand_in.go are called from.
var patched = map[string][]insertion{
	"pkg/scheduler/scheduler.go": {
		{"return nil, fmt.Errorf(\"adding event handlers: %w\", err)\n\t}\n", "\tnoteOptions(sched, options)\n"},
		{"func (sched *Scheduler) Run(ctx context.Context) {\n", "\tif standIn(ctx, sched) {\n\t\treturn\n\t}\n"},
	},
	"pkg/scheduler/backend/queue/scheduling_queue.go": {
		{"func (p *PriorityQueue) UnschedulablePods() []*v1.Pod {\n",
			"\tif waiting := p.standIn(); waiting != nil {\n\t\treturn unschedulableOf(waiting())\n\t}\n"},
		{"func (p *PriorityQueue) GetPod(name, namespace string, schedulingGroup *v1.PodSchedulingGroup) (*framework.QueuedPodInfo, bool) {\n",
			"\tif waiting := p.standIn(); waiting != nil {\n\t\treturn queuedPodOf(waiting(), namespace, name)\n\t}\n"},
	},
}

// source is the copy of Kubernetes' module, and the module file that puts it in the module's place.
type source struct {
	home    string
	modFile string
}

// testEnv: the API server that a test binary holds looks for files beside its sources. Where paths are trimmed, it takes
// these two for their folder.
func (s source) testEnv() []string {
	return []string{"TEST_SRCDIR=" + s.home, "TEST_WORKSPACE=."}
}

// prepareSource copies the module that this module requires, once, and puts the stand-in in.
func prepareSource(ctx context.Context) (source, error) {
	cache, err := checkout.Cache()
	if err != nil {
		return source{}, err
	}
	module, err := goList(ctx, "-m", "-f", "{{.Dir}}", kubernetes)
	if err != nil {
		return source{}, err
	}
	own, err := goList(ctx, "-m", "-f", "{{.Dir}}")
	if err != nil {
		return source{}, err
	}
	home := filepath.Join(cache, "upstream")
	s := source{home: home, modFile: filepath.Join(home, "go.mod")}
	tree := filepath.Join(home, filepath.Base(module))
	if err := copyOnce(module, tree); err != nil {
		return source{}, err
	}
	// The folder of the module by the name that trimmed paths give it.
	if err := os.Symlink(".", filepath.Join(home, "k8s.io")); err != nil && !errors.Is(err, fs.ErrExist) {
		return source{}, err
	}
	scheduler := filepath.Join(tree, "pkg", "scheduler")
	goMod, err := os.ReadFile(filepath.Join(own, "go.mod"))
	if err != nil {
		return source{}, err
	}
	goSum, err := os.ReadFile(filepath.Join(own, "go.sum"))
	if err != nil {
		return source{}, err
	}
	// Its tests import modules that this module does not need.
	upstreamSum, err := os.ReadFile(filepath.Join(module, "go.sum"))
	if err != nil {
		return source{}, err
	}
	files := map[string][]byte{
		filepath.Join(scheduler, "stand_in.go"):                           standIn,
		filepath.Join(scheduler, "backend", "queue", "queue_stand_in.go"): queueStandIn,
		s.modFile:                     fmt.Appendf(goMod, "\nreplace %s => %s\n", kubernetes, tree),
		filepath.Join(home, "go.sum"): append(goSum, upstreamSum...),
	}
	for name := range patched {
		if files[filepath.Join(tree, name)], err = patch(module, name); err != nil {
			return source{}, err
		}
	}
	for name, text := range files {
		if err := os.WriteFile(name, text, 0o644); err != nil {
			return source{}, err
		}
	}
	return s, nil
}

// patch is the module's source of that name, one of `patched`, with all that is put in.
func patch(module, name string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(module, name))
	if err != nil {
		return nil, err
	}
	for _, i := range patched[name] {
		if n := bytes.Count(text, []byte(i.after)); n != 1 {
			return nil, fmt.Errorf("%s has %q %d times, not once", name, i.after, n)
		}
		text = bytes.Replace(text, []byte(i.after), []byte(i.after+i.text), 1)
	}
	return text, nil
}

func copyOnce(from, to string) error {
	if _, err := os.Stat(to); err == nil {
		return nil
	}
	partial := to + ".partial"
	if err := os.RemoveAll(partial); err != nil {
		return err
	}
	if err := os.CopyFS(partial, os.DirFS(from)); err != nil {
		return err
	}
	return os.Rename(partial, to)
}

// compile returns the suite's test binary. The first takes about ten minutes: it holds the API server.
func (s source) compile(ctx context.Context, tests suite) (string, error) {
	binary := filepath.Join(s.home, "bin", tests.name())
	command := exec.CommandContext(ctx, "go", "test", "-c", "-trimpath", "-vet=off", "-modfile="+s.modFile, "-o", binary,
		path.Join(kubernetes, tests.path()))
	command.Stdout, command.Stderr = os.Stderr, os.Stderr
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("compile the tests in %s: %w", tests.folder, err)
	}
	return binary, nil
}

func goList(ctx context.Context, args ...string) (string, error) {
	command := exec.CommandContext(ctx, "go", append([]string{"list"}, args...)...)
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("go list %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

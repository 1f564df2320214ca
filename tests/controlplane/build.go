// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// buildFlags go to every `go build`. The result does not depend on where it was built.
var buildFlags = []string{"-trimpath", "-buildvcs=false"}

// kwokStages are the behaviours that kwok plays, in its module: nodes become Ready at once and
// renew their status every ten to twenty minutes; bound pods run at once, pods of a Job succeed,
// and deleted pods vanish.
var kwokStages = []string{
	"kustomize/stage/node/fast/node-initialize.yaml",
	"kustomize/stage/node/heartbeat-with-lease/node-heartbeat-with-lease.yaml",
	"kustomize/stage/pod/fast/pod-ready.yaml",
	"kustomize/stage/pod/fast/pod-complete.yaml",
	"kustomize/stage/pod/fast/pod-delete.yaml",
}

const kwokStagesFile = "kwok-stages.yaml"

// Binaries is a complete set of built programs.
type Binaries struct {
	dir string
}

// Dir is the folder that holds the programs.
func (b Binaries) Dir() string { return filepath.Join(b.dir, "bin") }

// Path is the file of one program, by its constant (Etcd, Kubectl, ...).
func (b Binaries) Path(program string) string { return filepath.Join(b.Dir(), program) }

func (b Binaries) stages() string { return filepath.Join(b.dir, kwokStagesFile) }

func (b Binaries) has(file string) bool {
	_, err := os.Stat(filepath.Join(b.dir, file))
	return err == nil
}

func (b Binaries) complete() bool {
	for program := range mains {
		if !b.has("bin/" + program) {
			return false
		}
	}
	return b.has("bin/"+Kwok) && b.has(kwokStagesFile)
}

// Build makes what the cache lacks and returns the set; with a full cache it only looks. Several
// processes may call it at once: one builds, the others wait. Progress goes to the writer, a line
// for each step.
func Build(ctx context.Context, progress io.Writer) (Binaries, error) {
	root, err := cacheRoot()
	if err != nil {
		return Binaries{}, err
	}
	base := filepath.Join(root, "controlplane")
	binaries := Binaries{dir: filepath.Join(base, versionKey())}
	if binaries.complete() {
		return binaries, nil
	}
	if err := os.MkdirAll(binaries.Dir(), 0o755); err != nil {
		return Binaries{}, fmt.Errorf("make the cache: %w", err)
	}
	unlock, err := lockFile(filepath.Join(base, ".lock"), progress)
	if err != nil {
		return Binaries{}, err
	}
	defer unlock()
	abandoned, _ := filepath.Glob(filepath.Join(binaries.dir, ".build-*"))
	for _, dir := range abandoned {
		os.RemoveAll(dir)
	}
	scratch, err := os.MkdirTemp(binaries.dir, ".build-")
	if err != nil {
		return Binaries{}, fmt.Errorf("make a build folder: %w", err)
	}
	defer os.RemoveAll(scratch)

	b := builder{binaries: binaries, scratch: scratch, progress: progress}
	for _, step := range []func(context.Context) error{b.buildPinned, b.buildKwok, b.takeStages} {
		if err := step(ctx); err != nil {
			return Binaries{}, err
		}
	}
	return binaries, nil
}

// lockFile waits for the lock that one build at a time holds.
func lockFile(name string, progress io.Writer) (unlock func(), err error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the build lock: %w", err)
	}
	fd := int(file.Fd())
	if syscall.Flock(fd, syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		fmt.Fprintln(progress, "controlplane: waiting for another build to end")
		if err := syscall.Flock(fd, syscall.LOCK_EX); err != nil {
			file.Close()
			return nil, fmt.Errorf("take the build lock: %w", err)
		}
	}
	return func() { file.Close() }, nil
}

type builder struct {
	binaries Binaries
	scratch  string
	progress io.Writer
}

// buildPinned builds the missing programs of this module in one command, which shares their common
// packages.
func (b builder) buildPinned(ctx context.Context) error {
	dir, err := moduleDir()
	if err != nil {
		return err
	}
	var missing []string
	args := slices.Concat([]string{"build", "-mod=readonly"}, buildFlags, []string{"-ldflags", linkerFlags(), "-o", b.scratch + "/"})
	for _, program := range slices.Sorted(maps.Keys(mains)) {
		if !b.binaries.has("bin/" + program) {
			missing = append(missing, program)
			args = append(args, mains[program])
		}
	}
	if len(missing) == 0 {
		return nil
	}
	if err := b.run(ctx, strings.Join(missing, ", "), dir, nil, args...); err != nil {
		return err
	}
	for _, program := range missing {
		if err := b.keep(outputName(mains[program]), "bin/"+program); err != nil {
			return err
		}
	}
	return nil
}

// outputName is what `go build` calls the program of a main package: its last path element that is
// not a major version.
func outputName(pkg string) string {
	name := path.Base(pkg)
	if name == "v3" {
		name = path.Base(path.Dir(pkg))
	}
	return name
}

// buildKwok builds kwok with the dependencies of its own module.
func (b builder) buildKwok(ctx context.Context) error {
	if b.binaries.has("bin/" + Kwok) {
		return nil
	}
	args := slices.Concat([]string{"install"}, buildFlags, []string{"-ldflags", "-s -w", kwokMain + "@" + KwokVersion})
	if err := b.run(ctx, Kwok, b.scratch, []string{"GOBIN=" + b.scratch}, args...); err != nil {
		return err
	}
	return b.keep(Kwok, "bin/"+Kwok)
}

// takeStages joins the stages out of kwok's module into the one file that `kwok --config` reads.
func (b builder) takeStages(ctx context.Context) error {
	if b.binaries.has(kwokStagesFile) {
		return nil
	}
	cmd := b.command(ctx, b.scratch, nil, "mod", "download", "-json", kwokModule+"@"+KwokVersion)
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("download %s: %w\n%s", kwokModule, err, out)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(out, &module); err != nil {
		return fmt.Errorf("download %s: %w", kwokModule, err)
	}
	var all bytes.Buffer
	for _, stage := range kwokStages {
		text, err := os.ReadFile(filepath.Join(module.Dir, stage))
		if err != nil {
			return fmt.Errorf("read kwok's stages: %w", err)
		}
		all.WriteString("---\n")
		all.Write(text)
	}
	if err := os.WriteFile(filepath.Join(b.scratch, kwokStagesFile), all.Bytes(), 0o644); err != nil {
		return fmt.Errorf("write kwok's stages: %w", err)
	}
	return b.keep(kwokStagesFile, kwokStagesFile)
}

// keep moves a finished file into the cache in one step, so that a file there is a whole one.
func (b builder) keep(built, file string) error {
	if err := os.Rename(filepath.Join(b.scratch, built), filepath.Join(b.binaries.dir, file)); err != nil {
		return fmt.Errorf("put %s into the cache: %w", file, err)
	}
	return nil
}

func (b builder) command(ctx context.Context, dir string, env []string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	cmd.Env = append(cmd.Env, env...)
	return cmd
}

// run runs the go command and says what it does and for how long.
func (b builder) run(ctx context.Context, what, dir string, env []string, args ...string) error {
	begin := time.Now()
	fmt.Fprintf(b.progress, "controlplane: building %s (minutes when cold)\n", what)
	done := make(chan struct{})
	defer close(done)
	go func() {
		ticker := time.NewTicker(30 * time.Second)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				fmt.Fprintf(b.progress, "controlplane: still building %s, %.0f s\n", what, time.Since(begin).Seconds())
			}
		}
	}()
	out, err := b.command(ctx, dir, env, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("build %s: %w\n%s", what, err, out)
	}
	fmt.Fprintf(b.progress, "controlplane: built %s in %.0f s\n", what, time.Since(begin).Seconds())
	return nil
}

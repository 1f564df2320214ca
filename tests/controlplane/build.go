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
	"sync"
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
	// Where the servers of an older release are; empty where there is none.
	older string
}

// Dir is the folder that holds the programs.
func (b Binaries) Dir() string { return filepath.Join(b.dir, "bin") }

// Path is the file of one program, by its constant (Etcd, Kubectl, ...).
func (b Binaries) Path(program string) string {
	if _, ok := olderMains[program]; ok && b.older != "" {
		return filepath.Join(b.older, "bin", program)
	}
	return filepath.Join(b.Dir(), program)
}

func (b Binaries) stages() string { return filepath.Join(b.dir, kwokStagesFile) }

func (b Binaries) complete() bool {
	newest, older := builder{dir: b.dir}, builder{dir: b.older}
	return len(newest.missing(mains)) == 0 && newest.has("bin/"+Kwok) && newest.has(kwokStagesFile) &&
		(b.older == "" || len(older.missing(olderMains)) == 0)
}

// Cached says whether a control plane can be started without a build.
func Cached() (bool, error) {
	_, binaries, err := locate()
	return binaries.complete(), err
}

// locate says which release is run, and where its programs are or will be.
func locate() (version string, binaries Binaries, err error) {
	if version, err = Kubernetes(); err != nil {
		return "", Binaries{}, err
	}
	root, err := CacheRoot()
	if err != nil {
		return "", Binaries{}, err
	}
	base := filepath.Join(root, "controlplane")
	binaries = Binaries{dir: filepath.Join(base, versionKey())}
	if version != KubernetesVersion {
		binaries.older = filepath.Join(base, olderKey(version))
	}
	return version, binaries, nil
}

// Build makes what the cache lacks and returns the set; with a full cache it only looks. Several
// processes may call it at once: one builds, the others wait. Progress goes to the writer, a line
// for each step and each 30 s.
func Build(ctx context.Context, progress io.Writer) (Binaries, error) {
	version, binaries, err := locate()
	if err != nil || binaries.complete() {
		return binaries, err
	}
	base := filepath.Dir(binaries.dir)
	if err := os.MkdirAll(base, 0o755); err != nil {
		return Binaries{}, fmt.Errorf("make the cache: %w", err)
	}
	unlock, err := lockFile(filepath.Join(base, ".lock"), progress)
	if err != nil {
		return Binaries{}, err
	}
	defer unlock()
	module, err := moduleDir()
	if err != nil {
		return Binaries{}, err
	}
	newest := builder{dir: binaries.dir, progress: progress}
	err = newest.do(
		func(b builder) error { return b.buildPinned(ctx, module, mains, KubernetesVersion) },
		func(b builder) error { return b.buildKwok(ctx) },
		func(b builder) error { return b.takeStages(ctx) })
	if err != nil || binaries.older == "" {
		return binaries, err
	}
	older := builder{dir: binaries.older, progress: progress}
	return binaries, older.do(
		func(b builder) error { return b.buildPinned(ctx, olderModule(module, version), olderMains, version) })
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

// builder makes the programs of one folder of the cache.
type builder struct {
	dir      string
	scratch  string
	progress io.Writer
}

// do takes the steps with a scratch folder; one that was left by a build that was cut short goes.
func (b builder) do(steps ...func(builder) error) error {
	if err := os.MkdirAll(filepath.Join(b.dir, "bin"), 0o755); err != nil {
		return fmt.Errorf("make the cache: %w", err)
	}
	abandoned, _ := filepath.Glob(filepath.Join(b.dir, ".build-*"))
	for _, dir := range abandoned {
		os.RemoveAll(dir)
	}
	var err error
	if b.scratch, err = os.MkdirTemp(b.dir, ".build-"); err != nil {
		return fmt.Errorf("make a build folder: %w", err)
	}
	defer os.RemoveAll(b.scratch)
	for _, step := range steps {
		if err := step(b); err != nil {
			return err
		}
	}
	return nil
}

func (b builder) has(file string) bool {
	_, err := os.Stat(filepath.Join(b.dir, file))
	return err == nil
}

// missing are those of the programs that are still to be built, in order.
func (b builder) missing(mains map[string]string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(mains)), func(program string) bool { return b.has("bin/" + program) })
}

// buildPinned builds the missing programs of a module in one command, which shares their common
// packages.
func (b builder) buildPinned(ctx context.Context, module string, mains map[string]string, version string) error {
	missing := b.missing(mains)
	if len(missing) == 0 {
		return nil
	}
	var packages []string
	for _, program := range missing {
		packages = append(packages, mains[program])
	}
	what := strings.Join(missing, ", ")
	if version != KubernetesVersion {
		what += " of Kubernetes " + version
	}
	args := slices.Concat([]string{"-ldflags", linkerFlags(version), "-o", b.scratch + "/"}, packages)
	if err := b.run(ctx, what, module, nil, packages, "build", append([]string{"-mod=readonly"}, args...)...); err != nil {
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
	if b.has("bin/" + Kwok) {
		return nil
	}
	if err := b.run(ctx, Kwok, b.scratch, []string{"GOBIN=" + b.scratch}, nil, "install", "-ldflags", "-s -w", kwokMain+"@"+KwokVersion); err != nil {
		return err
	}
	return b.keep(Kwok, "bin/"+Kwok)
}

// takeStages joins the stages out of kwok's module into the one file that `kwok --config` reads.
func (b builder) takeStages(ctx context.Context) error {
	if b.has(kwokStagesFile) {
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
	if err := os.Rename(filepath.Join(b.scratch, built), filepath.Join(b.dir, file)); err != nil {
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

// run runs a verb of the go command that compiles, and says how far it is: of the packages of the module in `dir`,
// if any are named, otherwise for how long.
func (b builder) run(ctx context.Context, what, dir string, env, packages []string, verb string, args ...string) error {
	begin := time.Now()
	fmt.Fprintf(b.progress, "controlplane: building %s (minutes when cold)\n", what)
	compiled := &lineCounter{}
	total := b.countStale(ctx, dir, env, packages)
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
				fmt.Fprintf(b.progress, "controlplane: still building %s, %s\n", what, howFar(time.Since(begin), compiled.lines(), total))
			}
		}
	}()
	cmd := b.command(ctx, dir, env, slices.Concat([]string{verb, "-v"}, buildFlags, args)...)
	cmd.Stdout, cmd.Stderr = compiled, compiled
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", what, err, compiled.text())
	}
	fmt.Fprintf(b.progress, "controlplane: built %s in %.0f s\n", what, time.Since(begin).Seconds())
	return nil
}

// countStale is how many packages a build of these compiles; 0 where that is not known.
func (b builder) countStale(ctx context.Context, dir string, env, packages []string) int {
	if len(packages) == 0 {
		return 0
	}
	args := slices.Concat([]string{"list", "-mod=readonly", "-deps"}, buildFlags, []string{"-f", "{{if .Stale}}{{.ImportPath}}{{end}}"}, packages)
	out, err := b.command(ctx, dir, env, args...).Output()
	if err != nil {
		return 0 // the build itself will say why
	}
	return bytes.Count(out, []byte("\n"))
}

// howFar tells what has been compiled, and how long the rest may take: packages differ, so it is a guess.
func howFar(elapsed time.Duration, compiled, total int) string {
	text := fmt.Sprintf("%.0f s", elapsed.Seconds())
	if total == 0 || compiled > total {
		return text
	}
	text += fmt.Sprintf(", %d of %d packages", compiled, total)
	if compiled*20 >= total {
		left := time.Duration(float64(elapsed) * float64(total-compiled) / float64(compiled))
		text += fmt.Sprintf(", about %.0f min left", max(1, left.Minutes()))
	}
	return text
}

// lineCounter keeps what `go build -v` prints: a line for each package, and its errors.
type lineCounter struct {
	mu      sync.Mutex
	written bytes.Buffer
	count   int
}

func (c *lineCounter) Write(text []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count += bytes.Count(text, []byte("\n"))
	return c.written.Write(text)
}

func (c *lineCounter) lines() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count
}

func (c *lineCounter) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.written.String()
}

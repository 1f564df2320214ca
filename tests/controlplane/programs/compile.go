// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"berth.dev/tests/internal/progress"
)

// buildFlags go to every `go build`, and are those of `dev`: packages compile once for all. The result does not depend on
// where it was built, and has no data for debuggers, which take an eighth of the time to compile.
var buildFlags = []string{"-trimpath", "-buildvcs=false", "-gcflags=all=-dwarf=false"}

// What a compilation takes on a core: the compiler reads so many bytes of source in a second; a package and a program cost as
// much as so many bytes more. Measured on the control plane's programs; it is only for the first estimate.
const (
	bytesPerSecond  = 220_000
	bytesPerPackage = 8_000
	bytesPerProgram = 2_000_000
	// So much is in all packages of a control plane; they are counted in some seconds.
	bytesUncounted = 130_000_000
)

// Compile compiles programs of the module in that folder, in one command, which shares their packages, and writes them into
// a folder. It says how far it is.
func Compile(ctx context.Context, out io.Writer, what, module, into string, packages []string, linkerFlags string) error {
	begin := time.Now()
	c := &compilation{programs: len(packages)}
	defer progress.Watch(out, "Building "+what, c.far)()
	c.weigh(command(ctx, module, slices.Concat([]string{"list", "-mod=readonly", "-deps"}, buildFlags, []string{"-f", weightFormat}, packages)...))
	args := slices.Concat([]string{"build", "-v", "-mod=readonly"}, buildFlags, []string{"-ldflags", linkerFlags, "-o", into + "/"}, packages)
	cmd := command(ctx, module, args...)
	cmd.Stdout, cmd.Stderr = c, c
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build %s after %s: %w\n%s", what, time.Since(begin).Round(time.Second), err, c.written.String())
	}
	return nil
}

func command(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	// GOFLAGS could repeat the flags, or have others. The compiler collects garbage less often than it would by itself: large
	// packages take a fifth less time, and half as much memory again, which is still less than it takes to link.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=", "GOGC=400")
	// Interrupted, it leaves no scratch folder; what it has compiled stays in its cache.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// outputName is what `go build` calls the program of a main package: its last path element that is
// not a major version.
func outputName(pkg string) string {
	name := filepath.Base(pkg)
	if name == "v3" {
		name = filepath.Base(filepath.Dir(pkg))
	}
	return name
}

// compilation knows how far a `go build -v` is, which prints the path of each package as it begins to compile it. Packages
// count by the size of their sources.
type compilation struct {
	programs int

	mu      sync.Mutex
	weights map[string]float64 // by import path; nil until they are known
	total   float64
	done    float64
	written bytes.Buffer // what `go build` has printed
	line    []byte       // what it has printed of a line
}

// weightFormat has `go list` print the path, the folder and the files of each package that must be compiled.
const weightFormat = `{{if .Stale}}{{.ImportPath}}{{"\t"}}{{.Dir}}{{range .GoFiles}}{{"\t"}}{{.}}{{end}}{{end}}`

// weigh counts what is to be compiled by what the command lists. Where that fails, the build itself will say why.
func (c *compilation) weigh(list *exec.Cmd) {
	text, err := list.Output()
	if err != nil {
		return
	}
	weights, total := map[string]float64{}, float64(c.programs*bytesPerProgram)
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) < 2 {
			continue
		}
		weight := float64(bytesPerPackage)
		for _, file := range fields[2:] {
			if info, err := os.Stat(filepath.Join(fields[1], file)); err == nil {
				weight += float64(info.Size())
			}
		}
		weights[fields[0]] = weight
		total += weight
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.weights, c.total = weights, total
}

func (c *compilation) Write(text []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.line = append(c.line, text...)
	for {
		line, rest, found := bytes.Cut(c.line, []byte("\n"))
		if !found {
			return c.written.Write(text)
		}
		c.done += c.weights[string(line)]
		c.line = rest
	}
}

func (c *compilation) far() (float64, progress.Estimate) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := progress.Estimate{Total: c.total, PerSecond: bytesPerSecond * float64(runtime.NumCPU())}
	if c.weights == nil {
		e.Total = bytesUncounted
	}
	return c.done, e
}

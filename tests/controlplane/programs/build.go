// SPDX-License-Identifier: Apache-2.0

// Package programs builds the programs of a Kubernetes control plane from their Go modules, and keeps them in a cache outside
// the source tree. It imports nothing but the standard library: the first of its own lines must not wait for a client-go.
package programs

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"berth.dev/tests/checkout"
)

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

// Binaries is where built programs are.
type Binaries struct {
	dir string
	// Where the servers of an older release are; empty where there is none.
	older string
}

// Dir is the folder that holds the programs.
func (b Binaries) Dir() string { return filepath.Join(b.dir, "bin") }

// Path is the file of one program, by its constant (Etcd, Kubectl, ...).
func (b Binaries) Path(program string) string {
	if b.isOlder(program) {
		return filepath.Join(b.older, "bin", program)
	}
	return filepath.Join(b.Dir(), program)
}

// KwokStages is the file that `kwok --config` reads.
func (b Binaries) KwokStages() string { return filepath.Join(b.dir, kwokStagesFile) }

func (b Binaries) isOlder(program string) bool {
	_, ok := olderMains[program]
	return ok && b.older != ""
}

// missing are those of the programs that are still to be built, in order.
func (b Binaries) missing(names []string) []string {
	var missing []string
	for _, program := range slices.Sorted(slices.Values(names)) {
		there := exists(b.Path(program))
		if program == Kwok {
			there = there && exists(b.KwokStages())
		}
		if !there {
			missing = append(missing, program)
		}
	}
	return missing
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// Cached says whether these programs, or all if none is named, are there without a build.
func Cached(names ...string) (bool, error) {
	_, binaries, err := locate()
	return err == nil && len(binaries.missing(allIfNone(names))) == 0, err
}

func allIfNone(names []string) []string {
	if len(names) == 0 {
		return slices.Sorted(maps.Keys(mains))
	}
	return names
}

// locate says which release is run, and where its programs are or will be.
func locate() (version string, binaries Binaries, err error) {
	if version, err = Kubernetes(); err != nil {
		return "", Binaries{}, err
	}
	root, err := checkout.Cache()
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

// Build makes those of the named programs, or of all if none is named, that the cache lacks; if it lacks none, it only looks.
// Several processes may call it at once: one builds, the others wait. How far it is goes to the writer.
func Build(ctx context.Context, out io.Writer, names ...string) (Binaries, error) {
	names = allIfNone(names)
	for _, program := range names {
		if mains[program] == "" {
			return Binaries{}, fmt.Errorf("build %q: there are %s", program, strings.Join(allIfNone(nil), ", "))
		}
	}
	version, binaries, err := locate()
	if err != nil || len(binaries.missing(names)) == 0 {
		return binaries, err
	}
	base := filepath.Dir(binaries.dir)
	if err := os.MkdirAll(base, 0o755); err != nil {
		return Binaries{}, fmt.Errorf("make the cache: %w", err)
	}
	unlock, err := lockFile(filepath.Join(base, ".lock"), out)
	if err != nil {
		return Binaries{}, err
	}
	defer unlock()
	module, err := checkout.Module()
	if err != nil {
		return Binaries{}, err
	}
	var newest, older []string
	for _, program := range binaries.missing(names) {
		if binaries.isOlder(program) {
			older = append(older, program)
		} else {
			newest = append(newest, program)
		}
	}
	if err := (builder{binaries.dir, out}).build(ctx, module, newest, KubernetesVersion); err != nil {
		return binaries, err
	}
	return binaries, builder{binaries.older, out}.build(ctx, olderModule(module, version), older, version)
}

func packagesOf(names []string) (packages []string) {
	for _, program := range names {
		packages = append(packages, mains[program])
	}
	return packages
}

// olderModule is the folder of the module that pins an older release.
func olderModule(module, version string) string {
	return filepath.Join(module, "controlplane", "releases", minorOf(version))
}

// lockFile waits for the lock that one build at a time holds.
func lockFile(name string, out io.Writer) (unlock func(), err error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the build lock: %w", err)
	}
	fd := int(file.Fd())
	if syscall.Flock(fd, syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		fmt.Fprintln(out, "Waiting for another build of the control plane to end")
		if err := syscall.Flock(fd, syscall.LOCK_EX); err != nil {
			file.Close()
			return nil, fmt.Errorf("take the build lock: %w", err)
		}
	}
	return func() { file.Close() }, nil
}

// builder makes the programs of one folder of the cache.
type builder struct {
	dir string
	out io.Writer
}

// build builds the programs by a module that pins their version, in a scratch folder; one that was left by a build that was
// cut short goes.
func (b builder) build(ctx context.Context, module string, names []string, version string) error {
	if len(names) == 0 {
		return nil
	}
	if err := os.MkdirAll(filepath.Join(b.dir, "bin"), 0o755); err != nil {
		return fmt.Errorf("make the cache: %w", err)
	}
	abandoned, _ := filepath.Glob(filepath.Join(b.dir, ".build-*"))
	for _, dir := range abandoned {
		os.RemoveAll(dir)
	}
	scratch, err := os.MkdirTemp(b.dir, ".build-")
	if err != nil {
		return fmt.Errorf("make a build folder: %w", err)
	}
	defer os.RemoveAll(scratch)
	what := strings.Join(names, ", ")
	if version != KubernetesVersion {
		what += " of Kubernetes " + version
	}
	if err := Compile(ctx, b.out, what, module, scratch, packagesOf(names), LinkerFlags(version)); err != nil {
		return err
	}
	if slices.Contains(names, Kwok) {
		if err := b.takeStages(ctx, module, scratch); err != nil {
			return err
		}
	}
	for _, program := range names {
		if err := b.keep(scratch, outputName(mains[program]), filepath.Join("bin", program)); err != nil {
			return err
		}
	}
	return nil
}

// takeStages joins the stages out of kwok's module into one file.
func (b builder) takeStages(ctx context.Context, module, scratch string) error {
	out, err := command(ctx, module, "list", "-mod=readonly", "-m", "-f", "{{.Dir}}", kwokModule).Output()
	if err != nil {
		return fmt.Errorf("find %s: %w", kwokModule, err)
	}
	var all []byte
	for _, stage := range kwokStages {
		text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), stage))
		if err != nil {
			return fmt.Errorf("read kwok's stages: %w", err)
		}
		all = append(append(all, "---\n"...), text...)
	}
	if err := os.WriteFile(filepath.Join(scratch, kwokStagesFile), all, 0o644); err != nil {
		return fmt.Errorf("write kwok's stages: %w", err)
	}
	return b.keep(scratch, kwokStagesFile, kwokStagesFile)
}

// keep moves a finished file into the cache in one step, so that a file there is a whole one.
func (b builder) keep(scratch, built, file string) error {
	if err := os.Rename(filepath.Join(scratch, built), filepath.Join(b.dir, file)); err != nil {
		return fmt.Errorf("put %s into the cache: %w", file, err)
	}
	return nil
}

// SPDX-License-Identifier: Apache-2.0

// Package neighbours runs the programs that live beside a scheduler, each the real one, on a real control plane, first beside
// Berth and then beside kube-scheduler. Each is built by a module of its own in modules/, so that what it depends on mixes
// with nothing, and is kept in the cache.
package neighbours

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"berth.dev/tests/checkout"
	"berth.dev/tests/controlplane/programs"
)

// Neighbour is a program that is built from its Go module.
type Neighbour struct {
	// Name is that of its folder in modules/.
	Name string
	// Module is what has its version, manifests and licence; Main the package of the program, in it.
	Module, Main string
	// Version is what its go.mod pins, which a test holds equal to this.
	Version string
	// Stamped says that its version is linked into it, as Kubernetes' own builds do.
	Stamped bool
}

// The neighbours that stories are told of.
var (
	Descheduler = neighbour("descheduler", "sigs.k8s.io/descheduler", "cmd/descheduler", "v0.36.0")
	Karpenter   = neighbour("karpenter", "sigs.k8s.io/karpenter", "kwok", "v1.13.0")
	Kueue       = neighbour("kueue", "sigs.k8s.io/kueue", "cmd/kueue", "v0.17.0")
	VPA         = neighbour("vertical-pod-autoscaler", "k8s.io/autoscaler/vertical-pod-autoscaler", "pkg/updater", "v1.8.1")
	// Cosign is asked of a release by tests/deploy.
	Cosign = neighbour("cosign", "github.com/sigstore/cosign/v2", "cmd/cosign", "v2.6.5")
	// The newest kubectl is the control plane's own.
	OlderKubectls = []Neighbour{olderKubectl("1.36", "v1.36.3"), olderKubectl("1.35", "v1.35.4")}
)

// All are all of them.
var All = append([]Neighbour{Descheduler, Karpenter, Kueue, VPA, Cosign}, OlderKubectls...)

func neighbour(name, module, main, version string) Neighbour {
	return Neighbour{Name: name, Module: module, Main: module + "/" + main, Version: version}
}

func olderKubectl(minor, version string) Neighbour {
	n := neighbour("kubectl-"+minor, "k8s.io/kubernetes", "cmd/kubectl", version)
	n.Stamped = true
	return n
}

// folder is that of the module that pins it.
func (n Neighbour) folder() (string, error) {
	module, err := checkout.Module()
	return filepath.Join(module, "neighbours", "modules", n.Name), err
}

// Build makes the program if the cache lacks it, and returns its file. Of several processes that call it at once one builds,
// and the others wait. How far it is goes to the writer.
func (n Neighbour) Build(ctx context.Context, out io.Writer) (string, error) {
	folder, err := n.folder()
	if err != nil {
		return "", err
	}
	key, err := n.key(folder)
	if err != nil {
		return "", err
	}
	cache, err := checkout.Cache()
	if err != nil {
		return "", err
	}
	base := filepath.Join(cache, "neighbours")
	binary := filepath.Join(base, key, n.Name)
	if _, err := os.Stat(binary); err == nil {
		return binary, nil
	}
	if err := os.MkdirAll(filepath.Dir(binary), 0o755); err != nil {
		return "", fmt.Errorf("make the cache: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(base, "."+n.Name+".lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return "", fmt.Errorf("open the build lock: %w", err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", fmt.Errorf("take the build lock: %w", err)
	}
	if _, err := os.Stat(binary); err == nil {
		return binary, nil
	}
	scratch, err := os.MkdirTemp(filepath.Dir(binary), ".build-")
	if err != nil {
		return "", fmt.Errorf("make a build folder: %w", err)
	}
	defer os.RemoveAll(scratch)
	flags := "-s -w"
	if n.Stamped {
		flags = programs.LinkerFlags(n.Version)
	}
	what := n.Name + " " + n.Version
	if err := programs.Compile(ctx, out, what, folder, scratch, []string{n.Main}, flags); err != nil {
		return "", err
	}
	// In one step, so that a file there is a whole one.
	if err := os.Rename(filepath.Join(scratch, path.Base(n.Main)), binary); err != nil {
		return "", fmt.Errorf("put %s into the cache: %w", n.Name, err)
	}
	return binary, nil
}

// key names the folder of the cache: other versions of whatever goes into it, or another Go, are another folder.
func (n Neighbour) key(folder string) (string, error) {
	sum := sha256.New()
	for _, file := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(folder, file))
		if err != nil {
			return "", fmt.Errorf("read the module of %s: %w", n.Name, err)
		}
		sum.Write(text)
	}
	return fmt.Sprintf("%s-%s_%s_%s", n.Name, n.Version, runtime.Version(), hex.EncodeToString(sum.Sum(nil))[:8]), nil
}

// Source is a file or folder of its module, such as a manifest that it ships.
func (n Neighbour) Source(ctx context.Context, file string) (string, error) {
	folder, err := n.folder()
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "go", "list", "-mod=readonly", "-m", "-f", "{{.Dir}}", n.Module)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	dir, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w: %s", err, exit.Stderr)
		}
		return "", fmt.Errorf("find the sources of %s: %w", n.Name, err)
	}
	return filepath.Join(strings.TrimSpace(string(dir)), filepath.FromSlash(file)), nil
}

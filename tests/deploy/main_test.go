// SPDX-License-Identifier: Apache-2.0

// Package deploy holds what ships for running Berth in a cluster, and the metrics it shows there,
// against a real control plane, kube-scheduler and Prometheus.
package deploy

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/internal/daemon"
)

// root is the project's folder, where deploy/ and docs/ are.
const root = "../.."

var (
	shared  *controlplane.ControlPlane
	program daemon.Program
)

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	if program, err = daemon.Berth(""); err != nil {
		return 1, err
	}
	options := controlplane.Options{AuditUsers: []string{controlplane.BerthServiceAccountUser}}
	if shared, err = controlplane.Start(context.Background(), options); err != nil {
		return 1, err
	}
	if imageFolder, err = os.MkdirTemp("", "berth-image-"); err != nil {
		return 1, err
	}
	defer os.RemoveAll(imageFolder)
	fmt.Fprintf(os.Stderr, "testing %s\n", program.Path)
	code = m.Run()
	return code, shared.Stop()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func inDeploy(parts ...string) string {
	return filepath.Join(append([]string{root, "deploy"}, parts...)...)
}

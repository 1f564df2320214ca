// SPDX-License-Identifier: Apache-2.0

// Package integration runs Berth against a real control plane. All tests share one; each has its own
// namespace and nodes, and they run one after the other.
//
// With BERTH_TEST_PEER=1 the tests run against kube-scheduler instead: what holds for both shows
// that Berth can take its place.
package integration

import (
	"context"
	"fmt"
	"os"
	"testing"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/controlplane/programs"
	"berth.dev/tests/internal/daemon"
)

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
	if program, err = programUnderTest(); err != nil {
		return 1, err
	}
	if shared, err = controlplane.Start(context.Background(), controlplane.Options{}); err != nil {
		return 1, err
	}
	if os.Getenv("BERTH_TEST_PEER") == "1" {
		program.Path = shared.Binary(programs.Scheduler)
	}
	fmt.Fprintf(os.Stderr, "testing %s\n", program.Path)
	code = m.Run()
	return code, shared.Stop()
}

func programUnderTest() (daemon.Program, error) {
	if os.Getenv("BERTH_TEST_PEER") == "1" {
		return daemon.Peer(""), nil // the control plane knows where it is
	}
	return daemon.Berth("")
}

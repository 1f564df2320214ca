// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth.dev/tests/internal/daemon"
)

func TestAllPodsOfASmallClusterAreBound(t *testing.T) {
	berth, err := daemon.Berth("")
	if err != nil {
		t.Fatal(err)
	}
	r, err := measure(context.Background(), berth.Path, t.TempDir(), 3, 90)
	if err != nil {
		t.Fatal(err)
	}
	if r.CPUSeconds <= 0 || r.PeakMemory <= 0 {
		t.Errorf("%+v", r)
	}
	var out bytes.Buffer
	if err := write(&out, "table", report{Rows: []row{r}}); err != nil || !strings.Contains(out.String(), "90") {
		t.Errorf("%v: %s", err, &out)
	}
	// The nodes take no more than 120.
	if _, err := measure(context.Background(), berth.Path, t.TempDir(), 3, 130); err == nil ||
		!strings.Contains(err.Error(), "120 of 130 pods were bound") {
		t.Errorf("%v", err)
	}
}

func TestDecisionsWithoutASummaryAreAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "decisions.json")
	if err := os.WriteFile(file, []byte(`{"pod":"default/pod-0","node":"node-1"}`+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if _, err := boundOf(f); err == nil || !strings.Contains(err.Error(), "without a summary") {
		t.Errorf("%v", err)
	}
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"strings"
	"testing"

	"berth.dev/tests/daemon"
)

// What goes wrong in the story is an error of it.
func TestThePreviewTellsTheWholeStory(t *testing.T) {
	program, err := daemon.Berth("")
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(t.TempDir() + "/screen")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if err := runPreview(t.Context(), newScreen(out), program); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"554 pods placed", "zone-c", "Insufficient cpu", "request cpu 7200m instead of 64", "Drain of zone-a-34"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the story lacks %q:\n%s", want, text)
		}
	}
}

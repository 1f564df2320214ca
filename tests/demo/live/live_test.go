// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/controlplane/programs"
	"berth.dev/tests/demo/story"
)

// tell runs the demo and returns what is on the screen.
func tell(t *testing.T, kubeconfig, binary string) string {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "screen"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if err := run(t.Context(), story.NewScreen(out), kubeconfig, binary); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func expect(t *testing.T, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("the story lacks %q:\n%s", want, text)
		}
	}
}

var placed = []string{"554 pods bound", "too-big +on zone-a-late", "gated +on zone-"}

// What goes wrong in the story is an error of it.
func TestTheStoryIsTrueOnAControlPlane(t *testing.T) {
	text := tell(t, "", "")
	expect(t, text, placed...)
	expect(t, text, "Node zone-[abc]-[0-9]+ is patched", "no-such-disk +on zone-", "Pod repelled is patched", "repelled +on zone-",
		"Drain of zone-.* [1-9][0-9]* moved", "http://127.0.0.1:")
}

// In a cluster that is there the demo leaves nothing behind, and kube-scheduler can play it, too.
func TestTheStoryLeavesAClusterAsItWas(t *testing.T) {
	c, err := controlplane.Start(t.Context(), controlplane.Options{ControllerManager: true, Kwok: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	before := objects(t, c)
	text := tell(t, c.Kubeconfig(controlplane.Admin), c.Binary(programs.Scheduler))
	expect(t, text, placed...)
	if after := objects(t, c); after != before {
		t.Errorf("there were\n%s\nand are\n%s", before, after)
	}
}

// objects are the names of what the demo makes.
func objects(t *testing.T, c *controlplane.ControlPlane) string {
	t.Helper()
	out, err := c.Kubectl(context.Background(), controlplane.Admin, "get", "nodes,namespaces,priorityclasses", "-o", "name")
	if err != nil {
		t.Fatal(err)
	}
	return out
}

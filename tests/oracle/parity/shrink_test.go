// SPDX-License-Identifier: Apache-2.0

package parity

import (
	"os"
	"path/filepath"
	"testing"

	"berth.dev/tests/oracle/generate"
)

// A berth that fails whenever the cluster file speaks of hugepages.
const badBerth = `#!/bin/sh
case $1 in simulate) echo '{"summary":{}}'; exit 0;; esac
if grep -q hugepages "$3"; then echo "$3:12: oh no" >&2; exit 3; fi
`

func TestShrinkKeepsOnlyWhatMakesTheDifference(t *testing.T) {
	dir := t.TempDir()
	berth := filepath.Join(dir, "berth")
	if err := os.WriteFile(berth, []byte(badBerth), 0o755); err != nil {
		t.Fatal(err)
	}
	c := &Checker{Berth: berth, Dir: dir}
	for seed := uint64(1); seed < 20; seed += 2 {
		kase := generate.New(seed, generate.Options{Nodes: 6})
		difference, err := c.Check(t.Context(), kase)
		if err != nil {
			t.Fatal(err)
		}
		if difference == nil || difference.Kind != "berth explain: exit status 3: * oh no" {
			continue // A case without huge pages: other documents are missing.
		}
		small, still := c.Shrink(t.Context(), kase, difference)
		if still.Kind != difference.Kind || len(small.Objects) != 1 {
			t.Errorf("seed %d: %d objects are left: %s", seed, len(small.Objects), small.ClusterYAML())
		}
		if text := small.ClusterJSON(); len(text) > 300 {
			t.Errorf("seed %d: much is left: %s", seed, text)
		}
		if text := kase.ClusterJSON(); len(text) < 3000 {
			t.Errorf("seed %d: the case itself has shrunk: %s", seed, text)
		}
		return
	}
	t.Error("no case has huge pages")
}

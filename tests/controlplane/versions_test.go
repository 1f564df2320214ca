// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestVersionsAreThoseOfGoMod(t *testing.T) {
	dir, err := moduleDir()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\tk8s.io/kubernetes " + KubernetesVersion + "\n",
		"\tgo.etcd.io/etcd/server/v3 " + EtcdVersion + "\n",
	} {
		if !strings.Contains(strings.ReplaceAll(string(text), " // indirect", ""), want) {
			t.Errorf("go.mod lacks %q", want)
		}
	}
	staging := strings.Replace(KubernetesVersion, "v1.", "v0.", 1)
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, " => ") && !strings.HasSuffix(line, " "+staging+"\n") {
			t.Errorf("go.mod replaces a module by something else than %s: %s", staging, line)
		}
	}
	for program, pkg := range mains {
		if !strings.Contains(string(text), pkg+"\n") {
			t.Errorf("go.mod has no tool line for %s of %s", pkg, program)
		}
	}
}

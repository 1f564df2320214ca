// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth.dev/tests/checkout"
)

func TestVersionsAreThoseOfGoMod(t *testing.T) {
	dir, err := checkout.Module()
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
		"\t" + kwokModule + " " + KwokVersion + "\n",
	} {
		if !strings.Contains(strings.ReplaceAll(string(text), " // indirect", ""), want) {
			t.Errorf("go.mod lacks %q", want)
		}
	}
	checkPrograms(t, string(text), KubernetesVersion, mains)
}

func TestOlderVersionsAreThoseOfTheirModules(t *testing.T) {
	dir, err := checkout.Module()
	if err != nil {
		t.Fatal(err)
	}
	folders, err := filepath.Glob(filepath.Join(dir, "controlplane", "releases", "*"))
	if err != nil || len(folders) != len(olderVersions) {
		t.Errorf("%d versions have folders %v, %v", len(olderVersions), folders, err)
	}
	for minor, version := range olderVersions {
		if got := minorOf(version); got != minor {
			t.Errorf("%s stands for %s", minor, version)
		}
		text, err := os.ReadFile(filepath.Join(olderModule(dir, version), "go.mod"))
		if err != nil {
			t.Error(err)
			continue
		}
		if want := "\tk8s.io/kubernetes " + version + " "; !strings.Contains(string(text), want) {
			t.Errorf("go.mod of %s lacks %q", minor, want)
		}
		checkPrograms(t, string(text), version, olderMains)
	}
}

func TestAReleaseThatIsNotThereIsRefused(t *testing.T) {
	for minor, want := range map[string]string{"": KubernetesVersion, "1.37": KubernetesVersion, "1.36": olderVersions["1.36"]} {
		t.Setenv(KubernetesVariable, minor)
		if got, err := Kubernetes(); got != want || err != nil {
			t.Errorf("Kubernetes() of %q is %s, %v, want %s", minor, got, err, want)
		}
	}
	t.Setenv(KubernetesVariable, "1.12")
	if _, err := Kubernetes(); err == nil || !strings.Contains(err.Error(), "1.35, 1.36, 1.37") {
		t.Errorf("1.12 is answered with %v", err)
	}
}

// checkPrograms holds the staging modules of a go.mod to the release, and asks for its tool lines.
func checkPrograms(t *testing.T, goMod, version string, mains map[string]string) {
	t.Helper()
	staging := strings.Replace(version, "v1.", "v0.", 1)
	for line := range strings.Lines(goMod) {
		if strings.Contains(line, " => ") && !strings.HasSuffix(line, " "+staging+"\n") {
			t.Errorf("go.mod replaces a module by something else than %s: %s", staging, line)
		}
	}
	for program, pkg := range mains {
		if !strings.Contains(goMod, pkg+"\n") {
			t.Errorf("go.mod has no tool line for %s of %s", pkg, program)
		}
	}
}

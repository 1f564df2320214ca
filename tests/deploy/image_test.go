// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"bytes"
	"debug/elf"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/image"
)

// sizeLimit is what the image may have, compressed.
const sizeLimit = 60e6

// imageFolder outlives single tests; TestMain removes it.
var imageFolder string

// buildImage makes the image of the program under test in a folder, as ./dev image does.
func buildImage(folder string) (archive string, err error) {
	out, err := exec.Command(inDeploy("image", "build.sh"), program.Path, folder).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build the image: %w\n%s", err, out)
	}
	found, err := filepath.Glob(filepath.Join(folder, "berth-*.image.tar"))
	if err != nil || len(found) != 1 {
		return "", fmt.Errorf("build the image: it made %q", found)
	}
	return found[0], nil
}

// sharedImage is built once.
var sharedImage = sync.OnceValues(func() (string, error) { return buildImage(imageFolder) })

// unpackedImage is a root file system of it, of the test's own.
func unpackedImage(t *testing.T) (root string, config *v1.Config) {
	t.Helper()
	archive, err := sharedImage()
	must(t, err)
	root = sharedDir(t)
	config, err = image.Unpack(archive, runtime.GOARCH, root)
	must(t, err)
	return root, config
}

func TestTheImageIsSmallAndTheSameEachTime(t *testing.T) {
	archive, err := sharedImage()
	must(t, err)
	again, err := buildImage(t.TempDir())
	must(t, err)
	first, err := os.ReadFile(archive)
	must(t, err)
	second, err := os.ReadFile(again)
	must(t, err)
	if !bytes.Equal(first, second) {
		t.Error("made twice, the image differs")
	}
	t.Logf("%.1f MB", float64(len(first))/1e6)
	if len(first) > sizeLimit {
		t.Errorf("the image has %.1f MB, more than %.0f", float64(len(first))/1e6, sizeLimit/1e6)
	}
}

func TestTheImageHoldsWhatBerthNeedsAndNoShell(t *testing.T) {
	root, config := unpackedImage(t)
	if user := strings.Split(config.User, ":"); len(user) != 2 || slices.Contains(user, "0") || slices.Contains(user, "root") {
		t.Errorf("it runs as %q", config.User)
	}
	needed := map[string]bool{} // libraries that something asks for
	libraries := map[string]bool{}
	must(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		name, _ := filepath.Rel(root, path)
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if info.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0 {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
		library := strings.Contains(filepath.Base(name), ".so")
		program := name == "usr/local/bin/berth"
		if info.Mode()&0o111 != 0 && !program && !strings.Contains(name, "/ld-linux-") {
			t.Errorf("%s can be executed", name)
		}
		if !library && !program {
			return nil
		}
		file, err := elf.Open(path)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		defer file.Close()
		if file.Section(".debug_info") != nil {
			t.Errorf("%s has debug information", name)
		}
		// Those of plugins are loaded where a profile names one.
		if library && filepath.Dir(name) != "usr/local/lib/berth/plugins" {
			libraries[filepath.Base(name)] = true
		}
		wants, err := file.ImportedLibraries()
		for _, want := range wants {
			needed[want] = true
		}
		return err
	}))
	for library := range needed {
		if !libraries[library] {
			t.Errorf("%s is missing", library)
		}
	}
	for library := range libraries {
		if !needed[library] && !strings.HasPrefix(library, "ld-linux-") {
			t.Errorf("nothing needs %s", library)
		}
	}
	runsLegacyPlugins(t, filepath.Join(root, "usr/local/bin/berth"))
	// A licence for each package, and no package without files.
	packages, err := os.ReadDir(filepath.Join(root, "var/lib/dpkg/status.d"))
	must(t, err)
	if len(packages) < 20 {
		t.Errorf("it tells of %d packages only", len(packages))
	}
	for _, entry := range packages {
		if _, err := os.Stat(filepath.Join(root, "usr/share/doc", entry.Name(), "copyright")); err != nil {
			t.Errorf("package %s has no licence: %v", entry.Name(), err)
		}
	}
}

func TestTheDockerfileMakesTheSameRoot(t *testing.T) {
	text, err := os.ReadFile(inDeploy("Dockerfile"))
	must(t, err)
	_, last, ok := strings.Cut(string(text), "\nFROM scratch\n")
	if !ok {
		t.Fatal("the Dockerfile's image does not begin with nothing")
	}
	if !strings.Contains(string(text), "RUN deploy/image/root.sh .build/ship/bin/berth /root-of-image\n") {
		t.Error("the Dockerfile does not make its root by root.sh")
	}
	// What its last stage copies is that root and nothing else; how it is started is what the image says.
	if copies := regexp.MustCompile(`(?m)^(COPY|ADD|RUN) .*$`).FindAllString(last, -1); !slices.Equal(copies, []string{"COPY --from=build /root-of-image /"}) {
		t.Errorf("its last stage: %q", copies)
	}
	_, config := unpackedImage(t)
	for _, line := range []string{
		"USER " + config.User, "EXPOSE 10259", `ENTRYPOINT ["` + config.Entrypoint[0] + `"]`, "ENV " + config.Env[0],
	} {
		if !strings.Contains(last, line+"\n") {
			t.Errorf("its last stage lacks %q", line)
		}
	}
}

func TestTheImageRunsUnderTheManifestsSecurityContext(t *testing.T) {
	kubectl(t, "apply", "--server-side", "--force-conflicts", "-k", inDeploy("base"))
	root, config := unpackedImage(t)
	for _, r := range runtimes(t) {
		t.Run(r.name, func(t *testing.T) {
			r.run(t, containerOf(t, controlplane.BerthNamespace, "berth", root, config))
			busy(t, "image-"+r.name, "berth")
		})
		// The next one need not wait until the lease runs out.
		must(t, shared.Client(controlplane.Admin).CoordinationV1().Leases(controlplane.BerthNamespace).
			Delete(t.Context(), "berth", metav1.DeleteOptions{}))
	}
}

// SPDX-License-Identifier: Apache-2.0

// Package cross holds a program that was built for arm64 on another machine, in qemu, against that machine's own, and makes
// a release of both.
package cross

import (
	"bytes"
	"debug/elf"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	spdxjson "github.com/spdx/tools-golang/json"

	"berth.dev/tests/checkout"
	"berth.dev/tests/image"
	"berth.dev/tests/oracle/generate"
)

// root is the project's folder.
const root = "../.."

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// output is what a command prints. One that fails prints what it says of that, too.
func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	var complaints bytes.Buffer
	command := exec.Command(name, args...)
	command.Stderr = &complaints
	out, err := command.Output()
	if err != nil {
		return fmt.Sprintf("%s%s%v\n", out, &complaints, err)
	}
	return string(out)
}

// programs are this machine's berth, and the one for arm64 with the folder of its libraries.
func programs(t *testing.T) (native, arm64, libraries string) {
	t.Helper()
	arm64, libraries = os.Getenv("BERTH_ARM64_BINARY"), os.Getenv("BERTH_SYSROOT")
	if arm64 == "" || libraries == "" {
		t.Skip("BERTH_ARM64_BINARY and BERTH_SYSROOT are not set: ./dev verify arm64 sets them")
	}
	native, err := checkout.Berth("")
	must(t, err)
	return native, arm64, libraries
}

// wallTime is what differs from run to run.
var wallTime = regexp.MustCompile(`"wallMicroseconds":\d+`)

func TestAnswersDoNotDependOnTheProcessor(t *testing.T) {
	native, arm64, libraries := programs(t)
	same := func(t *testing.T, args ...string) {
		t.Helper()
		want := wallTime.ReplaceAllString(output(t, native, args...), "")
		have := wallTime.ReplaceAllString(output(t, "qemu-aarch64-static", append([]string{"-L", libraries, arm64}, args...)...), "")
		if have != want {
			t.Errorf("berth %q for arm64:\n%.4000s\nand here:\n%.4000s", args, have, want)
		}
		if !strings.Contains(want, `{"apiVersion":"berth.dev/v1"`) {
			t.Errorf("berth %q prints no documents: %.400s", args, want)
		}
	}
	both := func(t *testing.T, flags ...string) {
		t.Helper()
		same(t, append([]string{"simulate", "-o", "json"}, flags...)...)
		same(t, append([]string{"explain", "-o", "json"}, flags...)...)
	}
	pages, err := filepath.Glob(filepath.Join(root, "docs", "tutorial", "*.yaml"))
	must(t, err)
	for _, cluster := range pages {
		t.Run(filepath.Base(cluster), func(t *testing.T) { both(t, "--cluster", cluster) })
	}
	for seed := range uint64(20) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			kase := generate.New(seed, generate.Options{Nodes: 60, Volumes: true, Devices: true})
			dir := t.TempDir()
			cluster, config := filepath.Join(dir, "cluster.yaml"), filepath.Join(dir, "config.yaml")
			must(t, os.WriteFile(cluster, kase.ClusterYAML(), 0o644))
			must(t, os.WriteFile(config, kase.ConfigYAML(), 0o644))
			both(t, "--cluster", cluster, "--config", config)
		})
	}
}

// made is a release of both programs, from the tree as it is but for files that git does not know.
func made(t *testing.T, version string, programs ...string) (files string) {
	t.Helper()
	tree := t.TempDir()
	clone := `commit=$(git -C "$1" -c user.name=T -c user.email=t@example.com stash create)
git clone -q --shared --no-checkout "$1" "$2"
git -C "$2" checkout -q --detach "${commit:-HEAD}"`
	if out, err := exec.Command("bash", "-euc", clone, "-", root, tree).CombinedOutput(); err != nil {
		t.Fatalf("copy the tree: %v\n%s", err, out)
	}
	args := []string{version, "--dry-run"}
	for _, program := range programs {
		args = append(args, "--program", program)
	}
	command := exec.Command(filepath.Join(tree, "cmake", "release", "release.sh"), args...)
	command.Env = append(os.Environ(), "BERTH_CACHE="+filepath.Join(tree, ".build", "cache"))
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(tree, ".build", "release-"+version)
}

// programsIn are the programs and libraries in a folder, each with what it is for.
func programsIn(t *testing.T, folder string) map[string]elf.Machine {
	t.Helper()
	found := map[string]elf.Machine{}
	must(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		if file, err := elf.Open(path); err == nil {
			found[path] = file.Machine
			return file.Close()
		}
		return nil
	}))
	return found
}

func TestAReleaseIsForBothArchitectures(t *testing.T) {
	const version = "7.8.9"
	native, arm64, _ := programs(t)
	files := made(t, version, native, arm64)
	machines := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}
	unpacked := map[string]string{}
	isFor := func(what, folder, architecture string) {
		t.Helper()
		found := programsIn(t, folder)
		if len(found) < 2 { // the program, and a library of plugins
			t.Errorf("%s for %s holds %v", what, architecture, found)
		}
		for path, machine := range found {
			if machine != machines[architecture] {
				t.Errorf("%s for %s holds %s for %v", what, architecture, path, machine)
			}
		}
	}
	unpack := func(command string, args ...string) (folder string) {
		t.Helper()
		folder = t.TempDir()
		if out, err := exec.Command(command, append(args, folder)...).CombinedOutput(); err != nil {
			t.Fatalf("%s %q: %v\n%s", command, args, err, out)
		}
		return folder
	}
	for architecture := range machines {
		folder := t.TempDir()
		_, err := image.Unpack(filepath.Join(files, "berth-"+version+".image.tar"), architecture, folder)
		must(t, err)
		isFor("the image", folder, architecture)
		unpacked["image "+architecture] = folder

		folder = unpack("tar", "-xzf", filepath.Join(files, "kubectl-berth-"+version+"-linux-"+architecture+".tar.gz"), "-C")
		isFor("the plugin of kubectl", folder, architecture)
		unpacked["kubectl "+architecture] = folder

		isFor("the tarball", unpack("tar", "-xzf", filepath.Join(files, "berth-"+version+"-linux-"+architecture+".tar.gz"), "-C"), architecture)

		deb := filepath.Join(files, "berth_"+version+"_"+architecture+".deb")
		folder = unpack("dpkg-deb", "--extract", deb)
		isFor("the package", folder, architecture)
		unpacked["package "+architecture] = folder
		if said := output(t, "dpkg-deb", "--field", deb, "Architecture"); said != architecture+"\n" {
			t.Errorf("%s is for %s", deb, said)
		}

		text, err := os.ReadFile(filepath.Join(files, "berth-"+version+"-"+architecture+".spdx.json"))
		must(t, err)
		bill, err := spdxjson.Read(bytes.NewReader(text))
		must(t, err)
		if len(bill.Packages) < 20 || !bytes.Contains(text, []byte("?arch="+architecture+"&")) {
			t.Errorf("the bill of materials for %s has %d packages, or none of them is for it", architecture, len(bill.Packages))
		}
	}
	if out, err := exec.Command("diff", "-r", filepath.Join(unpacked["package amd64"], "usr/share"), filepath.Join(unpacked["package arm64"], "usr/share")).CombinedOutput(); err != nil {
		t.Errorf("pages, completions and examples differ: %v\n%s", err, out)
	}
	if amd64, arm64 := dependencies(t, files, version, "amd64"), dependencies(t, files, version, "arm64"); len(amd64) < 10 || !slices.Equal(amd64, arm64) {
		t.Errorf("the package depends on %q for amd64, on %q for arm64", amd64, arm64)
	}
	runsAlone(t, unpacked["image arm64"], unpacked["kubectl arm64"])

	krew, err := os.ReadFile(filepath.Join(files, "berth.yaml"))
	must(t, err)
	provenance, err := os.ReadFile(filepath.Join(files, "berth-"+version+".provenance.json"))
	must(t, err)
	if !json.Valid(provenance) {
		t.Error("the provenance is no JSON")
	}
	for architecture := range machines {
		if !strings.Contains(string(krew), "\n          arch: "+architecture+"\n") {
			t.Errorf("krew's manifest has nothing for %s:\n%s", architecture, krew)
		}
		if !strings.Contains(string(provenance), `"berth-`+version+"-"+architecture+`.image.tar"`) {
			t.Errorf("the provenance does not name the image for %s", architecture)
		}
	}
}

// dependencies are the names of the packages that the Debian package asks for.
func dependencies(t *testing.T, files, version, architecture string) (names []string) {
	t.Helper()
	for dependency := range strings.SplitSeq(output(t, "dpkg-deb", "--field", filepath.Join(files, "berth_"+version+"_"+architecture+".deb"), "Depends"), ",") {
		name, _, _ := strings.Cut(strings.TrimSpace(dependency), " ")
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// runsAlone expects that the program starts with the libraries beside it, in the image and in the plugin of kubectl.
func runsAlone(t *testing.T, imageRoot, kubectl string) {
	t.Helper()
	berth := filepath.Join(imageRoot, "usr/local/bin/berth")
	if said := output(t, "qemu-aarch64-static", "-L", imageRoot, berth, "version"); !strings.HasPrefix(said, "Berth Version: v") {
		t.Errorf("the image's program: %s", said)
	}
	plugin := filepath.Join(kubectl, "kubectl-berth")
	said := output(t, "qemu-aarch64-static", filepath.Join(plugin, "lib", "ld-linux-aarch64.so.1"), "--library-path", filepath.Join(plugin, "lib"),
		filepath.Join(plugin, "berth"), "version")
	if !strings.HasPrefix(said, "Berth Version: v") {
		t.Errorf("the plugin's program: %s", said)
	}
}

// What is left out in qemu is there, and each has its reason.
func TestWhatIsLeftOutInQemuIsThere(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "cmake", "cross", "not_in_qemu"))
	must(t, err)
	var sources strings.Builder
	must(t, filepath.WalkDir(filepath.Join(root, "tests", "unit"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".cc" {
			return err
		}
		source, err := os.ReadFile(path)
		sources.Write(source)
		return err
	}))
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, reason, _ := strings.Cut(line, " ")
		suite, test, _ := strings.Cut(name, ".")
		pattern := regexp.QuoteMeta(suite) + ","
		if test != "*" {
			pattern += `\s*` + regexp.QuoteMeta(test) + `\)`
		}
		if !regexp.MustCompile(`TEST(_F|_P)?\(` + pattern).MatchString(sources.String()) {
			t.Errorf("there is no test %s", name)
		}
		if strings.TrimSpace(reason) == "" {
			t.Errorf("%s is left out without a reason", name)
		}
	}
}

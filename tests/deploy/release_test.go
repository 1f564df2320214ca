// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	spdxjson "github.com/spdx/tools-golang/json"
)

// committed is a copy of the tree as it is, in a repository with one commit.
func committed(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	script := `
set -euo pipefail
cd "$1"
git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
  [ ! -e "$file" ] || printf '%s\0' "$file"
done | tar --create --null --files-from=- | tar --extract --directory "$2"
cd "$2"
git init -q
git add -A
git -c user.name=T -c user.email=t@example.com -c core.hooksPath=/dev/null commit -q -m "A commit"
`
	out, err := exec.Command("bash", "-c", script, "-", root, dir).CombinedOutput()
	if err != nil {
		t.Fatalf("copy the tree: %v\n%s", err, out)
	}
	return dir
}

// release runs the command in a tree, with a working folder of the test's own.
func release(t *testing.T, tree string, args ...string) (string, error) {
	t.Helper()
	command := exec.Command(filepath.Join(tree, "cmake", "release", "release.sh"), args...)
	command.Env = append(os.Environ(), "BERTH_CACHE="+filepath.Join(tree, ".build", "cache"))
	out, err := command.CombinedOutput()
	return string(out), err
}

func TestAReleaseIsMadeTwiceAndComplete(t *testing.T) {
	const version = "7.8.9"
	tree := committed(t)
	if out, err := release(t, tree, version, "--dry-run", "--program", program.Path); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	files := filepath.Join(tree, ".build", "release-"+version)
	sums, err := os.ReadFile(filepath.Join(files, "SHA256SUMS"))
	must(t, err)
	var names []string
	for lines := bufio.NewScanner(bytes.NewReader(sums)); lines.Scan(); {
		sum, name, _ := strings.Cut(lines.Text(), "  ")
		text, err := os.ReadFile(filepath.Join(files, name))
		must(t, err)
		if have := sha256.Sum256(text); hex.EncodeToString(have[:]) != sum {
			t.Errorf("%s has another sum", name)
		}
		names = append(names, name)
	}
	for _, pattern := range []string{
		"NOTES.md", "berth-7.8.9-*.image.tar", "berth-7.8.9-*.debug", "berth-7.8.9-*.spdx.json", "berth_7.8.9_*.deb",
		"berth-7.8.9-linux-*.tar.gz", "berth-7.8.9-source.tar.gz", "berth-7.8.9-chart.tgz", "berth-7.8.9.image.tar",
		"berth-7.8.9-manifests.tar.gz", "berth-7.8.9.provenance.json", "berth.yaml", "kubectl-berth-7.8.9-linux-*.tar.gz",
	} {
		if !slices.ContainsFunc(names, func(name string) bool { ok, _ := filepath.Match(pattern, name); return ok }) {
			t.Errorf("no %s among %q", pattern, names)
		}
	}
	notes, err := os.ReadFile(filepath.Join(files, "NOTES.md"))
	must(t, err)
	if strings.Contains(string(notes), "\n## ") || !strings.Contains(string(notes), "\n- ") {
		t.Errorf("the notes are no section of the changelog:\n%s", notes)
	}
	// The chart is one that helm takes, and asks for this version's image.
	if out := mustHelm(t, "template", "berth", filepath.Join(files, "berth-7.8.9-chart.tgz")); !strings.Contains(out, "image: berth:v7.8.9\n") {
		t.Error("the chart does not ask for its own version")
	}
}

func TestAReleaseIsRefusedWhereTheTreeIsNotReady(t *testing.T) {
	tree := committed(t)
	must(t, os.WriteFile(filepath.Join(tree, "CHANGELOG.md"), []byte("# Changelog\n\n## 7.8.9 - 2026-01-31\n\n- All.\n"), 0o644))
	for _, c := range []struct {
		prepare string // in the tree, before
		args    []string
		says    string
	}{
		{"", []string{"0.2"}, "three numbers"},
		{"", []string{"7.8.9", "--dry-run"}, "not committed"},
		{"git commit -q -am changelog", []string{"7.8.9"}, "CMakeLists.txt has another version"},
		{"cmake/release/set_version.sh 7.8.8 2026-01-31 && git commit -q -am version", []string{"7.8.8"}, "CHANGELOG.md has no section"},
		{"cmake/release/set_version.sh 7.8.9 2026-01-31 && git commit -q -am version", []string{"7.8.9"}, "docs/compatibility.md has no row for 7.8"},
		{"echo '| 7.8 |' | tee -a docs/compatibility.md >>docs/upgrading.md && git commit -q -am rows && git tag v7.8.9",
			[]string{"7.8.9"}, "there is a tag"},
		{"git tag -d v7.8.9", []string{"7.8.9", "--tagged"}, "the commit has no tag v7.8.9"},
		{"", []string{"--tagged"}, "three numbers"},
		{"", []string{"7.8.9", "--dry-run", "--join"}, "is no part of 7.8.9"},
		{"", []string{"7.8.9", "--dry-run", "--join", "--parts"}, "not both"},
		{"sed -i '/^## 7.8.9/i ## Unreleased' CHANGELOG.md && git commit -q -am next", []string{"7.8.9", "--dry-run"}, "changes after 7.8.9"},
	} {
		if c.prepare != "" {
			command := exec.Command("bash", "-euc", "git config user.name T; git config user.email t@example.com; git config core.hooksPath /dev/null; "+c.prepare)
			command.Dir = tree
			if out, err := command.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", c.prepare, err, out)
			}
		}
		if out, err := release(t, tree, c.args...); err == nil || !strings.Contains(out, c.says) {
			t.Errorf("%q: %v, %s", c.args, err, out)
		}
	}
}

func TestTheBillOfMaterialsNamesWhatIsInTheImage(t *testing.T) {
	archive, err := sharedImage()
	must(t, err)
	text, err := os.Open(strings.TrimSuffix(archive, ".image.tar") + ".spdx.json")
	must(t, err)
	defer text.Close()
	document, err := spdxjson.Read(text)
	must(t, err)
	named, urls := map[string]string{}, map[string]string{}
	for _, p := range document.Packages {
		named[p.PackageName] = p.PackageVersion
		if p.PackageName == "berth" {
			continue
		}
		if len(p.PackageExternalReferences) != 1 {
			t.Fatalf("%s has the references %v", p.PackageName, p.PackageExternalReferences)
		}
		urls[p.PackageName] = p.PackageExternalReferences[0].Locator
	}
	// By dpkg, asked of this machine.
	for _, library := range []string{"libc6", "libssl3", "libstdc++6", "ca-certificates", "nlohmann-json3-dev", "libcli11-dev"} {
		version, err := exec.Command("dpkg-query", "-W", "-f=${Version}", library).Output()
		must(t, err)
		if named[library] != string(version) {
			t.Errorf("%s has version %q in the bill, %q on this machine", library, named[library], version)
		}
	}
	// A purl: what is no letter, digit, dot, dash or tilde is by its code.
	library := regexp.MustCompile(`^pkg:deb/debian/libstdc%2B%2B6@[\w.~%-]+\?arch=\w+&distro=debian-\d+&upstream=gcc-\d+%40[\w.~%-]+$`)
	if !library.MatchString(urls["libstdc++6"]) {
		t.Errorf("libstdc++6 has the package URL %q", urls["libstdc++6"])
	}
	unpacked, _ := unpackedImage(t)
	packages, err := os.ReadDir(filepath.Join(unpacked, "var/lib/dpkg/status.d"))
	must(t, err)
	for _, entry := range packages {
		if named[entry.Name()] == "" {
			t.Errorf("%s is in the image and not in the bill", entry.Name())
		}
	}
	if len(document.Relationships) != len(document.Packages) {
		t.Errorf("%d packages have %d relationships", len(document.Packages), len(document.Relationships))
	}
}

// placesOf reads the file of places of a tree.
func placesOf(t *testing.T, tree string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(tree, "cmake", "release", "places"))
	must(t, err)
	found := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^(\w+)=(.*)$`).FindAllStringSubmatch(string(text), -1) {
		found[m[1]] = m[2]
	}
	return found
}

// placeholder is the example that stands in the tree for a place, until a release writes the place itself.
func placeholder(t *testing.T, place string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "cmake", "release", "set_places.sh"))
	must(t, err)
	list := func(name string) []string {
		m := regexp.MustCompile(`(?s)\b` + name + `=\((.*?)\)`).FindStringSubmatch(string(text))
		if m == nil {
			t.Fatalf("set_places.sh has no %s", name)
		}
		return strings.Fields(m[1])
	}
	names, examples := list("names"), list("examples")
	at := slices.Index(names, place)
	if at < 0 || len(names) != len(examples) {
		t.Fatalf("set_places.sh has no example of %s: %q, %q", place, names, examples)
	}
	return examples[at]
}

// Each place is said once, and what a release makes has it wherever the tree has its example.
func TestAPlaceIsSaidOnceAndReachesAllThatNamesIt(t *testing.T) {
	tree := t.TempDir()
	copyTree := `cd "$1" && git ls-files -z --cached --others --exclude-standard deploy docs README.md cmake | while IFS= read -r -d '' file; do
  [ ! -e "$file" ] || printf '%s\0' "$file"
done | tar --create --null --files-from=- | tar --extract --directory "$2"`
	if out, err := exec.Command("bash", "-euo", "pipefail", "-c", copyTree, "-", root, tree).CombinedOutput(); err != nil {
		t.Fatalf("copy the tree: %v\n%s", err, out)
	}
	want := map[string]string{
		"image": "registry.test:5000/team/berth", "charts": "registry.test:5000/charts", "files": "https://forge.test/get",
		"source": "https://forge.test/team/berth.git", "site": "http://docs.test/berth",
	}
	if have := placesOf(t, root); len(have) != len(want) {
		t.Fatalf("the places are %v", have)
	}
	var places strings.Builder
	for name, place := range want {
		places.WriteString(name + "=" + place + "\n")
	}
	must(t, os.WriteFile(filepath.Join(tree, "cmake", "release", "places"), []byte(places.String()), 0o644))
	set := func() (string, error) {
		command := exec.Command("cmake/release/set_places.sh")
		command.Dir = tree
		out, err := command.CombinedOutput()
		return string(out), err
	}
	if out, err := set(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for file, has := range map[string]string{
		"deploy/components/monitoring/prometheus_rule.yaml": `runbook_url: "http://docs.test/berth/runbook.html#berthdown"`,
		"deploy/helm/files/prometheus_rule.yaml":            `runbook_url: "http://docs.test/berth/runbook.html#berthdown"`,
		"deploy/helm/Chart.yaml":                            "\n  - https://forge.test/team/berth.git\n",
		"docs/installing.md":                                "--set image.repository=registry.test:5000/team/berth\n",
	} {
		text, err := os.ReadFile(filepath.Join(tree, file))
		must(t, err)
		if !strings.Contains(string(text), has) {
			t.Errorf("%s lacks %s", file, has)
		}
		for name := range want {
			if strings.Contains(string(text), placeholder(t, name)) {
				t.Errorf("%s still has the example of %s", file, name)
			}
		}
	}
	if info, err := os.Lstat(filepath.Join(tree, "deploy/helm/files/prometheus_rule.yaml")); err != nil || info.Mode().IsRegular() {
		t.Errorf("the chart's link has become a file: %v", err)
	}
	must(t, os.WriteFile(filepath.Join(tree, "cmake", "release", "places"), []byte("image=a b\n"), 0o644))
	if out, err := set(); err == nil || !strings.Contains(out, "has no files") {
		t.Errorf("places without one are taken: %v %s", err, out)
	}
}

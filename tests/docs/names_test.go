// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"berth.dev/tests/internal/daemon"
	"berth.dev/tests/markdown"
)

// prose is the page without its fenced blocks and comments.
func prose(text string) string {
	text = regexp.MustCompile("(?ms)^ *```.*?^ *```$").ReplaceAllString(text, "")
	return regexp.MustCompile(`(?s)<!--.*?-->`).ReplaceAllString(text, "")
}

var (
	codeSpan = regexp.MustCompile("`([^`\n]+)`")
	link     = regexp.MustCompile(`\]\(([^)#\s]+)(#[^)]*)?\)`)
	// A file or folder of the tree, maybe with a pattern.
	treePath = regexp.MustCompile(`^(src|include|plugins|tests|docs|deploy|config|cmake)/[\w./*<>-]*$`)
	cppName  = regexp.MustCompile(`^([a-z_]+::)+([A-Z]\w*)(::\w+)?(\(\))?$`)
	flagName = regexp.MustCompile(`^--([a-z][a-z0-9-]*)`)
)

// eachPage calls check for each page, in order.
func eachPage(t *testing.T, check func(page, text string)) {
	t.Helper()
	texts := pages(t)
	for _, page := range slices.Sorted(maps.Keys(texts)) {
		check(page, texts[page])
	}
}

// A dump of nodes and pods alone lacks what others of their verdicts depend on.
func TestPagesDoNotHaveDumpsMadeByKubectlAlone(t *testing.T) {
	byKubectl := regexp.MustCompile(`kubectl get \S*(nodes?,|pods?,|,nodes?\b|,pods?\b)`)
	seen := 0
	eachPage(t, func(page, text string) {
		for line := range strings.Lines(text) {
			if !byKubectl.MatchString(line) {
				continue
			}
			seen++
			if !strings.Contains(line, "berth dump") {
				t.Errorf("%s has a dump by kubectl, and not by berth dump: %s", page, line)
			}
		}
	})
	if seen == 0 {
		t.Error("no page, and no flag's meaning, has a dump by kubectl")
	}
}

func TestPathsAndLinksOfThePagesExist(t *testing.T) {
	eachPage(t, func(page, text string) {
		for _, m := range link.FindAllStringSubmatch(prose(text), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(root, filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s links to %s, which does not exist", page, m[1])
			}
		}
		for _, m := range codeSpan.FindAllStringSubmatch(prose(text), -1) {
			if !treePath.MatchString(m[1]) {
				continue
			}
			pattern := regexp.MustCompile(`<[^>]*>`).ReplaceAllString(m[1], "*")
			found, err := filepath.Glob(filepath.Join(root, pattern))
			if err != nil || len(found) == 0 {
				t.Errorf("%s names %s, which does not exist", page, m[1])
			}
		}
	})
}

// sourceWords are the words of all C++ files.
func sourceWords(t *testing.T) map[string]bool {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", "-C", root, "grep", "-h", "-e", "", "--", "include", "src", "plugins").Output()
	if err != nil {
		t.Fatalf("git grep: %v", err)
	}
	words := map[string]bool{}
	for _, word := range regexp.MustCompile(`\w+`).FindAllString(string(out), -1) {
		words[word] = true
	}
	return words
}

func TestClassesAndFunctionsOfThePagesExist(t *testing.T) {
	words := sourceWords(t)
	eachPage(t, func(page, text string) {
		for _, m := range codeSpan.FindAllStringSubmatch(prose(text), -1) {
			name := cppName.FindStringSubmatch(m[1])
			if name == nil {
				continue
			}
			for _, part := range strings.Split(strings.TrimSuffix(m[1], "()"), "::") {
				if !words[part] {
					t.Errorf("%s names %s, but no source has %s", page, m[1], part)
				}
			}
		}
	})
}

func TestFlagsOfThePagesExist(t *testing.T) {
	program, err := daemon.Berth("")
	if err != nil {
		t.Fatal(err)
	}
	var known strings.Builder
	for _, command := range []string{"run", "explain", "why", "simulate", "replay", "ui", "packing", "plan", "dump", "config", "version"} {
		out, err := exec.CommandContext(t.Context(), program.Path, command, "--help").Output()
		if err != nil {
			t.Fatalf("berth %s --help: %v", command, err)
		}
		known.Write(out)
	}
	eachPage(t, func(page, text string) {
		if strings.HasPrefix(page, "tests/") {
			return // benchmarks have flags of their own
		}
		for _, m := range codeSpan.FindAllStringSubmatch(prose(text), -1) {
			flag := flagName.FindStringSubmatch(strings.TrimPrefix(m[1], "berth run "))
			if flag == nil {
				continue
			}
			if !regexp.MustCompile(`(^|[\s,])--` + flag[1] + `\b`).MatchString(known.String()) {
				t.Errorf("%s names the flag --%s, which no command has", page, flag[1])
			}
		}
	})
}

func TestMetricsOfThePagesExist(t *testing.T) {
	texts := pages(t)
	const reference = "docs/metrics.md"
	documented := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^### (\S+)`).FindAllStringSubmatch(texts[reference], -1) {
		documented[m[1]] = true
	}
	metric := regexp.MustCompile(`\b((?:scheduler|berth|rest_client|leader_election|workqueue)_[a-z_]+[a-z])(?:\{|\b)`)
	for page, text := range texts {
		if page == reference || strings.HasPrefix(page, "tests/") {
			continue
		}
		for _, m := range codeSpan.FindAllStringSubmatch(prose(text), -1) {
			for _, name := range metric.FindAllStringSubmatch(m[1], -1) {
				if !documented[name[1]] && !strings.HasPrefix(name[1], "berth_plugin_") && !strings.HasPrefix(name[1], "berth_add_") {
					t.Errorf("%s names the metric %s, which %s does not have", page, name[1], reference)
				}
			}
		}
	}
}

func TestTheRunbookHasOneSectionForEachAlert(t *testing.T) {
	rules, err := os.ReadFile(filepath.Join(root, "deploy/components/monitoring/prometheus_rule.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	names := func(pattern, text string) (found []string) {
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
			found = append(found, m[1])
		}
		return found
	}
	alerts := names(`(?m)- alert: (\w+)$`, string(rules))
	sections := names(`(?m)^## (\w+)$`, pages(t)["docs/runbook.md"])
	if len(alerts) == 0 || !slices.Equal(alerts, sections) {
		t.Errorf("alerts:   %v\nsections: %v", alerts, sections)
	}
}

// TestVersionsOfOthersAreLookedAfter expects each file that names versions of packages in dependabot's list, but for those
// that follow Kubernetes or a neighbour.
func TestVersionsOfOthersAreLookedAfter(t *testing.T) {
	watched := map[string]bool{}
	for _, m := range regexp.MustCompile(`package-ecosystem: (\S+)\n +directory: /(\S*)\n`).FindAllStringSubmatch(read(t, ".github/dependabot.yml"), -1) {
		watched[m[1]+" "+m[2]] = true
	}
	named := map[string]bool{"github-actions ": len(files(t, ".github/workflows/*")) > 0}
	for ecosystem, pattern := range map[string]string{
		"gomod": "*go.mod", "npm": "*package.json", "pip": "*requirements.txt", "docker": "*Dockerfile",
	} {
		for _, file := range files(t, pattern) {
			if !strings.HasPrefix(file, "tests/controlplane/releases/") && !strings.HasPrefix(file, "tests/neighbours/modules/") {
				named[ecosystem+" "+filepath.Dir(file)] = true
			}
		}
	}
	if !maps.Equal(watched, named) {
		t.Errorf("dependabot looks after %v, and these name versions: %v", slices.Sorted(maps.Keys(watched)), slices.Sorted(maps.Keys(named)))
	}
}

func TestOwnersOwnWhatIsThere(t *testing.T) {
	lines := regexp.MustCompile(`(?m)^([^#\s]\S*)\s+(.*)$`).FindAllStringSubmatch(read(t, ".github/CODEOWNERS"), -1)
	if len(lines) == 0 || lines[0][1] != "*" {
		t.Error("the first line of CODEOWNERS is not of all files")
	}
	for _, line := range lines[1:] {
		if len(files(t, strings.TrimPrefix(line[1], "/"))) == 0 {
			t.Errorf("CODEOWNERS names %s, which does not exist", line[1])
		}
	}
	for _, line := range lines {
		if !regexp.MustCompile(`^@[\w-]+/[\w-]+$`).MatchString(line[2]) {
			t.Errorf("%s belongs to %q, which is no team", line[1], line[2])
		}
	}
}

// TestTheArchitectureHasEveryRoomAndEveryTest looks for each folder in the page's table, and for a README
// in each folder of a plugin.
func TestTheArchitectureHasEveryRoomAndEveryTest(t *testing.T) {
	page := pages(t)["docs/architecture.md"]
	row := func(name string) string {
		return regexp.MustCompile(`(?m)^\| ` + name + `/? \|.*$`).FindString(page)
	}
	for _, dir := range folders(t, "src") {
		if !regexp.MustCompile(`(?m)^\|[^|]*\bsrc/` + dir + `\b`).MatchString(page) {
			t.Errorf("docs/architecture.md has no room src/%s", dir)
		}
	}
	for _, dir := range folders(t, "tests") {
		if !regexp.MustCompile(`\b` + dir + `\b`).MatchString(row("tests")) {
			t.Errorf("docs/architecture.md does not list tests/%s", dir)
		}
	}
	for _, dir := range folders(t, "plugins") {
		files, err := filepath.Glob(filepath.Join(root, "plugins", dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		onlyArgs := !slices.ContainsFunc(files, func(file string) bool { return !strings.HasPrefix(filepath.Base(file), "args.") })
		if !onlyArgs && !slices.Contains(files, filepath.Join(root, "plugins", dir, "README.md")) {
			t.Errorf("plugins/%s has no README.md", dir)
		}
	}
}

func folders(t *testing.T, in string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(root, in))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if entry.IsDir() {
			names = append(names, entry.Name())
		}
	}
	return names
}

// What `./dev` passes to ctest, GoogleTest and go test as a pattern: one that matches nothing passes.
func TestRoomsAndTestsThatDevNamesExist(t *testing.T) {
	dev := read(t, "dev")
	list := func(name string) []string {
		m := regexp.MustCompile(`(?s)\b` + name + `=\((.*?)\)`).FindStringSubmatch(dev)
		if m == nil {
			t.Fatalf("dev has no %s", name)
		}
		return strings.Fields(m[1])
	}
	expectOne := func(pattern, files string) {
		t.Helper()
		found, err := filepath.Glob(filepath.Join(root, files))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range found {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if regexp.MustCompile(pattern).Match(text) {
				return
			}
		}
		t.Errorf("dev names what is not in %s: %s", files, pattern)
	}
	for _, room := range slices.Concat(list("THREADED_ROOMS"), list("ROOMS_ABOVE_THREADS")) {
		expectOne(`TEST(_F|_P)?\(`, "tests/unit/"+room+"/*_test.cc")
	}
	for _, story := range slices.Concat(list("STORIES"), list("TENANTS")) {
		expectOne(`func Test`+story+`\(`, "tests/integration/*_test.go")
	}
	filters := regexp.MustCompile(`tests/(\w+)_test .*--gtest_filter='(\w+)\*'`).FindAllStringSubmatch(dev, -1)
	if len(filters) == 0 {
		t.Error("dev has no --gtest_filter")
	}
	for _, m := range filters {
		expectOne(`TEST(_F|_P)?\(`+m[2], "tests/unit/"+m[1]+"/*_test.cc")
	}
}

// TestPagesArePlainEnglish holds the pages to words that every reader knows.
func TestPagesArePlainEnglish(t *testing.T) {
	words := regexp.MustCompile(`(?i)\b(nobody|somebody|anybody|everybody|whoever|whosoever|anew)\b`)
	eachPage(t, func(page, text string) {
		for i, line := range strings.Split(text, "\n") {
			line = codeSpan.ReplaceAllString(line, "")
			if word := words.FindString(line); word != "" && !strings.HasPrefix(line, "export ") {
				t.Errorf("%s:%d says %q", page, i+1, word)
			}
		}
	})
}

// TestLinesOfThePagesAreNotTooWide breaks them again with BERTH_UPDATE_DOCS=1. Pages that are made from the
// code are as wide as it makes them.
func TestLinesOfThePagesAreNotTooWide(t *testing.T) {
	eachPage(t, func(page, text string) {
		if page == "CHANGELOG.md" || strings.Contains(text, "\n<!-- Made by ") {
			return
		}
		narrow := markdown.Reflow(text)
		if narrow == text {
			return
		}
		if os.Getenv("BERTH_UPDATE_DOCS") != "" {
			if err := os.WriteFile(filepath.Join(root, page), []byte(narrow), 0o644); err != nil {
				t.Fatal(err)
			}
			return
		}
		for i, line := range strings.Split(narrow, "\n") {
			if before := strings.Split(text, "\n"); i >= len(before) || before[i] != line {
				t.Errorf("%s:%d: a line of this paragraph has more than %d columns; BERTH_UPDATE_DOCS=1 breaks it again",
					page, i+1, markdown.Columns)
				return
			}
		}
	})
}

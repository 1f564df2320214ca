// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"berth.dev/tests/markdown"
)

// Pages that are made from the code. After a change of it:
//
//	BERTH_UPDATE_DOCS=1 BERTH_BINARY=F go -C tests test -count=1 -run TestMadePage ./docs/

// holdPage compares a page with what the code comes to, or writes it.
func holdPage(t *testing.T, page, text string) {
	t.Helper()
	if os.Getenv("BERTH_UPDATE_DOCS") != "" {
		if err := os.WriteFile(filepath.Join(root, page), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have := strings.Split(read(t, page), "\n")
	for i, line := range strings.Split(text, "\n") {
		if i >= len(have) || have[i] != line {
			t.Fatalf("%s:%d is not what the code makes:\n  %s\nwrite the page again as the head of reference_test.go says", page, i+1, line)
		}
	}
	if len(have) != strings.Count(text, "\n")+1 {
		t.Fatalf("%s is longer than what the code makes; write it again as the head of reference_test.go says", page)
	}
}

// cell is text for a table's cell.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "*", `\*`, "<", `\<`).Replace(text)
}

// helpColumn is where the texts of flags begin.
const helpColumn = 30

// commandFlags is a command's help as tables, one for each heading.
func commandFlags(t *testing.T, command string) string {
	t.Helper()
	var text strings.Builder
	lines := strings.Split(strings.TrimSpace(berth(t, command, "--help")), "\n")
	for i := 0; i < len(lines); i++ {
		line := strings.TrimRight(lines[i], " ")
		heading, isHeading := strings.CutSuffix(line, "lags:")
		switch {
		case line == "":
		case strings.HasPrefix(line, "Usage: "):
			fmt.Fprintf(&text, "\n`%s`\n", strings.TrimPrefix(line, "Usage: "))
		case isHeading || regexp.MustCompile(`^[A-Z][\w -]* flags: `).MatchString(line):
			if !isHeading {
				heading, _, _ = strings.Cut(line, ": ")
			} else if heading == "F" {
				heading = "Flags"
			} else {
				heading = strings.TrimSuffix(heading, " f") + " flags"
			}
			fmt.Fprintf(&text, "\n**%s**\n\n| Flag | Meaning |\n| --- | --- |\n", heading)
		case strings.HasPrefix(line, "  -"):
			// What does not fit before the column stands above it.
			flag, meaning := line, ""
			if i+1 < len(lines) && strings.HasPrefix(lines[i+1], strings.Repeat(" ", helpColumn)) {
				i++
				meaning = strings.TrimSpace(lines[i])
			} else if len(line) > helpColumn {
				flag, meaning = line[:helpColumn], strings.TrimSpace(line[helpColumn:])
			}
			if meaning == "" {
				t.Errorf("berth %s: %s has no help", command, flag)
			}
			flag = strings.Replace(strings.TrimSpace(flag), ",--", ", --", 1)
			fmt.Fprintf(&text, "| `%s` | %s |\n", strings.ReplaceAll(flag, "|", `\|`), cell(meaning))
		default:
			if i == 0 {
				fmt.Fprintf(&text, "\n%s\n", line)
				continue
			}
			t.Errorf("berth %s --help has the line %q, which is no flag", command, line)
		}
	}
	return text.String()
}

func TestMadePageOfCommands(t *testing.T) {
	var text strings.Builder
	text.WriteString(`# Commands and flags

<!-- Made by tests/docs/reference_test.go from what the commands print; change them, not this page. -->

What stands in brackets is the default. '_' in a flag's name counts as '-'; a value follows after '=' or as the next argument, but
for switches, which take '=' only. Flags of ` + "`berth run`" + ` are kube-scheduler's, and some of Berth's own
([configuration.md](configuration.md)). Invoked as ` + "`kube-scheduler`" + `, or with a flag as first argument, the program is ` + "`berth run`" + `.
`)
	commands := 0
	for _, m := range regexp.MustCompile(`(?m)^  ([a-z]+)  +(.*)$`).FindAllStringSubmatch(berth(t, "help"), -1) {
		if m[1] == "help" || m[1] == "completion" {
			// These take no flags.
			usage := map[string]string{"completion": "berth completion bash|zsh|fish|kubectl", "help": "berth help"}[m[1]]
			fmt.Fprintf(&text, "\n## berth %s\n\n%s\n\n`%s`\n", m[1], strings.Replace(m[2], "This text.", "Lists the commands.", 1), usage)
			continue
		}
		commands++
		fmt.Fprintf(&text, "\n## berth %s\n%s", m[1], commandFlags(t, m[1]))
	}
	if commands < 8 {
		t.Errorf("only %d commands were found", commands)
	}
	holdPage(t, "docs/commands.md", markdown.Reflow(text.String()))
}

// TestTheDifferencesNameEveryAddedCommand looks for all commands but the one that kube-scheduler is.
func TestTheDifferencesNameEveryAddedCommand(t *testing.T) {
	_, added, found := strings.Cut(read(t, "docs/differences.md"), "\n## Added\n")
	if !found {
		t.Fatal("docs/differences.md has no section Added")
	}
	for _, m := range regexp.MustCompile(`(?m)^  ([a-z]+)  `).FindAllStringSubmatch(berth(t, "help"), -1) {
		if m[1] != "run" && !strings.Contains(added, "`"+m[1]+"`") {
			t.Errorf("docs/differences.md does not name the command %s", m[1])
		}
	}
}

// TestTheEndpointsHaveTheirRows looks for the paths that the daemon's router is given.
func TestTheEndpointsHaveTheirRows(t *testing.T) {
	var documented []string
	for _, m := range regexp.MustCompile("(?m)^\\| (`/[^|]*) \\|").FindAllStringSubmatch(read(t, "docs/endpoints.md"), -1) {
		for _, path := range codeSpan.FindAllStringSubmatch(m[1], -1) {
			path, _, _ := strings.Cut(path[1], "?")
			if !strings.Contains(path, "<") { // the checks by themselves
				documented = append(documented, path)
			}
		}
	}
	sources, err := filepath.Glob(filepath.Join(root, "src/app/*/*.*"))
	if err != nil {
		t.Fatal(err)
	}
	route := regexp.MustCompile(`(?:router\w*(?:\.|->)(?:Answer|Handle|HandleMethod)\(|Install\w*\(router, |Path =|\{)\s*"(/[^"]*)"`)
	var served []string
	for _, source := range sources {
		name, _ := filepath.Rel(root, source)
		for _, m := range route.FindAllStringSubmatch(cppSource(t, name), -1) {
			served = append(served, m[1])
		}
	}
	slices.Sort(documented)
	slices.Sort(served)
	if served = slices.Compact(served); len(served) < 12 || !slices.Equal(documented, served) {
		t.Errorf("docs/endpoints.md has\n%v\nthe sources of src/app\n%v", documented, served)
	}
}

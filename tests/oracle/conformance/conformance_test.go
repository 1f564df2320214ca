// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"flag"
	"os"
	"strings"
	"sync"
	"testing"

	"berth.dev/tests/oracle/answers"
)

// page has the table of what passes. After a change that it knows of:
//
//	go -C tests test -run Conformance ./oracle/conformance/ -update-page
const page = "../../../docs/cel.md"

var updatePage = flag.Bool("update-page", false, "write the table of docs/cel.md")

// both sides' answers to the whole suite.
var results = sync.OnceValues(func() ([]Result, error) {
	tests, err := Suite()
	if err != nil {
		return nil, err
	}
	program, err := answers.Program()
	if err != nil {
		return nil, err
	}
	return Run(tests, program)
})

func all(t *testing.T) []Result {
	t.Helper()
	all, err := results()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestConformanceIsCELGos(t *testing.T) {
	for _, r := range all(t) {
		if r.Verdict == Differs {
			t.Errorf("%s: %s\n  cel-go: %s %s, cost %d\n  Berth:  %s %s, cost %d", r.Test.Name(), r.Test.GetExpr(),
				r.Theirs.Type, r.Theirs.Text(), r.Theirs.Cost, r.Ours.Type, r.Ours.Text(), r.Ours.Cost)
		}
		if r.Verdict == Alike {
			t.Logf("%s: %s: both answer %s", r.Test.Name(), r.Test.GetExpr(), r.Ours.Text())
		}
	}
}

func TestConformanceTableIsOnThePage(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	table := Table(all(t))
	if strings.Contains(string(text), "\n"+table) {
		return
	}
	if !*updatePage {
		t.Fatalf("%s does not have the table of now: write it as the head of this file says\n%s", page, table)
	}
	lines := strings.SplitAfter(string(text), "\n")
	begin := 0
	for begin < len(lines) && !strings.HasPrefix(lines[begin], "| File | Tests |") {
		begin++
	}
	end := begin
	for end < len(lines) && strings.HasPrefix(lines[end], "|") {
		end++
	}
	made := strings.Join(lines[:begin], "") + table + strings.Join(lines[end:], "")
	if err := os.WriteFile(page, []byte(made), 0o644); err != nil {
		t.Fatal(err)
	}
}

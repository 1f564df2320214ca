// SPDX-License-Identifier: Apache-2.0

package newcomer

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"berth.dev/tests/markdown"
)

// followed are the sections of README that a newcomer goes through, from its top.
var followed = []string{"", "Try it", "Ask it"}

// answerOf is what a block shows of the standard output. What was read goes to standard error, where ./dev tells of its steps, too.
func answerOf(b markdown.Block) string {
	if read, answer, found := strings.Cut(b.Text, "\n"); found && strings.HasPrefix(read, "Read ") {
		return answer
	}
	return b.Text
}

// TestAFreshCloneDoesWhatReadmeSays runs the commands of README's first sections in their order.
func TestAFreshCloneDoesWhatReadmeSays(t *testing.T) {
	d := theNewcomer(t)
	ran := map[string]int{}
	first, printed := true, ""
	for _, b := range d.blocks(t, "README.md") {
		if !slices.Contains(followed, b.Section) {
			continue
		}
		if b.Marks[markdown.Output] != "" {
			if markdown.WithoutTimes(printed) != markdown.WithoutTimes(answerOf(b)) {
				t.Errorf("%s: the commands print\n%s", b, printed)
			}
		}
		if b.Language != "sh" {
			continue
		}
		if why := b.Marks[markdown.NotRun] + b.Marks[markdown.Needs]; why != "" {
			if first {
				t.Errorf("%s: a clone is not enough for README's first commands", b)
			}
			t.Logf("%s: left out: %s", b, why)
			continue
		}
		first = false
		ran[b.Section]++
		if text := b.Marks[markdown.RunsUntil]; text != "" {
			d.runUntil(t, b.String(), b.Text, text)
		} else {
			printed = d.run(t, b.String(), b.Text)
		}
	}
	for _, section := range followed {
		if ran[section] == 0 {
			t.Errorf("README's section %q has no command that runs in a clone", section)
		}
	}
	status, err := exec.CommandContext(t.Context(), "git", "-C", d.clone, "status", "--porcelain").CombinedOutput()
	if err != nil || len(status) > 0 {
		t.Errorf("what the commands leave is not ignored by git: %v\n%s", err, status)
	}
}

// TestBlocksForACloneAreFollowed finds those that tests/docs leaves to this test.
func TestBlocksForACloneAreFollowed(t *testing.T) {
	d := theNewcomer(t)
	list, err := exec.CommandContext(t.Context(), "git", "-C", d.clone, "ls-files", "*.md").Output()
	must(t, err)
	marked := 0
	for _, page := range strings.Fields(string(list)) {
		for _, b := range d.blocks(t, page) {
			isFollowed := page == "README.md" && slices.Contains(followed, b.Section)
			if b.Marks[markdown.InAClone] != "" {
				marked++
				if !isFollowed {
					t.Errorf("%s is left to a newcomer, who does not get there", b)
				}
			}
			if b.Marks[markdown.Needs] != "" && !isFollowed {
				t.Errorf("%s is not for newcomers anyway: what it needs is no mark", b)
			}
		}
	}
	if marked == 0 {
		t.Error("no block is left to a newcomer")
	}
}

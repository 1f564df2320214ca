// SPDX-License-Identifier: Apache-2.0

package markdown

import (
	"fmt"
	"testing"
)

func TestBlocksAreFoundWithTheirMarksAndSections(t *testing.T) {
	page := "# A page\n\n  <!-- not run: needs a cup of tea -->\n  ```sh\nmake tea\n## not a heading\n  ```\n## Tea\n```yaml\na: b\n```\n"
	found, err := Blocks("a.md", page)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%+v", found)
	want := "[a.md:4 a.md:9]"
	if got != want || found[0].Marks[NotRun] != "needs a cup of tea" || found[0].Text != "make tea\n## not a heading\n" ||
		found[0].Section != "" || found[1].Section != "Tea" || found[1].Language != "yaml" || len(found[1].Marks) != 0 {
		t.Errorf("found %s, %q in %q and %q in %q", got, found[0].Marks, found[0].Section, found[1].Marks, found[1].Section)
	}
	if _, err := Blocks("a.md", "```sh\nmake tea\n"); err == nil {
		t.Error("a block without an end is no error")
	}
}

func TestWhatIsPrintedIsComparedWithoutItsTimes(t *testing.T) {
	if got, want := WithoutTimes("bound in 12.5 ms  \n3 nodes\n\n"), "bound in ...\n3 nodes"; got != want {
		t.Errorf("it is %q, want %q", got, want)
	}
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"berth.dev/tests/checkout"
	"berth.dev/tests/demo/story"
)

// previewText tells the story and returns what is on the screen.
func previewText(t *testing.T, binary string) (string, error) {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "screen"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	p, tellErr := runPreview(t.Context(), story.NewScreen(out), binary)
	if tellErr == nil {
		if err := p.close(); err != nil {
			t.Error(err)
		}
	}
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(text), tellErr
}

// What goes wrong in the story is an error of it.
func TestThePreviewTellsTheWholeStory(t *testing.T) {
	binary, err := checkout.Berth("")
	if err != nil {
		t.Fatal(err)
	}
	text, err := previewText(t, binary)
	if err != nil {
		t.Error(err)
	}
	for _, want := range []string{
		"554 pods placed", "zone-c", "Insufficient cpu",
		"label zone-[abc]-[0-9]+ disk=tape", "no-such-disk is on zone-",
		"pod: tolerate gpu:NoSchedule", "repelled is on zone-",
		"Drain of zone-.* [1-9][0-9]* moved", "http://127.0.0.1:",
	} {
		if !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("the story lacks %q:\n%s", want, text)
		}
	}
}

// A Berth that answers wrongly must not be believed.
func TestThePreviewSeesWhatIsWrong(t *testing.T) {
	binary, err := checkout.Berth("")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ command, edit, want string }{
		"pods in the wrong place":  {"simulate", `s/"node":"zone-[abc]-0[1-9]"/"node":"zone-a-01"/`, "does not belong on node"},
		"a wrong reason":           {"simulate", `s/didn.t have free ports/has a cold/`, `the message of port-taken does not say`},
		"a fix for other nodes":    {"explain", `s/"nodes":\["[^"]*"/"nodes":["elsewhere"/g`, "after a change that lets it schedule on"},
		"no fix":                   {"explain", `s/"fixes":\[.*"nodes":\[[^]]*\]}\]/"fixes":[]/`, "knows no change that lets"},
		"a fix that cannot be":     {"explain", `s/"change":"SetLabel"/"change":"Pray"/`, "cannot make the change"},
		"a drain that is not done": {"simulate", `s/"moved":\["[^"]*",/"moved":[/`, "moves"},
	} {
		t.Run(name, func(t *testing.T) {
			liar := filepath.Join(t.TempDir(), "berth")
			script := "#!/bin/sh\nif [ \"$1\" = " + c.command + " ]; then \"$BERTH\" \"$@\" | sed '" + c.edit + "'; else exec \"$BERTH\" \"$@\"; fi\n"
			if err := os.WriteFile(liar, []byte(script), 0o755); err != nil {
				t.Fatal(err)
			}
			t.Setenv("BERTH", binary)
			text, err := previewText(t, liar)
			if err == nil || !strings.Contains(text+err.Error(), c.want) {
				t.Errorf("%v, want %q; the story:\n%s", err, c.want, text)
			}
		})
	}
}

// What compiles long must not come in: the first sight waits for it.
func TestThePreviewCompilesFast(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{.ImportPath}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(out))
	const most = 100
	if len(packages) > most {
		t.Errorf("the command needs %d packages, want at most %d: %v", len(packages), most, packages)
	}
	for _, pkg := range packages {
		domain, _, _ := strings.Cut(pkg, "/")
		if pkg == "net" || (strings.Contains(domain, ".") && domain != "berth.dev") {
			t.Errorf("the command needs %s", pkg)
		}
	}
}

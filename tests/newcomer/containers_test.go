// SPDX-License-Identifier: Apache-2.0

package newcomer

import (
	"bytes"
	"encoding/json"
	"path"
	"strings"
	"testing"

	"berth.dev/tests/markdown"
)

// The files of the dev container.
const (
	quickDockerfile = ".devcontainer/Dockerfile"
	devContainer    = ".devcontainer/devcontainer.json"
)

// devContainerFile is all that the project says in devcontainer.json.
type devContainerFile struct {
	Name  string `json:"name"`
	Build struct {
		Dockerfile string `json:"dockerfile"`
		Context    string `json:"context"`
		Target     string `json:"target"`
	} `json:"build"`
	RemoteUser        string   `json:"remoteUser"`
	Mounts            []string `json:"mounts"`
	PostCreateCommand string   `json:"postCreateCommand"`
}

func readDevContainer(t *testing.T, d *desk) (file devContainerFile) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader([]byte(d.read(t, devContainer))))
	// A field that no container tool knows is not reported by any of them.
	decoder.DisallowUnknownFields()
	must(t, decoder.Decode(&file))
	return file
}

func TestDockerfilesCanBeRead(t *testing.T) {
	d := theNewcomer(t)
	for _, file := range []string{quickDockerfile, "deploy/Dockerfile"} {
		stages, err := parseDockerfile(d.read(t, file))
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if base := stages[0].base; base != "debian:12" && base != "debian:12-slim" {
			t.Errorf("%s begins with %s", file, base)
		}
		for _, stage := range stages {
			for _, i := range stage.instructions {
				// One list of packages, that of ./dev, cannot differ from another.
				if i.name == "RUN" && strings.Contains(i.arguments, "apt-get install") {
					t.Errorf("%s installs packages by itself: %s", file, i.arguments)
				}
			}
		}
	}
}

// TestTheDevContainerBuildsWhatTheDockerfileBuilds holds one to the other, and runs in the clone what both run.
func TestTheDevContainerBuildsWhatTheDockerfileBuilds(t *testing.T) {
	d := theNewcomer(t)
	container := readDevContainer(t, d)
	if file := path.Join(path.Dir(devContainer), container.Build.Dockerfile); file != quickDockerfile {
		t.Fatalf("%s is made from %s", devContainer, file)
	}
	if context := path.Join(path.Dir(devContainer), container.Build.Context); context != "." {
		t.Errorf("%s takes files from %s, not from the tree's root", devContainer, context)
	}
	stages, err := parseDockerfile(d.read(t, quickDockerfile))
	must(t, err)
	if len(stages) != 2 || stages[0].name != container.Build.Target || stages[1].base != stages[0].name {
		t.Fatalf("%s: the dev container stops at %q, the stages are %+v", quickDockerfile, container.Build.Target, stages)
	}
	var builds []string
	for _, i := range stages[1].instructions {
		if i.name == "RUN" {
			builds = append(builds, i.arguments)
		}
	}
	if len(builds) != 1 || builds[0] != container.PostCreateCommand {
		t.Errorf("after its tools the Dockerfile runs %q, the dev container %q", builds, container.PostCreateCommand)
	}
	// The cache that the volume keeps is where ./dev looks for it.
	if home := "/" + container.RemoteUser; len(container.Mounts) != 1 ||
		!strings.Contains(container.Mounts[0], ",target="+home+"/.cache/berth,") {
		t.Errorf("the dev container keeps %q", container.Mounts)
	}

	d.run(t, quickDockerfile, "./dev packages")
	d.run(t, devContainer, container.PostCreateCommand)
	command, err := stages[1].command()
	must(t, err)
	d.checkStory(t, quickDockerfile, d.run(t, quickDockerfile, quoted(command)))
}

// checkStory compares what a command has printed with what README's first command prints.
func (d *desk) checkStory(t *testing.T, what, printed string) {
	t.Helper()
	for _, b := range d.blocks(t, "README.md") {
		if b.Marks[markdown.Output] != "" {
			if markdown.WithoutTimes(printed) != markdown.WithoutTimes(answerOf(b)) {
				t.Errorf("%s prints other things than %s:\n%s", what, b, printed)
			}
			return
		}
	}
	t.Error("README shows no output")
}

func TestDockerAndGitIgnoreTheSame(t *testing.T) {
	d := theNewcomer(t)
	names := func(file string) (found []string) {
		for line := range strings.Lines(d.read(t, file)) {
			if line = strings.Trim(strings.TrimSpace(line), "/"); line != "" && !strings.HasPrefix(line, "#") {
				found = append(found, line)
			}
		}
		return found
	}
	if docker, git := names(".dockerignore"), names(".gitignore"); strings.Join(docker, " ") != strings.Join(git, " ") {
		t.Errorf(".dockerignore has %q, .gitignore %q", docker, git)
	}
}

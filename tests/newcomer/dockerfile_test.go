// SPDX-License-Identifier: Apache-2.0

package newcomer

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// instruction is one of a Dockerfile, its continued lines joined.
type instruction struct{ name, arguments string }

// stage is what a Dockerfile makes from one base.
type stage struct {
	base, name   string
	instructions []instruction
}

// command is what a container of the stage runs.
func (s stage) command() (words []string, err error) {
	for _, i := range s.instructions {
		if i.name == "CMD" {
			err = json.Unmarshal([]byte(i.arguments), &words)
			return words, err
		}
	}
	return nil, fmt.Errorf("the stage %s has no CMD", s.name)
}

// knownInstructions are those that bareMachine carries out, and those that only say how a container runs.
var knownInstructions = []string{"ARG", "CMD", "COPY", "ENTRYPOINT", "ENV", "EXPOSE", "FROM", "RUN", "USER", "WORKDIR"}

// parseDockerfile reads what the project's Dockerfiles use of the language, and refuses the rest.
func parseDockerfile(text string) (stages []stage, err error) {
	text = regexp.MustCompile(`(?m)^\s*#.*\n`).ReplaceAllString(text, "")
	text = regexp.MustCompile(`\\\n\s*`).ReplaceAllString(text, "")
	arguments := map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		name, rest, _ := strings.Cut(line, " ")
		rest = strings.TrimSpace(rest)
		switch {
		case !slices.Contains(knownInstructions, name):
			return nil, fmt.Errorf("unknown instruction: %s", line)
		case strings.Contains(rest, "<<"):
			return nil, fmt.Errorf("a text within it: %s", line)
		case name == "ARG" && len(stages) == 0:
			variable, value, _ := strings.Cut(rest, "=")
			arguments["${"+variable+"}"] = value
		case name == "FROM":
			words := strings.Fields(rest)
			if len(words) != 1 && (len(words) != 3 || words[1] != "AS") {
				return nil, fmt.Errorf("not a stage: %s", line)
			}
			s := stage{base: words[0]}
			if value, ok := arguments[s.base]; ok {
				s.base = value
			}
			if len(words) == 3 {
				s.name = words[2]
			}
			stages = append(stages, s)
		case len(stages) == 0:
			return nil, fmt.Errorf("before the first stage: %s", line)
		default:
			s := &stages[len(stages)-1]
			s.instructions = append(s.instructions, instruction{name, rest})
		}
	}
	if len(stages) == 0 {
		return nil, fmt.Errorf("no stage")
	}
	return stages, nil
}

// quoted is a command line for a shell.
func quoted(words []string) string {
	var line strings.Builder
	for _, word := range words {
		fmt.Fprintf(&line, "'%s' ", strings.ReplaceAll(word, "'", `'\''`))
	}
	return line.String()
}

func TestADockerfileIsReadByItsStages(t *testing.T) {
	stages, err := parseDockerfile("# a comment\nARG D=debian:12\nFROM ${D} AS tools\n# more\nRUN a && \\\n    b\n\nFROM tools\nCOPY . .\nCMD [\"x\", \"y\"]\n")
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(stages)
	if want := `[{debian:12 tools [{RUN a && b}]} {tools  [{COPY . .} {CMD ["x", "y"]}]}]`; got != want {
		t.Errorf("read as %s, want %s", got, want)
	}
	for _, broken := range []string{"", "RUN a\n", "FROM a\nONBUILD RUN b\n", "FROM a\nRUN <<EOF\n", "FROM a b\n"} {
		if _, err := parseDockerfile(broken); err == nil {
			t.Errorf("%q is no error", broken)
		}
	}
	if _, err := stages[0].command(); err == nil {
		t.Error("a stage without a command is no error")
	}
}

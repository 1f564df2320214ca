// SPDX-License-Identifier: Apache-2.0

package config

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"berth.dev/tests/controlplane/programs"
	"berth.dev/tests/internal/daemon"
)

const kubeconfig = `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
current-context: c
users: [{name: u, user: {token: t}}]
`

const head = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"

const limit = 20 * time.Second

// sample is a command line for both programs.
type sample struct {
	name string
	// yaml is the configuration, without apiVersion and kind where it does not begin with either;
	// "" for none. KUBECONFIG stands for the path of a kubeconfig.
	yaml  string
	flags []string
	// differs says why Berth's error is another; berth is that error, or a part of it.
	differs string
	berth   string
}

// result is the configuration that a program wrote, or its error.
type result struct {
	config map[string]any
	err    string
}

type pair struct {
	scheduler, berth string
}

func findPrograms(t *testing.T) pair {
	t.Helper()
	binaries, err := programs.Build(context.Background(), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	berth, err := daemon.Berth("")
	if err != nil {
		t.Fatal(err)
	}
	return pair{scheduler: binaries.Path(programs.Scheduler), berth: berth.Path}
}

func (s sample) document(kubeconfig string) string {
	text := s.yaml
	if !strings.HasPrefix(text, "apiVersion") && !strings.HasPrefix(text, "kind") && !strings.HasPrefix(text, "{") {
		text = head + text
	}
	if !strings.Contains(text, "clientConnection") && strings.HasPrefix(text, head) {
		text += "\nclientConnection: {kubeconfig: KUBECONFIG}\n"
	}
	return strings.ReplaceAll(text, "KUBECONFIG", kubeconfig)
}

// run starts a program with the sample in a folder of its own.
func (s sample) run(t *testing.T, program string, arguments ...string) result {
	t.Helper()
	// Not t.TempDir(): it has the test's name in it.
	dir, err := os.MkdirTemp("", "config")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "kubeconfig")
	write(t, path, kubeconfig)
	if s.yaml != "" {
		file := filepath.Join(dir, "config.yaml")
		write(t, file, s.document(path))
		arguments = append(arguments, "--config", file)
	} else {
		arguments = append(arguments, "--kubeconfig", path)
	}
	out := filepath.Join(dir, "out.yaml")
	arguments = append(arguments, "--write-config-to", out, "--secure-port=0", "--logging-format=json")
	for _, flag := range s.flags {
		arguments = append(arguments, strings.ReplaceAll(flag, "KUBECONFIG", path))
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	output, err := exec.CommandContext(ctx, program, arguments...).CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return result{err: normalise(reportedError(string(output)), dir)}
	} else if err != nil {
		t.Fatalf("%s: %v\n%s", filepath.Base(program), err, output)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatalf("%s wrote no configuration\n%s", filepath.Base(program), output)
	}
	var written map[string]any
	if err := yaml.Unmarshal([]byte(strings.ReplaceAll(string(text), path, "KUBECONFIG")), &written); err != nil {
		t.Fatalf("%s: %v", filepath.Base(program), err)
	}
	return result{config: written}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// reportedError is what a program said last: a log line, or what follows its help text.
func reportedError(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	last := lines[len(lines)-1]
	// Before the log's form is settled it is text.
	if found := textError.FindStringSubmatch(last); found != nil {
		if text, err := strconv.Unquote(found[1]); err == nil {
			return text
		}
	}
	var logged struct {
		Err string `json:"err"`
	}
	if json.Unmarshal([]byte(last), &logged) == nil && logged.Err != "" {
		return logged.Err
	}
	return strings.TrimPrefix(last, "Error: ")
}

var textError = regexp.MustCompile(`"command failed" err=(".*")$`)

var (
	// Berth names the file, and the line where it knows it.
	place = regexp.MustCompile(`^DIR/config\.yaml:(\d+:)? `)
	// kube-scheduler names the variable that holds its table of kinds.
	scheme = regexp.MustCompile(` in scheme "[^"]*"`)
	// kube-scheduler ends with an empty place.
	trailing = regexp.MustCompile(`: $`)
)

// normalise takes out what must differ: the path, and in which program it happened.
func normalise(text, dir string) string {
	text = strings.ReplaceAll(text, dir, "DIR")
	text = place.ReplaceAllString(text, "")
	text = strings.TrimPrefix(text, "--feature-gates: ")
	text = scheme.ReplaceAllString(text, "")
	text = trailing.ReplaceAllString(text, "")
	return strings.ReplaceAll(text, `"berth run"`, `"kube-scheduler"`)
}

func TestEffectiveConfigurationIsKubeSchedulers(t *testing.T) {
	pair := findPrograms(t)
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			want := s.run(t, pair.scheduler)
			if want.err != "" {
				t.Fatalf("kube-scheduler refuses the sample: %s", want.err)
			}
			got := s.run(t, pair.berth, "run")
			if got.err != "" {
				t.Fatalf("berth refuses it: %s", got.err)
			}
			if !reflect.DeepEqual(got.config, want.config) {
				t.Errorf("berth:\n%s\nkube-scheduler:\n%s", asYAML(got.config), asYAML(want.config))
			}
		})
	}
}

func TestErrorsAreKubeSchedulers(t *testing.T) {
	pair := findPrograms(t)
	for _, s := range mistakes {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			want := s.run(t, pair.scheduler)
			got := s.run(t, pair.berth, "run")
			if got.err == "" {
				t.Fatalf("berth accepts it; kube-scheduler: %s", want.err)
			}
			if s.differs == "" {
				if got.err != want.err {
					t.Errorf("\nberth:          %s\nkube-scheduler: %s", got.err, want.err)
				}
				return
			}
			if got.err == want.err {
				t.Errorf("no difference any more: %s", got.err)
			}
			if s.berth == "" || !strings.Contains(got.err, s.berth) {
				t.Errorf("berth: %s\nwant:  %s\n(kube-scheduler: %s)", got.err, s.berth, want.err)
			}
		})
	}
}

func asYAML(value any) string {
	text, err := yaml.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

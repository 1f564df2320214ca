// SPDX-License-Identifier: Apache-2.0

package newcomer

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rhysd/actionlint"
)

// recursing are the verbs that run this test or take as long as all tests, or need a tag.
var recursing = []string{"test", "verify", "release", "publish"}

// publishers are the jobs that may write, and what.
var publishers = map[string][]string{
	"release.yaml, publish": {"contents", "packages"},
	"site.yaml, publish":    {"id-token", "pages"},
}

// readWorkflows reads the clone's workflows, by the names of their files.
func readWorkflows(t *testing.T, d *desk) map[string]*actionlint.Workflow {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(d.clone, ".github/workflows/*.y*ml"))
	must(t, err)
	found := map[string]*actionlint.Workflow{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		workflow, problems := actionlint.Parse(text)
		for _, problem := range problems {
			t.Errorf("%s: %v", file, problem)
		}
		if workflow == nil {
			t.Fatalf("%s cannot be read", file)
		}
		found[filepath.Base(file)] = workflow
	}
	if len(found) == 0 {
		t.Fatal("there are no workflows")
	}
	return found
}

// isCalled is whether other workflows call it: it never starts by itself.
func isCalled(workflow *actionlint.Workflow) bool {
	_, ok := workflow.FindWorkflowCallEvent()
	return ok
}

func TestWorkflowsAreValid(t *testing.T) {
	d := theNewcomer(t)
	var report bytes.Buffer
	linter, err := actionlint.NewLinter(&report, &actionlint.LinterOptions{Shellcheck: "shellcheck", WorkingDir: d.clone})
	must(t, err)
	problems, err := linter.LintRepository(d.clone)
	must(t, err)
	if len(problems) > 0 {
		t.Errorf("%s", report.Bytes())
	}
}

// rights are what a job may write beyond its workflow's rights.
func rights(job *actionlint.Job) (scopes []string) {
	if job.Permissions == nil {
		return nil
	}
	for scope, right := range job.Permissions.Scopes {
		if right.Value.Value != "write" || job.Permissions.All != nil {
			return []string{"more than named scopes"}
		}
		scopes = append(scopes, scope)
	}
	slices.Sort(scopes)
	return scopes
}

// TestWorkflowsMayOnlyRead holds the workflows to the least rights, and to actions that their commits name. What
// publishes is not run for what others propose.
func TestWorkflowsMayOnlyRead(t *testing.T) {
	d := theNewcomer(t)
	for file, workflow := range readWorkflows(t, d) {
		if p := workflow.Permissions; p == nil || p.All != nil || len(p.Scopes) != 1 ||
			p.Scopes["contents"] == nil || p.Scopes["contents"].Value.Value != "read" {
			t.Errorf("%s may do more than read the sources", file)
		}
		if !isCalled(workflow) && workflow.Concurrency == nil {
			t.Errorf("%s does not say what happens when it runs twice", file)
		}
		for name, job := range workflow.Jobs {
			if want := publishers[file+", "+name]; !slices.Equal(rights(job), want) || job.Steps != nil && job.TimeoutMinutes == nil {
				t.Errorf("%s: the job %s may write %q, want %q, or has no end", file, name, rights(job), want)
			}
			if slices.ContainsFunc(workflow.On, func(e actionlint.Event) bool { return e.EventName() == "pull_request" }) && rights(job) != nil {
				t.Errorf("%s: the job %s publishes what others propose", file, name)
			}
			for _, step := range job.Steps {
				action, ok := step.Exec.(*actionlint.ExecAction)
				if ok && !regexp.MustCompile(`^[\w-]+/[\w-]+@[0-9a-f]{40}$`).MatchString(action.Uses.Value) {
					t.Errorf("%s: %s may change: name its commit", file, action.Uses.Value)
				}
			}
		}
	}
}

// workflowStep is a command of a job.
type workflowStep struct {
	job    string // of the workflow that is started, with the file's name
	script string
}

var inputExpression = regexp.MustCompile(`\$\{\{ inputs\.(\w+) \}\}`)

// workflowSteps are the commands of all jobs, also of those that call another workflow, with what they call it with.
func workflowSteps(t *testing.T, workflows map[string]*actionlint.Workflow) (steps []workflowStep) {
	t.Helper()
	for _, file := range slices.Sorted(maps.Keys(workflows)) {
		workflow := workflows[file]
		if isCalled(workflow) {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(workflow.Jobs)) {
			job := workflow.Jobs[name]
			what := file + ", " + name
			jobs := map[string]*actionlint.Job{name: job}
			inputs := map[string]string{}
			if call := job.WorkflowCall; call != nil {
				called := workflows[filepath.Base(call.Uses.Value)]
				if called == nil || !strings.HasPrefix(call.Uses.Value, "./.github/workflows/") {
					t.Errorf("%s calls %s, which is not there", what, call.Uses.Value)
					continue
				}
				jobs = called.Jobs
				for input, value := range call.Inputs {
					inputs[input] = value.Value.Value
				}
			}
			for _, job := range jobs {
				for _, step := range job.Steps {
					run, ok := step.Exec.(*actionlint.ExecRun)
					if !ok {
						continue
					}
					if job.Container == nil || job.Container.Image.Value != "debian:12" {
						t.Errorf("%s does not run on a bare Debian 12", what)
					}
					script := inputExpression.ReplaceAllStringFunc(run.Run.Value, func(expression string) string {
						return inputs[inputExpression.FindStringSubmatch(expression)[1]]
					})
					steps = append(steps, workflowStep{what, script})
				}
			}
		}
	}
	return steps
}

// devCall is a call of ./dev, alone on its line.
var devCall = regexp.MustCompile(`(?m)^(?:exec )?\./dev ((\w+)((?: --?\w+)*))$`)

// TestStepsOfWorkflowsRun runs them in the clone, but for the verbs that would run this test again, which must exist.
func TestStepsOfWorkflowsRun(t *testing.T) {
	d := theNewcomer(t)
	help := d.run(t, "./dev help", "./dev help")
	ran := map[string]bool{}
	for _, step := range workflowSteps(t, readWorkflows(t, d)) {
		switch call := devCall.FindStringSubmatch(step.script); {
		case ran[step.script]:
		case call != nil && slices.Contains(recursing, call[2]):
			for _, word := range append([]string{""}, strings.Fields(call[3])...) {
				if !regexp.MustCompile(`(?m)^  ` + call[2] + `\b.*` + regexp.QuoteMeta(word) + `\b`).MatchString(help) {
					t.Errorf("%s: there is no ./dev %s", step.job, call[1])
				}
			}
		case os.Getuid() != 0 && strings.Contains(step.script, "apt-get"):
			t.Logf("%s: only root installs packages", step.job)
		default:
			d.run(t, step.job, step.script)
		}
		ran[step.script] = true
	}
}

// TestAChangeIsJudgedByWhatCIRuns holds the workflow of pushes and pull requests to .ci/run.
func TestAChangeIsJudgedByWhatCIRuns(t *testing.T) {
	d := theNewcomer(t)
	verbs := func(texts ...string) (found []string) {
		for _, text := range texts {
			for _, call := range devCall.FindAllStringSubmatch(text, -1) {
				found = append(found, call[1])
			}
		}
		slices.Sort(found)
		return found
	}
	scripts := func(file string) (scripts []string) {
		for _, step := range workflowSteps(t, readWorkflows(t, d)) {
			if strings.HasPrefix(step.job, file+", ") {
				scripts = append(scripts, step.script)
			}
		}
		return scripts
	}
	if ci, run := verbs(scripts("ci.yaml")...), verbs(d.read(t, ".ci/run")); len(run) == 0 || !slices.Equal(ci, run) {
		t.Errorf("ci.yaml runs %q, .ci/run %q", ci, run)
	}
	for file, want := range map[string][]string{
		"nightly.yaml": {"verify --all"}, "release.yaml": {"publish", "release --tagged --join", "release --tagged --parts"}, "site.yaml": {"docs"},
	} {
		if got := verbs(scripts(file)...); !slices.Equal(got, want) {
			t.Errorf("%s runs %q, want %q", file, got, want)
		}
	}
	for file, events := range map[string][]string{"ci.yaml": {"push", "pull_request"}, "nightly.yaml": {"schedule", "workflow_dispatch"},
		"release.yaml": {"push"}, "site.yaml": {"push", "workflow_dispatch"}} {
		var on []string
		for _, event := range readWorkflows(t, d)[file].On {
			on = append(on, event.EventName())
		}
		if !slices.Equal(on, events) {
			t.Errorf("%s runs on %q, want %q", file, on, events)
		}
	}
}

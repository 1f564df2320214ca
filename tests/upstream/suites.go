// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// The tests of one folder below test/integration/scheduler, or of one of test/integration/dra.
type suite struct {
	folder string
	skip   string // for -test.skip
	// Tests have plugins of their own that only count or hold up, so that Berth can do without.
	withoutOwnPlugins bool
}

// Left out are folders whose tests look into the scheduler's process or have plugins of their own that
// decide (batch, bind, eventhandler, nominated_node_name, plugins, podgroup/queueing,
// preemption/podgroup, prequeueinghint, queueing, serving), dra itself, where no scheduler runs, and
// what each `skip` names:
//   - DeferredResizeQueueingHandlers: no scheduler runs; they ask the event handlers of upstream's process.
//   - ReScheduling, basic_pod_preemption_with, AsyncPreemption, PreemptionRespects: own plugins that
//     decide.
//   - SchedulerInformers: the informers of upstream's process.
//   - feature_gate_disabled: a gate that only older releases have.
//   - NodeDeclaredFeatures: features that the test makes up, in its process.
//   - other_pod_gets_deleted: two pods come while Berth starts; it then lists them by name.
//   - noScheduler, and what stands beside it: no scheduler runs where these gates are set.
var suites = []suite{
	{folder: "filters", skip: "TestNodeDeclaredFeaturesFilter|TestUnschedulablePodBecomesSchedulable/other_pod_gets_deleted"},
	{folder: "scoring", skip: "TestPodTopologySpreadScoring/matchLabelKeys_ignored_when_feature_gate_disabled"},
	{folder: "taint"},
	{folder: ".", skip: "TestReScheduling|TestSchedulerInformers"},
	{folder: "extender"},
	{folder: "podgroup"},
	{folder: "podgroup/topology_aware_scheduling"},
	{folder: "preemption", withoutOwnPlugins: true,
		skip: "TestDeferredResizeQueueingHandlers|AsyncPreemption|PreemptionRespects|TestPreemption/basic_pod_preemption_with_"},
	{folder: "preemption/misc"},
	{folder: "preemption/nominatednodename"},
	{folder: "dra/ga", skip: "TestDRA/GA/(" + noScheduler + "|DeviceBindingConditions|PartitionableDevices)"},
	{folder: "dra/default", skip: "TestDRA/default/(" + noScheduler + "|CompatibilityGroups)"},
	{folder: "dra/api", skip: "TestDRA/(disabled|v1beta|GA-1.35)|TestDRA/.*/(" + noScheduler + ")"},
	{folder: "dra/all", skip: "TestDRA/all/(" + noScheduler + ")"},
}

// noScheduler matches tests of test/integration/dra that are about the API server or a controller.
const noScheduler = "AdminAccess|Convert|ControllerManagerMetrics|EvictCluster|MaxResourceSlice|Pod$|" +
	"PublishResourceSlices|ResourceClaimDeviceStatus|ResourceSliceController|ResourceSliceFieldSelectors"

func suiteIn(folder string) (suite, error) {
	at := slices.IndexFunc(suites, func(s suite) bool { return s.folder == filepath.Clean(folder) })
	if at < 0 {
		var folders []string
		for _, s := range suites {
			folders = append(folders, s.folder)
		}
		return suite{}, fmt.Errorf("there are no tests in %q, but in %s", folder, strings.Join(folders, ", "))
	}
	return suites[at], nil
}

// path is where its package is in Kubernetes' module.
func (s suite) path() string {
	if strings.HasPrefix(s.folder, "dra/") {
		return path.Join("test/integration", s.folder)
	}
	return path.Join("test/integration/scheduler", s.folder)
}

// name is the folder as the name of a file.
func (s suite) name() string {
	if s.folder == "." {
		return "scheduler"
	}
	return strings.ReplaceAll(s.folder, "/", "_")
}

type environment struct {
	logs  string   // folder
	path  string   // PATH, with etcd
	berth string   // the binary
	tests []string // what test binaries need besides
}

type result struct {
	folder string
	// Tests without tests below them; a test also fails by itself, when none below it does.
	passed, failed []string
	stoodIn, left  int  // how often Berth was started, and how often upstream's own ran
	ended          bool // not cut short
}

// A suite in which Berth never ran shows nothing.
func (r result) good() bool {
	return r.ended && len(r.failed) == 0 && len(r.passed) > 0 && r.stoodIn > 0
}

func (s suite) run(ctx context.Context, tests string, env environment) (result, error) {
	logs, err := os.MkdirTemp(env.logs, s.name()+"-")
	if err != nil {
		return result{}, err
	}
	log, err := os.Create(filepath.Join(env.logs, s.name()+".log"))
	if err != nil {
		return result{}, err
	}
	defer log.Close()
	args := []string{"-test.v", "-test.timeout=60m"}
	if s.skip != "" {
		args = append(args, "-test.skip="+s.skip)
	}
	command := exec.CommandContext(ctx, tests, args...)
	command.Dir = logs
	command.Env = append(append(os.Environ(), env.tests...), "PATH="+env.path, "BERTH_BINARY="+env.berth,
		"BERTH_LOGS="+logs)
	if s.withoutOwnPlugins {
		command.Env = append(command.Env, "BERTH_WITHOUT_OWN_PLUGINS=1")
	}
	command.Stdout, command.Stderr = log, log
	// What failed is in the output. It ends with 1 also where it finds goroutines of etcd's client left.
	if err := command.Run(); err != nil && ctx.Err() != nil {
		return result{}, ctx.Err()
	}
	if _, err := log.Seek(0, io.SeekStart); err != nil {
		return result{}, err
	}
	return readResult(s.folder, log)
}

var verdict = regexp.MustCompile(`^\s*--- (PASS|FAIL): (\S+)`)

func readResult(folder string, output io.Reader) (result, error) {
	r := result{folder: folder}
	passed := map[string]bool{}
	lines := bufio.NewScanner(output)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		line := lines.Text()
		if found := verdict.FindStringSubmatch(line); found != nil {
			passed[found[2]] = found[1] == "PASS"
		}
		r.ended = r.ended || line == "PASS" || line == "FAIL"
		r.stoodIn += strings.Count(line, "STAND-IN: berth")
		r.left += strings.Count(line, "STAND-IN: none")
	}
	for name, ok := range passed {
		below := func(other string) bool { return strings.HasPrefix(other, name+"/") }
		switch {
		case !ok && !anyKey(passed, func(other string, ok bool) bool { return !ok && below(other) }):
			r.failed = append(r.failed, name)
		case ok && !anyKey(passed, func(other string, _ bool) bool { return below(other) }):
			r.passed = append(r.passed, name)
		}
	}
	slices.Sort(r.passed)
	slices.Sort(r.failed)
	return r, lines.Err()
}

func anyKey(of map[string]bool, is func(key string, value bool) bool) bool {
	for key, value := range of {
		if is(key, value) {
			return true
		}
	}
	return false
}

// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/internal/daemon"
	"berth.dev/tests/internal/daemon/workload"
)

// replayed is what `berth replay -o json` says of one recording.
type replayed struct {
	Messages, Decisions, Differences int
	Identical, Torn                  bool
	Problem                          string
}

// recordedConfig has the default plugins, preemption among them.
const recordedConfig = `
clientConnection: {qps: 150, burst: 150}
profiles:
- schedulerName: default-scheduler`

// startRecorded starts the daemon with --record, and returns the folder.
func (e *env) startRecorded() (*daemon.Daemon, string) {
	e.Helper()
	folder := filepath.Join(e.dir, fmt.Sprintf("recording-%d", len(e.daemons)+1))
	return e.startAs(controlplane.Berth, recordedConfig, "--record="+folder), folder
}

// replay repeats the one recording of the folder.
func (e *env) replay(folder string, args ...string) replayed {
	e.Helper()
	command := exec.CommandContext(e.ctx, program.Path, append([]string{"replay", "-o=json", folder}, args...)...)
	output, err := command.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		e.Fatalf("berth replay: %v: %s%s", err, output, exit.Stderr)
	}
	var result replayed
	e.must(json.Unmarshal(output, &result))
	if !result.Identical {
		e.Logf("berth replay: %s", output)
	}
	return result
}

// churn lets pods come that fit, that wait for room, and that others make room for, and lets some go.
func (e *env) churn() {
	e.Helper()
	class := e.createPriorityClass(1000)
	e.manyNodes(10, workload.Allocatable("cpu", "4", "memory", "8Gi"))
	e.manyPods(250, "pod", workload.Requests("cpu", "200m"))
	e.must(e.pods.AwaitBound(e.within(30*time.Second), 200))
	for i := range 5 {
		e.createPods(workload.Pod(fmt.Sprintf("urgent-%d", i), workload.PriorityClass(class), workload.Requests("cpu", "400m")))
	}
	// No kubelet ends the victims, so the urgent pods wait on; others find room on a new node.
	_, err := e.pods.AwaitPod(e.within(30*time.Second), "urgent-0", "nominated",
		func(pod *corev1.Pod) bool { return pod.Status.NominatedNodeName != "" })
	e.must(err)
	e.createNodes(workload.Node("late", workload.Allocatable("cpu", "100", "memory", "8Gi")))
	_, err = e.pods.AwaitPod(e.within(30*time.Second), "pod-249", "bound", workload.IsBound)
	e.must(err)
}

func TestARecordingIsRepeatedBitForBit(t *testing.T) {
	if program.Peer {
		t.Skip("kube-scheduler records nothing")
	}
	e := newEnv(t)
	d, folder := e.startRecorded()
	e.churn()
	e.stop(d)
	result := e.replay(folder)
	if !result.Identical || result.Problem != "" || result.Decisions < 250 {
		t.Errorf("the replay came to %+v", result)
	}
}

func TestARecordingThatAKillEndedIsRepeatedUpToThere(t *testing.T) {
	if program.Peer {
		t.Skip("kube-scheduler records nothing")
	}
	e := newEnv(t)
	d, folder := e.startRecorded()
	e.churn()
	d.Kill()
	result := e.replay(folder)
	if !result.Identical || !result.Torn || result.Decisions < 100 {
		t.Errorf("the replay came to %+v", result)
	}
}

// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/tests/controlplane/programs"
	"berth.dev/tests/internal/daemon/workload"
)

// TestKillsWhileVolumesAreBoundLeaveNothingStuck kills the daemon 20 times when it has chosen volumes and bound the pods
// to no node yet. Each second time the PV controller sleeps, so that no claim gets further than this.
func TestKillsWhileVolumesAreBoundLeaveNothingStuck(t *testing.T) {
	const kills, pods = 20, 120
	e := newVolumeEnv(t)
	e.provision(nil)
	for i := range pods {
		class := []string{"static", "made"}[i%2]
		if class == "static" {
			e.createVolume(fmt.Sprint(i), "5Gi", []string{"za", "zb"}[i/2%2])
		}
		e.createClaims(workload.Claim(fmt.Sprintf("data-%d", i), class, "1Gi"))
	}
	e.awaitVolumesAvailable()
	controllers := shared.Process(programs.ControllerManager)
	e.Cleanup(func() { _ = controllers.Signal(syscall.SIGCONT) })
	random, between := rand.New(rand.NewPCG(1, 2)), 0
	for kill := range kills {
		first, last := kill*pods/kills, (kill+1)*pods/kills
		asleep := kill%2 == 0
		if asleep {
			e.must(controllers.Signal(syscall.SIGSTOP))
		}
		for i := first; i < last; i++ {
			e.createPods(workload.Pod(fmt.Sprintf("pod-%d", i), workload.UseClaim(fmt.Sprintf("data-%d", i))))
		}
		d := e.startForVolumes(30 * time.Second)
		e.eventually("a volume that is chosen", func() bool { return e.countChosen(first, last) > random.IntN(3) })
		longest := 300 // milliseconds, in which some pods are bound
		if asleep {
			longest = 20
		}
		e.letPass(time.Duration(random.IntN(longest)) * time.Millisecond)
		d.Kill()
		between += e.countChosen(first, last) - e.countBoundPods(first, last)
		if asleep {
			e.must(controllers.Signal(syscall.SIGCONT))
		}
	}
	e.Logf("%d pods had a volume chosen and no node when the daemon was killed", between)
	if between < pods/2 {
		e.Error("too few kills came between volume and node")
	}
	e.startForVolumes(30 * time.Second)
	e.must(e.pods.AwaitBound(e.within(60*time.Second), pods))
	if bound := e.checkVolumes(); bound != pods {
		e.Errorf("%d volumes are bound, want %d", bound, pods)
	}
	e.checkBoundOnce(pods, true)
}

// countChosen is for how many of these claims the scheduler has named a volume, or a node for one.
func (e *env) countChosen(first, last int) int {
	e.Helper()
	chosen := map[string]bool{}
	for _, pv := range e.ownVolumes() {
		if pv.Spec.ClaimRef != nil {
			chosen[pv.Spec.ClaimRef.Name] = true
		}
	}
	for name, claim := range e.claimsByName() {
		if claim.Annotations["volume.kubernetes.io/selected-node"] != "" {
			chosen[name] = true
		}
	}
	count := 0
	for i := first; i < last; i++ {
		if chosen[fmt.Sprintf("data-%d", i)] {
			count++
		}
	}
	return count
}

func (e *env) countBoundPods(first, last int) int {
	e.Helper()
	count := 0
	for i := first; i < last; i++ {
		pod, err := e.admin.CoreV1().Pods(e.namespace).Get(e.ctx, fmt.Sprintf("pod-%d", i), metav1.GetOptions{})
		e.must(err)
		if workload.IsBound(pod) {
			count++
		}
	}
	return count
}

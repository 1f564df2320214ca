// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"maps"
	"regexp"
	"strings"
	"testing"
	"time"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/controlplane/programs"
	"berth.dev/tests/internal/daemon"
	"berth.dev/tests/internal/daemon/workload"
)

// notServed has the kinds, by release of the API server, of which docs/compatibility.md says that they count as empty: with
// default gates, and with the gates that are off unless set.
var notServed = map[string]struct{ byDefault, withGates []string }{
	"1.35": {[]string{"devicetaintrules"}, []string{"devicetaintrules", "podgroups", "compositepodgroups"}},
	"1.36": {[]string{"devicetaintrules"}, []string{"devicetaintrules", "podgroups", "compositepodgroups"}},
	// A version of an API that is beta or alpha is served where --runtime-config says so.
	"1.37": {nil, []string{"podgroups", "compositepodgroups"}},
}

// absentKind is the line about a kind that the server lacks.
var absentKind = regexp.MustCompile(`"The server does not serve this kind; it counts as empty" resource="([a-z]+)"`)

// TestWhatTheServerDoesNotServeIsToldOnce runs against whatever release the servers are of: that it is an older one, and what
// that costs, is told once, as is each kind that it lacks and no other, and pods are bound all the same. Where the release is emulated, a kind that came later is not even
// asked for. (That one is asked for again after minutes, and not told again, is tests/unit/informers' to show.)
func TestWhatTheServerDoesNotServeIsToldOnce(t *testing.T) {
	if program.Peer {
		t.Skip("kube-scheduler does not start without a kind that it watches")
	}
	version, err := programs.Kubernetes()
	if err != nil {
		t.Fatal(err)
	}
	minor := version[1:strings.LastIndex(version, ".")]
	expected, known := notServed[minor]
	if !known {
		t.Fatalf("docs/compatibility.md and this test do not say what Kubernetes %s lacks", minor)
	}
	for _, c := range []struct {
		name string
		args []string
		want []string
	}{
		{"default gates", nil, expected.byDefault},
		{"all gates", []string{"--feature-gates=GenericWorkload=true,TopologyAwareWorkloadScheduling=true,CompositePodGroup=true"}, expected.withGates},
		{"emulated", []string{"--emulated-version=" + minor}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newEnv(t)
			e.createNodes(workload.Node("a"))
			d := e.startWith(daemon.Options{Kubeconfig: shared.Kubeconfig(controlplane.Berth), Args: c.args})
			e.createPods(workload.Pod("pod", workload.Requests("cpu", "1")))
			e.awaitNode(e.within(30*time.Second), "pod", "a")
			want := map[string]int{}
			for _, resource := range c.want {
				want[resource] = 1
			}
			got := map[string]int{}
			for _, line := range absentKind.FindAllStringSubmatch(d.Log(), -1) {
				got[line[1]]++
			}
			older := func() int { return strings.Count(d.Log(), "The API server is of an older release") }
			if version != programs.KubernetesVersion {
				e.eventually("the line about the server's release", func() bool { return older() > 0 })
			}
			if n := older(); n > 1 || n == 1 && version == programs.KubernetesVersion {
				t.Errorf("%d lines about the release of a server of %s", n, version)
			}
			if !maps.Equal(got, want) {
				t.Errorf("told not to be served by Kubernetes %s: %v, want %v", minor, got, want)
			}
		})
	}
}

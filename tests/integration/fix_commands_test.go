// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/controlplane/programs"
	"berth.dev/tests/internal/daemon/workload"
)

// wholeConfig has every default plugin, and no rate limit that tests would feel.
const wholeConfig = "clientConnection: {qps: 5000, burst: 5000}\n"

// scripts are the commands that berth explain --fix --commands prints, a shell script for each fix that kubectl can make, by
// the fix's changes.
func (e *env) scripts(pod string) (scripts map[string]string) {
	e.Helper()
	command := exec.CommandContext(e.ctx, program.Path, "explain", "pod/"+pod, "-n", e.namespace, "--fix", "--commands",
		"--kubeconfig", shared.Kubeconfig(controlplane.Admin))
	out, err := command.Output()
	// It ends with 1, as the pod fits nowhere.
	var failed *exec.ExitError
	if !errors.As(err, &failed) || failed.ExitCode() != 1 {
		e.Fatalf("%v: %v %s", command.Args, err, out)
	}
	_, text, found := strings.Cut(string(out), "The same with kubectl:\n\n")
	if !found {
		e.Fatalf("no commands for %s: %s", pod, out)
	}
	scripts = map[string]string{}
	for block := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		lines := strings.Split(strings.TrimSpace(block), "\n")
		comment := func(line string) bool { return strings.HasPrefix(line, "# ") }
		var changes []string
		whole := true
		for i, line := range lines {
			if !comment(line) {
				continue
			}
			changes = append(changes, strings.TrimPrefix(strings.TrimPrefix(line, "# "), "and "))
			// What kubectl cannot do is a comment, too.
			whole = whole && i+1 < len(lines) && !comment(lines[i+1])
		}
		if whole && len(changes) > 0 {
			scripts[strings.Join(changes, " and ")] = block
		}
	}
	return scripts
}

// runScript runs commands as a user with kubectl would.
func (e *env) runScript(script string) {
	e.Helper()
	folder := e.TempDir()
	e.must(os.Symlink(shared.Binary(programs.Kubectl), filepath.Join(folder, "kubectl")))
	command := exec.CommandContext(e.ctx, "sh", "-e", "-c", script)
	command.Env = append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"), "KUBECONFIG="+shared.Kubeconfig(controlplane.Admin),
		"KUBECACHEDIR="+filepath.Join(folder, "cache"))
	if out, err := command.CombinedOutput(); err != nil {
		e.Errorf("%s\n%v: %s", script, err, out)
	}
}

func TestTheCommandsOfAFixLetThePodSchedule(t *testing.T) {
	if program.Peer {
		t.Skip("kube-scheduler proposes nothing")
	}
	e := newEnv(t)
	e.start(wholeConfig)
	room := workload.Allocatable("cpu", "2", "memory", "4Gi", "pods", "10")
	ssd := workload.NodeLabel("disk", "ssd")
	zone := func(name string) workload.NodeOption { return workload.NodeLabel("zone", name) }
	kin := func(pod *corev1.Pod) { pod.Labels = map[string]string{"app": "kin"} }
	on := func(node string, options ...workload.PodOption) *corev1.Pod {
		return workload.Pod("there-"+node, append([]workload.PodOption{kin, workload.OnNode(node)}, options...)...)
	}
	cases := []struct {
		name  string
		nodes []*corev1.Node
		there []*corev1.Pod
		pod   *corev1.Pod
		// Of the changes that must be among those that kubectl can make, a part.
		changes []string
	}{
		{"too large", []*corev1.Node{workload.Node("a", room)}, nil,
			workload.Pod("p", workload.Requests("cpu", "3")), []string{"request cpu 2 instead of 3"}},
		{"cordoned", []*corev1.Node{workload.Node("a", room, workload.Cordoned())}, nil,
			workload.Pod("p"), []string{"uncordon a"}},
		{"tainted", []*corev1.Node{workload.Node("a", room, workload.NoSchedule("example.com/team"))}, nil,
			workload.Pod("p"), []string{"tolerate example.com/team", "example.com/team:NoSchedule"}},
		{"another label", []*corev1.Node{workload.Node("a", room, ssd)}, nil,
			workload.Pod("p", workload.NodeSelector("disk", "nvme")), []string{"disk=nvme"}},
		{"another zone", []*corev1.Node{workload.Node("a", room, zone("east"))}, nil,
			workload.Pod("p", workload.RequireNode("zone", "west")), []string{"zone"}},
		{"a port that is taken", []*corev1.Node{workload.Node("a", room)}, []*corev1.Pod{on("a", workload.HostPort(8080))},
			workload.Pod("p", workload.HostPort(8080)), []string{"8080"}},
		{"kept apart", []*corev1.Node{workload.Node("a", room)}, []*corev1.Pod{on("a")},
			workload.Pod("p", kin, workload.Apart()), []string{"anti-affinity"}},
		{"spread", []*corev1.Node{workload.Node("a", room, zone("east")), workload.Node("b", room, zone("west"), workload.NoSchedule("full"))},
			[]*corev1.Pod{on("a")}, workload.Pod("p", kin, workload.Spread("zone", corev1.DoNotSchedule)), []string{"full"}},
	}
	ran := 0
	for _, c := range cases {
		begin := func() {
			e.must(workload.DeletePods(e.ctx, e.admin, e.namespace))
			e.must(e.pods.AwaitGone(e.within(30 * time.Second)))
			e.must(workload.DeleteNodes(e.ctx, e.admin, ""))
			nodes := make([]*corev1.Node, len(c.nodes))
			for i, node := range c.nodes {
				nodes[i] = node.DeepCopy()
			}
			e.createNodes(nodes...)
			for _, pod := range append(slices.Clone(c.there), c.pod) {
				e.createPods(pod.DeepCopy())
			}
			_, err := e.pods.AwaitPod(e.within(30*time.Second), "p", "unschedulable", workload.IsUnschedulable)
			e.must(err)
		}
		begin()
		scripts := e.scripts("p")
		for _, change := range c.changes {
			if !slices.ContainsFunc(sortedKeys(scripts), func(of string) bool { return strings.Contains(of, change) }) {
				e.Errorf("%s: no fix with %q among %q", c.name, change, sortedKeys(scripts))
			}
		}
		for i, changes := range sortedKeys(scripts) {
			if i > 0 {
				begin()
			}
			e.runScript(scripts[changes])
			if _, err := e.pods.AwaitPod(e.within(20*time.Second), "p", "bound", workload.IsBound); err != nil {
				e.Errorf("%s, after %q:\n%s\n%v", c.name, changes, scripts[changes], err)
				continue
			}
			ran++
		}
	}
	if ran < 2*len(cases) {
		e.Errorf("only %d fixes were made", ran)
	}
}

func sortedKeys(scripts map[string]string) (keys []string) {
	for key := range scripts {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/yaml"

	"berth.dev/tests/checkout"
	"berth.dev/tests/controlplane"
	"berth.dev/tests/internal/daemon"
	"berth.dev/tests/internal/daemon/workload"
)

// applied is what berth plan --apply -o json says.
type applied struct {
	Outcome, Why string
	Moves        []struct {
		Pod, From, To, State, Node, Why string
		Evictions                       int
	}
}

// planner runs berth plan as a user who has the rights of deploy/plan and no others.
type planner struct {
	*env
	kubeconfig string
	file       string
}

func newPlanner(e *env, c *controlplane.ControlPlane) *planner {
	e.Helper()
	module, err := checkout.Module()
	e.must(err)
	text, err := os.ReadFile(filepath.Join(filepath.Dir(module), "deploy", "plan", "rbac.yaml"))
	e.must(err)
	var role rbacv1.ClusterRole
	e.must(yaml.UnmarshalStrict(text, &role))
	_, err = e.admin.RbacV1().ClusterRoles().Create(e.ctx, &role, metav1.CreateOptions{})
	e.must(err)
	_, err = e.admin.RbacV1().ClusterRoleBindings().Create(e.ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "plans"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: string(controlplane.Nobody)}},
	}, metav1.CreateOptions{})
	e.must(err)
	return &planner{env: e, kubeconfig: c.Kubeconfig(controlplane.Nobody)}
}

func (p *planner) command(flags ...string) *exec.Cmd {
	args := append([]string{"plan", "--kubeconfig", p.kubeconfig}, flags...)
	return exec.CommandContext(p.ctx, program.Path, args...)
}

// plan writes the plan's file.
func (p *planner) plan(goal string) {
	p.Helper()
	p.file = filepath.Join(p.dir, goal[:strings.Index(goal, "=")]+".yaml")
	command := p.command("--goal", goal, "-o", "yaml")
	var said bytes.Buffer
	command.Stderr = &said
	text, err := command.Output()
	if err != nil {
		p.Fatalf("%q: %v\n%s%s", command.Args, err, text, said.Bytes())
	}
	p.must(os.WriteFile(p.file, text, 0o600))
}

// apply carries the plan out to its end.
func (p *planner) apply(flags ...string) (answer applied) {
	p.Helper()
	command := p.command(append([]string{"--apply", p.file, "-o", "json", "--wait-timeout", "1m"}, flags...)...)
	var said bytes.Buffer
	command.Stderr = &said
	out, err := command.Output()
	if err != nil {
		p.Fatalf("%q: %v\n%s%s", command.Args, err, out, said.Bytes())
	}
	if strings.Contains(said.String(), "No place is held") || strings.Contains(said.String(), "No event") {
		p.Errorf("a right is missing: %s", said.Bytes())
	}
	p.must(json.Unmarshal(out, &answer))
	return answer
}

// applyAndKill kills the process as soon as it has evicted a pod.
func (p *planner) applyAndKill() {
	p.Helper()
	command := p.command("--apply", p.file)
	said, err := command.StderrPipe()
	p.must(err)
	p.must(command.Start())
	evicted := false
	for lines := bufio.NewScanner(said); lines.Scan() && !evicted; {
		evicted = strings.Contains(lines.Text(), "is evicted from")
	}
	p.must(command.Process.Kill())
	_ = command.Wait()
	if !evicted {
		p.Fatal("it evicted nothing")
	}
}

// budgetWatch notes whether a Deployment had ever fewer ready pods than its budget demands.
type budgetWatch struct {
	mutex  sync.Mutex
	lowest int
	broken []string
	stop   func()
}

// watchBudget follows the budget's status, and the pods themselves.
func (e *env) watchBudget(app string, least int) *budgetWatch {
	e.Helper()
	ctx, cancel := context.WithCancel(e.ctx)
	b := &budgetWatch{lowest: least + 1000, stop: cancel}
	e.Cleanup(cancel)
	initial := true
	pods, err := e.admin.CoreV1().Pods(e.namespace).Watch(ctx, metav1.ListOptions{LabelSelector: "app=" + app,
		SendInitialEvents: &initial, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, AllowWatchBookmarks: true})
	e.must(err)
	budgets, err := e.admin.PolicyV1().PodDisruptionBudgets(e.namespace).Watch(ctx, metav1.ListOptions{})
	e.must(err)
	go func() {
		ready, begun := map[string]bool{}, false
		for event := range pods.ResultChan() {
			pod, ok := event.Object.(*corev1.Pod)
			if !ok || event.Type == watch.Bookmark {
				begun = true // all that were there have come
				continue
			}
			ready[pod.Name] = event.Type != watch.Deleted && pod.DeletionTimestamp == nil && isReady(pod)
			count := 0
			for _, is := range ready {
				if is {
					count++
				}
			}
			if begun {
				b.note(count, least, "ready pods")
			}
		}
	}()
	go func() {
		for event := range budgets.ResultChan() {
			if budget, ok := event.Object.(*policyv1.PodDisruptionBudget); ok && budget.Status.DesiredHealthy > 0 {
				b.note(int(budget.Status.CurrentHealthy), int(budget.Status.DesiredHealthy), "healthy by its status")
			}
		}
	}()
	return b
}

func (b *budgetWatch) note(count, least int, what string) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.lowest = min(b.lowest, count)
	if count < least {
		b.broken = append(b.broken, fmt.Sprintf("%d %s, not %d", count, what, least))
	}
}

// check ends the watch.
func (b *budgetWatch) check(t *testing.T) {
	t.Helper()
	b.stop()
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if len(b.broken) > 0 {
		t.Errorf("the budget was broken: %q", b.broken)
	}
	if b.lowest > 100 {
		t.Error("the budget was not seen")
	}
}

func isReady(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// fillWithWeb spreads eight pods over four nodes, of which all but one must be ready, and has a pod wait for all of a node.
func (e *env) fillWithWeb() {
	e.Helper()
	e.must(workload.AwaitServiceAccount(e.ctx, e.admin, e.namespace))
	e.manyNodes(4)
	one := intstr.FromInt32(1)
	_, err := e.admin.PolicyV1().PodDisruptionBudgets(e.namespace).Create(e.ctx, &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &one,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
	}, metav1.CreateOptions{})
	e.must(err)
	_, err = e.admin.AppsV1().Deployments(e.namespace).Create(e.ctx, workload.Deployment("web", 8, workload.Requests("cpu", "1")), metav1.CreateOptions{})
	e.must(err)
	e.eventually("eight ready pods that the budget knows of", func() bool {
		budget, err := e.admin.PolicyV1().PodDisruptionBudgets(e.namespace).Get(e.ctx, "web", metav1.GetOptions{})
		e.must(err)
		return budget.Status.CurrentHealthy == 8 && budget.Status.DisruptionsAllowed == 1
	})
	e.createPods(workload.Pod("big", workload.Requests("cpu", "4")))
	_, err = e.pods.AwaitPod(e.within(30*time.Second), "big", "unschedulable", workload.IsUnschedulable)
	e.must(err)
}

// podVersions is every pod of the test with its version; kubelets write their nodes now and then.
func (e *env) podVersions() []string {
	e.Helper()
	return slices.DeleteFunc(e.cluster(), func(line string) bool { return !strings.HasPrefix(line, "pod ") })
}

// carryOut has the plan tried, killed in its middle, and carried out to its end.
func carryOut(e *env, c *controlplane.ControlPlane) {
	e.Helper()
	e.fillWithWeb()
	p := newPlanner(e, c)
	p.plan("fit=" + e.namespace + "/big")
	before := e.podVersions()
	if answer := p.apply("--dry-run"); answer.Outcome != "allowed" {
		e.Errorf("a dry run: %+v", answer)
	}
	if after := e.podVersions(); !slices.Equal(before, after) {
		e.Errorf("a dry run changed the cluster:\n%q\n%q", before, after)
	}
	if _, said := p.applyInVain(2, "--eviction=request"); !strings.Contains(said, "the API server has no EvictionRequests") {
		e.Error(said)
	}
	budget := e.watchBudget("web", 7)
	p.applyAndKill()
	answer := p.apply()
	e.Logf("%+v", answer)
	evictions := 0
	for _, move := range answer.Moves {
		if move.State != "done" {
			e.Errorf("%+v", move)
		}
		// A successor that goes back to the node that it left is evicted again.
		evictions += move.Evictions
	}
	if answer.Outcome != "done" || evictions < 2 {
		e.Errorf("%+v", answer)
	}
	if _, err := e.pods.AwaitPod(e.within(10*time.Second), "big", "bound", workload.IsBound); err != nil {
		e.Error(err)
	}
	e.eventually("eight ready pods", func() bool {
		found, err := e.admin.PolicyV1().PodDisruptionBudgets(e.namespace).Get(e.ctx, "web", metav1.GetOptions{})
		e.must(err)
		return found.Status.CurrentHealthy == 8
	})
	if events := e.events("EvictedByPlan", ""); len(events) != evictions {
		e.Errorf("%d events of %d evictions", len(events), evictions)
	}
	// Once more there is nothing left to do.
	before = e.podVersions()
	if answer := p.apply(); answer.Outcome != "done" {
		e.Errorf("once more: %+v", answer)
	}
	if after := e.podVersions(); !slices.Equal(before, after) {
		e.Errorf("once more changed the cluster:\n%q\n%q", before, after)
	}
	p.emptyNode("node-1")
	budget.check(e.T)
}

// emptyNode has another plan carried out, in one go.
func (p *planner) emptyNode(name string) {
	p.Helper()
	p.plan("empty=" + name)
	if answer := p.apply(); answer.Outcome != "done" || len(answer.Moves) == 0 {
		p.Errorf("%+v", answer)
	}
	node, err := p.admin.CoreV1().Nodes().Get(p.ctx, name, metav1.GetOptions{})
	p.must(err)
	if !node.Spec.Unschedulable {
		p.Errorf("%s is not cordoned", name)
	}
	for _, pod := range p.pods.Pods() {
		if pod.Spec.NodeName == name {
			p.Errorf("%s is on %s still", pod.Name, name)
		}
	}
}

// TestAPlanIsCarriedOutAndMayBeKilled on a control plane with controllers and kubelets, where Berth schedules.
func TestAPlanIsCarriedOutAndMayBeKilled(t *testing.T) {
	if program.Peer {
		t.Skip("kube-scheduler makes no plans")
	}
	e, c := newEnvOfItsOwn(t, controlplane.Options{ControllerManager: true, Kwok: true})
	e.startWith(daemon.Options{Config: wholeConfig, Kubeconfig: c.Kubeconfig(controlplane.Berth)})
	defer e.cleanUp()
	carryOut(e, c)
}

// TestAPlanIsCarriedOutBesideKubeScheduler, which schedules here.
func TestAPlanIsCarriedOutBesideKubeScheduler(t *testing.T) {
	if program.Peer {
		t.Skip("kube-scheduler makes no plans")
	}
	e, c := newEnvOfItsOwn(t, controlplane.Options{ControllerManager: true, Kwok: true, Scheduler: true})
	defer e.cleanUp()
	carryOut(e, c)
}

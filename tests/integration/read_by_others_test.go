// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/controlplane/programs"
	"berth.dev/tests/internal/daemon"
	"berth.dev/tests/internal/daemon/workload"
)

// Others act upon what a scheduler writes; docs/read_by_others.md says who reads what. These tests have Berth and kube-scheduler
// write it about the same pods, and compare it word for word, but for what differs with every run.

// written is what a scheduler has written, line by line, by the name of the object that it is about.
type written map[string][]string

// besideKubeScheduler plays the same beside each scheduler, and fails where one has written what the other has not. It returns
// what Berth has written; nil if either did not come to its end.
func besideKubeScheduler(t *testing.T, play func(t *testing.T, peer bool) written) written {
	t.Helper()
	if program.Peer {
		t.Skip("it starts both schedulers itself")
	}
	needsKubernetes(t, "1.37", "what kube-scheduler 1.37 writes")
	var ours, theirs written
	played := t.Run("Berth", func(t *testing.T) { ours = play(t, false) }) &&
		t.Run("Peer", func(t *testing.T) { theirs = play(t, true) })
	if !played {
		return nil
	}
	names := maps.Clone(ours)
	maps.Copy(names, theirs)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		have, want := ours[name], theirs[name]
		if slices.Equal(have, want) {
			continue
		}
		alone := func(of, other []string) string {
			of = slices.DeleteFunc(slices.Clone(of), func(line string) bool { return slices.Contains(other, line) })
			return strings.Join(of, "\n  ")
		}
		t.Errorf("%s: berth alone has written\n  %s\nkube-scheduler alone\n  %s\nand berth all of\n  %s", name, alone(have, want), alone(want, have),
			strings.Join(have, "\n  "))
	}
	return ours
}

// expect fails where Berth has written nothing about the object with that in it: nothing is to be compared with nothing.
func (w written) expect(t *testing.T, name string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !slices.ContainsFunc(w[name], func(line string) bool { return strings.Contains(line, want) }) {
			t.Errorf("nothing about %s has %q:\n  %s", name, want, strings.Join(w[name], "\n  "))
		}
	}
}

// startEither starts Berth, or kube-scheduler, at that control plane; each is the user that it is in production.
func (e *env) startEither(c *controlplane.ControlPlane, peer bool, config string, args ...string) *daemon.Daemon {
	e.Helper()
	if peer {
		return e.startProgram(daemon.Peer(c.Binary(programs.Scheduler)),
			daemon.Options{Config: config, Kubeconfig: c.Kubeconfig(controlplane.KubeScheduler), Args: args})
	}
	return e.startProgram(program, daemon.Options{Config: config, Kubeconfig: c.Kubeconfig(controlplane.Berth), Args: args})
}

var varies = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[0-9:.]+Z`)

// same is the text without UIDs, times, and the name of the namespace, which has that of the scheduler in it.
func (e *env) same(text string) string {
	return strings.ReplaceAll(varies.ReplaceAllString(text, "*"), e.namespace, "NAMESPACE")
}

// asJSON is the value without what differs with every run.
func (e *env) asJSON(value any) string {
	e.Helper()
	text, err := json.Marshal(value)
	e.must(err)
	return e.same(string(text))
}

// forAutoscaler is what cluster-autoscaler takes the pod for (1.36.1, utils/kubernetes/listers.go).
func forAutoscaler(pod *corev1.Pod) string {
	condition := workload.ScheduledCondition(pod)
	switch {
	case pod.Spec.NodeName != "":
		return "on node " + pod.Spec.NodeName
	case pod.DeletionTimestamp != nil:
		return "left out"
	case pod.Status.NominatedNodeName != "":
		return "counted on node " + pod.Status.NominatedNodeName
	case workload.IsUnschedulable(pod):
		return "needs a node"
	case condition == nil || condition.Status == corev1.ConditionFalse && condition.Reason == "":
		return "not tried yet"
	default:
		return "left out"
	}
}

// karpenterActs says whether Karpenter makes a node for the pod (v1.13.0, pkg/utils/pod/scheduling.go).
func karpenterActs(pod *corev1.Pod) bool {
	condition := workload.ScheduledCondition(pod)
	return condition != nil && condition.Reason == corev1.PodReasonUnschedulable && pod.Spec.NodeName == "" &&
		pod.Status.NominatedNodeName == ""
}

// states are those that a watch has told of the namespace's pods, by name, as far as others act upon them.
type states struct {
	*env
	mu    sync.Mutex
	told  written
	times map[string][]metav1.Time // of the condition PodScheduled
}

// watchStates begins to note them, and ends with the test.
func (e *env) watchStates() *states {
	e.Helper()
	s := &states{env: e, told: written{}, times: map[string][]metav1.Time{}}
	watcher, err := e.admin.CoreV1().Pods(e.namespace).Watch(e.ctx, metav1.ListOptions{})
	e.must(err)
	var working sync.WaitGroup
	working.Go(func() {
		for event := range watcher.ResultChan() {
			// Those by which a test learns what the API server does.
			if pod, isPod := event.Object.(*corev1.Pod); isPod && !strings.HasPrefix(pod.Name, "probe-") && event.Type != watch.Deleted {
				s.note(pod)
			}
		}
	})
	e.Cleanup(func() { watcher.Stop(); working.Wait() })
	return s
}

func (s *states) note(pod *corev1.Pod) {
	s.mu.Lock()
	defer s.mu.Unlock()
	view := forAutoscaler(pod)
	if acts := karpenterActs(pod); acts != (view == "needs a node") && pod.DeletionTimestamp == nil {
		s.Errorf("pod %s: %q for cluster-autoscaler, and Karpenter acts: %v", pod.Name, view, acts)
	}
	parts := []string{view}
	if pod.DeletionTimestamp != nil {
		parts = append(parts, "is to end")
	}
	for _, c := range pod.Status.Conditions {
		text := fmt.Sprintf("%s %s %s %q of generation %d", c.Type, c.Status, c.Reason, c.Message, c.ObservedGeneration)
		if c.Type == corev1.PodScheduled {
			// cluster-autoscaler begins a round at once for a condition whose time is not 10 s old.
			times := s.times[pod.Name]
			if len(times) == 0 || !times[len(times)-1].Equal(&c.LastTransitionTime) {
				times = append(times, c.LastTransitionTime)
				s.times[pod.Name] = times
			}
			text += fmt.Sprintf(", its time is the pod's number %d", len(times))
		}
		parts = append(parts, text)
	}
	state := s.same(strings.Join(parts, "; "))
	if told := s.told[pod.Name]; len(told) == 0 || told[len(told)-1] != state {
		s.told[pod.Name] = append(told, state)
	}
}

// all are those of each pod, and no more than so many.
func (s *states) all(most int) written {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := written{}
	for name, told := range s.told {
		all[name] = slices.Clone(told[:min(most, len(told))])
	}
	return all
}

// TestOthersSeeTheStatesThatKubeSchedulerWrites lets pods be refused, gated, nominated, preempted and bound, lets a nominated node
// be taken by another pod or vanish, and a bind fail. Each state that a watch tells is kube-scheduler's, in its order: so is then what an autoscaler makes of
// it, and when. So are the events, as they are read by core/v1, and the bindings that webhooks see.
func TestOthersSeeTheStatesThatKubeSchedulerWrites(t *testing.T) {
	ours := besideKubeScheduler(t, liveThrough)
	if ours == nil {
		return
	}
	ours.expect(t, "gated", "left out; PodScheduled False SchedulingGated", "needs a node; PodScheduled False Unschedulable", "on node b")
	ours.expect(t, "refused", `needs a node; PodScheduled False Unschedulable "0/2 nodes`, "its time is the pod's number 2")
	ours.expect(t, "urgent", "counted on node a; PodScheduled False Unschedulable", "on node a")
	ours.expect(t, "low", "is to end; PodScheduled True", "DisruptionTarget True PreemptionByScheduler", "event Normal Preempted")
	ours.expect(t, "outlived", "counted on node c", `needs a node; PodScheduled False Unschedulable "0/3 nodes`)
	ours.expect(t, "displaced", "counted on node e", `needs a node; PodScheduled False Unschedulable "0/3 nodes`)
	ours.expect(t, "undone", "left out; PodScheduled False SchedulerError", "this node takes no pods")
	ours.expect(t, "foreign", "not tried yet")
	ours.expect(t, "repeats", "series of 2")
	ours.expect(t, "bound", `"target":{"kind":"Node","name":"a"}`, "event Normal Scheduled")
}

func liveThrough(t *testing.T, peer bool) written {
	e := newEnv(t)
	e.refusals = true // in these words the API server reports a policy
	class, middle := e.createPriorityClass(1000), e.namespace+"-middle"
	_, err := e.admin.SchedulingV1().PriorityClasses().Create(e.ctx, &schedulingv1.PriorityClass{
		ObjectMeta: metav1.ObjectMeta{Name: middle}, Value: 500,
	}, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		e.must(err)
	}
	var mu sync.Mutex
	bindings := written{}
	e.hookBindings(bindHook{sees: func(text []byte) {
		var binding corev1.Binding
		if err := json.Unmarshal(text, &binding); err != nil {
			e.Error(err)
		}
		binding.ManagedFields = nil // the manager is the program's name
		mu.Lock()
		defer mu.Unlock()
		bindings[binding.Name] = append(bindings[binding.Name], "binding "+e.asJSON(binding))
	}})
	told := e.watchStates()
	sized := func(size string) workload.NodeOption { return workload.NodeLabel("size", size) }
	on := func(size string) workload.PodOption { return workload.NodeSelector("size", size) }
	cpu := func(amount string) workload.PodOption { return workload.Requests("cpu", amount) }
	await := func(name, what string, passes func(pod *corev1.Pod) bool) {
		t.Helper()
		_, err := e.pods.AwaitPod(e.within(30*time.Second), name, what, passes)
		e.must(err)
	}
	refused := func(message string) func(pod *corev1.Pod) bool {
		return func(pod *corev1.Pod) bool {
			return workload.IsUnschedulable(pod) && strings.HasPrefix(workload.ScheduledCondition(pod).Message, message) &&
				pod.Status.NominatedNodeName == ""
		}
	}
	nominated := func(pod *corev1.Pod) bool { return pod.Status.NominatedNodeName != "" && workload.IsUnschedulable(pod) }
	ending := func(pod *corev1.Pod) bool { return pod.DeletionTimestamp != nil }
	nextSecond := func() { e.letPass(1100 * time.Millisecond) } // times in conditions have whole seconds

	e.createNodes(workload.Node("a", workload.Allocatable("cpu", "2"), sized("a")))
	e.startEither(shared, peer, deviceConfig)
	for _, filler := range []string{"bound", "filler-1", "filler-2"} {
		e.createPods(workload.Pod(filler, on("a"), cpu("100m")))
		await(filler, "bound", workload.IsBound)
	}
	e.createPods(workload.Pod("low", on("a"), cpu("1200m")), workload.Pod("foreign", workload.Scheduler("foreign")))
	await("low", "bound", workload.IsBound)

	// A gate that goes, a refusal in other words, and room.
	e.createPods(workload.Pod("gated", workload.Gates("example.com/wait"), cpu("3")))
	await("gated", "gated", func(pod *corev1.Pod) bool { return workload.HasReason(pod, corev1.PodReasonSchedulingGated) })
	nextSecond()
	e.patchPod("gated", `{"spec":{"schedulingGates":[{"$patch":"delete","name":"example.com/wait"}]}}`)
	await("gated", "refused", refused("0/1 nodes"))
	e.createPods(workload.Pod("refused", cpu("1")))
	await("refused", "refused", refused("0/1 nodes"))
	nextSecond()
	e.createNodes(workload.Node("b", workload.NoSchedule("later")))
	await("gated", "refused in other words", refused("0/2 nodes"))
	await("refused", "refused in other words", refused("0/2 nodes"))
	nextSecond()
	e.patchNode("b", `{"spec":{"taints":null}}`)
	await("gated", "bound", workload.IsBound)
	await("refused", "bound", workload.IsBound)

	// Preemption; one whose place a more urgent pod takes; and one whose node vanishes.
	e.createPods(workload.Pod("urgent", on("a"), cpu("1"), workload.PriorityClass(class)))
	await("urgent", "nominated", nominated)
	await("low", "about to end", ending)
	nextSecond()
	e.deletePod("low")
	await("urgent", "bound", workload.IsBound)
	e.createNodes(workload.Node("e", workload.Allocatable("cpu", "2"), sized("e")))
	for name, amount := range map[string]string{"low-e-1": "1500m", "low-e-2": "500m"} {
		e.createPods(workload.Pod(name, on("e"), cpu(amount)))
		await(name, "bound", workload.IsBound)
	}
	e.createPods(workload.Pod("displaced", on("e"), cpu("1500m"), workload.PriorityClass(middle)))
	await("displaced", "nominated", nominated)
	await("low-e-1", "about to end", ending)
	nextSecond()
	e.createPods(workload.Pod("taker", on("e"), cpu("2"), workload.PriorityClass(class)))
	await("taker", "nominated", nominated)
	await("displaced", "refused without its nomination", func(pod *corev1.Pod) bool {
		return refused("0/3 nodes")(pod) && !strings.Contains(workload.ScheduledCondition(pod).Message, "potential placement")
	})
	await("low-e-2", "about to end", ending)
	nextSecond()
	e.deletePod("low-e-2")
	e.deletePod("low-e-1")
	await("taker", "bound", workload.IsBound)
	await("displaced", "refused beside a more urgent pod", func(pod *corev1.Pod) bool {
		return refused("0/3 nodes")(pod) && strings.Contains(workload.ScheduledCondition(pod).Message, "1 No preemption victims found")
	})
	e.createNodes(workload.Node("c", workload.Allocatable("cpu", "1"), sized("c")))
	e.createPods(workload.Pod("low-c", on("c"), cpu("1")))
	await("low-c", "bound", workload.IsBound)
	e.createPods(workload.Pod("outlived", on("c"), cpu("1"), workload.PriorityClass(class)))
	await("outlived", "nominated", nominated)
	await("low-c", "about to end", ending)
	nextSecond()
	e.must(e.admin.CoreV1().Nodes().Delete(e.ctx, "c", metav1.DeleteOptions{}))
	e.deletePod("low-c")
	await("outlived", "refused without a nomination", refused("0/3 nodes"))

	// One that is tried again and again, for the same reason.
	e.createPods(workload.Pod("repeats", cpu("100")))
	await("repeats", "refused", refused("0/3 nodes"))
	e.awaitEvents("FailedScheduling", "repeats", 1)
	e.deletePod("filler-1")
	e.awaitEvents("FailedScheduling", "repeats", 2)
	e.deletePod("filler-2")
	series := int32(0)
	e.eventually("a series of events", func() bool {
		for _, event := range e.events("FailedScheduling", "repeats") {
			if event.Series != nil {
				series = event.Series.Count
			}
		}
		return series > 0
	})

	// A bind that fails.
	e.createNodes(workload.Node("d", sized("d")))
	await("displaced", "refused by a fourth node", refused("0/4 nodes"))
	e.refuseBindingsTo("d")
	e.createPods(workload.Pod("undone", on("d")))
	await("undone", "not bound", func(pod *corev1.Pod) bool { return workload.HasReason(pod, corev1.PodReasonSchedulerError) })
	e.awaitEvents("FailedScheduling", "undone", 1)

	e.letPass(2 * time.Second) // what is on its way is written within one
	all := told.all(100)
	all["repeats"] = append(all["repeats"], fmt.Sprintf("series of %d", series))
	mu.Lock()
	defer mu.Unlock()
	for name, lines := range e.eventLines() {
		all[name] = append(all[name], lines...)
		if lines := bindings[name]; len(lines) > 0 {
			all[name] = append(all[name], slices.Compact(lines)...)
		}
	}
	return all
}

// eventLines are the namespace's events as programs read them that know core/v1 alone, each once, by the pod's name.
func (e *env) eventLines() written {
	e.Helper()
	list, err := e.admin.CoreV1().Events(e.namespace).List(e.ctx, metav1.ListOptions{})
	e.must(err)
	lines := written{}
	for _, event := range list.Items {
		about := event.InvolvedObject
		related := ""
		if event.Related != nil {
			related = fmt.Sprintf(" with %s %s %s", event.Related.APIVersion, event.Related.Kind, event.Related.Name)
		}
		lines[about.Name] = append(lines[about.Name], e.same(fmt.Sprintf(
			"event %s %s, %q, action %s, by %s on %s, source %q, about %s %s %q%s; first time %v, last %v, event time %v, count %d, labels %v, annotations %v",
			event.Type, event.Reason, event.Message, event.Action, event.ReportingController, event.ReportingInstance, event.Source.Component,
			about.APIVersion, about.Kind, about.FieldPath, related, !event.FirstTimestamp.IsZero(), !event.LastTimestamp.IsZero(),
			!event.EventTime.IsZero(), event.Count, event.Labels, event.Annotations)))
	}
	for name := range lines {
		slices.Sort(lines[name])
		lines[name] = slices.Compact(lines[name])
	}
	return lines
}

// TestVolumesAndClaimsAreMarkedAsKubeSchedulerMarksThem has PV controller and a provisioner act upon what is written on volumes and
// claims, and lets a pod wait for a volume that is never made.
func TestVolumesAndClaimsAreMarkedAsKubeSchedulerMarksThem(t *testing.T) {
	ours := besideKubeScheduler(t, bindVolumes)
	if ours == nil {
		return
	}
	ours.expect(t, "volume there", `"name":"static"`, "pv.kubernetes.io/bound-by-controller=yes")
	ours.expect(t, "claim made", "volume.kubernetes.io/selected-node=za-1")
	ours.expect(t, "made", "counted on node za-1", "on node za-1")
	ours.expect(t, "never", "counted on node zb-0", "left out; PodScheduled False SchedulerError")
}

func bindVolumes(t *testing.T, peer bool) written {
	e := newVolumeEnv(t)
	told := e.watchStates()
	e.createClass(workload.WaitingClass("never", "example.com/none"))
	e.createVolume("there", "5Gi", "za")
	e.awaitVolumesAvailable()
	e.createClaims(workload.Claim("static", "static", "1Gi"), workload.Claim("made", "made", "1Gi"), workload.Claim("never", "never", "1Gi"))
	e.provision(nil)
	e.startEither(shared, peer, volumeConfig(5*time.Second))
	for name, node := range map[string]string{"static": "za-0", "made": "za-1"} {
		e.createPods(workload.Pod(name, workload.UseClaim(name), workload.NodeSelector(corev1.LabelHostname, node)))
		e.awaitNode(e.within(30*time.Second), name, node)
	}
	e.createPods(workload.Pod("never", workload.UseClaim("never"), workload.NodeSelector(corev1.LabelHostname, "zb-0")))
	e.awaitErrors("never", "binding volumes: context deadline exceeded")
	e.checkVolumes()
	all := told.all(3) // the third tells of the error, and then it is tried again
	annotations := func(of map[string]string) (lines []string) {
		for _, key := range slices.Sorted(maps.Keys(of)) {
			lines = append(lines, fmt.Sprintf("annotation %s=%s", key, of[key]))
		}
		return lines
	}
	for name, claim := range e.claimsByName() {
		if name != "never" { // its node is given back and taken again
			all["claim "+name] = annotations(claim.Annotations)
		}
	}
	there := e.ownVolumes()[e.volumeName("there")]
	there.Spec.ClaimRef.ResourceVersion = ""
	all["volume there"] = append(annotations(there.Annotations), "claimRef "+e.asJSON(there.Spec.ClaimRef))
	return all
}

// TestClaimsOfDevicesAreWrittenAsKubeSchedulerWritesThem has claims of devices allocated and reserved: one of a template, one that
// two pods share, and one that is made for an extended resource.
func TestClaimsOfDevicesAreWrittenAsKubeSchedulerWritesThem(t *testing.T) {
	ours := besideKubeScheduler(t, allocateDevices)
	if ours == nil {
		return
	}
	ours.expect(t, "templated", `"results":[{"request":"gpu","driver":"gpu.example.com","pool":"g-0","device":"gpu-`, `"reservedFor":[`)
	ours.expect(t, "second sharer", `"name":"first-sharer"`)
	ours.expect(t, "extended", `extendedResourceClaimStatus {"requestMappings":[`, "resource.kubernetes.io/extended-resource-claim")
}

func allocateDevices(t *testing.T, peer bool) written {
	const resource = "gpus.example.com/one"
	e := newDeviceEnv(t, 1, 4)
	class, err := e.admin.ResourceV1().DeviceClasses().Get(e.ctx, "gpu", metav1.GetOptions{})
	e.must(err)
	extended := resource
	class.Spec.ExtendedResourceName = &extended
	_, err = e.admin.ResourceV1().DeviceClasses().Update(e.ctx, class, metav1.UpdateOptions{})
	e.must(err)
	e.createDeviceClaim("shared", workload.DeviceRequest("gpu", 1))
	e.startEither(shared, peer, deviceConfig)
	all := written{}
	place := func(what string, pod *corev1.Pod, claimOf func(pod *corev1.Pod) string) {
		t.Helper()
		e.createPods(pod)
		e.awaitNode(e.within(30*time.Second), pod.Name, "g-0")
		bound := e.pods.Pod(pod.Name)
		name := claimOf(bound)
		claim := e.deviceClaims()[name]
		if claim == nil {
			t.Fatalf("pod %s has no claim: %+v", pod.Name, bound.Status)
		}
		owners := []string{}
		for _, owner := range claim.OwnerReferences {
			owners = append(owners, owner.Kind+" "+owner.Name)
		}
		for key, value := range map[string]any{
			"spec": claim.Spec, "status": claim.Status, "finalizers": claim.Finalizers, "annotations": claim.Annotations, "owners": owners,
			"extendedResourceClaimStatus": bound.Status.ExtendedResourceClaimStatus,
		} {
			all[what] = append(all[what], key+" "+strings.ReplaceAll(e.asJSON(value), name, "CLAIM"))
		}
		slices.Sort(all[what])
	}
	place("templated", workload.Pod("templated", workload.UseDevices("", "one-gpu")), func(pod *corev1.Pod) string {
		return workload.ClaimNames(pod)[0]
	})
	for i, name := range []string{"first-sharer", "second-sharer"} {
		place([]string{"first sharer", "second sharer"}[i], workload.Pod(name, workload.UseDevices("shared", "")),
			func(*corev1.Pod) string { return "shared" })
	}
	place("extended", workload.Pod("extended", workload.Requests(resource, "1")), func(pod *corev1.Pod) string {
		if status := pod.Status.ExtendedResourceClaimStatus; status != nil {
			return status.ResourceClaimName
		}
		return ""
	})
	return all
}

// TestPodGroupsShowWhatKubeSchedulerShows has one gang land and one that is too large.
func TestPodGroupsShowWhatKubeSchedulerShows(t *testing.T) {
	ours := besideKubeScheduler(t, placeGangs)
	if ours == nil {
		return
	}
	ours.expect(t, "fits", schedulingv1beta1.PodGroupInitiallyScheduled+" True")
	ours.expect(t, "large", schedulingv1beta1.PodGroupInitiallyScheduled+" False Unschedulable")
	ours.expect(t, "members of large", "needs a node; PodScheduled False Unschedulable")
}

func placeGangs(t *testing.T, peer bool) written {
	e, c, switches := newGangControlPlane(t)
	told := e.watchStates()
	e.createNodes(workload.Node("a"), workload.Node("b"))
	d := e.startEither(c, peer, deviceConfig, switches)
	t.Cleanup(func() { e.stop(d) })
	e.createGang("fits", 2)
	e.createMembers("fits", 0, 2)
	e.awaitInitiallyScheduled("fits", metav1.ConditionTrue, "Scheduled")
	e.createGang("large", 8)
	e.createMembers("large", 0, 8)
	e.awaitInitiallyScheduled("large", metav1.ConditionFalse, "Unschedulable")
	e.must(e.pods.Await(e.within(30*time.Second), "members that are refused", func(pods map[string]*corev1.Pod) bool {
		for i := range 8 {
			if pod := pods[fmt.Sprintf("large-%d", i)]; pod == nil || !workload.IsUnschedulable(pod) {
				return false
			}
		}
		return true
	}))
	all := written{}
	for name, lines := range told.all(100) {
		if strings.HasPrefix(name, "large-") {
			// Which of them was the last to find room varies.
			all["members of large"] = append(all["members of large"], lines[len(lines)-1])
		}
	}
	slices.Sort(all["members of large"])
	for _, name := range []string{"fits", "large"} {
		group, err := e.admin.SchedulingV1beta1().PodGroups(e.namespace).Get(e.ctx, name, metav1.GetOptions{})
		e.must(err)
		for _, c := range group.Status.Conditions {
			all[name] = append(all[name], e.same(fmt.Sprintf("%s %s %s %q of generation %d", c.Type, c.Status, c.Reason, c.Message, c.ObservedGeneration)))
		}
	}
	return all
}

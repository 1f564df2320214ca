// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// groupReplay runs upstream's own loop, one cycle after the other, beside Berth's decisions. Where upstream draws one of
// several best nodes, it gets the one that Berth drew.
type groupReplay struct {
	*State
	// attempt is the one at hand.
	attempt attempt
	// run counts how often its pods have been gone through, the second time in preemption's dry run; seen are those that
	// have been tried in the run at hand.
	run  int
	seen sets.Set[string]
	// drew says that a dry run had a choice which Berth does not tell of.
	drew bool
	// exchanged says that upstream mixed up the devices of a pod's claims, which Berth does not: docs/differences.md.
	exchanged bool
	// refused is a node that Berth gave a pod, and upstream would not have.
	refused error

	mutex  sync.Mutex
	failed map[string]failedPod
}

// failedPod is what upstream tells a pod that got no node.
type failedPod struct {
	message   string
	nominated string
	clears    bool
}

// attempt is one cycle of Berth's: of a pod, of a pod group, or of all groups of a tree.
type attempt struct {
	// groups are none where a pod was tried alone.
	groups []Decision
	pods   map[string]Decision
	// evicted are the pods that are gone between this attempt and the next.
	evicted []string
}

func (a attempt) isGroup() bool { return len(a.groups) > 0 }

// root is the tree's composite group, or "".
func (a attempt) root() string {
	if !a.isGroup() {
		return ""
	}
	return a.groups[0].CompositePodGroup
}

// has says whether a line about a group belongs to the attempt, which has others of its tree already.
func (a attempt) has(d Decision) bool {
	return a.root() != "" && a.root() == d.CompositePodGroup &&
		!slices.ContainsFunc(a.groups, func(other Decision) bool { return other.PodGroup == d.PodGroup })
}

// names are of all pods, sorted.
func (a attempt) names() []string { return sets.List(sets.KeySet(a.pods)) }

// ReplayPodGroups takes decisions about clusters with pod groups, and reports the first that upstream could not have made.
// It ends with the first one that evicts pods: when the others see the room is not said. It changes the state.
func (s *State) ReplayPodGroups(decisions []Decision) error {
	r := &groupReplay{State: s}
	r.listen()
	attempts := s.attemptsOf(decisions)
	s.enqueue(ranksOf(attempts))
	for i, a := range attempts {
		ends, err := r.step(a, attempts[i:])
		if err != nil {
			return fmt.Errorf("attempt %d, of %v: %w", i+1, a.names(), err)
		}
		if ends {
			return nil
		}
	}
	for _, pod := range s.scheduler.SchedulingQueue.PodsInActiveQ() {
		if pod.DeletionTimestamp != nil {
			continue
		}
		return &Refusal{Kind: "not tried", Pod: Name(pod), Detail: "it is in upstream's active queue"}
	}
	return nil
}

// attemptsOf gathers lines: those of a group's pods come right before that of the group.
func (s *State) attemptsOf(decisions []Decision) []attempt {
	var attempts []attempt
	for _, d := range decisions {
		last := len(attempts) - 1
		switch {
		case d.Evicted != "":
			attempts[last].evicted = append(attempts[last].evicted, d.Evicted)
		case d.PodGroup != "":
			whole := attempt{groups: []Decision{d}, pods: map[string]Decision{}}
			for last >= 0 && !attempts[last].isGroup() && s.allOf(attempts[last], d.PodGroup) {
				maps.Copy(whole.pods, attempts[last].pods)
				whole.evicted = append(whole.evicted, attempts[last].evicted...)
				last--
			}
			if last >= 0 && attempts[last].has(d) {
				attempts[last].groups = append(attempts[last].groups, d)
				attempts[last].evicted = append(attempts[last].evicted, whole.evicted...)
				maps.Copy(attempts[last].pods, whole.pods)
				attempts = attempts[:last+1]
			} else {
				attempts = append(attempts[:last+1], whole)
			}
		default:
			attempts = append(attempts, attempt{pods: map[string]Decision{d.Pod: d}})
		}
	}
	return attempts
}

// ranksOf says of each pod at which attempt it was tried first: all have come at the same time, so that Berth may have
// taken those of one priority in any order.
func ranksOf(attempts []attempt) map[string]int {
	ranks := map[string]int{}
	for i, a := range attempts {
		for name := range a.pods {
			if _, known := ranks[name]; !known {
				ranks[name] = i
			}
		}
	}
	return ranks
}

// allOf says whether all pods of the attempt are the group's.
func (s *State) allOf(a attempt, group string) bool {
	for name := range a.pods {
		if pod := s.pending[name]; pod == nil || groupOf(pod) != group {
			return false
		}
	}
	return true
}

// listen has upstream take Berth's side where it draws, and tell what becomes of pods.
func (r *groupReplay) listen() {
	schedule, fail := r.scheduler.SchedulePod, r.scheduler.FailureHandler
	r.scheduler.SchedulePod = func(ctx context.Context, profile framework.Framework, state fwk.CycleState, info *framework.QueuedPodInfo) (scheduler.ScheduleResult, error) {
		result, err := schedule(ctx, profile, state, info)
		if err == nil {
			r.exchanged = r.exchanged || r.devices.exchanges(info.Pod)
			err = r.choose(&result, profile, state, info.Pod)
		}
		return result, err
	}
	r.scheduler.FailureHandler = func(ctx context.Context, profile framework.Framework, info *framework.QueuedPodInfo, status *fwk.Status, nominating *fwk.NominatingInfo, start time.Time) {
		told := failedPod{message: status.Message(), clears: nominating.Mode() == fwk.ModeOverride}
		if told.clears {
			told.nominated = nominating.NominatedNodeName
		}
		r.mutex.Lock()
		r.failed[Name(info.Pod)] = told
		r.mutex.Unlock()
		fail(ctx, profile, info, status, nominating, start)
	}
}

// choose puts Berth's node in the result's place, if upstream could have drawn it.
func (r *groupReplay) choose(result *scheduler.ScheduleResult, profile framework.Framework, state fwk.CycleState, pod *corev1.Pod) error {
	name := Name(pod)
	if r.seen.Has(name) {
		if r.run > 0 || r.attempt.placesNone() {
			r.refused = nil // Berth tells of the last dry run alone: those before it may have gone elsewhere.
		}
		r.run++
		r.seen = sets.New[string]()
	}
	r.seen.Insert(name)
	d := r.attempt.pods[name]
	wanted := d.Nominated
	if r.run == 0 && !r.attempt.placesNone() {
		if wanted = d.Tried; d.Node != nil {
			wanted = *d.Node
		}
		if wanted == "" {
			return nil // What follows differs.
		}
	}
	if wanted == result.SuggestedHost {
		return nil
	}
	best, err := r.best(profile, state, pod)
	switch {
	case err != nil:
		return err
	case wanted == "":
		r.drew = r.drew || len(best) > 1
	case slices.Contains(best, wanted):
		result.SuggestedHost = wanted
		return r.lookAt(wanted, profile, state, pod)
	case r.refused == nil:
		r.refused = &Refusal{Kind: "not the best node of a pod group's pod", Pod: name,
			Detail: fmt.Sprintf("%s; upstream takes one of %v", wanted, best), Nodes: best}
	}
	return nil
}

// lookAt has the filters see the node: what they keep of it Reserve needs, and upstream asks them about one node only where no
// plugin scores.
func (r *groupReplay) lookAt(node string, profile framework.Framework, state fwk.CycleState, pod *corev1.Pod) error {
	info, err := r.snapshot.NodeInfos().Get(node)
	if err != nil {
		return err
	}
	return profile.RunFilterPlugins(r.ctx, state, pod, info).AsError()
}

// placesNone says whether no pod had a node but in a dry run.
func (a attempt) placesNone() bool {
	for _, d := range a.pods {
		if d.Node != nil || d.Tried != "" {
			return false
		}
	}
	return true
}

// best are the nodes that the cycle draws from.
func (r *groupReplay) best(profile framework.Framework, state fwk.CycleState, pod *corev1.Pod) ([]string, error) {
	nodes, err := r.snapshot.NodeInfos().List()
	if err != nil {
		return nil, err
	}
	again := framework.NewCycleState()
	again.SetPodGroupSchedulingCycle(state.GetPodGroupSchedulingCycle())
	again.SetPlacementCycleState(state.GetPlacementCycleState())
	c := cycle{State: r.State, Framework: profile, state: again, pod: pod, over: nominatedFirst, verdict: &Verdict{Nodes: map[string]Node{}}}
	feasible, err := c.findFeasible(nodes, &framework.Diagnosis{NodeToStatus: framework.NewDefaultNodeToStatus()})
	if err != nil {
		return nil, err
	}
	err = c.score(feasible)
	return c.verdict.Best, err
}

// step has upstream make Berth's attempt, and compares what came of it. It says whether the replay ends there. `rest` are
// all attempts from this one on.
func (r *groupReplay) step(a attempt, rest []attempt) (ends bool, err error) {
	entity, passed, err := r.next(a)
	if err != nil {
		return false, err
	}
	if slices.ContainsFunc(passed, isNominated) {
		return true, nil // Upstream knows little of nominated pods that are not in its queue.
	}
	r.clock.Step(time.Microsecond)
	if info, isPod := entity.(*framework.QueuedPodInfo); isPod {
		ends, err = r.stepPod(info, a.pods[Name(info.Pod)])
	} else {
		ends, err = r.stepGroup(entity.(*framework.QueuedPodGroupInfo), a, rest)
	}
	if ends || err != nil {
		return ends, err
	}
	return false, r.putBack(passed)
}

// stepGroup has upstream's own loop take the group.
func (r *groupReplay) stepGroup(entity *framework.QueuedPodGroupInfo, a attempt, rest []attempt) (ends bool, err error) {
	r.attempt, r.failed = a, map[string]failedPod{}
	r.run, r.seen, r.drew, r.exchanged, r.refused = 0, sets.New[string](), false, false, nil
	alive := r.alivePods(entity)
	r.scheduler.NextEntity = func(klog.Logger) (framework.QueuedEntityInfo, error) { return entity, nil }
	endWrites := r.devices.takeWrites()
	r.scheduler.ScheduleOne(r.ctx)
	if err := r.awaitBinds(alive); err != nil {
		return false, err
	}
	gaveUp, err := endWrites(r.exchanged)
	if err != nil {
		return false, err
	}
	// A group that cannot be tried at all fails with its pods that are being deleted.
	tried := sets.List(sets.KeySet(r.failed).Insert(alive...))
	if err := r.compare(tried); err != nil {
		if r.drew || r.exchanged {
			return true, nil // Another draw, or the right devices, might have led where Berth's did.
		}
		return false, err
	}
	if len(r.requests.deleted) > 0 {
		return true, r.compareVictims(rest)
	}
	if gaveUp || r.exchanged {
		return true, nil // When others hear of what was given up is not said.
	}
	return r.waitsForVictims() || r.mayGiveUp(), r.takeIn(tried)
}

// mayGiveUp says whether a pod that got no node may have given up a claim of others: these then fail to bind.
func (r *groupReplay) mayGiveUp() bool {
	for name := range r.failed {
		if r.devices.mayGiveUp(r.pending[name]) {
			return true
		}
	}
	return false
}

// next pops Berth's attempt, and what upstream has before it: what a group left over is as old as the group, and may come
// before others of its priority or after them. What has been tried waits for events, and for time to pass, in the queue of
// either; upstream hears of neither here.
func (r *groupReplay) next(a attempt) (wanted framework.QueuedEntityInfo, passed []framework.QueuedEntityInfo, err error) {
	queue, logger := r.scheduler.SchedulingQueue, klog.FromContext(r.ctx)
	pods := map[string]*corev1.Pod{}
	for _, name := range a.names() {
		if pods[name] = r.pending[name]; pods[name] == nil {
			return nil, nil, &Refusal{Kind: "not pending", Pod: name, Detail: "there is no such pod, or it has a node"}
		}
	}
	activated := false
	for {
		if len(queue.PodsInActiveQ()) == 0 && !activated {
			queue.Activate(logger, pods)
			activated = true
		}
		if len(queue.PodsInActiveQ()) == 0 {
			return nil, nil, &Refusal{Kind: "tried", Pod: a.names()[0], Detail: "upstream does not: it is not active"}
		}
		entity, err := queue.Pop(logger)
		if err != nil {
			return nil, nil, err
		}
		if a.is(entity) {
			wanted = entity
			break
		}
		if !r.drop(entity) {
			passed = append(passed, entity)
		}
	}
	for _, entity := range passed {
		if entity.GetPriority() > wanted.GetPriority() {
			return nil, nil, &Refusal{Kind: "tried too early", Pod: a.names()[0], Detail: fmt.Sprintf("upstream tries %s/%s first", entity.GetNamespace(), entity.GetName())}
		}
	}
	return wanted, passed, nil
}

// drop forgets the entity if all its pods are being deleted: upstream passes over these.
func (r *groupReplay) drop(entity framework.QueuedEntityInfo) bool {
	going := true
	entity.ForEachPodInfo(func(info *framework.QueuedPodInfo) bool {
		going = info.Pod.DeletionTimestamp != nil
		return going
	})
	if going {
		entity.ForEachPodInfo(func(info *framework.QueuedPodInfo) bool {
			r.scheduler.SchedulingQueue.Done(info.Pod.UID)
			return true
		})
	}
	return going
}

// is says whether the attempt is at the pod, or at the group.
func (a attempt) is(entity framework.QueuedEntityInfo) bool {
	name := entity.GetNamespace() + "/" + entity.GetName()
	if isPod(entity) {
		return !a.isGroup() && a.pods[name].Pod != ""
	}
	return a.isGroup() && (a.root() == name || a.root() == "" && a.groups[0].PodGroup == name)
}

func isNominated(entity framework.QueuedEntityInfo) (nominated bool) {
	entity.ForEachPodInfo(func(info *framework.QueuedPodInfo) bool {
		nominated = info.Pod.Status.NominatedNodeName != ""
		return !nominated
	})
	return nominated
}

// putBack makes what was popped active again.
func (r *groupReplay) putBack(entities []framework.QueuedEntityInfo) error {
	queue, logger := r.scheduler.SchedulingQueue, klog.FromContext(r.ctx)
	for _, entity := range entities {
		pods := map[string]*corev1.Pod{}
		var err error
		entity.ForEachPodInfo(func(info *framework.QueuedPodInfo) bool {
			pods[Name(info.Pod)] = info.Pod
			err = queue.AddUnschedulablePodIfNotPresent(logger, info, queue.SchedulingCycle())
			return err == nil
		})
		if err != nil {
			return err
		}
		queue.Activate(logger, pods)
	}
	return nil
}

func isPod(entity framework.QueuedEntityInfo) bool {
	_, is := entity.(*framework.QueuedPodInfo)
	return is
}

// stepPod decides about a pod without a group. Meanwhile it waits in upstream's queue, as in other replays.
func (r *groupReplay) stepPod(info *framework.QueuedPodInfo, d Decision) (ends bool, err error) {
	queue := r.scheduler.SchedulingQueue
	info.UnschedulablePlugins = sets.New("another")
	if err := queue.AddUnschedulablePodIfNotPresent(klog.FromContext(r.ctx), info, queue.SchedulingCycle()); err != nil {
		return false, err
	}
	return r.State.step(d)
}

// alivePods are those that upstream does not pass over.
func (r *groupReplay) alivePods(entity *framework.QueuedPodGroupInfo) []string {
	var names []string
	entity.ForEachPodInfo(func(info *framework.QueuedPodInfo) bool {
		if info.Pod.DeletionTimestamp == nil {
			names = append(names, Name(info.Pod))
		}
		return true
	})
	return names
}

// bindsLimit is how long upstream may take to bind pods in memory.
const bindsLimit = 30 * time.Second

// awaitBinds waits until each of the pods has failed or is bound.
func (r *groupReplay) awaitBinds(pods []string) error {
	return waitFor(bindsLimit, func() bool {
		r.mutex.Lock()
		defer r.mutex.Unlock()
		return !slices.ContainsFunc(pods, func(name string) bool {
			_, failed := r.failed[name]
			return !failed && !r.requests.isBound(name)
		})
	})
}

func (r *groupReplay) compare(tried []string) error {
	if r.refused != nil {
		return r.refused
	}
	a := r.attempt
	if names := a.names(); !slices.Equal(names, tried) {
		return &Refusal{Kind: "other pods of the group", Pod: names[0], Detail: fmt.Sprintf("%v; upstream tries %v", names, tried)}
	}
	for _, name := range tried {
		d, failed := a.pods[name], r.failed[name]
		node := ""
		if d.Node != nil {
			node = *d.Node
		}
		switch bound := r.requests.bound[name]; {
		case node != bound:
			return &Refusal{Kind: "node of a pod group's pod", Pod: name, Detail: fmt.Sprintf("%q %q; upstream's is %q %q", node, d.Message, bound, failed.message)}
		case node == "" && d.Message != failed.message && !failOnNodes(d.Message, failed.message):
			return &Refusal{Kind: "message of a pod group's pod", Pod: name, Detail: fmt.Sprintf("%q; upstream's is %q", d.Message, failed.message)}
		case d.Nominated != failed.nominated:
			return &Refusal{Kind: "nomination of a pod group's pod", Pod: name, Detail: fmt.Sprintf("%q; upstream's is %q", d.Nominated, failed.nominated)}
		}
	}
	for _, group := range a.groups {
		if err := r.compareCondition(group); err != nil {
			return err
		}
	}
	return nil
}

// failOnNodes says whether both are errors of one plugin's Filter: where it fails on several nodes, any of them ends the cycle.
func failOnNodes(message, other string) bool {
	plugin, _, found := strings.Cut(message, " filter plugin: ")
	return found && strings.HasPrefix(other, plugin+" filter plugin: ")
}

// compareCondition passes over what upstream does not write: it takes True never back.
func (r *groupReplay) compareCondition(d Decision) error {
	group := r.requests.podGroups[d.PodGroup]
	if patched := r.requests.patched[d.PodGroup]; patched != nil {
		group = patched
	}
	written := apimeta.FindStatusCondition(group.Status.Conditions, schedulingv1beta1.PodGroupInitiallyScheduled)
	switch {
	case written == nil:
		written = &metav1.Condition{}
	case r.requests.patched[d.PodGroup] == nil && written.Status == metav1.ConditionTrue:
		return nil
	}
	if same := d.Message == written.Message || repeats(d, written.Message) || failOnNodes(d.Message, written.Message); same &&
		d.Status == string(written.Status) && d.Reason == written.Reason {
		return nil
	}
	return &Refusal{Kind: "condition of a pod group", Pod: r.attempt.names()[0],
		Detail: fmt.Sprintf("%s %s %q; upstream's is %s %s %q", d.Status, d.Reason, d.Message, written.Status, written.Reason, written.Message)}
}

// repeats says whether upstream's message is that of the line with its last part several times: the groups of a tree that
// fail by one above them share its status, to which each adds what preemption said: nothing, where no plugin preempts.
func repeats(d Decision, message string) bool {
	at := strings.LastIndex(d.Message, ", pod group preemption: ")
	if strings.HasSuffix(d.Message, ", ") {
		at = len(d.Message) - len(", ")
	}
	if d.CompositePodGroup == "" || at < 0 {
		return false
	}
	rest, ok := strings.CutPrefix(message, d.Message)
	return ok && strings.ReplaceAll(rest, d.Message[at:], "") == ""
}

// waitsForVictims says whether the group is nominated although nothing was deleted: its victims are going already.
func (r *groupReplay) waitsForVictims() bool {
	for _, failed := range r.failed {
		if failed.nominated != "" {
			return true
		}
	}
	return false
}

// compareVictims holds upstream's against all that Berth evicted, which is more where other cycles made room, too.
func (r *groupReplay) compareVictims(rest []attempt) error {
	var evicted []string
	preempting := 0
	for _, a := range rest {
		evicted = append(evicted, a.evicted...)
		text := ""
		for _, d := range a.groups {
			text += d.Message
		}
		for _, d := range a.pods {
			text += d.Message
		}
		if strings.Contains(text, "preempting") {
			preempting++
		}
	}
	victims := sets.New(r.requests.deleted...)
	if missing := victims.Difference(sets.New(evicted...)); len(missing) > 0 || preempting == 1 && len(evicted) > len(victims) {
		return &Refusal{Kind: "victims of a pod group", Pod: r.attempt.names()[0],
			Detail: fmt.Sprintf("%v; upstream's are %v", evicted, sets.List(victims))}
	}
	return nil
}

// takeIn shows upstream what the API server makes of its requests.
func (r *groupReplay) takeIn(tried []string) error {
	logger := klog.FromContext(r.ctx)
	for _, name := range tried {
		pod := r.pending[name]
		node, bound := r.requests.bound[name]
		if !bound {
			if r.failed[name].clears {
				r.clearNomination(pod)
			}
			continue
		}
		placed := pod.DeepCopy()
		placed.Spec.NodeName, placed.Status.NominatedNodeName = node, ""
		if err := r.scheduler.Cache.AddPod(logger, placed); err != nil {
			return err
		}
		r.scheduler.SchedulingQueue.Delete(logger, pod)
		if err := r.pods.GetStore().Update(placed); err != nil {
			return err
		}
		delete(r.pending, name)
		r.placed[name] = placed
	}
	for name, patched := range r.requests.patched {
		r.scheduler.Cache.UpdatePodGroup(logger, r.requests.podGroups[name], patched)
		r.scheduler.SchedulingQueue.UpdatePodGroup(logger, patched)
		r.requests.podGroups[name] = patched
	}
	clear(r.requests.bound)
	clear(r.requests.patched)
	return r.scheduler.Cache.UpdateSnapshot(logger, r.snapshot)
}

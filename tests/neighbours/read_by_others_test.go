// SPDX-License-Identifier: Apache-2.0

package neighbours

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/internal/daemon/workload"
)

// marks are what a scheduler leaves in the API for others to read, by the pod or claim that they are about.
type marks map[string]string

func (m marks) String() string {
	lines := 0
	for _, text := range m {
		lines += strings.Count(text, "\n")
	}
	return fmt.Sprintf("%d marks on %d objects", lines, len(m))
}

// TestWhatOthersReadOfASchedulerIsTheSame leaves pods in each of the states that others act upon, with no kubelets, so that they
// stay: conditions with reason and message, nominated nodes, events, and annotations of claims are word for word
// kube-scheduler's. What each is for stands in docs/read_by_others.md.
func TestWhatOthersReadOfASchedulerIsTheSame(t *testing.T) {
	ours, theirs, told := besideBoth(t, controlplane.Options{ControllerManager: true}, leaveMarks)
	if !told {
		return
	}
	if !maps.Equal(ours, theirs) {
		for _, name := range slices.Sorted(maps.Keys(theirs)) {
			if ours[name] != theirs[name] {
				t.Errorf("%s:\nberth:\n%s\nkube-scheduler:\n%s", name, ours[name], theirs[name])
			}
		}
	}
	// What must be among it, so that nothing is compared with nothing.
	for name, want := range map[string]string{
		"bound":     "condition PodScheduled True",
		"refused":   `condition PodScheduled False Unschedulable "0/2 nodes are available: `,
		"gated":     "condition PodScheduled False SchedulingGated",
		"urgent":    "nominatedNodeName small",
		"victim":    "condition DisruptionTarget True PreemptionByScheduler",
		"claimless": `persistentvolumeclaim \"none\" not found`,
		"claim":     "annotation volume.kubernetes.io/selected-node large",
		"never":     "not eligible due to preemptionPolicy=Never",
		"other":     "nothing",
	} {
		if !strings.Contains(ours[name], want) {
			t.Errorf("%s has no %s:\n%s", name, want, ours[name])
		}
	}
}

func leaveMarks(s *story) marks {
	s.createNodes(
		workload.Node("small", workload.Allocatable("cpu", "2"), workload.NodeLabel("size", "small")),
		workload.Node("large", workload.Allocatable("cpu", "4"), workload.NodeLabel("size", "large")))
	never := corev1.PreemptNever
	for _, class := range []schedulingv1.PriorityClass{
		{ObjectMeta: metav1.ObjectMeta{Name: "urgent"}, Value: 1000},
		{ObjectMeta: metav1.ObjectMeta{Name: "patient"}, Value: 1000, PreemptionPolicy: &never},
	} {
		_, err := s.admin.SchedulingV1().PriorityClasses().Create(s.ctx, &class, metav1.CreateOptions{})
		s.must(err)
	}
	s.createClaim()
	small := workload.NodeSelector("size", "small")
	volume := func(claim string) workload.PodOption {
		return func(pod *corev1.Pod) {
			pod.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
			}}}
		}
	}
	// One after the other: what one finds there is what the one before left.
	step := func(pod *corev1.Pod, what string, passes func(pod *corev1.Pod) bool) {
		s.createPods(pod)
		_, err := s.pods.AwaitPod(s.within(time.Minute), pod.Name, what, passes)
		s.must(err)
	}
	step(workload.Pod("victim", small, workload.Requests("cpu", "1500m")), "bound", workload.IsBound)
	step(workload.Pod("bound", workload.NodeSelector("size", "large"), workload.Requests("cpu", "1")), "bound", workload.IsBound)
	step(workload.Pod("gated", workload.Gates("example.com/wait")), "gated", func(pod *corev1.Pod) bool {
		return workload.HasReason(pod, corev1.PodReasonSchedulingGated)
	})
	step(workload.Pod("refused", workload.Requests("cpu", "5")), "refused", workload.IsUnschedulable)
	step(workload.Pod("never", small, workload.Requests("cpu", "1"), workload.PriorityClass("patient")), "refused", workload.IsUnschedulable)
	step(workload.Pod("claimless", volume("none")), "refused", workload.IsUnschedulable)
	step(workload.Pod("urgent", small, workload.Requests("cpu", "1"), workload.PriorityClass("urgent")), "nominated",
		func(pod *corev1.Pod) bool { return pod.Status.NominatedNodeName != "" && workload.IsUnschedulable(pod) })
	s.createPods(workload.Pod("other", workload.Scheduler("other")), workload.Pod("claimant", volume("claim"),
		workload.NodeSelector("size", "large")))
	s.eventually(time.Minute, "the claim's node", func() bool { return s.selectedNode() != "" })
	s.eventually(time.Minute, "the event about the victim", func() bool {
		return slices.ContainsFunc(s.events(), func(e eventsv1.Event) bool { return e.Reason == "Preempted" })
	})
	s.letPass(2 * time.Second) // what is on its way is written within one
	return s.readMarks()
}

// createClaim makes a claim that waits for the node of its pod, and that no provisioner serves.
func (s *story) createClaim() {
	s.Helper()
	wait := storagev1.VolumeBindingWaitForFirstConsumer
	_, err := s.admin.StorageV1().StorageClasses().Create(s.ctx, &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: "waits"}, Provisioner: "example.com/none", VolumeBindingMode: &wait,
	}, metav1.CreateOptions{})
	s.must(err)
	class := "waits"
	_, err = s.admin.CoreV1().PersistentVolumeClaims(namespace).Create(s.ctx, &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "claim"},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: &class,
			AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			},
		},
	}, metav1.CreateOptions{})
	s.must(err)
}

const selectedNode = "volume.kubernetes.io/selected-node"

// selectedNode is where the provisioner is to make the claim's volume.
func (s *story) selectedNode() string {
	s.Helper()
	claim, err := s.admin.CoreV1().PersistentVolumeClaims(namespace).Get(s.ctx, "claim", metav1.GetOptions{})
	s.must(err)
	return claim.Annotations[selectedNode]
}

var uid = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// readMarks reads what others read: conditions, nominations, events, annotations. Times and UIDs are left out.
func (s *story) readMarks() marks {
	s.Helper()
	found := map[string][]string{"claim": {"annotation " + selectedNode + " " + s.selectedNode()}}
	note := func(name, format string, args ...any) {
		found[name] = append(found[name], uid.ReplaceAllString(fmt.Sprintf(format, args...), "UID"))
	}
	for _, pod := range s.pods.Pods() {
		found[pod.Name] = nil
		for _, c := range pod.Status.Conditions {
			note(pod.Name, "condition %s %s %s %q of generation %d", c.Type, c.Status, c.Reason, c.Message, c.ObservedGeneration)
		}
		if node := pod.Status.NominatedNodeName; node != "" {
			note(pod.Name, "nominatedNodeName %s", node)
		}
		for _, key := range slices.Sorted(maps.Keys(pod.Annotations)) {
			note(pod.Name, "annotation %s", key)
		}
	}
	for _, e := range s.events() {
		if e.Regarding.Kind != "Pod" {
			continue // of controllers
		}
		related := ""
		if e.Related != nil {
			related = " with " + e.Related.Kind + " " + e.Related.Name
		}
		note(e.Regarding.Name, "event %s %s by %s, action %s, %q%s", e.Type, e.Reason, e.ReportingController, e.Action, e.Note, related)
	}
	all := marks{}
	for name, lines := range found {
		slices.Sort(lines)
		// How often a pod was tried in vain is a matter of time.
		all[name] = strings.Join(slices.Compact(lines), "\n") + "\n"
		if len(lines) == 0 {
			all[name] = "nothing\n"
		}
	}
	return all
}

// preempted is what became of a Job whose pod was preempted.
type preempted struct {
	failed   int32         // pods that count against its backoffLimit
	replaced time.Duration // from the end of its pod until there is another
}

func (p preempted) String() string {
	return fmt.Sprintf("%d pods failed, another one after %s", p.failed, p.replaced.Round(10*time.Millisecond))
}

// TestAJobIsNotFailedByPreemption has the Job controller read why a pod ended: with a policy that ignores disruptions, and no
// failure allowed, the Job whose pod is preempted goes on. The kubelet's part is the test's.
func TestAJobIsNotFailedByPreemption(t *testing.T) {
	ours, theirs, told := besideBoth(t, controlplane.Options{ControllerManager: true}, preemptAJob)
	if told && ours.failed != theirs.failed {
		t.Errorf("%d pods failed, beside kube-scheduler %d", ours.failed, theirs.failed)
	}
}

func preemptAJob(s *story) preempted {
	s.createNodes(workload.Node("only", workload.Allocatable("cpu", "2")))
	_, err := s.admin.SchedulingV1().PriorityClasses().Create(s.ctx, &schedulingv1.PriorityClass{
		ObjectMeta: metav1.ObjectMeta{Name: "urgent"}, Value: 1000,
	}, metav1.CreateOptions{})
	s.must(err)
	pod := workload.Pod("", workload.Requests("cpu", "2"))
	pod.Spec.RestartPolicy = corev1.RestartPolicyNever
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "job"}, Spec: batchv1.JobSpec{
		BackoffLimit: new(int32),
		Template:     corev1.PodTemplateSpec{Spec: pod.Spec},
		PodFailurePolicy: &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
			Action:          batchv1.PodFailurePolicyActionIgnore,
			OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}},
		}}},
	}}
	jobs := s.admin.BatchV1().Jobs(namespace)
	_, err = jobs.Create(s.ctx, job, metav1.CreateOptions{})
	s.must(err)
	// The Job's pod, other than that one, of which this is so.
	awaitJobPod := func(what, other string, passes func(pod *corev1.Pod) bool) (found *corev1.Pod) {
		s.Helper()
		s.must(s.pods.Await(s.within(time.Minute), "a pod of the Job, "+what, func(pods map[string]*corev1.Pod) bool {
			for name, pod := range pods {
				if pod.Labels[batchv1.JobNameLabel] == "job" && name != other && passes(pod) {
					found = pod
					return true
				}
			}
			return false
		}))
		return found
	}
	become := func(pod *corev1.Pod, phase corev1.PodPhase) {
		s.Helper()
		_, err := s.admin.CoreV1().Pods(namespace).Patch(s.ctx, pod.Name, types.MergePatchType,
			fmt.Appendf(nil, `{"status":{"phase":%q}}`, phase), metav1.PatchOptions{}, "status")
		s.must(err)
	}
	first := awaitJobPod("bound", "", workload.IsBound)
	become(first, corev1.PodRunning)
	s.createPods(workload.Pod("urgent", workload.Requests("cpu", "2"), workload.PriorityClass("urgent")))
	awaitJobPod("about to end", "", func(pod *corev1.Pod) bool { return pod.DeletionTimestamp != nil })
	// What a kubelet does: the containers end, and the pod is gone once controllers let it go.
	ended := time.Now()
	become(first, corev1.PodFailed)
	s.must(workload.DeletePod(s.ctx, s.admin, namespace, first.Name))
	_, err = s.pods.AwaitPod(s.within(time.Minute), "urgent", "bound", workload.IsBound)
	s.must(err)
	second := awaitJobPod("another one, and refused", first.Name, workload.IsUnschedulable)
	result := preempted{replaced: time.Since(ended)}
	s.must(workload.DeletePod(s.ctx, s.admin, namespace, "urgent"))
	awaitJobPod("bound", first.Name, workload.IsBound)
	become(second, corev1.PodSucceeded)
	s.eventually(time.Minute, "the Job's end", func() bool {
		job, err = jobs.Get(s.ctx, "job", metav1.GetOptions{})
		s.must(err)
		return slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
			return c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed)
		})
	})
	result.failed = job.Status.Failed
	if result.failed > 0 || job.Status.Succeeded != 1 {
		s.Errorf("the Job ended with %d pods failed and %d succeeded: %+v", job.Status.Failed, job.Status.Succeeded, job.Status.Conditions)
	}
	return result
}

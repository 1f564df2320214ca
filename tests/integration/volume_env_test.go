// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/internal/daemon"
	"berth.dev/tests/internal/daemon/workload"
)

// startForVolumes starts the daemon with the default profile but for devices, and this long to wait for volumes. The peer
// asks for more than Berth's rights.
func (e *env) startForVolumes(bindTimeout time.Duration) *daemon.Daemon {
	e.Helper()
	user := controlplane.Berth
	if program.Peer {
		user = controlplane.KubeScheduler
	}
	return e.startAs(user, volumeConfig(bindTimeout))
}

func volumeConfig(bindTimeout time.Duration) string {
	return fmt.Sprintf(`
clientConnection: {qps: 5000, burst: 5000}
profiles:
- plugins: {multiPoint: {disabled: [{name: DynamicResources}]}}
  pluginConfig:
  - name: VolumeBinding
    args: {bindTimeoutSeconds: %d}`, int(bindTimeout.Seconds()))
}

// newVolumeEnv has two nodes in zone za and two in zb, and classes "static" and "made"; the controllers that
// bind volumes run from the first such test on.
func newVolumeEnv(t *testing.T) *env {
	t.Helper()
	e := newEnv(t)
	e.volumes = true
	startClaimControllers(e)
	for _, zone := range []string{"za", "zb"} {
		for i := range 2 {
			e.createNodes(workload.Node(fmt.Sprintf("%s-%d", zone, i), workload.NodeLabel(corev1.LabelTopologyZone, zone)))
		}
	}
	e.createClass(workload.WaitingClass("static", workload.NoProvisioner))
	e.createClass(workload.WaitingClass("made", provisionerName))
	return e
}

func (e *env) createClass(class *storagev1.StorageClass) {
	e.Helper()
	_, err := e.admin.StorageV1().StorageClasses().Create(e.ctx, class, metav1.CreateOptions{})
	e.must(err)
}

func (e *env) createClaims(claims ...*corev1.PersistentVolumeClaim) {
	e.Helper()
	for _, claim := range claims {
		_, err := e.admin.CoreV1().PersistentVolumeClaims(e.namespace).Create(e.ctx, claim, metav1.CreateOptions{})
		e.must(err)
	}
}

// volumeName is the name of a volume of this test: volumes have no namespace.
func (e *env) volumeName(name string) string { return e.namespace + "-" + name }

// createVolume makes a volume of class static in a zone, and waits until it may be bound.
func (e *env) createVolume(name, size, zone string) {
	e.Helper()
	pv := workload.Volume(e.volumeName(name), "static", size, corev1.LabelTopologyZone, zone)
	_, err := e.admin.CoreV1().PersistentVolumes().Create(e.ctx, pv, metav1.CreateOptions{})
	e.must(err)
}

func (e *env) awaitVolumesAvailable() {
	e.Helper()
	e.eventually("volumes that are available", func() bool {
		for _, pv := range e.ownVolumes() {
			if pv.Status.Phase != corev1.VolumeAvailable {
				return false
			}
		}
		return true
	})
}

// ownVolumes are those of this test, by name, without those of earlier tests that are on their way out.
func (e *env) ownVolumes() map[string]*corev1.PersistentVolume {
	e.Helper()
	list, err := e.admin.CoreV1().PersistentVolumes().List(e.ctx, metav1.ListOptions{})
	e.must(err)
	own := map[string]*corev1.PersistentVolume{}
	for i := range list.Items {
		pv := &list.Items[i]
		if ref := pv.Spec.ClaimRef; strings.HasPrefix(pv.Name, e.namespace+"-") || ref != nil && ref.Namespace == e.namespace {
			own[pv.Name] = pv
		}
	}
	return own
}

func (e *env) claimsByName() map[string]*corev1.PersistentVolumeClaim {
	e.Helper()
	list, err := e.admin.CoreV1().PersistentVolumeClaims(e.namespace).List(e.ctx, metav1.ListOptions{})
	e.must(err)
	claims := map[string]*corev1.PersistentVolumeClaim{}
	for i := range list.Items {
		claims[list.Items[i].Name] = &list.Items[i]
	}
	return claims
}

// awaitZone waits until the pod is bound, and checks that it is in the zone.
func (e *env) awaitZone(pod, zone string) {
	e.Helper()
	bound, err := e.pods.AwaitPod(e.within(60*time.Second), pod, "bound", workload.IsBound)
	e.must(err)
	if got, _, _ := strings.Cut(bound.Spec.NodeName, "-"); got != zone {
		e.Errorf("pod %s is on node %s, want zone %s", pod, bound.Spec.NodeName, zone)
	}
}

// checkVolumes checks what claims and pods have of volumes, and returns how many claims are bound.
func (e *env) checkVolumes() int {
	e.Helper()
	// A pod may be bound as soon as the controller has bound its claim; that the claim is Bound it says a moment later.
	e.eventually("the claims that are bound to say so", func() bool {
		for _, claim := range e.claimsByName() {
			if claim.Annotations["pv.kubernetes.io/bind-completed"] != "" && claim.Status.Phase != corev1.ClaimBound {
				return false
			}
		}
		return true
	})
	nodes, err := e.admin.CoreV1().Nodes().List(e.ctx, metav1.ListOptions{})
	e.must(err)
	wrong, bound := workload.CheckVolumes(workload.Pointers(nodes.Items), e.pods.Pods(),
		slices.Collect(maps.Values(e.claimsByName())), slices.Collect(maps.Values(e.ownVolumes())))
	for _, text := range wrong {
		e.Error(text)
	}
	return bound
}

func (e *env) awaitVolumeOf(claim, volume string) {
	e.Helper()
	e.eventually(fmt.Sprintf("claim %s to be bound to %s", claim, volume), func() bool {
		c := e.claimsByName()[claim]
		return c.Status.Phase == corev1.ClaimBound && c.Spec.VolumeName == volume
	})
}

// awaitErrors waits until the pod was given up with such a message.
func (e *env) awaitErrors(pod, message string) {
	e.Helper()
	_, err := e.pods.AwaitPod(e.within(30*time.Second), pod, "given up: "+message, func(pod *corev1.Pod) bool {
		return workload.HasReason(pod, corev1.PodReasonSchedulerError) &&
			strings.Contains(workload.ScheduledCondition(pod).Message, message)
	})
	e.must(err)
}

// refuseVolume returns when the API server refuses to let anyone but its own controllers change the volume's spec.
func (e *env) refuseVolume(name string) {
	e.Helper()
	e.refuseUpdates("", "persistentvolumes",
		fmt.Sprintf("object.metadata.name != %q || request.userInfo.username == 'controller-manager'", name), "this volume is not for you")
	e.eventually("the policy to hold", func() bool {
		patch := []byte(`{"metadata":{"labels":{"probe":"yes"}}}`)
		_, err := e.admin.CoreV1().PersistentVolumes().Patch(e.ctx, name, types.MergePatchType, patch,
			metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
		return err != nil
	})
}

// refuseUpdates has the API server refuse, from soon on, updates after which the expression does not hold.
func (e *env) refuseUpdates(group, resource, expression, message string) {
	e.Helper()
	admission, policyName, deny := e.admin.AdmissionregistrationV1(), e.namespace, admissionv1.Fail
	_, err := admission.ValidatingAdmissionPolicies().Create(e.ctx, &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: policyName},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			FailurePolicy: &deny,
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{
				RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Update},
					Rule:       admissionv1.Rule{APIGroups: []string{group}, APIVersions: []string{"v1"}, Resources: []string{resource}},
				},
			}}},
			Validations: []admissionv1.Validation{{Expression: expression, Message: message}},
		},
	}, metav1.CreateOptions{})
	e.must(err)
	_, err = admission.ValidatingAdmissionPolicyBindings().Create(e.ctx, &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: policyName},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: policyName, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny}},
	}, metav1.CreateOptions{})
	e.must(err)
}

// createStatefulSet has its pods spread over the zones, and over the nodes where this is no worse.
func (e *env) createStatefulSet(name string, pods int, class string) {
	e.Helper()
	set := workload.StatefulSet(name, pods, workload.Claim("data", class, "1Gi"),
		workload.Spread(corev1.LabelTopologyZone, corev1.DoNotSchedule))
	_, err := e.admin.AppsV1().StatefulSets(e.namespace).Create(e.ctx, set, metav1.CreateOptions{})
	e.must(err)
}

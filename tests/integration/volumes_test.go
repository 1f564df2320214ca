// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/tests/internal/daemon/workload"
)

func TestAPodGoesWhereItsVolumesAreAndTakesTheSmallest(t *testing.T) {
	e := newVolumeEnv(t)
	e.createVolume("small", "1Gi", "za")
	e.createVolume("large", "9Gi", "zb")
	e.createVolume("fitting", "5Gi", "zb")
	e.awaitVolumesAvailable()
	e.startForVolumes(30 * time.Second)
	e.createClaims(workload.Claim("data", "static", "3Gi"))
	e.createPods(workload.Pod("pod", workload.UseClaim("data")))
	e.awaitZone("pod", "zb")
	e.awaitVolumeOf("data", e.volumeName("fitting"))
	e.createPods(workload.Pod("sharer", workload.UseClaim("data")))
	e.awaitZone("sharer", "zb")
	e.checkVolumes()
}

func TestAPodThatFindsNoVolumeWaitsForOne(t *testing.T) {
	e := newVolumeEnv(t)
	e.startForVolumes(30 * time.Second)
	e.createClaims(workload.Claim("data", "static", "3Gi"))
	e.createPods(workload.Pod("pod", workload.UseClaim("data")), workload.Pod("early", workload.UseClaim("late")))
	e.awaitUnschedulable("pod", "0/4 nodes are available: 4 node(s) didn't find available persistent volumes to bind. "+
		"preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling.")
	e.awaitUnschedulable("early", `0/4 nodes are available: persistentvolumeclaim "late" not found. `+
		"preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling.")
	e.createVolume("first", "5Gi", "za")
	e.awaitZone("pod", "za")
	e.createVolume("second", "5Gi", "zb")
	e.createClaims(workload.Claim("late", "static", "3Gi"))
	e.awaitZone("early", "zb")
	e.checkVolumes()
}

func TestAVolumeIsMadeWhereThePodGoes(t *testing.T) {
	e := newVolumeEnv(t)
	e.provision(nil)
	zoned := workload.WaitingClass("zoned", provisionerName)
	zoned.AllowedTopologies = []corev1.TopologySelectorTerm{{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{
		{Key: corev1.LabelTopologyZone, Values: []string{"zb"}}}}}
	e.createClass(zoned)
	e.startForVolumes(30 * time.Second)
	e.createClaims(workload.Claim("free", "made", "3Gi"), workload.Claim("zoned", "zoned", "3Gi"))
	e.createPods(
		workload.Pod("free", workload.UseClaim("free"), workload.NodeSelector(corev1.LabelTopologyZone, "za")),
		workload.Pod("zoned", workload.UseClaim("zoned")))
	size := corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}}
	class := "made"
	e.createPods(workload.Pod("scratch", workload.NodeSelector(corev1.LabelTopologyZone, "zb"), withVolume(corev1.VolumeSource{
		Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{
			Spec: corev1.PersistentVolumeClaimSpec{AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources: size, StorageClassName: &class}}}})))
	for pod, zone := range map[string]string{"free": "za", "zoned": "zb", "scratch": "zb"} {
		e.awaitZone(pod, zone)
	}
	if bound := e.checkVolumes(); bound != 3 {
		e.Errorf("%d volumes are bound, want 3", bound)
	}
}

// TestAVolumeThatCannotBeMadeIsMadeElsewhere lets a driver find out that it has no room in za: it reports so, as drivers
// do, and takes the selected node back.
func TestAVolumeThatCannotBeMadeIsMadeElsewhere(t *testing.T) {
	e := newVolumeEnv(t)
	reports := true
	_, err := e.admin.StorageV1().CSIDrivers().Create(e.ctx, &storagev1.CSIDriver{
		ObjectMeta: metav1.ObjectMeta{Name: provisionerName}, Spec: storagev1.CSIDriverSpec{StorageCapacity: &reports}}, metav1.CreateOptions{})
	e.must(err)
	capacities := e.admin.StorageV1().CSIStorageCapacities(e.namespace)
	room, none := resource.MustParse("10Gi"), resource.MustParse("0")
	for _, zone := range []string{"za", "zb"} {
		_, err := capacities.Create(e.ctx, &storagev1.CSIStorageCapacity{
			ObjectMeta:       metav1.ObjectMeta{Name: zone},
			StorageClassName: "made", Capacity: &room,
			NodeTopology: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelTopologyZone: zone}},
		}, metav1.CreateOptions{})
		e.must(err)
	}
	p := e.provision(func(_, zone string) bool {
		if zone != "za" {
			return false
		}
		capacity, err := capacities.Get(e.ctx, zone, metav1.GetOptions{})
		if err == nil {
			capacity.Capacity = &none
			_, err = capacities.Update(e.ctx, capacity, metav1.UpdateOptions{})
		}
		if err != nil {
			e.Error(err)
		}
		return true
	})
	e.createClaims(workload.Claim("data", "made", "3Gi"))
	e.startForVolumes(30 * time.Second)
	e.createPods(workload.Pod("pod", workload.UseClaim("data"), workload.PreferNode(corev1.LabelTopologyZone, "za")))
	e.awaitZone("pod", "zb")
	if p.Failures.Load() == 0 {
		e.Error("the volume was never asked for in za")
	}
	failed := e.events("FailedScheduling", "pod")
	if len(failed) == 0 || !strings.Contains(failed[0].Note, `provisioning failed for PVC "data"`) {
		e.Errorf("FailedScheduling events: %+v", failed)
	}
	e.checkVolumes()
}

// TestAPodWhoseVolumeTakesTooLongGivesItsPlaceBack has a class whose provisioner does nothing for a while.
func TestAPodWhoseVolumeTakesTooLongGivesItsPlaceBack(t *testing.T) {
	e := newVolumeEnv(t)
	e.startForVolumes(2 * time.Second)
	e.createClaims(workload.Claim("data", "made", "3Gi"))
	one := workload.NodeSelector(corev1.LabelHostname, "za-0")
	e.createPods(workload.Pod("pod", workload.UseClaim("data"), workload.Requests("cpu", "3"), one))
	e.awaitErrors("pod", "binding volumes: context deadline exceeded")
	// Room for one of them is all there is.
	e.createPods(workload.Pod("other", workload.Requests("cpu", "3"), one))
	e.awaitNode(e.within(30*time.Second), "other", "za-0")
	e.provision(nil)
	e.deletePod("other")
	e.awaitNode(e.within(60*time.Second), "pod", "za-0")
	e.checkVolumes()
}

// TestPodsThatRaceForVolumesNeverShareOne has half as many volumes as claims.
func TestPodsThatRaceForVolumesNeverShareOne(t *testing.T) {
	const pods = 40
	e := newVolumeEnv(t)
	for i := range pods / 2 {
		e.createVolume(fmt.Sprint(i), "5Gi", []string{"za", "zb"}[i%2])
	}
	for i := range pods {
		e.createClaims(workload.Claim(fmt.Sprintf("data-%d", i), "static", "1Gi"))
	}
	e.awaitVolumesAvailable()
	e.startForVolumes(30 * time.Second)
	e.must(workload.CreatePods(e.ctx, e.admin, e.namespace, pods, func(i int) *corev1.Pod {
		return workload.Pod(fmt.Sprintf("pod-%d", i), workload.UseClaim(fmt.Sprintf("data-%d", i)))
	}))
	e.must(e.pods.AwaitBound(e.within(60*time.Second), pods/2))
	e.eventually("the other pods to be turned down", func() bool {
		waiting := 0
		for _, pod := range e.pods.Pods() {
			if workload.HasReason(pod, corev1.PodReasonUnschedulable) {
				waiting++
			}
		}
		return waiting == pods/2
	})
	if bound := e.checkVolumes(); bound != pods/2 {
		e.Errorf("%d volumes are bound, want %d", bound, pods/2)
	}
}

// TestAClaimThatAnotherBindsInBetween has the scheduler's choice refused; meanwhile the claim gets a volume elsewhere.
func TestAClaimThatAnotherBindsInBetween(t *testing.T) {
	e := newVolumeEnv(t)
	e.refusals = true // in these words the API server reports the policy
	e.createVolume("chosen", "1Gi", "za")
	e.awaitVolumesAvailable()
	e.refuseVolume(e.volumeName("chosen"))
	e.createClaims(workload.Claim("data", "static", "1Gi"))
	e.startForVolumes(30 * time.Second)
	e.createPods(workload.Pod("pod", workload.UseClaim("data")))
	e.awaitErrors("pod", "this volume is not for you")
	pv := workload.Volume(e.volumeName("theirs"), "static", "5Gi", corev1.LabelTopologyZone, "zb")
	pv.Spec.ClaimRef = &corev1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1",
		Namespace: e.namespace, Name: "data", UID: e.claimsByName()["data"].UID}
	_, err := e.admin.CoreV1().PersistentVolumes().Create(e.ctx, pv, metav1.CreateOptions{})
	e.must(err)
	e.awaitZone("pod", "zb")
	e.awaitVolumeOf("data", e.volumeName("theirs"))
	if ref := e.ownVolumes()[e.volumeName("chosen")].Spec.ClaimRef; ref != nil {
		e.Errorf("the volume chosen first is for %+v", ref)
	}
	e.checkVolumes()
}

// TestAStatefulSetOverZones has a claim made for each of its pods, which are spread over zones.
func TestAStatefulSetOverZones(t *testing.T) {
	const pods = 100
	e := newVolumeEnv(t)
	e.createNodes(workload.Node("zc-0", workload.NodeLabel(corev1.LabelTopologyZone, "zc")))
	e.provision(nil)
	e.startForVolumes(30 * time.Second)
	e.createStatefulSet("db", pods, "made")
	e.must(e.pods.AwaitBound(e.within(120*time.Second), pods))
	zones := map[string]int{}
	for _, pod := range e.pods.Pods() {
		zone, _, _ := strings.Cut(pod.Spec.NodeName, "-")
		zones[zone]++
	}
	for _, zone := range []string{"za", "zb", "zc"} {
		if zones[zone] < pods/3 || zones[zone] > pods/3+1 {
			e.Errorf("the pods are spread %v", zones)
			break
		}
	}
	if bound := e.checkVolumes(); bound != pods {
		e.Errorf("%d volumes are bound, want %d", bound, pods)
	}
	e.checkBoundOnce(pods, false)
}

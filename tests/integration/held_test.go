// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth.dev/tests/internal/daemon/workload"
)

func withSpec(change func(*corev1.PodSpec)) workload.PodOption {
	return func(pod *corev1.Pod) { change(&pod.Spec) }
}

func withVolume(source corev1.VolumeSource) workload.PodOption {
	return withSpec(func(spec *corev1.PodSpec) {
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: "data", VolumeSource: source})
	})
}

// TestPodsThatNeedWhatIsNotThereWait with the default profile, while pods with other volumes go on.
func TestPodsThatNeedWhatIsNotThereWait(t *testing.T) {
	if program.Peer {
		t.Skip("kube-scheduler schedules them")
	}
	e := newEnv(t)
	e.manyNodes(1)
	e.start("")
	e.createPods(
		workload.Pod("claim", withVolume(corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}})),
		workload.Pod("disk", withVolume(corev1.VolumeSource{
			GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: "data"}})),
		workload.Pod("scratch", withVolume(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}})),
		workload.Pod("inline", withVolume(corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{Driver: "inline.example.com"}})),
	)
	// The end is what DynamicResources' PostFilter says where its PreFilter was not asked.
	e.awaitUnschedulable("claim", `0/1 nodes are available: persistentvolumeclaim "data" not found. not found`)
	for _, name := range []string{"disk", "scratch", "inline"} {
		e.awaitNode(e.within(30*time.Second), name, "node-0")
	}
}

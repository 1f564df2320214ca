// SPDX-License-Identifier: Apache-2.0

package generate

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// someTime is when whatever has a time has happened.
var someTime = metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))

func podName(i int) string { return fmt.Sprintf("p%02d", i) }

// pod makes the i-th pod; a placed one runs on a node, whether it fits there or not.
func (g *generator) pod(i int, placed bool) *corev1.Pod {
	m, r := g.mood, g.random
	pod := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Name: podName(i), Namespace: g.namespace(), Labels: g.podLabels(),
			CreationTimestamp: metav1.NewTime(someTime.Add(time.Duration(r.IntN(100)) * time.Second)),
		},
		Spec: corev1.PodSpec{SchedulerName: pick(r, g.profiles)},
	}
	if r.chance(0.8) {
		pod.UID = types.UID(fmt.Sprintf("uid-%d", i))
	}
	if r.chance(m.otherScheduler) {
		pod.Spec.SchedulerName = pick(r, []string{"stranger", ""})
	}
	if r.chance(m.priority) {
		if placed {
			pod.Spec.Priority = ptr(pick(r, m.placedPriorities))
		} else {
			pod.Spec.Priority = ptr(pick(r, m.waitingPriorities))
		}
	}
	if r.chance(m.never) {
		pod.Spec.PreemptionPolicy = ptr(corev1.PreemptNever)
	}
	g.containers(pod)
	if r.chance(m.owners) {
		g.own(pod)
	}
	g.placement(pod)
	node := g.IntN(g.mood.nodes)
	if placed && g.onNode[node] < mostPodsOnANode {
		g.onNode[node]++
		g.settle(pod, nodeName(node))
		g.dropTakenPorts(pod)
	} else {
		g.queue(pod)
	}
	if g.mood.storage {
		g.mount(pod)
	}
	if g.mood.groups == 0 {
		g.claimDevices(pod) // With groups, once it is known which pods are in one.
	}
	return pod
}

func (g *generator) namespace() string {
	if g.chance(g.mood.otherNamespace) {
		return pick(g.random, namespaces)
	}
	return namespaces[0]
}

func (g *generator) podLabels() map[string]string { return g.labels(podLabelKeys, podLabels, 0.7) }

// labels takes each key with probability p.
func (g *generator) labels(keys []string, values map[string][]string, p float64) map[string]string {
	labels := map[string]string{}
	for _, key := range keys {
		if g.chance(p) {
			labels[key] = pick(g.random, values[key])
		}
	}
	return labels
}

func (g *generator) containers(pod *corev1.Pod) {
	m, r := g.mood, g.random
	for i := range pick(r, []int{1, 1, 1, 2, 3}) {
		pod.Spec.Containers = append(pod.Spec.Containers, g.container(fmt.Sprintf("c%d", i)))
	}
	if r.chance(m.initContainers) {
		for i := range r.between(1, 3) {
			container := g.container(fmt.Sprintf("i%d", i))
			if r.chance(0.5) {
				container.RestartPolicy = ptr(corev1.ContainerRestartPolicyAlways)
			}
			pod.Spec.InitContainers = append(pod.Spec.InitContainers, container)
		}
	}
	if r.chance(m.overhead) {
		pod.Spec.RuntimeClassName = ptr("sandbox")
		pod.Spec.Overhead = corev1.ResourceList{
			corev1.ResourceCPU: r.quantity([]string{"10m", "250m"}), corev1.ResourceMemory: r.quantity([]string{"16Mi", "120Mi"}),
		}
	}
	if r.chance(m.podLevel) {
		g.podLevel(pod)
	}
	if r.chance(m.imageVolumes) {
		for i := range r.between(1, 2) {
			pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{
				Name:         fmt.Sprintf("v%d", i),
				VolumeSource: corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: pick(r, images)}},
			})
		}
	}
	if r.chance(m.ports) {
		g.ports(pod)
	}
	if r.chance(m.needsFeature) {
		g.needFeature(pod)
	}
}

func (g *generator) container(name string) corev1.Container {
	return corev1.Container{Name: name, Image: pick(g.random, images), Resources: g.requirements()}
}

// ports are of containers and of sidecars; ordinary init containers may have them too, and do not count.
func (g *generator) ports(pod *corev1.Pod) {
	type port struct {
		number int32
		udp    bool
	}
	taken := map[port]bool{}
	add := func(container *corev1.Container) {
		for range g.between(1, 2) {
			p := corev1.ContainerPort{ContainerPort: pick(g.random, hostPorts), Protocol: pick(g.random, protocols)}
			if g.chance(0.85) {
				p.HostPort, p.HostIP = p.ContainerPort, pick(g.random, hostIPs)
			}
			if key := (port{p.ContainerPort, p.Protocol == corev1.ProtocolUDP}); !taken[key] {
				taken[key] = true
				container.Ports = append(container.Ports, p)
			}
		}
	}
	add(&pod.Spec.Containers[0])
	if len(pod.Spec.InitContainers) > 0 && g.chance(0.5) {
		add(&pod.Spec.InitContainers[0])
	}
}

// dropTakenPorts leaves no two pods of a node the same port of the same address: upstream holds them for one, and for
// free as soon as one of the pods goes.
func (g *generator) dropTakenPorts(pod *corev1.Pod) {
	drop := func(container *corev1.Container) {
		container.Ports = slices.DeleteFunc(container.Ports, func(p corev1.ContainerPort) bool {
			if p.HostPort == 0 {
				return false
			}
			key := fmt.Sprintf("%s %s %s %d", pod.Spec.NodeName, orElse(p.HostIP, "0.0.0.0"),
				orElse(p.Protocol, corev1.ProtocolTCP), p.HostPort)
			taken := g.portsTaken[key]
			g.portsTaken[key] = true
			return taken
		})
	}
	for i := range pod.Spec.Containers {
		drop(&pod.Spec.Containers[i])
	}
	for i := range pod.Spec.InitContainers {
		drop(&pod.Spec.InitContainers[i])
	}
}

func orElse[T ~string](value, otherwise T) T {
	if value == "" {
		return otherwise
	}
	return value
}

// needFeature makes the pod need something that a node must declare.
func (g *generator) needFeature(pod *corev1.Pod) {
	container := &pod.Spec.Containers[0]
	switch g.IntN(4) {
	case 0:
		pod.Spec.HostNetwork, pod.Spec.HostUsers = true, ptr(false)
		for i := range pod.Spec.Containers {
			hostPortsOnly(&pod.Spec.Containers[i])
		}
		for i := range pod.Spec.InitContainers {
			hostPortsOnly(&pod.Spec.InitContainers[i])
		}
	case 1, 2:
		container.RestartPolicy = ptr(corev1.ContainerRestartPolicyNever)
		container.RestartPolicyRules = []corev1.ContainerRestartRule{{
			Action: pick(g.random, []corev1.ContainerRestartRuleAction{
				corev1.ContainerRestartRuleActionRestartAllContainers, corev1.ContainerRestartRuleActionRestart}),
			ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{
				Operator: corev1.ContainerRestartRuleOnExitCodesOpIn, Values: []int32{42}},
		}}
	default:
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{
			Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
		container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{
			Name: "scratch", MountPath: "/scratch", BindMountOptions: []string{string(corev1.BindMountOptionNoExec)}})
	}
}

// hostPortsOnly does what an API server does to pods in the host's network.
func hostPortsOnly(container *corev1.Container) {
	for i := range container.Ports {
		container.Ports[i].HostPort = container.Ports[i].ContainerPort
	}
}

// placement says where the pod wants to be.
func (g *generator) placement(pod *corev1.Pod) {
	m, r := g.mood, g.random
	spec := &pod.Spec
	if r.chance(m.tolerations) {
		spec.Tolerations = g.tolerations()
	}
	if r.chance(m.nodeSelector) {
		key := pick(r, nodeLabelKeys[:3])
		spec.NodeSelector = map[string]string{key: pick(r, nodeLabels[key])}
	}
	affinity := &corev1.Affinity{NodeAffinity: g.nodeAffinity(m.nodeAffinity, m.preferredNodes)}
	if required, preferred := r.chance(m.affinity), r.chance(m.preferredPods); required || preferred {
		affinity.PodAffinity = &corev1.PodAffinity{}
		if required {
			affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution = g.podTerms(pod, 1, 2)
		}
		if preferred {
			affinity.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution = g.weightedPodTerms(pod)
		}
	}
	if required, preferred := r.chance(m.antiAffinity), r.chance(m.preferredPods); required || preferred {
		affinity.PodAntiAffinity = &corev1.PodAntiAffinity{}
		if required {
			affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution = g.podTerms(pod, 1, 2)
		}
		if preferred {
			affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution = g.weightedPodTerms(pod)
		}
	}
	if *affinity != (corev1.Affinity{}) || r.chance(0.05) {
		spec.Affinity = affinity
	}
	spec.TopologySpreadConstraints = g.spread(pod)
}

func (g *generator) tolerations() []corev1.Toleration {
	r := g.random
	var list []corev1.Toleration
	for range r.between(1, 3) {
		t := corev1.Toleration{Key: pick(r, taintKeys), Value: pick(r, taintValues)}
		t.Operator = pick(r, []corev1.TolerationOperator{"", corev1.TolerationOpEqual, corev1.TolerationOpExists})
		if t.Operator == corev1.TolerationOpExists {
			t.Value = ""
			if r.chance(0.2) {
				t.Key = ""
			}
		}
		if r.chance(0.6) {
			t.Effect = pick(r, taintEffects)
		}
		if t.Effect == corev1.TaintEffectNoExecute && r.chance(0.5) {
			t.TolerationSeconds = ptr(int64(300))
		}
		list = append(list, t)
	}
	if r.chance(0.2) {
		list = append(list, corev1.Toleration{Key: corev1.TaintNodeUnschedulable, Operator: corev1.TolerationOpExists})
	}
	if r.chance(0.1) {
		// Valid only where the gate TaintTolerationComparisonOperators is on; where it is off they tolerate nothing.
		list = append(list, corev1.Toleration{Key: "level", Value: "7",
			Operator: pick(r, []corev1.TolerationOperator{corev1.TolerationOpGt, corev1.TolerationOpLt})})
	}
	return list
}

// mostPodsOnANode lets Go sort those of equal importance as Berth does: it keeps the order of so few elements.
const mostPodsOnANode = 12

// settle gives the pod a node.
func (g *generator) settle(pod *corev1.Pod, node string) {
	m, r := g.mood, g.random
	pod.Spec.NodeName = node
	pod.Status.Phase = corev1.PodRunning
	if !r.chance(m.noStart) {
		pod.Status.StartTime = ptr(metav1.NewTime(someTime.Add(time.Duration(r.IntN(m.startTimes)) * time.Second)))
	}
	switch {
	case r.chance(m.ended):
		pod.Status.Phase = pick(r, []corev1.PodPhase{corev1.PodSucceeded, corev1.PodFailed})
	case r.chance(m.terminating):
		terminate(pod)
		if r.chance(0.7) {
			g.disrupt(pod)
		}
	case r.chance(m.terminating / 4):
		g.disrupt(pod)
	}
	if r.chance(m.resize) {
		g.resize(pod)
	}
}

// queue makes the pod wait for a node.
func (g *generator) queue(pod *corev1.Pod) {
	m, r := g.mood, g.random
	pod.Status.Phase = corev1.PodPending
	switch {
	case r.chance(m.gated / 2):
		for _, name := range some(r, []string{"example.com/quota", "a", "b"}, 1, 3) {
			pod.Spec.SchedulingGates = append(pod.Spec.SchedulingGates, corev1.PodSchedulingGate{Name: name})
		}
	case r.chance(m.terminating / 2):
		terminate(pod)
	case r.chance(m.ended / 2):
		pod.Status.Phase = corev1.PodFailed
	case r.chance(m.nominated / 2):
		pod.Status.NominatedNodeName = nodeName(r.IntN(g.mood.nodes))
		if r.chance(0.1) {
			pod.Status.NominatedNodeName = "gone"
		}
	}
}

// disrupt says why the pod has to go.
func (g *generator) disrupt(pod *corev1.Pod) {
	pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
		Type:   corev1.DisruptionTarget,
		Status: pick(g.random, []corev1.ConditionStatus{corev1.ConditionTrue, corev1.ConditionTrue, corev1.ConditionFalse}),
		Reason: pick(g.random, []string{
			corev1.PodReasonPreemptionByScheduler, corev1.PodReasonPreemptionByScheduler, "EvictionByEvictionAPI"}),
	})
}

func terminate(pod *corev1.Pod) {
	pod.DeletionTimestamp = &someTime
	pod.DeletionGracePeriodSeconds = ptr(int64(30))
}

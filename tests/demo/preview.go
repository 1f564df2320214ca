// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"berth.dev/tests/daemon"
)

// preview tells the story in the simulator, which needs Berth's binary and no control plane: the same
// nodes and pods as a file, decided in memory.
type preview struct {
	*show
	program daemon.Program
	dir     string
}

func runPreview(ctx context.Context, s *screen, program daemon.Program) (err error) {
	dir, err := os.MkdirTemp("", "berth-preview-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p := &preview{show: &show{screen: s}, program: program, dir: dir}
	nodes := p.cast()
	pods := p.castPods(nodes)
	p.show.pods = func() []*corev1.Pod { return slices.Clone(pods) }
	if err := p.write("config.yaml", "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"+config); err != nil {
		return err
	}
	left, err := p.simulate(ctx, nodes, pods)
	if err != nil {
		return err
	}
	p.checkCrowd()
	p.reportSpread()
	p.heading("Pods that fit nowhere, and why")
	table := [][]string{{"POD", "MESSAGE"}}
	for _, m := range misfits() {
		table = append(table, []string{m.pod.Name, left[m.pod.Name]})
		if !strings.Contains(left[m.pod.Name], m.reason) {
			p.fault("the message of %s does not say %q: %q", m.pod.Name, m.reason, left[m.pod.Name])
		}
	}
	p.table(table)
	if err := p.askOfFile(ctx, nodes, pods); err != nil {
		return err
	}
	return p.verdict()
}

// castPods are the pods of all groups and those that fit nowhere, in the order in which they come.
func (p *preview) castPods(nodes []*corev1.Node) (pods []*corev1.Pod) {
	begin := time.Now().Add(-time.Hour)
	add := func(pod *corev1.Pod) {
		pod.Namespace = namespace
		pod.CreationTimestamp = metav1.NewTime(begin.Add(time.Duration(len(pods)) * time.Second))
		pods = append(pods, pod)
	}
	for _, g := range p.groups {
		for i := range g.replicas {
			template := g.template()
			pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
			pod.Name = fmt.Sprintf("%s-%d", g.name, i)
			pod.OwnerReferences = ownersOf(g)
			if g.kind == "DaemonSet" {
				pod.Spec.Affinity = onlyOn(nodes[i].Name)
			}
			if pod.Spec.PriorityClassName == urgentClass {
				pod.Spec.Priority = new(int32)
				*pod.Spec.Priority = urgentPriority
			}
			add(pod)
		}
	}
	for _, m := range misfits() {
		add(m.pod)
	}
	return pods
}

// onlyOn ties a pod to a node as the DaemonSet controller does.
func onlyOn(node string) *corev1.Affinity {
	is := corev1.NodeSelectorRequirement{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{node}}
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{is}}}}}}
}

// ownersOf names who would make a pod again that is evicted.
func ownersOf(g group) []metav1.OwnerReference {
	kinds := map[string]string{"Deployment": "ReplicaSet", "DaemonSet": "DaemonSet"}
	if kinds[g.kind] == "" {
		return nil
	}
	controller := true
	return []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kinds[g.kind], Name: g.name, UID: "1", Controller: &controller}}
}

// simulate lets Berth decide, gives the pods their nodes, and returns the messages of those that are left.
func (p *preview) simulate(ctx context.Context, nodes []*corev1.Node, pods []*corev1.Pod) (left map[string]string, err error) {
	before, err := p.dump("before.json", nodes, pods)
	if err != nil {
		return nil, err
	}
	out, err := ask(ctx, p.program, "simulate", "--cluster", before, "--config", p.file("config.yaml"), "-o", "json")
	if err != nil {
		return nil, err
	}
	left = map[string]string{}
	byName := map[string]*corev1.Pod{}
	for _, pod := range pods {
		byName[pod.Name] = pod
	}
	for line := range strings.Lines(out) {
		var decision struct {
			Pod, Node, Message string
			Summary            *struct{ Bound, WallMicroseconds int }
		}
		if err := json.Unmarshal([]byte(line), &decision); err != nil {
			return nil, fmt.Errorf("read what berth simulate printed: %w: %s", err, line)
		}
		pod := byName[strings.TrimPrefix(decision.Pod, namespace+"/")]
		switch {
		case decision.Summary != nil:
			p.step("%s pods placed in memory in %s: `berth simulate` on a dump of this cluster", p.bold(fmt.Sprint(decision.Summary.Bound)),
				rounded(time.Duration(decision.Summary.WallMicroseconds)*time.Microsecond))
		case pod == nil:
			return nil, fmt.Errorf("berth simulate speaks of an unknown pod: %s", line)
		case decision.Node != "":
			pod.Spec.NodeName, pod.Status.Phase = decision.Node, corev1.PodRunning
		default:
			left[pod.Name] = decision.Message
		}
	}
	return left, nil
}

// askOfFile asks of the dump what askQuestions asks of the cluster.
func (p *preview) askOfFile(ctx context.Context, nodes []*corev1.Node, pods []*corev1.Pod) error {
	after, err := p.dump("after.json", nodes, pods)
	if err != nil {
		return err
	}
	pod := misfits()[0].pod.Name
	p.heading("What would let " + pod + " schedule (berth explain --fix)")
	fixes, err := ask(ctx, p.program, "explain", "--cluster", after, "--config", p.file("config.yaml"), "--pod", namespace+"/"+pod, "--fix")
	if err != nil {
		return err
	}
	if !p.excerpt(fixes, "  What would let it schedule", "  COST") {
		p.fault("no change would let %s schedule: %s", pod, fixes)
	}
	drained := nodes[len(nodes)-1].Name
	p.heading("What if " + drained + " were drained (berth simulate --drain)")
	answer, err := ask(ctx, p.program, "simulate", "--cluster", after, "--config", p.file("config.yaml"), "--drain", drained)
	if err != nil {
		return err
	}
	if !p.excerpt(answer, "       NODES", "Drain of "+drained) {
		p.fault("the drain of %s is not answered: %s", drained, answer)
	}
	return nil
}

// dump writes the cluster as `kubectl get -o json` prints it.
func (p *preview) dump(name string, nodes []*corev1.Node, pods []*corev1.Pod) (file string, err error) {
	list := corev1.List{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "List"}}
	for _, node := range nodes {
		node = node.DeepCopy()
		node.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}
		list.Items = append(list.Items, runtime.RawExtension{Object: node})
	}
	for _, pod := range pods {
		pod = pod.DeepCopy()
		pod.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
		list.Items = append(list.Items, runtime.RawExtension{Object: pod})
	}
	var text bytes.Buffer
	if err := json.NewEncoder(&text).Encode(list); err != nil {
		return "", fmt.Errorf("write the cluster: %w", err)
	}
	return p.file(name), p.write(name, text.String())
}

func (p *preview) file(name string) string { return filepath.Join(p.dir, name) }

func (p *preview) write(name, text string) error {
	return os.WriteFile(p.file(name), []byte(text), 0o600)
}

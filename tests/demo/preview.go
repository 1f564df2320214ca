// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"berth.dev/tests/demo/story"
)

// preview tells the story in the simulator, which needs Berth's binary and no control plane: the same
// nodes and pods as a file, decided in memory.
type preview struct {
	*story.Story
	binary string
	dir    string
	pods   []*story.Pod
	page   *story.Page
}

// runPreview leaves the page open, until the caller closes it.
func runPreview(ctx context.Context, screen *story.Screen, binary string) (p *preview, err error) {
	dir, err := os.MkdirTemp("", "berth-preview-")
	if err != nil {
		return nil, err
	}
	p = &preview{Story: story.New(screen), binary: binary, dir: dir}
	p.castPods()
	p.Pods = func() []*story.Pod { return slices.Clone(p.pods) }
	if err = p.tell(ctx); err == nil {
		err = p.Verdict()
	}
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

func (p *preview) close() error {
	if p.page != nil {
		p.page.Close()
	}
	return os.RemoveAll(p.dir)
}

func (p *preview) tell(ctx context.Context) error {
	config := "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n" + story.Config
	if err := os.WriteFile(p.config(), []byte(config), 0o600); err != nil {
		return err
	}
	left, summary, err := p.simulate(ctx)
	if err != nil {
		return err
	}
	p.Step("%s pods placed in memory in %s: `berth simulate` on a dump of this cluster",
		p.Bold(fmt.Sprint(summary.Bound)), story.Rounded(time.Duration(summary.WallMicroseconds)*time.Microsecond))
	p.CheckCrowd()
	p.ReportSpread()
	p.ReportMisfits(func(pod string) string { return left[pod] })
	for _, m := range story.Misfits() {
		if m.Fixed {
			if err := p.fix(ctx, m.Name()); err != nil {
				return err
			}
		}
	}
	berth, err := p.dump("after.json")
	if err != nil {
		return err
	}
	if err := p.AskDrain(ctx, berth); err != nil {
		return err
	}
	p.page, err = p.OpenPage(berth)
	return err
}

// castPods are the pods of all groups and those that fit nowhere, in the order in which they come.
func (p *preview) castPods() {
	begin := time.Now().Add(-time.Hour)
	add := func(pod *story.Pod) {
		pod.Metadata.Namespace = story.Namespace
		pod.Metadata.CreationTimestamp = begin.Add(time.Duration(len(p.pods)) * time.Second).UTC().Format(time.RFC3339)
		p.pods = append(p.pods, pod)
	}
	nodes := p.SortedNodes()
	for _, g := range p.Groups {
		for i := range g.Replicas {
			pod := g.Pod(i)
			pod.Metadata.OwnerReferences = ownersOf(g)
			if g.Kind == "DaemonSet" {
				pod.Spec.Affinity = onlyOn(nodes[i].Metadata.Name)
			}
			if pod.Spec.PriorityClassName == story.UrgentClass {
				priority := int32(story.UrgentPriority)
				pod.Spec.Priority = &priority
			}
			add(pod)
		}
	}
	for _, m := range story.Misfits() {
		add(m.Pod)
	}
}

// onlyOn ties a pod to a node as the DaemonSet controller does.
func onlyOn(node string) *story.Affinity {
	is := story.Requirement{Key: "metadata.name", Operator: "In", Values: []string{node}}
	return &story.Affinity{NodeAffinity: story.NodeAffinity{Required: &story.NodeSelector{
		Terms: []story.NodeSelectorTerm{{MatchFields: []story.Requirement{is}}}}}}
}

// ownersOf names who would make a pod again that is evicted.
func ownersOf(g story.Group) []story.OwnerReference {
	kinds := map[string]string{"Deployment": "ReplicaSet", "DaemonSet": "DaemonSet"}
	if kinds[g.Kind] == "" {
		return nil
	}
	return []story.OwnerReference{{APIVersion: "apps/v1", Kind: kinds[g.Kind], Name: g.Name, UID: "1", Controller: true}}
}

// summary is how a simulation went.
type summary struct{ Bound, WallMicroseconds int }

// simulate lets Berth decide, gives the pods their nodes, and returns the messages of those that are left.
func (p *preview) simulate(ctx context.Context) (left map[string]string, total summary, err error) {
	berth, err := p.dump("before.json")
	if err != nil {
		return nil, total, err
	}
	out, err := berth.Ask(ctx, "simulate", "-o", "json")
	if err != nil {
		return nil, total, err
	}
	left = map[string]string{}
	for line := range strings.Lines(out) {
		var decision struct {
			Pod, Node, Message string
			Summary            *summary
		}
		if err := json.Unmarshal([]byte(line), &decision); err != nil {
			return nil, total, fmt.Errorf("read what berth simulate printed: %w: %s", err, line)
		}
		pod := p.pod(strings.TrimPrefix(decision.Pod, story.Namespace+"/"))
		switch {
		case decision.Summary != nil:
			total = *decision.Summary
		case pod == nil:
			return nil, total, fmt.Errorf("berth simulate speaks of an unknown pod: %s", line)
		case decision.Node != "":
			pod.Spec.NodeName, pod.Status.Phase = decision.Node, "Running"
		default:
			left[pod.Metadata.Name] = decision.Message
		}
	}
	return left, total, nil
}

func (p *preview) pod(name string) *story.Pod {
	for _, pod := range p.pods {
		if pod.Metadata.Name == name {
			return pod
		}
	}
	return nil
}

// fix makes the smallest change that lets a pod schedule, and sees where it goes.
func (p *preview) fix(ctx context.Context, name string) error {
	berth, err := p.dump("pending.json")
	if err != nil {
		return err
	}
	fix, err := p.AskFix(ctx, berth, name)
	if err != nil {
		return err
	}
	pod := p.pod(name)
	patches, err := fix.Patches(pod, p.Nodes)
	if err != nil {
		return err
	}
	for _, patch := range patches {
		if err := patch.Apply(pod, p.Nodes); err != nil {
			return fmt.Errorf("patch %s: %w", patch.Name, err)
		}
	}
	if _, _, err := p.simulate(ctx); err != nil {
		return err
	}
	p.CheckFixed(fix, name, pod.Spec.NodeName)
	p.Line("  %s the first of these is done: %s is on %s", p.Green("✓"), name, pod.Spec.NodeName)
	return nil
}

// dump writes the cluster as `kubectl get -o json` prints it, and returns a Berth to be asked about it.
func (p *preview) dump(name string) (story.Berth, error) {
	var items []any
	for _, node := range p.SortedNodes() {
		items = append(items, node)
	}
	for _, pod := range p.pods {
		items = append(items, pod)
	}
	text, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	if err != nil {
		return story.Berth{}, fmt.Errorf("write the cluster: %w", err)
	}
	file := filepath.Join(p.dir, name)
	return story.Berth{Path: p.binary, Of: []string{"--cluster", file, "--config", p.config()}}, os.WriteFile(file, text, 0o600)
}

func (p *preview) config() string { return filepath.Join(p.dir, "config.yaml") }

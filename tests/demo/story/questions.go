// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// answerLines is how much of an answer is shown.
const answerLines = 14

// Berth answers questions about a cluster.
type Berth struct {
	Path string
	// Of are the flags that say which cluster, and which configuration.
	Of []string
}

// Ask runs a command of Berth that answers "no" with code 1.
func (b Berth) Ask(ctx context.Context, command string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, b.Path, slices.Concat([]string{command}, b.Of, args)...).Output()
	var failed *exec.ExitError
	if err == nil || (errors.As(err, &failed) && failed.ExitCode() == 1) {
		return string(out), nil
	}
	if failed != nil {
		return "", fmt.Errorf("berth %s: %w: %s", command, err, failed.Stderr)
	}
	return "", fmt.Errorf("berth %s: %w", command, err)
}

func (b Berth) askJSON(ctx context.Context, into any, command string, args ...string) error {
	out, err := b.Ask(ctx, command, append(args, "-o", "json")...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(out), into); err != nil {
		return fmt.Errorf("read what berth %s printed: %w: %s", command, err, out)
	}
	return nil
}

// excerpt shows an answer from the line that begins so, without the time it took.
func (s *Story) excerpt(answer, from string) (found bool) {
	begin := strings.Index("\n"+answer, "\n"+from)
	if begin < 0 {
		return false
	}
	answer, _, _ = strings.Cut(answer[begin:], "\n\nDecided in ")
	lines := strings.Split(strings.TrimRight(answer, "\n"), "\n")
	for _, line := range lines[:min(answerLines, len(lines))] {
		s.Line("  %s", strings.TrimPrefix(line, "  "))
	}
	if more := len(lines) - answerLines; more > 0 {
		s.Line("  ... and %d more lines", more)
	}
	return true
}

// AskFix shows what would let the pod schedule, and returns the smallest way.
func (s *Story) AskFix(ctx context.Context, berth Berth, pod string) (smallest Fix, err error) {
	s.Heading("What would let " + pod + " schedule? (berth explain --fix)")
	question := []string{"--pod", Namespace + "/" + pod, "--fix"}
	answer, err := berth.Ask(ctx, "explain", question...)
	if err != nil {
		return Fix{}, err
	}
	var verdict struct{ Fixes []Fix }
	if err := berth.askJSON(ctx, &verdict, "explain", question...); err != nil {
		return Fix{}, err
	}
	if !s.excerpt(answer, "  What would let it schedule") || len(verdict.Fixes) == 0 {
		return Fix{}, fmt.Errorf("berth knows no change that lets %s schedule:\n%s", pod, answer)
	}
	return verdict.Fixes[0], nil
}

// CheckFixed compares where a pod has landed with where the fix said it would.
func (s *Story) CheckFixed(fix Fix, pod, node string) {
	if !slices.Contains(fix.Nodes, node) {
		s.Fault("%s is on %q after a change that lets it schedule on %s", pod, node, strings.Join(fix.Nodes, ", "))
	}
}

// AskDrain shows who would move where if the node were drained whose pods have most to lose, and checks that all find a place.
func (s *Story) AskDrain(ctx context.Context, berth Berth) error {
	node, replaced := s.fullest()
	s.Heading("What if " + node + " were drained? (berth simulate --drain)")
	answer, err := berth.Ask(ctx, "simulate", "--drain", node)
	if err != nil {
		return err
	}
	if !s.excerpt(answer, "Drain of "+node) {
		return fmt.Errorf("the drain of %s is not answered: %s", node, answer)
	}
	var result struct {
		Pods    []struct{ Pod, Before, After string }
		Drained []struct {
			Node                       string
			Moved, FitNowhere, Stopped []string
		}
	}
	if err := berth.askJSON(ctx, &result, "simulate", "--drain", node); err != nil {
		return err
	}
	if len(result.Drained) != 1 || len(result.Drained[0].FitNowhere)+len(result.Drained[0].Stopped) > 0 {
		s.Fault("the drain of %s comes to %v", node, result.Drained)
		return nil
	}
	if moved := slices.Sorted(slices.Values(result.Drained[0].Moved)); !slices.Equal(moved, replaced) {
		s.Fault("the drain of %s moves %v, want %v", node, moved, replaced)
	}
	for _, pod := range result.Pods {
		if to := s.Nodes[pod.After]; pod.Before == node && (to == nil || pod.After == node) {
			s.Fault("the drain of %s moves %s to %q", node, pod.Pod, pod.After)
		}
	}
	return nil
}

// fullest is the node with the most pods that a Deployment makes again, among those with no other pods than these and a
// DaemonSet's; and the names of these.
func (s *Story) fullest() (node string, replaced []string) {
	kinds := map[string]string{}
	for _, g := range s.Groups {
		kinds[g.Name] = g.Kind
	}
	pods, others := map[string][]string{}, map[string]bool{}
	for _, pod := range s.Pods() {
		switch kinds[pod.Metadata.Labels["app"]] {
		case "Deployment":
			pods[pod.Spec.NodeName] = append(pods[pod.Spec.NodeName], Namespace+"/"+pod.Metadata.Name)
		case "DaemonSet":
		default:
			others[pod.Spec.NodeName] = true
		}
	}
	for _, candidate := range s.SortedNodes() {
		if name := candidate.Metadata.Name; !others[name] && len(pods[name]) > len(replaced) {
			node, replaced = name, pods[name]
		}
	}
	slices.Sort(replaced)
	return node, replaced
}

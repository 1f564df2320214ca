// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// What the daemon's log says when SIGUSR2 asks for its state.
const (
	nodesDump = "Dump of cached NodeInfo"
	queueDump = "Dump of scheduling queue"
	// mismatch is what it says before where its cache and its informers differ.
	mismatch = "Cache mismatch"
)

// dumped says whether the log has the whole dump.
func dumped(log string) bool {
	_, queue, found := strings.Cut(log, queueDump)
	return found && strings.Contains(queue, "\n")
}

// cachedNode is a node as the dump has it.
type cachedNode struct {
	milliCPU int64           // that its pods request
	pods     map[string]bool // by UID
}

var (
	nodeLine     = regexp.MustCompile(`Node name: (\S+)`)
	requestLine  = regexp.MustCompile(`Requested Resources:.* cpu: (\d+)m`)
	podLine      = regexp.MustCompile(`name: .*, uid: ([^,\s]+),`)
	nominatedEnd = regexp.MustCompile(`Nominated Pods\(number: \d+\):`)
)

// readDump takes the nodes out of the log of a daemon.
func readDump(log string) map[string]cachedNode {
	_, dump, _ := strings.Cut(log, nodesDump)
	dump, _, _ = strings.Cut(dump, queueDump)
	nodes := map[string]cachedNode{}
	name := ""
	lines := bufio.NewScanner(strings.NewReader(dump))
	for lines.Scan() {
		line := lines.Text()
		if found := nodeLine.FindStringSubmatch(line); found != nil {
			name = found[1]
			nodes[name] = cachedNode{pods: map[string]bool{}}
			continue
		}
		if nominatedEnd.MatchString(line) {
			name = "" // those that follow are not on the node
		}
		node, inNode := nodes[name]
		if !inNode {
			continue
		}
		if found := requestLine.FindStringSubmatch(line); found != nil {
			node.milliCPU, _ = strconv.ParseInt(found[1], 10, 64)
			nodes[name] = node
		} else if found := podLine.FindStringSubmatch(line); found != nil {
			node.pods[found[1]] = true
		}
	}
	return nodes
}

// compareDump tells the first difference between what the daemon holds and what the API server has,
// "" if there is none.
func compareDump(cached map[string]cachedNode, nodes []corev1.Node, pods []corev1.Pod) string {
	real := map[string]cachedNode{}
	for i := range nodes {
		real[nodes[i].Name] = cachedNode{pods: map[string]bool{}}
	}
	for i := range pods {
		pod := &pods[i]
		node, known := real[pod.Spec.NodeName]
		if !known {
			continue
		}
		for _, container := range pod.Spec.Containers {
			node.milliCPU += container.Resources.Requests.Cpu().MilliValue()
		}
		node.pods[string(pod.UID)] = true
		real[pod.Spec.NodeName] = node
	}
	if len(cached) != len(real) {
		return fmt.Sprintf("the cache has %d nodes, the API server %d", len(cached), len(real))
	}
	for name, want := range real {
		got, known := cached[name]
		if !known {
			return fmt.Sprintf("the cache lacks node %s", name)
		}
		for uid := range want.pods {
			if !got.pods[uid] {
				return fmt.Sprintf("the cache lacks pod %s on node %s", uid, name)
			}
		}
		if len(got.pods) != len(want.pods) || got.milliCPU != want.milliCPU {
			return fmt.Sprintf("node %s has %d pods of %d m CPU in the cache, %d of %d m in the API server",
				name, len(got.pods), got.milliCPU, len(want.pods), want.milliCPU)
		}
	}
	return ""
}

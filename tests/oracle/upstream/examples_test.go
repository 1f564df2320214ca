// SPDX-License-Identifier: Apache-2.0

package upstream_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"berth.dev/tests/oracle/upstream"
)

// configOf has one profile, with these plugins switched off.
func configOf(pluginConfig string, off ...string) []byte {
	var disabled []string
	for _, name := range off {
		disabled = append(disabled, "{name: "+name+"}")
	}
	return []byte(fmt.Sprintf(`apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{plugins: {multiPoint: {disabled: [%s]}}, pluginConfig: [%s]}]`, strings.Join(disabled, ", "), pluginConfig))
}

// node and pod are one document each; what follows the name is put in as it is.
func node(name, spec, status string) string {
	return fmt.Sprintf("---\n{apiVersion: v1, kind: Node, metadata: {name: %s, labels: {kubernetes.io/hostname: %s, %s}},"+
		" spec: {%s}, status: {allocatable: {cpu: 100, memory: 1000Gi, pods: 110}, %s}}\n", name, name, zoneOf(name), spec, status)
}

func zoneOf(node string) string {
	zone, _, _ := strings.Cut(node, "-")
	return "topology.kubernetes.io/zone: " + zone
}

func pod(name, labels, spec string) string {
	return fmt.Sprintf("---\n{apiVersion: v1, kind: Pod, metadata: {name: %s, labels: {%s}}, spec: {%s}}\n", name, labels, spec)
}

func requests(cpu, memory string) string {
	return fmt.Sprintf("containers: [{name: c, image: i, resources: {requests: {cpu: %s, memory: %s}}}]", cpu, memory)
}

const plain = "containers: [{name: c, image: i}]"

// verdictOf is the one of the only pending pod.
func verdictOf(t *testing.T, cluster string, config []byte) *upstream.Verdict {
	t.Helper()
	verdicts := open(t, []byte(cluster), config).JudgeAll()
	if len(verdicts) != 1 {
		t.Fatalf("%d pods are pending", len(verdicts))
	}
	return verdicts[0]
}

// scoresOf are a plugin's scores in the order of the nodes' names.
func scoresOf(v *upstream.Verdict, plugin string) (raw, weighted []int64) {
	for _, name := range slices.Sorted(maps.Keys(v.Nodes)) {
		raw = append(raw, v.Nodes[name].Scores[plugin].Raw)
		weighted = append(weighted, v.Nodes[name].Scores[plugin].Weighted)
	}
	return raw, weighted
}

func TestScoresOfWorkedExamples(t *testing.T) {
	sizes := node("a", "", "allocatable: {cpu: 4, memory: 8Gi, pods: 9}") +
		node("b", "", "allocatable: {cpu: 2, memory: 8Gi, pods: 9}") +
		node("c", "", "allocatable: {cpu: 8, memory: 16Gi, pods: 9}") +
		pod("x", "", "nodeName: a, "+requests("1", "2Gi")) +
		pod("z", "", "nodeName: b, "+requests("1500m", "1Gi")) +
		pod("p", "", requests("500m", "1Gi"))
	sizes = strings.ReplaceAll(sizes, "allocatable: {cpu: 100, memory: 1000Gi, pods: 110}, ", "")

	hosts := func(counts ...int) string {
		var text strings.Builder
		for i, count := range counts {
			for j := range count {
				name := fmt.Sprintf("w%d-%d", i, j)
				text.WriteString(pod(name, "app: web", "nodeName: "+[]string{"a-1", "a-2", "b-1", "b-2"}[i]+", "+plain))
			}
		}
		return text.String()
	}
	fourHosts := node("a-1", "", "") + node("a-2", "", "") + node("b-1", "", "") + node("b-2", "", "")

	cases := []struct {
		name, cluster, config, plugin string
		raw, weighted                 []int64
	}{
		{name: "least allocated", plugin: "NodeResourcesFit", cluster: sizes, raw: []int64{62, 37, 93}, weighted: []int64{62, 37, 93}},
		{name: "most allocated", plugin: "NodeResourcesFit", cluster: sizes,
			config: "{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated}}}",
			raw:    []int64{37, 62, 6}, weighted: []int64{37, 62, 6}},
		{name: "balanced", plugin: "NodeResourcesBalancedAllocation", cluster: sizes,
			raw: []int64{75, 72, 75}, weighted: []int64{75, 72, 75}},
		{name: "spread over zones with 4, 1 and 0 pods", plugin: "PodTopologySpread",
			cluster: node("a", "", "") + node("b", "", "") + node("c", "", "") +
				pod("w1", "app: web", "nodeName: a, "+plain) + pod("w2", "app: web", "nodeName: a, "+plain) +
				pod("w3", "app: web", "nodeName: a, "+plain) + pod("w4", "app: web", "nodeName: a, "+plain) +
				pod("w5", "app: web", "nodeName: b, "+plain) +
				pod("p", "", plain+", topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone,"+
					" whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: web}}}]"),
			raw: []int64{6, 2, 0}, weighted: []int64{0, 2 * 66, 2 * 100}},
		{name: "default spreading of a service's pods", plugin: "PodTopologySpread",
			cluster: fourHosts + hosts(2, 1, 0, 1) + pod("p", "app: web", plain) +
				"---\n{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {app: web}}}\n",
			raw: []int64{14, 12, 7, 9}, weighted: []int64{2 * 50, 2 * 64, 2 * 100, 2 * 85}},
		{name: "preferred affinity in floating point", plugin: "InterPodAffinity",
			cluster: fourHosts +
				pod("w1", "app: bad", "nodeName: a-1, "+plain) + pod("w2", "app: good", "nodeName: b-1, "+plain) +
				pod("w3", "app: best", "nodeName: b-2, "+plain) +
				pod("p", "", plain+", affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: ["+term(10, "bad")+"]},"+
					" podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: ["+term(19, "good")+", "+term(90, "best")+"]}}"),
			raw: []int64{-10, 0, 19, 90}, weighted: []int64{0, 2 * 10, 2 * 28, 2 * 100}},
		{name: "taints to be avoided", plugin: "TaintToleration",
			cluster: node("a", "", "") + node("b", "taints: [{key: x, effect: PreferNoSchedule}]", "") +
				node("c", "taints: [{key: x, effect: PreferNoSchedule}, {key: w, effect: PreferNoSchedule},"+
					" {key: z, effect: PreferNoSchedule}]", "") + pod("p", "", plain),
			raw: []int64{0, 1, 3}, weighted: []int64{3 * 100, 3 * 67, 0}},
		{name: "preferred nodes", plugin: "NodeAffinity",
			cluster: node("a", "", "") + node("b", "", "") + node("c", "", "") +
				pod("p", "", plain+", affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: ["+
					"{weight: 10, preference: {matchFields: [{key: metadata.name, operator: In, values: [b]}]}},"+
					"{weight: 30, preference: {matchFields: [{key: metadata.name, operator: In, values: [c]}]}}]}}"),
			raw: []int64{0, 10, 30}, weighted: []int64{0, 2 * 33, 2 * 100}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			v := verdictOf(t, c.cluster, configOf(c.config))
			raw, weighted := scoresOf(v, c.plugin)
			if !slices.Equal(raw, c.raw) || !slices.Equal(weighted, c.weighted) {
				t.Errorf("raw %v, weighted %v; want %v, %v\n%s", raw, weighted, c.raw, c.weighted, v.Line())
			}
		})
	}
}

func term(weight int, app string) string {
	return fmt.Sprintf("{weight: %d, podAffinityTerm: {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: %s}}}}",
		weight, app)
}

func TestShapesOfWorkedExamples(t *testing.T) {
	const falling, broken = "{utilization: 0, score: 10}, {utilization: 100, score: 0}",
		"{utilization: 0, score: 0}, {utilization: 70, score: 10}, {utilization: 100, score: 3}"
	for _, c := range []struct {
		shape       string
		used, score int64
	}{
		{falling, 33, 67}, {falling, 66, 34}, {broken, 33, 47}, {broken, 71, 98}, {broken, 85, 65}, {broken, 99, 33},
	} {
		config := configOf("{name: NodeResourcesFit, args: {scoringStrategy: {type: RequestedToCapacityRatio," +
			" resources: [{name: example.com/x, weight: 1}], requestedToCapacityRatio: {shape: [" + c.shape + "]}}}}")
		cluster := strings.ReplaceAll(node("a", "", ""), "pods: 110", "pods: 110, example.com/x: 100") +
			pod("p", "", fmt.Sprintf("containers: [{name: c, resources: {requests: {example.com/x: %d}}}]", c.used))
		raw, _ := scoresOf(verdictOf(t, cluster, config), "NodeResourcesFit")
		if !slices.Equal(raw, []int64{c.score}) {
			t.Errorf("%s at %d: %v, want %d", c.shape, c.used, raw, c.score)
		}
	}
}

func TestImagesOfTheWorkedExample(t *testing.T) {
	const all, big = "{names: [\"small:1\"], sizeBytes: 41943040}", "{names: [\"big:1\"], sizeBytes: 524288000}"
	var cluster strings.Builder
	for i := range 10 {
		images := all
		if i < 3 {
			images += ", " + big
		}
		cluster.WriteString(node(fmt.Sprintf("n%d", i), "", "images: ["+images+"]"))
	}
	cluster.WriteString(pod("p", "", "containers: [{name: c, image: \"small:1\"}, {name: d, image: \"big:1\"}]"))
	raw, _ := scoresOf(verdictOf(t, cluster.String(), configOf("")), "ImageLocality")
	if want := []int64{8, 8, 8, 0, 0, 0, 0, 0, 0, 0}; !slices.Equal(raw, want) {
		t.Errorf("%v, want %v", raw, want)
	}
}

func TestResultsAndMessages(t *testing.T) {
	two := node("a", "unschedulable: true", "") + node("b", "", "")
	for _, c := range []struct {
		name, cluster string
		result        upstream.Result
		message       string
	}{
		{"no nodes", pod("p", "", plain), upstream.Error, "no nodes available to schedule pods"},
		{"gates", two + pod("p", "", plain+", schedulingGates: [{name: b}, {name: a}]"), upstream.Gated, "waiting for scheduling gates: [b a]"},
		{"another scheduler", two + pod("p", "", plain+", schedulerName: other"), upstream.Ignored, ""},
		{"too big", two + pod("p", "", requests("101", "1Gi")), upstream.Unschedulable,
			"0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable."},
		{"a node that is not there", two + pod("p", "", plain+", affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution:"+
			" {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [z]}]}]}}}"), upstream.Unschedulable,
			"0/2 nodes are available: 2 node(s) didn't satisfy plugin(s) [NodeAffinity]."},
		{"two nodes at once", two + pod("p", "", plain+", affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution:"+
			" {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [a]},"+
			" {key: metadata.name, operator: In, values: [b]}]}]}}}"), upstream.Unschedulable,
			"0/2 nodes are available: pod affinity terms conflict."},
		{"fits", two + pod("p", "", plain), upstream.Scheduled, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := verdictOf(t, c.cluster, configOf(""))
			if v.Result != c.result || v.Message != c.message {
				t.Errorf("%s %q, want %s %q", v.Result, v.Message, c.result, c.message)
			}
		})
	}
}

func TestNodesOutsideOfPreFiltersSet(t *testing.T) {
	v := verdictOf(t, node("a", "", "")+node("b", "", "")+pod("p", "", plain+", affinity: {nodeAffinity:"+
		" {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In,"+
		" values: [b]}]}]}}}"), configOf(""))
	const want = `{"code":"UnschedulableAndUnresolvable","feasible":false,"reasons":["prefilter"]}`
	if line := string(v.Line()); !strings.Contains(line, `"a":`+want) || !strings.Contains(line, `"best":["b"]`) {
		t.Error(line)
	}
}

func TestFinishedPodsAreNoPartOfTheState(t *testing.T) {
	cluster := node("a", "", "") + pod("p", "", requests("60", "1Gi")) +
		strings.Replace(pod("x", "", "nodeName: a, "+requests("60", "1Gi")), "spec:", "status: {phase: Succeeded}, spec:", 1) +
		strings.Replace(pod("z", "", plain), "spec:", "status: {phase: Failed}, spec:", 1)
	if v := verdictOf(t, cluster, configOf("")); v.Result != upstream.Scheduled {
		t.Errorf("%s", v.Line())
	}
}

func TestPodsOnUnknownNodesAreOnNoNode(t *testing.T) {
	v := verdictOf(t, node("a", "", "")+pod("p", "", plain)+pod("x", "", "nodeName: gone, "+plain), configOf(""))
	if _, known := v.Nodes["gone"]; known || v.Result != upstream.Scheduled {
		t.Errorf("%s", v.Line())
	}
}

func TestNominatedPodsTakeTheirRoom(t *testing.T) {
	cluster := node("a", "", "") + pod("p", "", requests("60", "1Gi")) +
		strings.Replace(pod("q", "", requests("60", "1Gi")), "spec:", "status: {nominatedNodeName: a}, spec:", 1)
	verdicts := open(t, []byte(cluster), configOf("")).JudgeAll()
	if verdicts[0].Result != upstream.Unschedulable || verdicts[1].Result != upstream.Scheduled {
		t.Errorf("%s\n%s", verdicts[0].Line(), verdicts[1].Line())
	}
}

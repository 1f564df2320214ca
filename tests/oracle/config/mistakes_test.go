// SPDX-License-Identifier: Apache-2.0

package config

// mistakes are refused.
var mistakes = []sample{
	{name: "parallelism 0", yaml: "parallelism: 0"},
	{name: "negative parallelism", yaml: "parallelism: -3"},
	{name: "a burst below 0", yaml: "clientConnection: {burst: -1}"},
	{name: "percentage above", yaml: "percentageOfNodesToScore: 101"},
	{name: "percentage below", yaml: "percentageOfNodesToScore: -1"},
	{name: "percentage of a profile", yaml: "profiles: [{percentageOfNodesToScore: 500}]"},
	{name: "no initial backoff", yaml: "podInitialBackoffSeconds: 0"},
	{name: "max backoff below the initial", yaml: "podInitialBackoffSeconds: 30"},
	{name: "lease shorter than the deadline", yaml: "leaderElection: {leaseDuration: 5s}"},
	{name: "negative durations", yaml: "leaderElection: {leaseDuration: -1s, renewDeadline: -2s, retryPeriod: -3s}"},
	{name: "another lock", yaml: "leaderElection: {resourceLock: endpoints}"},
	{name: "several at once", yaml: `parallelism: 0
percentageOfNodesToScore: 101
podInitialBackoffSeconds: -1
profiles: [{schedulerName: a, percentageOfNodesToScore: 101}, {schedulerName: a}]
extenders: [{prioritizeVerb: p}]`},
	{name: "the same name twice", yaml: "profiles: [{schedulerName: a}, {schedulerName: a}]"},
	{name: "a profile without name", yaml: "profiles: [{schedulerName: a}, {}]"},
	{name: "an empty name", yaml: `profiles: [{schedulerName: ""}]`},
	{name: "a removed plugin", yaml: "profiles: [{plugins: {score: {enabled: [{name: EBSLimits}]}}}]"},
	{name: "args of a removed plugin", yaml: "profiles: [{pluginConfig: [{name: GCEPDLimits}]}]"},
	{name: "args twice", yaml: "profiles: [{pluginConfig: [{name: NodeAffinity}, {name: NodeAffinity}]}]"},
	{name: "two queue sorts", yaml: "profiles: [{plugins: {queueSort: {enabled: [{name: PrioritySort}, {name: X}]}}}]"},
	{name: "other queue sorts", yaml: `profiles: [{schedulerName: a, plugins: {queueSort: {enabled: [{name: PrioritySort}]}}}, {schedulerName: b, plugins: {queueSort: {enabled: [{name: X, weight: 2}], disabled: [{name: "*"}]}}}]`},
	{name: "no queue sort in one", yaml: "profiles: [{schedulerName: a, plugins: {queueSort: {enabled: [{name: PrioritySort}]}}}, {schedulerName: b}]"},
	{name: "an unknown score plugin", yaml: "profiles: [{plugins: {score: {enabled: [{name: Foo}]}}}]"},
	{name: "an unknown MultiPoint plugin", yaml: "profiles: [{plugins: {multiPoint: {enabled: [{name: Foo}]}}}]"},
	{name: "an unknown placement plugin", yaml: "profiles: [{plugins: {placementScore: {enabled: [{name: Foo}]}}}]"},
	{name: "a plugin at the wrong point", yaml: "profiles: [{plugins: {score: {enabled: [{name: NodeName}]}}}]"},
	{name: "a plugin twice at a point", yaml: "profiles: [{plugins: {filter: {enabled: [{name: NodeName}, {name: NodeName}]}}}]"},
	{name: "a plugin twice in MultiPoint", yaml: "profiles: [{plugins: {multiPoint: {enabled: [{name: NodeName}, {name: NodeName}]}}}]"},
	{name: "no bind plugin", yaml: "profiles: [{plugins: {bind: {disabled: [{name: DefaultBinder}]}}}]"},
	{name: "no queue sort", yaml: `profiles: [{schedulerName: x, plugins: {queueSort: {disabled: [{name: "*"}]}}}]`},
	{name: "weights beyond int64", yaml: "profiles: [{plugins: {score: {enabled: [{name: NodeAffinity, weight: 2147483648}]}}}]"},
	{name: "unknown fields at each level", yaml: `foo: 1
profiles: [{bar: 2, plugins: {scores: {}, score: {enable: []}}, pluginConfig: [{nme: x}]}]
leaderElection: {leaderelect: true}
extenders: [{urlprefix: x, tlsConfig: {cert: y}}]`},
	{name: "unknown fields in args", yaml: `baz: 1
profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {a: 1, b: 2}}, {name: Foreign, args: {c: 1}}, {name: NodeAffinity, args: {addedAffinity: {x: 1}}}]}]`},
	{name: "a field in another case", yaml: "Parallelism: 3"},
	{name: "unknown fields in JSON", yaml: `{"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "z": 1, "b": 2}`},
	{name: "a key twice", yaml: `parallelism: 3
parallelism: 4`},
	{name: "a key twice in args", yaml: "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {ignoredResources: [a], ignoredResources: [b]}}]}]"},
	{name: "text for a number", yaml: `parallelism: "3"`},
	{name: "a fraction for a number", yaml: "parallelism: 1.5"},
	{name: "a number too large", yaml: "parallelism: 99999999999"},
	{name: "a boolean for a number", yaml: "podMaxBackoffSeconds: true"},
	{name: "text for a boolean", yaml: `delayCacheUntilActive: "yes"`},
	{name: "a number for an inlined boolean", yaml: "enableProfiling: 3"},
	{name: "a number for text", yaml: "profiles: [{schedulerName: 3}]"},
	{name: "a number for a duration", yaml: "leaderElection: {leaseDuration: 15}"},
	{name: "no duration", yaml: "leaderElection: {retryPeriod: foo}"},
	{name: "a duration without unit", yaml: `leaderElection: {retryPeriod: "5"}`},
	{name: "a duration in no unit", yaml: "extenders: [{httpTimeout: 3x}]"},
	{name: "a list for a struct", yaml: "leaderElection: [1]"},
	{name: "a map for a list", yaml: "profiles: {}"},
	{name: "a number in a list", yaml: "profiles: [3]"},
	{name: "a list for plugins", yaml: "profiles: [{plugins: [1]}]"},
	{name: "a number for a plugin", yaml: "profiles: [{plugins: {score: {enabled: [{name: 3}]}}}]"},
	{name: "too large for a float", yaml: "clientConnection: {qps: 1e99}"},
	{name: "text for a float", yaml: "clientConnection: {qps: x}"},
	{name: "no base64", yaml: `extenders: [{tlsConfig: {certData: "!!"}}]`},
	{name: "base64 that ends early", yaml: `extenders: [{tlsConfig: {certData: "YWJjZ"}}]`},
	{name: "the first of two wrong types counts", yaml: `zoo: 1
podMaxBackoffSeconds: x
parallelism: y`},
	{name: "a wrong type in args", yaml: "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: 3}}}]}]"},
	{name: "a wrong type deep in args", yaml: "profiles: [{pluginConfig: [{name: InterPodAffinity}, {name: NodeAffinity, args: {addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: In, values: [3]}]}]}}}}]}]"},
	{name: "a selector of a wrong type", yaml: "profiles: [{pluginConfig: [{name: PodTopologySpread, args: {defaultConstraints: [{labelSelector: {matchLabels: {a: 1}}}]}}]}]"},
	{name: "an unknown kind of args", yaml: "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {kind: Foo}}]}]"},
	{name: "another plugin's args", yaml: "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {kind: NodeAffinityArgs}}]}]"},
	{name: "args of an old version", yaml: "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {apiVersion: kubescheduler.config.k8s.io/v1beta3, kind: NodeResourcesFitArgs}}]}]"},
	{name: "DefaultPreemption out of range", yaml: "profiles: [{pluginConfig: [{name: DefaultPreemption, args: {minCandidateNodesPercentage: 101, minCandidateNodesAbsolute: -1}}]}]"},
	{name: "DefaultPreemption without candidates", yaml: "profiles: [{pluginConfig: [{name: DefaultPreemption, args: {minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 0}}]}]"},
	{name: "InterPodAffinity weight", yaml: "profiles: [{pluginConfig: [{name: InterPodAffinity, args: {hardPodAffinityWeight: 101}}]}]"},
	{name: "NodeAffinity terms", yaml: "profiles: [{pluginConfig: [{name: NodeAffinity, args: {addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Foo}]}]}, preferredDuringSchedulingIgnoredDuringExecution: [{weight: 5, preference: {matchExpressions: [{key: b, operator: In}]}}]}}}]}]"},
	{name: "balanced allocation weights", yaml: "profiles: [{pluginConfig: [{name: NodeResourcesBalancedAllocation, args: {resources: [{name: cpu, weight: 2}, {name: cpu}]}}]}]"},
	{name: "NodeResourcesFit strategy", yaml: "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: Foo, resources: [{name: cpu, weight: 101}]}}}]}]"},
	{name: "NodeResourcesFit without type", yaml: "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {}}}]}]"},
	{name: "NodeResourcesFit shape", yaml: "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: {shape: [{utilization: 50, score: 11}, {utilization: 40, score: 0}]}}}}]}]"},
	{name: "NodeResourcesFit shape missing", yaml: "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: RequestedToCapacityRatio}}}]}]"},
	{name: "NodeResourcesFit shape with another type", yaml: "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: LeastAllocated, requestedToCapacityRatio: {shape: []}}}}]}]"},
	{name: "NodeResourcesFit ignored names", yaml: `profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {ignoredResources: ["a b"], ignoredResourceGroups: ["a/b"]}}]}]`},
	{name: "spreading, bad constraints", yaml: `profiles: [{pluginConfig: [{name: PodTopologySpread, args: {defaultingType: List, defaultConstraints: [{maxSkew: 0, topologyKey: "", whenUnsatisfiable: Foo}, {maxSkew: 1, topologyKey: "a b", whenUnsatisfiable: "", labelSelector: {}}]}}]}]`},
	{name: "spreading, a pair twice", yaml: "profiles: [{pluginConfig: [{name: PodTopologySpread, args: {defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: DoNotSchedule}, {maxSkew: 2, topologyKey: a, whenUnsatisfiable: DoNotSchedule}]}}]}]"},
	{name: "spreading, constraints with system defaults", yaml: "profiles: [{pluginConfig: [{name: PodTopologySpread, args: {defaultConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: DoNotSchedule}]}}]}]"},
	{name: "spreading, unknown type", yaml: "profiles: [{pluginConfig: [{name: PodTopologySpread, args: {defaultingType: Foo}}]}]"},
	{name: "VolumeBinding", yaml: "profiles: [{pluginConfig: [{name: VolumeBinding, args: {bindTimeoutSeconds: -1, shape: [{utilization: 101, score: -1}]}}]}]"},
	{name: "VolumeBinding shape without the gate", yaml: "profiles: [{pluginConfig: [{name: VolumeBinding, args: {shape: [{utilization: 1, score: 1}]}}]}]", flags: []string{"--feature-gates=StorageCapacityScoring=false"}},
	{name: "DynamicResources", yaml: "profiles: [{pluginConfig: [{name: DynamicResources, args: {filterTimeout: -1s, bindingTimeout: 500ms}}]}]"},
	{name: "DynamicResources without the gates", yaml: "profiles: [{pluginConfig: [{name: DynamicResources, args: {filterTimeout: 1s, bindingTimeout: 2s}}]}]", flags: []string{"--feature-gates=DRASchedulerFilterTimeout=false,DRADeviceBindingConditions=false"}},
	{name: "an extender without weight", yaml: "extenders: [{prioritizeVerb: p}, {prioritizeVerb: p, weight: -1}]"},
	{name: "two extenders that bind", yaml: "extenders: [{bindVerb: b}, {bindVerb: b}]"},
	{name: "managed resources", yaml: `extenders: [{managedResources: [{name: kubernetes.io/a}, {name: a}, {name: "a b/c"}, {name: e.f/g}]}, {managedResources: [{name: e.f/g}]}]`},
	{name: "v1beta3", yaml: `apiVersion: kubescheduler.config.k8s.io/v1beta3
kind: KubeSchedulerConfiguration
`,
		differs: "Berth says what to change", berth: `no kind "KubeSchedulerConfiguration" is registered for version "kubescheduler.config.k8s.io/v1beta3": set apiVersion: kubescheduler.config.k8s.io/v1`},
	{name: "v1beta2", yaml: `apiVersion: kubescheduler.config.k8s.io/v1beta2
kind: KubeSchedulerConfiguration
`,
		differs: "Berth says what to change", berth: "TaintToleration"},
	{name: "v1alpha1", yaml: `apiVersion: kubescheduler.config.k8s.io/v1alpha1
kind: KubeSchedulerConfiguration
`,
		differs: "Berth says what to change", berth: "healthzBindAddress"},
	{name: "another kind", yaml: `apiVersion: kubescheduler.config.k8s.io/v1
kind: NodeAffinityArgs
`},
	{name: "a pod", yaml: `apiVersion: v1
kind: Pod
`,
		differs: "Berth says what the file must hold", berth: `no kind "Pod" is registered for version "v1": must be apiVersion`},
	{name: "no kind", yaml: `apiVersion: kubescheduler.config.k8s.io/v1
`,
		differs: "Berth does not repeat the file", berth: "Object 'Kind' is missing"},
	{name: "no apiVersion", yaml: `kind: KubeSchedulerConfiguration
`,
		differs: "Berth does not repeat the file", berth: "Object 'apiVersion' is missing"},
	{name: "bad syntax", yaml: "foo: [",
		differs: "another YAML library's words", berth: "yaml: "},
	{name: "a tab", yaml: "leaderElection:\n\tleaderElect: true",
		differs: "another YAML library's words", berth: "yaml: "},
	{name: "a key twice and an unknown field", yaml: `parallelism: 3
parallelism: 4
foo: 1`,
		differs: "Berth reports the file as YAML first", berth: `strict decoding error: yaml: unmarshal errors:
  line 4: key "parallelism" already set in map`},
	{name: "args that are no map", yaml: "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: [1]}]}]",
		differs: "kube-scheduler prints a Go type", berth: "decoding .profiles[0].pluginConfig[0]: decoding args for plugin NodeResourcesFit: must be a map, not a list"},
	{name: "no file", flags: []string{"--config=/nonexistent/file"}},
	{name: "no kubeconfig", yaml: "clientConnection: {kubeconfig: /nonexistent/file}",
		differs: "Berth names what it was reading", berth: "/nonexistent/file"},
	{name: "an unknown flag", flags: []string{"--foo"}},
	{name: "an unknown short flag", flags: []string{"-x"}},
	{name: "an argument", flags: []string{"foo"}},
	{name: "a bad port", flags: []string{"--secure-port=70000"}},
	{name: "a bad number", flags: []string{"--kube-api-burst=x"}},
	{name: "a bad float", flags: []string{"--kube-api-qps=x"}},
	{name: "a bad duration", flags: []string{"--leader-elect-lease-duration=5"}},
	{name: "a bad address", flags: []string{"--bind-address=foo"}},
	{name: "a bad certificate pair", flags: []string{"--tls-sni-cert-key=foo"}},
	{name: "a lease flag that does not fit the file", yaml: "parallelism: 1", flags: []string{"--leader-elect-lease-duration=5s"}},
	{name: "an unknown gate", flags: []string{"--feature-gates=Foo=true"}},
	{name: "a gate without value", flags: []string{"--feature-gates=GenericWorkload"}},
	{name: "a gate with a bad value", flags: []string{"--feature-gates=GenericWorkload=x"}},
	{name: "a locked gate", flags: []string{"--feature-gates=VolumeAttributesClass=false"}},
	{name: "another component's gate", flags: []string{"--feature-gates=foo:Bar=true"}},
	// kube-scheduler walks the components in random order: each must be good by itself for one answer.
	{name: "gates with and without component", flags: []string{"--feature-gates=GenericWorkload=true,kube:OpportunisticBatching=true"}},
	{name: "a gate whose dependency is off", flags: []string{"--feature-gates=DRADeviceTaints=false"}},
	{name: "an old version to emulate", flags: []string{"--emulated-version=1.36"},
		differs: "Berth emulates no other version", berth: "only 1.37 can be emulated"},
	{name: "no version", flags: []string{"--emulated-version=foo"}},
	{name: "a version too old to be compatible with", flags: []string{"--min-compatibility-version=1.30"}},
	{name: "an unknown log format", flags: []string{"--logging-format=foo"}},
	{name: "--vmodule with JSON", flags: []string{"--vmodule=a=3"}},
	{name: "no --vmodule", flags: []string{"--vmodule=foo"}},
	{name: "an alpha log option", flags: []string{"--log-json-split-stream"}},
	{name: "no flush", flags: []string{"--log-flush-frequency=0s"}},
	{name: "a verbosity too high", flags: []string{"--v=4294967295"}},
	{name: "hidden metrics of long ago", flags: []string{"--show-hidden-metrics-for-version=1.35"}},
	{name: "bad label lists", flags: []string{"--allow-metric-labels=foo"}},
	{name: "another version to report", flags: []string{"--version=v1.36.0"}},
	{name: "an empty header", flags: []string{"--requestheader-username-headers=a,"}},
}

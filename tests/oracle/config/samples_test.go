// SPDX-License-Identifier: Apache-2.0

package config

// samples are accepted: each feature of the configuration as the documentation shows it.
var samples = []sample{
	{name: "no file"},
	{name: "an empty configuration", yaml: "parallelism: 16"},
	{name: "as JSON", yaml: `{"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "clientConnection": {"kubeconfig": "KUBECONFIG"}, "parallelism": 3}`},
	{name: "every top-level field", yaml: `parallelism: 4
leaderElection: {leaderElect: false, leaseDuration: 30s, renewDeadline: 20s, retryPeriod: 3s, resourceLock: leases, resourceName: lease, resourceNamespace: ns}
clientConnection: {kubeconfig: KUBECONFIG, acceptContentTypes: application/json, contentType: application/json, qps: 12.5, burst: 7}
enableProfiling: false
enableContentionProfiling: true
percentageOfNodesToScore: 30
podInitialBackoffSeconds: 2
podMaxBackoffSeconds: 20
delayCacheUntilActive: true`},
	{name: "profiling off", yaml: "enableProfiling: false"},
	{name: "contention profiling off", yaml: "enableContentionProfiling: false"},
	{name: "zeros that mean the default", yaml: `clientConnection: {kubeconfig: KUBECONFIG, qps: 0, burst: 0, contentType: ""}
leaderElection: {leaseDuration: 0s, resourceName: ""}`},
	{name: "a rate that is no binary fraction", yaml: "clientConnection: {kubeconfig: KUBECONFIG, qps: 0.1}"},
	{name: "a high rate", yaml: "clientConnection: {kubeconfig: KUBECONFIG, qps: 5000, burst: 5000}"},
	{name: "no rate limit", yaml: "clientConnection: {kubeconfig: KUBECONFIG, qps: -1}"},
	{name: "nulls", yaml: `parallelism: null
profiles: null
extenders: null
leaderElection: null`},
	{name: "YAML 1.1 scalars", yaml: `delayCacheUntilActive: yes
parallelism: 010
podMaxBackoffSeconds: 1e2
enableProfiling: off`},
	{name: "numbers with a point", yaml: "parallelism: 2.0"},
	{name: "durations in other units", yaml: "leaderElection: {leaseDuration: 90s, renewDeadline: 1m5.5s, retryPeriod: 1500ms}"},
	{name: "all nodes", yaml: "percentageOfNodesToScore: 100"},
	{name: "two profiles", yaml: `profiles:
- schedulerName: default-scheduler
- schedulerName: no-scoring-scheduler
  plugins:
    preScore: {disabled: [{name: "*"}]}
    score: {disabled: [{name: "*"}]}`},
	{name: "a profile with its own percentage", yaml: "profiles: [{schedulerName: a, percentageOfNodesToScore: 0}, {schedulerName: b, percentageOfNodesToScore: 70}]"},
	{name: "a null profile", yaml: "profiles: [null]"},
	{name: "a profile by another name", yaml: "profiles: [{schedulerName: mine}]"},
	{name: "weights of score plugins", yaml: `profiles:
- plugins:
    score:
      disabled: [{name: ImageLocality}]
      enabled: [{name: NodeAffinity, weight: 7}, {name: TaintToleration}]`},
	{name: "a MultiPoint weight", yaml: "profiles: [{plugins: {multiPoint: {enabled: [{name: InterPodAffinity, weight: 9}, {name: NodeName}]}}}]"},
	{name: "a MultiPoint plugin without weight", yaml: "profiles: [{plugins: {multiPoint: {enabled: [{name: TaintToleration}]}}}]"},
	{name: "a MultiPoint plugin disabled", yaml: "profiles: [{plugins: {multiPoint: {disabled: [{name: NodePorts}, {name: Unknown}]}}}]"},
	{name: "disabled and enabled again", yaml: "profiles: [{plugins: {multiPoint: {disabled: [{name: NodePorts}], enabled: [{name: NodePorts}]}}}]"},
	{name: "MultiPoint cleared", yaml: `profiles:
- plugins:
    multiPoint:
      disabled: [{name: "*"}]
      enabled: [{name: PrioritySort}, {name: DefaultBinder}, {name: NodeResourcesFit, weight: 2}]`},
	{name: "MultiPoint cleared, points named", yaml: `profiles:
- plugins:
    multiPoint: {disabled: [{name: "*"}]}
    queueSort: {enabled: [{name: PrioritySort}]}
    bind: {enabled: [{name: DefaultBinder}]}
    filter: {enabled: [{name: NodeName}, {name: NodeResourcesFit}]}
    preFilter: {enabled: [{name: NodeResourcesFit}]}`},
	{name: "order at one point", yaml: "profiles: [{plugins: {filter: {enabled: [{name: InterPodAffinity}, {name: NodePorts}], disabled: [{name: NodeName}]}}}]"},
	{name: "every point with something disabled", yaml: `profiles:
- plugins:
    preEnqueue: {disabled: [{name: SchedulingGates}]}
    preFilter: {disabled: [{name: NodePorts}]}
    filter: {disabled: [{name: NodePorts}]}
    postFilter: {disabled: [{name: DefaultPreemption}]}
    preScore: {disabled: [{name: TaintToleration}]}
    score: {disabled: [{name: TaintToleration}]}
    reserve: {disabled: [{name: VolumeBinding}]}
    permit: {disabled: [{name: X}]}
    preBind: {disabled: [{name: VolumeBinding}]}
    bind: {disabled: [{name: X}]}
    postBind: {disabled: [{name: X}]}
    placementGenerate: {disabled: [{name: X}]}
    placementScore: {disabled: [{name: X}]}
    podGroupPostFilter: {disabled: [{name: DynamicResources}]}`},
	{name: "volumes and devices disabled", yaml: "profiles: [{plugins: {multiPoint: {disabled: [{name: VolumeBinding}, {name: DynamicResources}, {name: VolumeZone}, {name: VolumeRestrictions}, {name: NodeVolumeLimits}]}}}]"},
	{name: "volumes at a point", yaml: "profiles: [{plugins: {score: {enabled: [{name: VolumeBinding, weight: 3}]}, preBind: {enabled: [{name: DynamicResources}]}}}]"},
	{name: "DefaultPreemption args", yaml: "profiles: [{pluginConfig: [{name: DefaultPreemption, args: {minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 5}}]}]"},
	{name: "InterPodAffinity args", yaml: "profiles: [{pluginConfig: [{name: InterPodAffinity, args: {hardPodAffinityWeight: 0, ignorePreferredTermsOfExistingPods: true}}]}]"},
	{name: "NodeAffinity args", yaml: `profiles:
- pluginConfig:
  - name: NodeAffinity
    args:
      addedAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          nodeSelectorTerms:
          - matchExpressions: [{key: foo, operator: In, values: [bar]}, {key: e, operator: Exists}]
        preferredDuringSchedulingIgnoredDuringExecution:
        - weight: 3
          preference: {matchFields: [{key: metadata.name, operator: NotIn, values: [node-1]}]}`},
	{name: "NodeResourcesFit most allocated", yaml: `profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy:
        type: MostAllocated
        resources: [{name: cpu, weight: 1}, {name: memory}, {name: example.com/gpu, weight: 3}]`},
	{name: "NodeResourcesFit ratio", yaml: `profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args:
      apiVersion: kubescheduler.config.k8s.io/v1
      kind: NodeResourcesFitArgs
      scoringStrategy:
        type: RequestedToCapacityRatio
        resources: [{name: intel.com/foo, weight: 3}, {name: intel.com/bar, weight: 5}]
        requestedToCapacityRatio:
          shape: [{utilization: 0, score: 0}, {utilization: 100, score: 10}]`},
	{name: "NodeResourcesFit ignored resources", yaml: "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {ignoredResources: [example.com/a], ignoredResourceGroups: [example.com]}}]}]"},
	{name: "NodeResourcesFit type alone", yaml: "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: LeastAllocated}}}]}]"},
	{name: "NodeResourcesFit empty lists", yaml: "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {ignoredResources: [], scoringStrategy: {type: MostAllocated, resources: []}}}]}]"},
	{name: "balanced allocation", yaml: "profiles: [{pluginConfig: [{name: NodeResourcesBalancedAllocation, args: {resources: [{name: cpu}, {name: example.com/a, weight: 1}]}}]}]"},
	{name: "spreading by default constraints", yaml: `profiles:
- schedulerName: default-scheduler
  pluginConfig:
  - name: PodTopologySpread
    args:
      defaultConstraints:
      - {maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: ScheduleAnyway}
      defaultingType: List`},
	{name: "spreading, every field", yaml: `profiles:
- pluginConfig:
  - name: PodTopologySpread
    args:
      defaultConstraints:
      - {maxSkew: 2, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, minDomains: 3, nodeAffinityPolicy: Ignore, nodeTaintsPolicy: Honor, matchLabelKeys: [app]}
      defaultingType: List`},
	{name: "spreading without defaults", yaml: "profiles: [{pluginConfig: [{name: PodTopologySpread, args: {defaultConstraints: [], defaultingType: List}}]}]"},
	{name: "VolumeBinding args", yaml: "profiles: [{pluginConfig: [{name: VolumeBinding, args: {bindTimeoutSeconds: 60, shape: [{utilization: 0, score: 0}, {utilization: 50, score: 7}]}}]}]"},
	{name: "1.36 emulated", yaml: "parallelism: 1", flags: []string{"--emulated-version=1.36"}},
	{name: "1.35 emulated", yaml: "parallelism: 1", flags: []string{"--emulated-version=kube=1.35"}},
	{name: "1.34 emulated, all that was beta", yaml: "parallelism: 1", flags: []string{"--emulated-version=1.34", "--feature-gates=AllBeta=true"}},
	{name: "VolumeBinding without storage scores", yaml: "profiles: [{pluginConfig: [{name: VolumeBinding, args: {bindTimeoutSeconds: 0}}]}]", flags: []string{"--feature-gates=StorageCapacityScoring=false"}},
	{name: "DynamicResources args", yaml: "profiles: [{pluginConfig: [{name: DynamicResources, args: {filterTimeout: 0s, bindingTimeout: 90s}}]}]"},
	{name: "DynamicResources without time limits", yaml: "parallelism: 1", flags: []string{"--feature-gates=DRASchedulerFilterTimeout=false,DRADeviceBindingConditions=false"}},
	{name: "args of a plugin that is disabled", yaml: "profiles: [{plugins: {multiPoint: {disabled: [{name: NodeAffinity}]}}, pluginConfig: [{name: NodeAffinity, args: {addedAffinity: {}}}]}]"},
	{name: "args of plugins without a kind", yaml: "profiles: [{pluginConfig: [{name: NodeName, args: {a: [1, x]}}, {name: PrioritySort}, {name: Foreign, args: {b: 1}}]}]"},
	{name: "args that are null or missing", yaml: "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: null}, {name: InterPodAffinity}, {name: NodeAffinity, args: {}}]}]"},
	{name: "an extender with every field", yaml: `extenders:
- urlPrefix: https://127.0.0.1:8888/x
  filterVerb: filter
  preemptVerb: preempt
  prioritizeVerb: prioritize
  weight: 5
  bindVerb: bind
  enableHTTPS: true
  tlsConfig: {insecure: true, serverName: s}
  httpTimeout: 100ms
  nodeCacheCapable: true
  managedResources: [{name: example.com/foo, ignoredByScheduler: true}, {name: example.com/bar}]
  ignorable: true`},
	{name: "extenders with little", yaml: `extenders: [{urlPrefix: "http://a"}, {urlPrefix: "http://b", filterVerb: f, httpTimeout: 0s, tlsConfig: null}]`},
	{name: "leader election flags over a file", yaml: "leaderElection: {leaderElect: true, leaseDuration: 30s}", flags: []string{"--leader-elect=false", "--leader-elect-lease-duration=1m", "--leader-elect-renew-deadline=50s", "--leader-elect-retry-period=4s", "--leader-elect-resource-name=r", "--leader-elect-resource-namespace=rns"}},
	{name: "deprecated flags do not touch a file", yaml: "parallelism: 2", flags: []string{"--kube-api-qps=7", "--kube-api-burst=8", "--kube-api-content-type=application/json", "--profiling=false", "--contention-profiling=false"}},
	{name: "deprecated flags without a file", flags: []string{"--kube-api-qps=7.5", "--kube-api-burst=8", "--kube-api-content-type=application/json", "--profiling=false", "--contention-profiling=false"}},
	{name: "leader election flags without a file", flags: []string{"--leader_elect=false", "--leader-elect-resource-lock=leases"}},
	{name: "a gate that adds a plugin", flags: []string{"--feature-gates=GenericWorkload=true"}},
	{name: "gates that add plugins", yaml: "parallelism: 1", flags: []string{"--feature-gates=kube:GenericWorkload=true,kube:TopologyAwareWorkloadScheduling=true", "--feature-gates=kube:InPlacePodVerticalScalingSchedulerPreemption=true"}},
	{name: "every alpha feature", flags: []string{"--feature-gates=AllAlpha=true,AllBeta=true"}},
	{name: "kubeadm's command line", flags: []string{"--bind-address=127.0.0.1", "--leader-elect=true", "--authentication-kubeconfig=KUBECONFIG", "--authorization-kubeconfig=KUBECONFIG"}},
}

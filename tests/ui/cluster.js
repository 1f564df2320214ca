// SPDX-License-Identifier: Apache-2.0
// A made-up cluster as `kubectl get -o json` would print it: three zones, four pools, Deployments and
// DaemonSets of several priorities, and some pods that fit nowhere. The same numbers, the same cluster.
import {createWriteStream} from 'node:fs';
import {once} from 'node:events';

const kPools = [
  {name: 'general', share: 0.6, cpu: 16, memory: 64},
  {name: 'compute', share: 0.2, cpu: 32, memory: 64},
  {name: 'memory', share: 0.15, cpu: 16, memory: 128},
  {name: 'gpu', share: 0.05, cpu: 32, memory: 128, gpu: 4},
];
const kSizes = [[500, 2048], [1000, 3072], [1500, 6144], [2000, 8192], [4000, 16384], [6000, 20480]];
const kPriorities = [0, 0, 0, 0, 100, 1000, 100000];
const kTeams = ['shop', 'search', 'ads', 'mail', 'maps', 'data', 'auth'];

// mulberry32
function random(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

function node(i, total) {
  let share = i / total;
  const pool = kPools.find((one) => (share -= one.share) < 0) ?? kPools[0];
  const allocatable = {cpu: `${pool.cpu}`, memory: `${pool.memory}Gi`, pods: '110', 'ephemeral-storage': '200Gi'};
  if (pool.gpu) allocatable['example.com/gpu'] = `${pool.gpu}`;
  const spec = i % 250 === 7 ? {unschedulable: true, taints: [{key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule'}]}
    : pool.gpu ? {taints: [{key: 'example.com/gpu', value: 'present', effect: 'NoSchedule'}]} : {};
  return {
    apiVersion: 'v1', kind: 'Node',
    metadata: {
      name: `${pool.name}-${String(i).padStart(4, '0')}`, uid: `node-${i}`,
      labels: {
        'kubernetes.io/hostname': `${pool.name}-${String(i).padStart(4, '0')}`,
        'topology.kubernetes.io/zone': `zone-${'abc'[i % 3]}`,
        'cloud.google.com/gke-nodepool': pool.name,
      },
      creationTimestamp: '2024-02-03T04:05:06Z',
    },
    spec, status: {allocatable, conditions: [{type: 'Ready', status: 'True'}, {type: 'DiskPressure', status: i % 100 === 9 ? 'True' : 'False'}]},
  };
}

function pod(name, namespace, owner, [cpu, memory], priority, more = {}) {
  return {
    apiVersion: 'v1', kind: 'Pod',
    metadata: {
      name, namespace, uid: `${namespace}/${name}`, creationTimestamp: more.created,
      labels: owner.kind === 'ReplicaSet' ? {app: owner.app, 'pod-template-hash': 'abc12'} : {app: owner.app},
      ownerReferences: [{apiVersion: 'apps/v1', kind: owner.kind, name: owner.name, uid: `uid-${owner.name}`, controller: true}],
    },
    spec: {
      schedulerName: 'default-scheduler', priority,
      containers: [{name: 'main', image: 'example.com/app:1', resources: {requests: {cpu: `${cpu}m`, memory: `${memory}Mi`, ...more.requests}}}],
      ...more.spec,
    },
    status: {phase: more.spec?.nodeName ? 'Running' : 'Pending'},
  };
}

/** All objects, one by one. Of the pods that have a node, `unplaced` have none yet. */
export function* objects({nodes, pods, unplaced = 0, seed = 1}) {
  const draw = random(seed);
  const names = [];
  const room = [];
  for (let i = 0; i < nodes; ++i) {
    const made = node(i, nodes);
    names.push(made.metadata.name);
    room.push({cpu: 1000 * Number(made.status.allocatable.cpu), memory: 1024 * parseInt(made.status.allocatable.memory), pods: 110});
    yield made;
  }
  for (const team of kTeams) yield {apiVersion: 'v1', kind: 'Namespace', metadata: {name: team, uid: team}};
  const pending = [
    // No node is as large.
    ...[0, 1, 2].map((i) => pod(`web-large-abc12-${i}`, 'shop', {kind: 'ReplicaSet', name: 'web-large-abc12', app: 'web-large'}, [48000, 4096], 0)),
    // Nothing has the label.
    ...[0, 1].map((i) => pod(`index-${i}`, 'search', {kind: 'StatefulSet', name: 'index', app: 'index'}, [500, 512], 100, {created: '2024-02-03T04:05:06Z', spec: {nodeSelector: {disk: 'nvme'}, tolerations: [{key: 'example.com/gpu', operator: 'Exists', effect: 'NoSchedule'}]}})),
    // Does not tolerate the taint of the only nodes that have it.
    pod('train-0', 'data', {kind: 'Job', name: 'train', app: 'train'}, [1000, 1024], 1000, {requests: {'example.com/gpu': '1'}}),
    // Gated.
    pod('later-0', 'data', {kind: 'Job', name: 'later', app: 'later'}, [1000, 1024], 0, {spec: {schedulingGates: [{name: 'example.com/quota'}]}}),
    // Fits: it came after the picture was taken.
    pod('fresh-0', 'auth', {kind: 'Job', name: 'fresh', app: 'fresh'}, [250, 256], 0),
  ];
  yield* pending;
  let left = unplaced;
  const perNode = Math.floor((pods - pending.length) / nodes);
  const extra = pods - pending.length - perNode * nodes;
  for (let i = 0; i < nodes; ++i) {
    const wanted = perNode + (i < extra ? 1 : 0);
    for (let k = 0; k < wanted; ++k) {
      const team = kTeams[Math.floor(draw() * draw() * kTeams.length)];
      const app = `app-${Math.floor(draw() * draw() * 12)}`;
      const daemon = k === 0;
      const size = daemon ? [100, 128] : kSizes[Math.floor(draw() * draw() * kSizes.length)];
      const fits = room[i].cpu >= size[0] && room[i].memory >= size[1] ? size : [10, 16];
      room[i].cpu -= fits[0];
      room[i].memory -= fits[1];
      const owner = daemon ? {kind: 'DaemonSet', name: 'agent', app: 'agent'} : {kind: 'ReplicaSet', name: `${app}-abc12`, app};
      yield pod(`${owner.name}-${i}-${k}`, daemon ? 'data' : team, owner, fits, daemon ? 100000 : kPriorities[Math.floor(draw() * (kPriorities.length - 1))], !daemon && left-- > 0 ? {} : {spec: {nodeName: names[i]}});
    }
  }
}

/** Writes the cluster to a file. */
export async function write(file, options) {
  const out = createWriteStream(file);
  let separator = '{"apiVersion":"v1","kind":"List","items":[';
  for (const object of objects(options)) {
    if (!out.write(separator + JSON.stringify(object))) await once(out, 'drain');
    separator = ',\n';
  }
  out.end(']}\n');
  await once(out, 'finish');
}

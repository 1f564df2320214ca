// SPDX-License-Identifier: Apache-2.0
// The cluster's columns (docs/ui.md) as typed arrays, and what the map shows of them at one step.

import {byName} from './dom.js';

const kForEver = 0xffffffff;

function amounts(member, rows) {
  const values = new Float64Array(rows);
  if (Array.isArray(member)) {
    values.set(member);
  } else {
    member.rows.forEach((row, i) => { values[row] = member.values[i]; });
  }
  return values;
}

function columns(member, rows) {
  return new Map(Object.entries(member).map(([name, some]) => [name, amounts(some, rows)]));
}

const until = (list) => Uint32Array.from(list, (step) => step ?? kForEver);

export class Model {
  constructor(document) {
    const {nodes, pods} = document;
    this.cluster = document.cluster;
    this.zones = document.zones;
    this.pools = document.pools;
    this.namespaces = document.namespaces;
    this.owners = document.owners;
    this.numNodes = nodes.name.length;
    this.node = {
      name: nodes.name,
      zone: Uint32Array.from(nodes.zone),
      pool: Uint32Array.from(nodes.pool),
      from: Uint32Array.from(nodes.from),
      until: until(nodes.until),
      cordoned: new Uint8Array(this.numNodes),
      allocatable: columns(nodes.allocatable, this.numNodes),
    };
    for (const row of nodes.cordoned) this.node.cordoned[row] = 1;
    // Every cluster is asked about these, also one whose nodes have none.
    for (const name of ['cpu', 'memory']) {
      if (!this.node.allocatable.has(name)) this.node.allocatable.set(name, new Float64Array(this.numNodes));
    }
    this.node.allocatable.set('pods', Float64Array.from(nodes.allowedPods));
    this.numPods = pods.name.length;
    this.pod = {
      name: pods.name,
      namespace: Uint32Array.from(pods.namespace),
      node: Int32Array.from(pods.node),
      owner: Uint32Array.from(pods.owner),
      priority: Int32Array.from(pods.priority),
      from: Uint32Array.from(pods.from),
      until: until(pods.until),
      requests: columns(pods.requests, this.numPods),
    };
    this.pod.requests.set('pods', new Float64Array(this.numPods).fill(1));
    this.resources = [...this.node.allocatable.keys()];
    // By zone, pool and name: the order of the map, and of the table at first.
    const {zone, pool, name} = this.node;
    const rank = (names) => {
      const order = names.map((_, i) => i).sort((a, b) => byName(names[a], names[b]));
      const ranks = new Uint32Array(names.length);
      order.forEach((number, i) => { ranks[number] = i; });
      return ranks;
    };
    const zoneRank = rank(this.zones);
    const poolRank = rank(this.pools);
    const nameRank = rank(name);
    this.order = Uint32Array.from(name.keys()).sort((a, b) =>
      zoneRank[zone[a]] - zoneRank[zone[b]] || poolRank[pool[a]] - poolRank[pool[b]] || nameRank[a] - nameRank[b]);
    this.states = new Map();
  }

  /** namespace/name */
  podKey(row) {
    return `${this.namespaces[this.pod.namespace[row]]}/${this.pod.name[row]}`;
  }
  zoneName(row) { return this.zones[this.node.zone[row]] || 'no zone'; }
  poolName(row) { return this.pools[this.node.pool[row]] || 'no pool'; }
  ownerName(row) { return this.owners[this.pod.owner[row]] || 'no owner'; }

  lastStep() { return this.cluster.decisions; }

  /** The cluster after `step` decisions; the last one asked for is kept. */
  at(step) {
    if (!this.states.has(step)) {
      this.states.clear();
      this.states.set(step, new State(this, step));
    }
    return this.states.get(step);
  }
}

/** Which rows hold at one step, the pods of each node, and what they take. */
export class State {
  constructor(model, step) {
    this.model = model;
    const {node, pod, numNodes, numPods} = model;
    this.nodes = model.order.filter((row) => node.from[row] <= step && step < node.until[row]);
    this.pending = [];
    this.numPods = 0;
    const first = new Uint32Array(numNodes + 1);
    const here = new Uint8Array(numPods);
    for (let row = 0; row < numPods; ++row) {
      if (pod.from[row] > step || step >= pod.until[row]) continue;
      here[row] = 1;
      ++this.numPods;
      if (pod.node[row] < 0) {
        this.pending.push(row);
      } else {
        ++first[pod.node[row] + 1];
      }
    }
    for (let i = 0; i < numNodes; ++i) first[i + 1] += first[i];
    const next = first.slice();
    this.firstPod = first;
    this.placed = new Uint32Array(first[numNodes]);
    for (let row = 0; row < numPods; ++row) {
      if (here[row] && pod.node[row] >= 0) this.placed[next[pod.node[row]]++] = row;
    }
    this.sums = new Map();
  }

  podsOf(node) { return this.placed.subarray(this.firstPod[node], this.firstPod[node + 1]); }

  /** What the pods of each node ask for. */
  requested(resource) {
    let sums = this.sums.get(resource);
    if (sums === undefined) {
      sums = new Float64Array(this.model.numNodes);
      const requests = this.model.pod.requests.get(resource);
      const {node} = this.model.pod;
      if (requests !== undefined) for (const row of this.placed) sums[node[row]] += requests[row];
      this.sums.set(resource, sums);
    }
    return sums;
  }

  allocatable(resource) { return this.model.node.allocatable.get(resource); }

  /** Of all nodes together, or of those given. */
  total(resource, nodes = this.nodes) {
    const requested = this.requested(resource);
    const allocatable = this.allocatable(resource);
    let part = 0;
    let whole = 0;
    for (const row of nodes) {
      part += requested[row];
      whole += allocatable[row];
    }
    return {part, whole};
  }

  findNode(name) {
    return this.nodes.find((row) => this.model.node.name[row] === name);
  }
}

/**
 * Pods in at most eight kinds by what is asked for, 'priority' or 'owner': `of` is each row's kind,
 * `kinds` tells their labels and how many pods they have; the last is all the rest.
 */
export function kindsOf(model, state, by) {
  const column = by === 'priority' ? model.pod.priority : model.pod.owner;
  const label = (value) => (by === 'priority' ? `priority ${value}` : model.owners[value] || 'no owner');
  const counts = new Map();
  for (const row of state.placed) counts.set(column[row], (counts.get(column[row]) ?? 0) + 1);
  const kMost = 8;
  let values = [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a));
  const rest = values.length > kMost ? values.slice(kMost - 1) : [];
  values = values.slice(0, values.length - rest.length);
  if (by === 'priority') values.sort((a, b) => b - a);
  const kinds = values.map((value) => ({label: label(value), pods: counts.get(value)}));
  const numbers = new Map(values.map((value, i) => [value, i]));
  if (rest.length > 0) {
    const pods = rest.reduce((sum, value) => sum + counts.get(value), 0);
    kinds.push({label: by === 'priority' ? 'other priorities' : 'other owners', pods, rest: true});
  }
  const of = new Uint8Array(model.numPods);
  for (const row of state.placed) of[row] = numbers.get(column[row]) ?? values.length;
  return {kinds, of};
}

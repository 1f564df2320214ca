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
      created: Float64Array.from(pods.created),
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
  namespaceName(row) { return this.namespaces[this.pod.namespace[row]]; }
  /** Whether the pod is of the namespace; '' is all of them. */
  isOf(namespace, row) { return namespace === '' || this.namespaceName(row) === namespace; }
  /** When the pod of this key was made; 0: unknown. */
  createdOf(key) {
    this.rowsByKey ??= new Map(Array.from(this.at(this.lastStep()).pending, (row) => [this.podKey(row), row]));
    return this.pod.created[this.rowsByKey.get(key)] ?? 0;
  }
  /** The rows of the pods with these keys, by key. */
  rowsOf(keys) {
    const {pending, placed} = this.at(this.lastStep());
    const rows = new Map();
    for (const some of [pending, placed]) {
      for (const row of some) {
        const key = this.podKey(row);
        if (keys.has(key)) rows.set(key, row);
      }
    }
    return rows;
  }
  /** The same cluster after moves, each [row of the pod, row of the node], and the cordon of a node, or of none: -1. */
  after(moves, cordoned) {
    const other = Object.create(this);
    other.states = new Map();
    other.pod = {...this.pod, node: this.pod.node.slice()};
    for (const [pod, node] of moves) other.pod.node[pod] = node;
    if (cordoned >= 0) {
      other.node = {...this.node, cordoned: this.node.cordoned.slice()};
      other.node.cordoned[cordoned] = 1;
    }
    return other;
  }
  /** When the picture was taken, in seconds. */
  taken() { return this.cluster.taken / 1000; }
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

// Priorities with a colour of their own; owners, and namespaces of the other owners.
const kMostPriorities = 8;
const kMostOwners = 21;
const kMostNamespaces = 14;

/**
 * Pods in kinds by what is asked for, 'priority' or 'owner': `of` is each row's kind, `kinds` tells
 * their labels, how many pods they have, and their `colour`: [a number, how it is shaded]. The largest
 * owners are kinds of their own, the others one for each namespace. Pods of other namespaces than the
 * one that is looked at, and all that is left, are `rest`.
 */
export function kindsOf(model, state, by, namespace = '') {
  const counts = new Map(); // pods by value
  const column = by === 'priority' ? model.pod.priority : model.pod.owner;
  const looked = [];
  const others = [];
  for (const row of state.placed) (model.isOf(namespace, row) ? looked : others).push(row);
  for (const row of looked) counts.set(column[row], (counts.get(column[row]) ?? 0) + 1);
  const bySize = (some) => [...some.keys()].sort((a, b) => some.get(b) - some.get(a));
  const most = by === 'priority' ? kMostPriorities : kMostOwners;
  let values = bySize(counts);
  if (values.length > most) values = values.slice(0, most - 1);
  if (by === 'priority') values.sort((a, b) => b - a);
  const kinds = values.map((value, i) => ({
    label: by === 'priority' ? `priority ${value}` : model.owners[value] || 'no owner', pods: counts.get(value), colour: [i % 7, Math.floor(i / 7)],
  }));
  const numbers = new Map(values.map((value, i) => [value, i]));
  const of = new Uint8Array(model.numPods);
  const left = [];
  for (const row of looked) {
    const number = numbers.get(column[row]);
    if (number === undefined) left.push(row);
    else of[row] = number;
  }
  const add = (rows, kind) => {
    if (rows.length === 0) return;
    for (const row of rows) of[row] = kinds.length;
    kinds.push({...kind, pods: rows.length});
  };
  if (by === 'owner') {
    const rowsOf = new Map();
    for (const row of left) {
      const name = model.namespaceName(row);
      if (!rowsOf.has(name)) rowsOf.set(name, []);
      rowsOf.get(name).push(row);
    }
    const names = [...rowsOf.keys()].sort((a, b) => rowsOf.get(b).length - rowsOf.get(a).length);
    names.slice(0, kMostNamespaces).forEach((name, i) => add(rowsOf.get(name), {label: `other owners in ${name}`, colour: [i % 7, 3 + Math.floor(i / 7)]}));
    add(names.slice(kMostNamespaces).flatMap((name) => rowsOf.get(name)), {label: 'other owners', rest: true});
  } else {
    add(left, {label: 'other priorities', rest: true});
  }
  add(others, {label: 'other namespaces', rest: true});
  return {kinds, of};
}

// SPDX-License-Identifier: Apache-2.0
// The map's colours, from the style sheet, and how it is laid out. Nodes are cells in rows, by zone
// and pool; what lies where is worked out once, and a frame draws what is to be seen.

import {amount, counted, percent} from './dom.js';

/** Cells, smallest first. The larger ones show names and pods. */
export const kSizes = [
  {width: 8, height: 20, gap: 2},
  {width: 12, height: 30, gap: 2},
  {width: 20, height: 44, gap: 3},
  {width: 36, height: 64, gap: 4},
  {width: 92, height: 84, gap: 8, named: true},
  {width: 150, height: 132, gap: 10, named: true},
];
const kZoneHeight = 40;
const kPoolHeight = 26;
const kMargin = 16;
const kNameHeight = 16;
const kHeadingWidth = 250; // of a pool's
const kPoolGap = 26;
const kBarb = 9; // of an arrow's head

/** How a colour is shaded: what it is mixed with, and how much of that; the last two are paler. */
const kShades = [['--surface', 0], ['--surface', 0.4], ['--text', 0.35], ['--surface', 0.66], ['--kind-rest', 0.66]];

/** #rrggbb, of two of these. */
function mix(colour, other, part) {
  const channels = (text) => [1, 3, 5].map((i) => parseInt(text.slice(i, i + 2), 16));
  const to = channels(other);
  return `#${channels(colour).map((value, i) => Math.round(value + part * (to[i] - value)).toString(16).padStart(2, '0')).join('')}`;
}

export class Colours {
  constructor() {
    const style = getComputedStyle(document.documentElement);
    const get = (name) => style.getPropertyValue(name).trim();
    this.text = get('--text');
    this.dim = get('--text-dim');
    this.track = get('--track');
    this.mark = get('--mark');
    this.surface = get('--surface');
    this.use = [0, 1, 2, 3, 4].map((i) => get(`--use-${i}`));
    this.kinds = [0, 1, 2, 3, 4, 5, 6].map((i) => get(`--kind-${i}`));
    this.shades = kShades.map(([other, part]) => this.kinds.map((colour) => mix(colour, get(other), part)));
    this.rest = get('--kind-rest');
  }
  ofUse(ratio) { return this.use[Math.min(4, Math.floor(ratio * 5))]; }
  ofKind({rest, colour}) { return rest ? this.rest : this.shades[colour[1]][colour[0]]; }
}

/**
 * Where everything lies on a map `width` wide. Rows, top down: headings, and lines of cells. Pools of
 * one zone whose nodes need but one line stand side by side, so rows may have the same y.
 */
export class Layout {
  constructor(model, nodes, state, resource, size, width) {
    this.size = size;
    this.rows = [];
    this.rowOf = new Map(); // by node: [index of the row, position in it]
    const {zone: zones, pool: pools} = model.node;
    const right = width - kMargin;
    const step = size.width + size.gap;
    const perLine = Math.max(1, Math.floor((right - kMargin + size.gap) / step));
    const pitch = size.height + size.gap + (size.named ? kNameHeight : 0);
    let y = 4;
    let band = null; // pools side by side
    const heading = (kind, x, height, title, of) => {
      const {part, whole} = state.total(resource, of);
      const note = `${counted(of.length, 'node')} · ${percent(part, whole)} of ${amount(resource, whole)} ${resource}`;
      this.rows.push({kind, x, y, height, title, note, nodes: []});
    };
    const line = (x, at, some) => {
      some.forEach((node, i) => this.rowOf.set(node, [this.rows.length, i]));
      this.rows.push({kind: 'nodes', x, y: at, height: pitch, nodes: some});
    };
    const endBand = () => {
      if (band === null) return;
      for (const [x, some] of band.lines) line(x, band.y + kPoolHeight, some);
      y = band.y + kPoolHeight + pitch;
      band = null;
    };
    for (let i = 0; i < nodes.length;) {
      const pool = run(nodes, i, (node) => zones[node] === zones[nodes[i]] && pools[node] === pools[nodes[i]]);
      if (i === 0 || zones[nodes[i]] !== zones[nodes[i - 1]]) {
        endBand();
        heading('zone', kMargin, kZoneHeight, model.zoneName(nodes[i]), run(nodes, i, (node) => zones[node] === zones[nodes[i]]));
        y += kZoneHeight;
      }
      const long = Math.max(kHeadingWidth, pool.length * step);
      if (band === null || pool.length > perLine || band.x + long > right) {
        endBand();
        band = {x: kMargin, y, lines: []};
      }
      heading('pool', band.x, kPoolHeight, model.poolName(nodes[i]), pool);
      if (pool.length <= perLine) {
        band.lines.push([band.x, pool]);
        band.x += long + kPoolGap;
      } else {
        band = null;
        y += kPoolHeight;
        for (let k = 0; k < pool.length; k += perLine, y += pitch) line(kMargin, y, pool.subarray(k, k + perLine));
      }
      i += pool.length;
    }
    endBand();
    this.height = y + kMargin;
  }

  /** The rows that reach into [top, bottom). */
  visible(top, bottom) {
    let low = 0;
    let high = this.rows.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.rows[middle].y + this.rows[middle].height <= top) low = middle + 1;
      else high = middle;
    }
    let end = low;
    while (end < this.rows.length && this.rows[end].y < bottom) ++end;
    return this.rows.slice(low, end);
  }

  x(row, position) { return row.x + position * (this.size.width + this.size.gap); }

  /** The node at a point, or -1. */
  nodeAt(x, y) {
    for (const row of this.visible(y, y + 1)) {
      const position = Math.floor((x - row.x) / (this.size.width + this.size.gap));
      if (position >= 0 && position < row.nodes.length) return row.nodes[position];
    }
    return -1;
  }

  /** The node that lies one step away, for arrow keys; the same where there is none. */
  step(node, dx, dy) {
    const found = this.rowOf.get(node);
    if (found === undefined) return this.rows.find(({nodes}) => nodes.length > 0)?.nodes[0] ?? -1;
    const [index, position] = found;
    const from = this.rows[index];
    if (dx !== 0 && position + dx >= 0 && position + dx < from.nodes.length) return from.nodes[position + dx];
    if (dx !== 0) {
      for (let i = index + dx; i >= 0 && i < this.rows.length; i += dx) {
        const {nodes} = this.rows[i];
        if (nodes.length > 0) return nodes[dx > 0 ? 0 : nodes.length - 1];
      }
      return node;
    }
    // The nearest of the next lines, which may stand side by side.
    const x = this.x(from, position);
    const pitch = this.size.width + this.size.gap;
    let nearest = node;
    let distance = Infinity;
    let y;
    for (let i = index + dy; i >= 0 && i < this.rows.length; i += dy) {
      const row = this.rows[i];
      if (row.nodes.length === 0 || row.y === from.y) continue;
      y ??= row.y;
      if (row.y !== y) break;
      const at = Math.min(Math.max(0, Math.round((x - row.x) / pitch)), row.nodes.length - 1);
      if (Math.abs(this.x(row, at) - x) >= distance) continue;
      distance = Math.abs(this.x(row, at) - x);
      nearest = row.nodes[at];
    }
    return nearest;
  }

  boxOf(node) {
    const found = this.rowOf.get(node);
    if (found === undefined) return null;
    const row = this.rows[found[0]];
    return {x: this.x(row, found[1]), y: row.y, width: this.size.width, height: row.height};
  }
}

/** As many as follow from `first` on and are alike. */
function run(nodes, first, alike) {
  let end = first;
  while (end < nodes.length && alike(nodes[end])) ++end;
  return nodes.subarray(first, end);
}

/** How much of each node each kind of pods takes, a share of what the node has: [node * kinds + kind]. */
export function sharesOf(model, state, resource, kinds, of) {
  const shares = new Float32Array(model.numNodes * kinds.length);
  const requests = model.pod.requests.get(resource);
  const allocatable = state.allocatable(resource);
  if (requests === undefined) return shares;
  for (const pod of state.placed) {
    const node = model.pod.node[pod];
    if (allocatable[node] > 0) shares[node * kinds.length + of[pod]] += requests[pod] / allocatable[node];
  }
  return shares;
}

/**
 * Draws what lies in [top, top + height) of the layout. `scene` has model, state, resource, by
 * ('use', 'priority' or 'owner'), and with the latter two kinds, shares and the kind to show alone
 * (`only`, or -1). `marks` are frames around nodes, and `arrows` lead from one node to another.
 */
export function paint(context, layout, scene, colours, top, width, height, {marks, arrows}) {
  context.clearRect(0, 0, width, height);
  context.textBaseline = 'middle';
  for (const row of layout.visible(top, top + height)) {
    const y = row.y - top;
    if (row.kind !== 'nodes') {
      paintHeading(context, row, y, colours);
    } else {
      paintCells(context, layout, row, y, scene, colours);
    }
  }
  for (const mark of marks) {
    const box = layout.boxOf(mark.node);
    if (box === null) continue;
    context.strokeStyle = mark.colour;
    context.lineWidth = mark.width;
    context.setLineDash(mark.dashed ? [5, 3] : []);
    context.strokeRect(box.x - 1.5, box.y - top - 1.5, box.width + 3, layout.size.height + 3);
  }
  context.setLineDash([]);
  for (const [from, to] of arrows) paintArrow(context, layout, from, to, top, colours);
}

/** From the middle of one node to that of another, with an edge that sets it off. */
function paintArrow(context, layout, from, to, top, colours) {
  const boxes = [from, to].map((node) => layout.boxOf(node));
  if (boxes.includes(null)) return;
  const [[x, y], [endX, endY]] = boxes.map((box) => [box.x + box.width / 2, box.y - top + layout.size.height / 2]);
  const angle = Math.atan2(endY - y, endX - x);
  const barb = (turn) => [endX - kBarb * Math.cos(angle + turn), endY - kBarb * Math.sin(angle + turn)];
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(endX, endY);
  context.moveTo(...barb(0.45));
  context.lineTo(endX, endY);
  context.lineTo(...barb(-0.45));
  for (const [colour, width] of [[colours.surface, 5], [colours.mark, 2]]) {
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.stroke();
  }
}

function paintHeading(context, row, y, colours) {
  const zone = row.kind === 'zone';
  const middle = y + row.height - (zone ? 15 : 13);
  context.font = zone ? '600 15px system-ui, sans-serif' : '600 12px system-ui, sans-serif';
  context.fillStyle = zone ? colours.text : colours.dim;
  context.fillText(row.title, row.x, middle);
  const after = row.x + context.measureText(row.title).width + 10;
  context.font = '12px system-ui, sans-serif';
  context.fillStyle = colours.dim;
  context.fillText(row.note, after, middle + (zone ? 1 : 0));
}

function paintCells(context, layout, row, y, scene, colours) {
  const {size} = layout;
  const {state, model, resource} = scene;
  const requested = state.requested(resource);
  const allocatable = state.allocatable(resource);
  row.nodes.forEach((node, i) => {
    const x = layout.x(row, i);
    const has = allocatable[node] > 0;
    context.fillStyle = colours.track;
    if (has) {
      context.fillRect(x, y, size.width, size.height);
    } else {
      // It has nothing of the resource.
      context.fillRect(x, y + size.height - 2, size.width, 2);
    }
    if (has && scene.by === 'use') {
      const ratio = Math.min(1, requested[node] / allocatable[node]);
      const tall = Math.round(ratio * size.height);
      context.fillStyle = colours.ofUse(ratio);
      context.fillRect(x, y + size.height - tall, size.width, tall);
    } else if (has) {
      paintStack(context, x, y, size, node, scene, colours);
    }
    if (model.node.cordoned[node]) paintCordon(context, x, y, size, colours);
    if (size.named) paintName(context, x, y + size.height + 9, size.width, model.node.name[node], colours);
  });
}

function paintStack(context, x, y, size, node, scene, colours) {
  const {kinds, shares, only} = scene;
  let bottom = size.height;
  for (let i = 0; i < kinds.length; ++i) {
    const share = shares[node * kinds.length + i];
    if (share === 0) continue;
    const tall = share * size.height;
    context.fillStyle = only < 0 || only === i ? colours.ofKind(kinds[i]) : colours.dim;
    context.globalAlpha = only < 0 || only === i ? 1 : 0.18;
    context.fillRect(x, y + Math.max(0, bottom - tall), size.width, Math.min(tall, Math.max(0, bottom)));
    bottom -= tall;
  }
  context.globalAlpha = 1;
}

/** A cordoned node is crossed out. */
function paintCordon(context, x, y, size, colours) {
  context.strokeStyle = colours.text;
  context.lineWidth = size.width > 30 ? 1.5 : 1;
  context.beginPath();
  context.moveTo(x, y + size.height);
  context.lineTo(x + size.width, y);
  context.stroke();
  context.strokeRect(x + 0.5, y + 0.5, size.width - 1, size.height - 1);
}

function paintName(context, x, y, width, name, colours) {
  context.font = '11px system-ui, sans-serif';
  context.fillStyle = colours.text;
  let text = name;
  if (context.measureText(text).width > width) {
    // The end tells nodes apart.
    while (text.length > 1 && context.measureText(`…${text}`).width > width) text = text.slice(1);
    text = `…${text}`;
  }
  context.fillText(text, x, y);
}

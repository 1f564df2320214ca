// SPDX-License-Identifier: Apache-2.0
// The map of nodes as a drawing, which views show.

import {amount, announce, counted, h, percent} from './dom.js';
import {Colours, kSizes, Layout, paint, sharesOf} from './paint.js';

/** "general-0007, zone-a, general: cpu 73 %, 10 pods" */
export function describe(model, state, resource, node) {
  const requested = state.requested(resource)[node];
  const allocatable = state.allocatable(resource)[node];
  return `${model.node.name[node]}, ${model.zoneName(node)}, ${model.poolName(node)}: ` +
    `${resource} ${amount(resource, requested)} of ${amount(resource, allocatable)} (${percent(requested, allocatable)}), ` +
    `${counted(state.podsOf(node).length, 'pod')}${model.node.cordoned[node] ? ', cordoned' : ''}`;
}

/**
 * The drawing, which scrolls and answers to mouse and keyboard. `view` has the model, the state and
 * the nodes of it to show, how they are shown (resource, by, kinds, sizeAsked), `highlights` (marks
 * and arrows, and the nodes to scroll to whenever `of` changes), and `open`, which opens a node;
 * `twin` says where the same stands as text.
 */
export class Canvas {
  constructor(view, twin) {
    this.view = view;
    this.twin = twin;
    this.current = -1; // the node that keys or the mouse are on
    this.canvas = h('canvas', {
      tabIndex: 0, id: 'map', role: 'application',
      onkeydown: (event) => this.onKey(event),
      onpointermove: (event) => this.onPoint(event),
      onpointerleave: () => { this.current = -1; this.tip.hidden = true; this.draw(); },
      onclick: (event) => this.openAt(event),
      onblur: () => { this.tip.hidden = true; },
    });
    this.space = h('div', {className: 'map-space'});
    this.tip = h('div', {className: 'tip', hidden: true, 'aria-hidden': 'true'});
    this.scroller = h('div', {className: 'map-scroll', onscroll: () => { this.tip.hidden = true; this.draw(); }}, this.canvas, this.space);
    this.nothing = h('p', {className: 'empty'}, 'No node matches.');
    this.element = h('div', {className: 'map-frame'}, this.scroller, this.tip, this.nothing);
    this.colours = new Colours();
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const recolour = () => { this.colours = new Colours(); this.draw(); };
    dark.addEventListener('change', recolour);
    const observer = new ResizeObserver(() => this.layOut());
    observer.observe(this.scroller);
    this.stop = () => {
      dark.removeEventListener('change', recolour);
      observer.disconnect();
    };
  }

  close() {
    this.stop();
    cancelAnimationFrame(this.frame);
  }

  update() {
    const {nodes} = this.view;
    this.nothing.hidden = nodes.length > 0;
    // Rows are those of one picture.
    if (this.picture !== this.view.page.model) this.current = -1;
    this.picture = this.view.page.model;
    this.canvas.setAttribute('aria-label', `Map of ${counted(nodes.length, 'node')}. Arrow keys go from node to node, Enter opens one. ${this.twin}`);
    this.layOut();
  }

  layOut() {
    const {view} = this;
    const width = this.scroller.clientWidth;
    const height = this.scroller.clientHeight;
    if (width === 0 || height === 0) return;
    const {model} = view;
    const layOut = (number) => new Layout(model, view.nodes, view.state, view.resource, kSizes[number], width);
    if (view.sizeAsked >= 0) {
      this.layout = layOut(view.sizeAsked);
    } else {
      // The largest cells with which all nodes are to be seen, or the smallest.
      let number = kSizes.length - 1;
      while ((this.layout = layOut(number)).height > height && number > 0) --number;
      const field = view.element.querySelector('#size');
      if (field !== null) field.value = number;
    }
    const scale = window.devicePixelRatio || 1;
    if (this.width !== width || this.height !== height || this.scale !== scale) {
      this.canvas.width = Math.round(width * scale);
      this.canvas.height = Math.round(height * scale);
      this.canvas.style.width = `${width}px`;
      this.canvas.style.height = `${height}px`;
    }
    this.space.style.height = `${Math.max(0, this.layout.height - height)}px`;
    this.context = this.canvas.getContext('2d');
    this.context.setTransform(scale, 0, 0, scale, 0, 0);
    this.width = width;
    this.height = height;
    this.scale = scale;
    if (this.current >= 0 && !this.layout.rowOf.has(this.current)) this.current = -1;
    this.scene = {model, state: view.state, resource: view.resource, by: view.by, only: -1};
    if (view.kinds !== null) {
      this.scene.only = view.kindNumber();
      this.scene.kinds = view.kinds.kinds;
      this.scene.shares = sharesOf(model, view.state, view.resource, view.kinds.kinds, view.kinds.of);
    }
    const {of, nodes} = view.highlights(this.colours);
    if (this.shown !== of) nodes.forEach((node) => this.bringUp(node));
    this.shown = of;
    this.paint();
  }

  /** With the next frame, however often it is asked for. */
  draw() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.paint());
  }

  paint() {
    if (this.layout === undefined) return;
    const {view, colours} = this;
    const {marks, arrows} = view.highlights(colours);
    if (this.current >= 0) marks.push({node: this.current, colour: colours.text, width: 2});
    paint(this.context, this.layout, this.scene, colours, this.scroller.scrollTop, this.width, this.height, {marks, arrows});
    if (performance.getEntriesByName('map-drawn').length === 0) performance.mark('map-drawn');
  }

  pointOf(event) {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  onPoint(event) {
    const [x, y] = this.pointOf(event);
    const node = this.layout?.nodeAt(x, y + this.scroller.scrollTop) ?? -1;
    if (node !== this.current) this.goTo(node);
  }

  openAt(event) {
    const [x, y] = this.pointOf(event);
    const node = this.layout?.nodeAt(x, y + this.scroller.scrollTop) ?? -1;
    if (node >= 0) this.view.open(this.view.model.node.name[node]);
  }

  onKey(event) {
    const steps = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};
    const step = steps[event.key];
    if (step !== undefined && this.layout !== undefined) {
      event.preventDefault();
      const from = this.current >= 0 ? this.current : this.view.highlights(this.colours).nodes.at(-1) ?? -1;
      const node = this.layout.step(from, ...step);
      this.bringUp(node);
      this.goTo(node);
      if (node >= 0) announce(describe(this.view.model, this.view.state, this.view.resource, node));
    } else if (event.key === 'Enter' && this.current >= 0) {
      this.view.open(this.view.model.node.name[this.current]);
    } else if (event.key === 'Escape') {
      this.view.open('');
    }
  }

  /** Scrolls a node into what is to be seen. */
  bringUp(node) {
    const box = this.layout.boxOf(node);
    if (box === null) return;
    if (box.y < this.scroller.scrollTop + 70) this.scroller.scrollTop = box.y - 70;
    if (box.y + box.height > this.scroller.scrollTop + this.height) this.scroller.scrollTop = box.y + box.height - this.height + 8;
  }

  goTo(node) {
    this.current = node;
    this.canvas.style.cursor = node >= 0 ? 'pointer' : 'default';
    const box = node >= 0 ? this.layout.boxOf(node) : null;
    this.tip.hidden = box === null;
    if (box !== null) {
      const {model, resource, state} = this.view;
      const part = state.requested(resource)[node];
      const whole = state.allocatable(resource)[node];
      this.tip.replaceChildren(
        h('strong', {}, model.node.name[node]),
        h('span', {}, `${resource}: ${amount(resource, part)} of ${amount(resource, whole)}, ${percent(part, whole)}`),
        h('span', {}, counted(state.podsOf(node).length, 'pod') + (model.node.cordoned[node] ? ' · cordoned' : '')));
      const left = Math.min(box.x + box.width + 10, this.width - this.tip.offsetWidth - 8);
      this.tip.style.left = `${left}px`;
      this.tip.style.top = `${Math.max(4, Math.min(box.y - this.scroller.scrollTop, this.height - this.tip.offsetHeight - 8))}px`;
    }
    this.draw();
  }
}

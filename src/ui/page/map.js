// SPDX-License-Identifier: Apache-2.0
// The map of the cluster, its twin the table of nodes, and the panel of one node.

import {age, amount, announce, byName, count, counted, h, meter, pager, percent, podLink} from './dom.js';
import {kindsOf} from './model.js';
import {Colours, kSizes, Layout, paint, sharesOf} from './paint.js';
import {timeline} from './timeline.js';

const kBy = [['use', 'use'], ['priority', 'priority'], ['owner', 'owner']];
const kRowsAPage = 100;
const kPodsAPage = 50;

export class MapView {
  constructor(page) {
    this.page = page;
    this.first = 0; // row of the table's page
    this.sort = {column: 'place', down: false};
    this.only = ''; // the label of the kind that is shown alone
    this.element = h('div', {className: 'map-view'});
  }

  /** Shows what the address says; parts that stay the same are kept. */
  show(parameters) {
    const {model} = this.page;
    this.step = Math.min(Number(parameters.get('step') ?? model.lastStep()), model.lastStep());
    this.resource = model.resources.includes(parameters.get('resource')) ? parameters.get('resource') : model.resources[0];
    this.by = kBy.some(([name]) => name === parameters.get('by')) ? parameters.get('by') : 'use';
    this.filter = parameters.get('filter') ?? '';
    this.asTable = parameters.get('as') === 'table';
    this.chosen = parameters.get('node') ?? '';
    this.sizeAsked = parameters.has('size') ? Math.min(kSizes.length - 1, Math.max(0, Number(parameters.get('size')))) : -1;
    this.state = model.at(this.step);
    const wanted = this.filter.toLowerCase();
    this.nodes = wanted === '' ? this.state.nodes
      : this.state.nodes.filter((row) => `${model.node.name[row]} ${model.zoneName(row)} ${model.poolName(row)}`.toLowerCase().includes(wanted));
    this.kinds = this.by === 'use' ? null : kindsOf(model, this.state, this.by, this.page.namespace);
    if (this.kindNumber() < 0) this.only = '';
    this.render();
  }

  change(changes) {
    this.page.change({...changes});
  }

  /** Another picture: what is known of a node may be old. */
  forget() { this.factsOf = undefined; }

  /** That of the kind that is shown alone, or -1. */
  kindNumber() { return this.kinds?.kinds.findIndex(({label}) => label === this.only) ?? -1; }

  /**
   * What people have in hand, a slider, a field or the drawing, stays; what only shows is made again.
   */
  render() {
    const focused = this.element.contains(document.activeElement) ? document.activeElement.id : '';
    const resources = this.page.model.resources.join();
    if (this.parts === undefined || this.parts.asTable !== this.asTable || this.parts.resources !== resources) this.build(resources);
    const {legend, main, body, panel, canvas, timeline: steps} = this.parts;
    this.setFields();
    legend.replaceChildren(this.legend());
    const node = this.chosen === '' ? undefined : this.state.findNode(this.chosen);
    body.classList.toggle('with-panel', node !== undefined);
    const scrolled = panel.firstElementChild?.scrollTop ?? 0;
    const same = this.panelOf === this.chosen;
    panel.replaceChildren(...(node === undefined ? [] : [this.panel(node)]));
    if (same && node !== undefined) panel.firstElementChild.scrollTop = scrolled;
    if (this.asTable) main.replaceChildren(this.table());
    else canvas.update();
    steps?.update(this.step);
    if (focused !== '') this.element.querySelector(`#${CSS.escape(focused)}`)?.focus({preventScroll: true});
  }

  build(resources) {
    this.parts?.canvas?.close();
    const {asTable} = this;
    const {model} = this.page;
    const canvas = asTable ? null : new Canvas(this);
    const legend = h('div', {});
    const main = asTable ? h('div', {className: 'map-table'}) : canvas.element;
    const panel = h('div', {className: 'panel-place'});
    const body = h('div', {className: 'map-body'}, h('div', {className: 'map-main'}, legend, main), panel);
    const steps = model.lastStep() > 0 ? timeline(this.page, this.step) : undefined;
    this.parts = {asTable, resources, canvas, legend, main, panel, body, timeline: steps};
    this.element.replaceChildren(
      h('h2', {className: 'unseen'}, 'Map of the cluster'), this.toolbar(), body, ...(steps === undefined ? [] : [steps.element]));
  }

  /** The address may have changed otherwise than by the fields. */
  setFields() {
    const set = (id, value) => {
      const field = this.element.querySelector(`#${id}`);
      if (field !== null && field.value !== String(value)) field.value = value;
    };
    set('resource', this.resource);
    set('filter', this.filter);
    this.element.querySelector(`#by-${this.by}`).checked = true;
    if (this.sizeAsked >= 0) set('size', this.sizeAsked);
  }

  toolbar() {
    const {model} = this.page;
    const choose = (name, value, label, checked, change) => h('label', {className: 'segment'},
      h('input', {type: 'radio', name, id: `${name}-${value}`, checked, onchange: () => this.change(change)}), h('span', {}, label));
    return h('form', {className: 'toolbar', onsubmit: (event) => event.preventDefault(), 'aria-label': 'What the map shows'},
      h('label', {className: 'field'}, h('span', {}, 'Resource'),
        h('select', {id: 'resource', onchange: (event) => this.change({resource: event.target.value})},
          model.resources.map((name) => h('option', {value: name, selected: name === this.resource}, name)))),
      h('fieldset', {className: 'segments'}, h('legend', {}, 'Colour by'),
        kBy.map(([value, label]) => choose('by', value, label, value === this.by, {by: value}))),
      h('label', {className: 'field'}, h('span', {}, 'Filter'),
        h('input', {type: 'search', id: 'filter', value: this.filter, placeholder: 'node, zone or pool', autocomplete: 'off',
          oninput: (event) => { this.first = 0; this.change({filter: event.target.value || null}); }})),
      this.asTable ? null : h('label', {className: 'field narrow'}, h('span', {}, 'Size'),
        h('input', {type: 'range', id: 'size', min: 0, max: kSizes.length - 1, step: 1, value: Math.max(0, this.sizeAsked),
          oninput: (event) => this.change({size: event.target.value})})),
      h('fieldset', {className: 'segments'}, h('legend', {}, 'As'),
        choose('as', 'map', 'map', !this.asTable, {as: null}),
        choose('as', 'table', 'table', this.asTable, {as: 'table'})));
  }

  legend() {
    const note = this.filter === '' ? null : h('span', {className: 'legend-note'}, `${counted(this.nodes.length, 'node')} of ${count(this.state.nodes.length)}`);
    if (this.by === 'use') {
      return h('div', {className: 'legend'},
        h('span', {}, `${this.resource} requested, of what the node has:`),
        h('span', {className: 'ramp', 'aria-hidden': 'true'}, [0, 1, 2, 3, 4].map((i) => h('i', {className: `use-${i}`}))),
        h('span', {className: 'legend-note'}, '0 to 100 %'), note);
    }
    const colours = new Colours();
    return h('div', {className: 'legend kinds', role: 'group', 'aria-label': `Pods by ${this.by}`},
      this.kinds.kinds.map((kind, i) => h('button', {
        type: 'button', className: 'swatch', id: `kind-${i}`, 'aria-pressed': String(this.only === kind.label),
        onclick: () => { this.only = this.only === kind.label ? '' : kind.label; this.render(); },
      }, swatch(colours.ofKind(kind)), kind.label, h('small', {}, count(kind.pods)))), note);
  }

  /** "general-0007, zone-a, general: cpu 73 %, 10 pods" */
  describe(node) {
    const {model} = this.page;
    const {state, resource} = this;
    const requested = state.requested(resource)[node];
    const allocatable = state.allocatable(resource)[node];
    return `${model.node.name[node]}, ${model.zoneName(node)}, ${model.poolName(node)}: ` +
      `${resource} ${amount(resource, requested)} of ${amount(resource, allocatable)} (${percent(requested, allocatable)}), ` +
      `${counted(state.podsOf(node).length, 'pod')}${model.node.cordoned[node] ? ', cordoned' : ''}`;
  }

  table() {
    const {model} = this.page;
    const {state} = this;
    const uses = ['cpu', 'memory', ...(['cpu', 'memory'].includes(this.resource) ? [] : [this.resource])].filter((name) => state.allocatable(name) !== undefined);
    const share = (name) => (row) => {
      const whole = state.allocatable(name)[row];
      return whole > 0 ? state.requested(name)[row] / whole : -1;
    };
    const columns = [
      {id: 'name', label: 'Node', key: (row) => model.node.name[row]},
      {id: 'zone', label: 'Zone', key: (row) => model.zoneName(row)},
      {id: 'pool', label: 'Pool', key: (row) => model.poolName(row)},
      {id: 'pods-here', label: 'Pods', number: true, key: (row) => state.podsOf(row).length},
      ...uses.map((name) => ({id: name, label: name, number: true, use: name, key: share(name)})),
      {id: 'state', label: 'State', key: (row) => (model.node.cordoned[row] ? 'cordoned' : '')},
    ];
    const column = columns.find(({id}) => id === this.sort.column);
    const rows = Array.from(this.nodes);
    if (column !== undefined) {
      const sign = this.sort.down ? -1 : 1;
      const keys = new Map(rows.map((row) => [row, column.key(row)]));
      rows.sort((a, b) => sign * (column.number ? keys.get(a) - keys.get(b) : byName(keys.get(a), keys.get(b))));
    }
    const head = ({id, label, number}) => {
      const sorted = this.sort.column === id;
      return h('th', {scope: 'col', className: number ? 'number' : '', 'aria-sort': sorted ? (this.sort.down ? 'descending' : 'ascending') : 'none'},
        h('button', {type: 'button', id: `sort-${id}`, onclick: () => {
          this.sort = {column: id, down: sorted ? !this.sort.down : Boolean(number)};
          this.first = 0;
          this.render();
        }}, label, h('span', {'aria-hidden': 'true'}, sorted ? (this.sort.down ? ' ↓' : ' ↑') : '')));
    };
    const cell = (row, {id, key, use, number}) => {
      if (id === 'name') {
        return h('th', {scope: 'row'}, h('a', {href: this.page.link({node: model.node.name[row]})}, model.node.name[row]));
      }
      if (use === undefined) return h('td', {className: number ? 'number' : ''}, String(key(row)));
      const requested = state.requested(use)[row];
      const whole = state.allocatable(use)[row];
      return h('td', {className: 'number'}, h('span', {className: 'in-cell'}, percent(requested, whole), meter(requested, whole, `${amount(use, requested)} of ${amount(use, whole)}`)));
    };
    return h('div', {className: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Table of nodes'},
      h('table', {className: 'nodes'},
        h('caption', {}, `${counted(rows.length, 'node')}, each with what its pods request of what it has`),
        h('thead', {}, h('tr', {}, columns.map(head))),
        h('tbody', {}, rows.slice(this.first, this.first + kRowsAPage).map((row) => h('tr', {}, columns.map((one) => cell(row, one)))))),
      pager(rows.length, this.first, kRowsAPage, 'nodes', (first) => { this.first = first; this.render(); }));
  }

  panel(node) {
    const {model} = this.page;
    const {state, resource} = this;
    const name = model.node.name[node];
    if (this.panelOf !== name) this.firstPod = 0;
    this.panelOf = name;
    const requests = model.pod.requests.get(resource);
    const all = Array.from(state.podsOf(node)).sort((a, b) => (requests?.[b] ?? 0) - (requests?.[a] ?? 0));
    const pods = all.filter((pod) => this.page.shows(pod));
    const resources = model.resources.filter((one) => state.allocatable(one)[node] > 0);
    const shown = [...new Set(['cpu', 'memory', resource])].filter((one) => one !== 'pods' && model.pod.requests.has(one));
    return h('aside', {className: 'panel', 'aria-label': `Node ${name}`},
      h('header', {},
        h('h3', {}, name),
        h('button', {type: 'button', className: 'close', id: 'close-panel', 'aria-label': 'Close', onclick: () => { this.change({node: null}); this.element.querySelector('canvas')?.focus(); }}, '×')),
      h('p', {className: 'dim'}, [model.zoneName(node), model.poolName(node)].join(' · '), model.node.cordoned[node] ? h('span', {className: 'badge warn'}, 'cordoned') : null),
      h('dl', {className: 'meters'}, resources.map((one) => {
        const part = state.requested(one)[node];
        const whole = state.allocatable(one)[node];
        return h('div', {}, h('dt', {}, one), h('dd', {}, meter(part, whole, percent(part, whole)), h('span', {}, `${amount(one, part)} of ${amount(one, whole)}`)));
      })),
      h('p', {className: 'actions'},
        h('a', {className: 'button', href: `#/what-if?drain=${encodeURIComponent(name)}`}, 'What if drained'),
        h('a', {className: 'button', href: `#/what-if?like=${encodeURIComponent(name)}`}, 'More like it')),
      this.facts(name),
      h('h4', {}, pods.length === all.length ? counted(pods.length, 'pod') : `${counted(pods.length, 'pod')} in ${this.page.namespace}, of ${count(all.length)}`),
      h('table', {},
        h('thead', {}, h('tr', {}, h('th', {scope: 'col'}, 'Pod'), h('th', {scope: 'col', className: 'number'}, 'Age'), h('th', {scope: 'col', className: 'number'}, 'Priority'), shown.map((one) => h('th', {scope: 'col', className: 'number'}, one)))),
        h('tbody', {}, pods.slice(this.firstPod, this.firstPod + kPodsAPage).map((pod) => h('tr', {},
          h('th', {scope: 'row'}, h('a', {href: podLink(model.podKey(pod))}, model.podKey(pod))),
          h('td', {className: 'number'}, age(model.pod.created[pod], model.taken())),
          h('td', {className: 'number'}, count(model.pod.priority[pod])),
          shown.map((one) => h('td', {className: 'number'}, amount(one, model.pod.requests.get(one)[pod]))))))),
      pager(pods.length, this.firstPod, kPodsAPage, 'pods', (first) => { this.firstPod = first; this.render(); }));
  }

  /** Conditions, taints and labels of a node, once they have been asked for. */
  facts(name) {
    const place = h('div', {className: 'node-facts'});
    const fill = (facts) => place.replaceChildren(...nodeFacts(facts, this.page.model));
    if (this.nodeFacts?.name === name) fill(this.nodeFacts);
    const {model} = this.page;
    if (this.factsOf === name) return place;
    this.factsOf = name;
    this.page.askFor('api/node', {node: name}).then((facts) => {
      this.nodeFacts = facts;
      if (this.factsOf === name && model === this.page.model) this.element.querySelector('.node-facts')?.replaceChildren(...nodeFacts(facts, model));
    }, (error) => place.replaceChildren(h('p', {className: 'dim'}, error.message)));
    return place;
  }

  close() {
    this.parts?.canvas?.close();
    this.parts = undefined;
  }
}

function swatch(colour) {
  const box = h('i', {});
  box.style.background = colour;
  return box;
}

function nodeFacts({conditions, created, labels, taints}, model) {
  const kind = ({type, status}) => ((type === 'Ready') === (status === 'True') ? 'good' : 'bad');
  const list = (title, texts) => [h('h4', {}, title), texts.length === 0 ? h('p', {className: 'dim'}, 'none') : h('ul', {className: 'plain tight'}, texts.map((text) => h('li', {}, h('code', {}, text))))];
  return [
    h('p', {className: 'dim'}, `Age ${age(created, model.taken())}${model.cluster.recording ? '; what follows is of the recording’s end' : ''}`),
    h('h4', {}, 'Conditions'),
    conditions.length === 0 ? h('p', {className: 'dim'}, 'none')
      : h('p', {className: 'conditions'}, conditions.map((one) => h('span', {className: `badge ${kind(one)}`}, `${one.type}: ${one.status}`))),
    ...list('Taints', taints.map(({key, value, effect}) => `${key}${value === undefined ? '' : `=${value}`}:${effect}`)),
    ...list('Labels', Object.entries(labels).map(([key, value]) => `${key}=${value}`)),
  ];
}

/** The drawing, which scrolls and answers to mouse and keyboard. */
class Canvas {
  constructor(view) {
    this.view = view;
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
    if (this.model !== this.view.page.model) this.current = -1;
    this.model = this.view.page.model;
    this.canvas.setAttribute('aria-label', `Map of ${counted(nodes.length, 'node')}. Arrow keys go from node to node, Enter opens one. “As table” shows the same as text.`);
    this.layOut();
  }

  layOut() {
    const {view} = this;
    const width = this.scroller.clientWidth;
    const height = this.scroller.clientHeight;
    if (width === 0 || height === 0) return;
    const {model} = view.page;
    const layOut = (number) => new Layout(model, view.nodes, view.state, view.resource, kSizes[number], width);
    if (view.sizeAsked >= 0) {
      this.layout = layOut(view.sizeAsked);
    } else {
      // The largest cells with which all nodes are to be seen, or the smallest.
      let number = kSizes.length - 1;
      while ((this.layout = layOut(number)).height > height && number > 0) --number;
      view.element.querySelector('#size').value = number;
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
    this.scene = {model, state: view.state, resource: view.resource, by: view.by, only: view.kindNumber()};
    if (view.kinds !== null) {
      this.scene.kinds = view.kinds.kinds;
      this.scene.shares = sharesOf(model, view.state, view.resource, view.kinds.kinds, view.kinds.of);
    }
    const chosen = this.chosenNode();
    if (chosen >= 0 && this.shown !== view.chosen) this.bringUp(chosen);
    this.shown = view.chosen;
    this.paint();
  }

  chosenNode() {
    const {chosen, state} = this.view;
    return (chosen === '' ? undefined : state.findNode(chosen)) ?? -1;
  }

  /** With the next frame, however often it is asked for. */
  draw() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.paint());
  }

  paint() {
    if (this.layout === undefined) return;
    const {view, colours} = this;
    const marks = [];
    const chosen = this.chosenNode();
    if (chosen >= 0) marks.push([chosen, colours.mark, 3]);
    if (this.current >= 0) marks.push([this.current, colours.text, 2]);
    paint(this.context, this.layout, this.scene, colours, this.scroller.scrollTop, this.width, this.height, marks);
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
    if (node >= 0) this.view.change({node: this.view.page.model.node.name[node]});
  }

  onKey(event) {
    const steps = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};
    const step = steps[event.key];
    if (step !== undefined && this.layout !== undefined) {
      event.preventDefault();
      const node = this.layout.step(this.current >= 0 ? this.current : this.chosenNode(), ...step);
      this.bringUp(node);
      this.goTo(node);
      if (node >= 0) announce(this.view.describe(node));
    } else if (event.key === 'Enter' && this.current >= 0) {
      this.view.change({node: this.view.page.model.node.name[this.current]});
    } else if (event.key === 'Escape' && this.view.chosen !== '') {
      this.view.change({node: null});
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
      const {model} = this.view.page;
      const {resource, state} = this.view;
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


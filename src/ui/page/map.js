// SPDX-License-Identifier: Apache-2.0
// The map of the cluster, its twin the table of nodes, and the panel of one node.

import {Canvas} from './canvas.js';
import {age, amount, byName, count, counted, h, meter, pager, percent, planLink, podLink} from './dom.js';
import {kindsOf} from './model.js';
import {Colours, kSizes} from './paint.js';
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

  get model() { return this.page.model; }

  /** Opens a node's panel; '': closes it. */
  open(node) { this.change({node}); }

  /** What the drawing shows beside the nodes: the chosen node. */
  highlights(colours) {
    const node = this.chosen === '' ? undefined : this.state.findNode(this.chosen);
    const nodes = node === undefined ? [] : [node];
    return {of: this.chosen, nodes, marks: nodes.map((one) => ({node: one, colour: colours.mark, width: 3})), arrows: []};
  }

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
    const canvas = asTable ? null : new Canvas(this, '“As table” shows the same as text.');
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
        h('a', {className: 'button', href: planLink(`empty=${name}`)}, 'Empty this node'),
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

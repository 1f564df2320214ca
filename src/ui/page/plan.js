// SPDX-License-Identifier: Apache-2.0
// A plan (docs/plan.md): the moves that reach a goal, one after the other, on the map of the nodes.

import {Canvas} from './canvas.js';
import {amount, announce, commandBox, count, counted, h, meter, nodeLink, pager, percent, planLink, podLink} from './dom.js';

const kStepsAPage = 50;
const kRowsAPage = 20;
const kMostArrows = 200;
const kMostSuggested = 40;
// Goals that mean something else in each namespace: those of no one pod, and a pod or workload by its name alone.
const kOfNamespace = /^(pending(=.*)?|fit=((pods?|po)\/)?[^/]*|skew=[^/]*\/[^/]*(@.*)?)$/;
const kOutcomes = {found: ['found', 'good'], partly: ['for some of the pods', 'warn'], impossible: ['impossible', 'bad'], notFound: ['none found', 'bad']};

/** Text as one word of a shell. */
const quoted = (text) => (/^[\w./=,:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** Only for pods that wait others may be evicted for good. */
const kServesPods = /^(fit=|pending)/;

const evicts = ({from}) => from !== undefined;
/** Evicted for good: the pod in its place waits. */
const isLost = ({to}) => to === undefined;

const moveText = (move) => {
  if (isLost(move)) return `${move.pod} leaves ${move.from} for good`;
  return evicts(move) ? `${move.pod} moves from ${move.from} to ${move.to}` : `${move.pod} gets ${move.to}`;
};
const freesText = ({frees = {}}) => Object.entries(frees).map(([resource, value]) => `${amount(resource, value)} ${resource}`).join(', ');

export class PlanView {
  constructor(page) {
    this.page = page;
    // Of the drawing: it is coloured by use, and as large as there is room.
    this.by = 'use';
    this.kinds = null;
    this.sizeAsked = -1;
    this.field = h('input', {name: 'goal', id: 'goal', required: true, autocomplete: 'off', spellcheck: false, list: 'goal-names', placeholder: 'fit=NAMESPACE/NAME',
      oninput: () => this.suggest(), onfocus: () => this.suggest()});
    this.suggestions = h('datalist', {id: 'goal-names'});
    this.evict = h('input', {type: 'checkbox', id: 'evict'});
    this.stop = h('button', {type: 'button', id: 'stop', hidden: true, onclick: () => this.abort?.abort()}, 'Stop searching');
    this.answerPlace = h('div', {});
    this.mapPlace = h('div', {className: 'plan-map'});
    this.element = h('div', {className: 'column two plan'},
      h('div', {}, h('h2', {}, 'Plan'),
        h('p', {className: 'lead'}, 'Few moves of pods that make room, empty a node, spread a workload or make use of what is stranded. Each state on the way is allowed. Nothing is moved from here.'),
        this.form(), this.answerPlace),
      this.mapPlace);
  }

  form() {
    return h('form', {className: 'card ask', onsubmit: (event) => { event.preventDefault(); this.find(this.field.value.trim()); }},
      h('label', {className: 'field wide'}, h('span', {}, 'Goal'), this.field, this.suggestions),
      h('p', {className: 'dim'}, 'fit=POD, pending, pending=PRIORITY, empty=NODE, skew=NAMESPACE/KIND/NAME:MAX or stranded=RESOURCE:AMOUNT'),
      h('label', {}, this.evict, ' Pods of lower priority may be evicted for good (fit and pending)'),
      h('p', {className: 'actions'},
        h('button', {type: 'submit', className: 'primary', id: 'find'}, 'Find moves'), this.stop,
        h('a', {className: 'button', href: planLink('pending')}, 'For all pending pods')));
  }

  suggest() {
    const {model} = this.page;
    const text = this.field.value;
    const found = [];
    const add = (goal) => { if (found.length < kMostSuggested && goal.includes(text)) found.push(goal); };
    add('pending');
    const state = model.at(model.lastStep());
    for (const row of state.pending) if (this.page.shows(row)) add(`fit=${model.podKey(row)}`);
    for (const row of state.nodes) add(`empty=${model.node.name[row]}`);
    this.suggestions.replaceChildren(...found.map((value) => h('option', {value})));
  }

  show(parameters) {
    const goal = parameters.get('goal') ?? '';
    const at = Number(parameters.get('at') ?? 0);
    if (goal !== this.goal) this.field.value = goal;
    if (at !== this.at) this.firstStep = this.firstNode = undefined;
    this.goal = goal;
    this.at = at;
    this.resource = parameters.get('resource') ?? '';
    const evict = parameters.get('evict') === '1';
    this.evict.checked = evict;
    if (goal === '') return this.drop();
    const {namespace} = this.page;
    const question = namespace !== '' && kOfNamespace.test(goal) ? {goal, namespace} : {goal};
    if (evict && kServesPods.test(goal)) question.evict = true;
    if (JSON.stringify(question) !== this.asked) this.ask(question);
    else if (this.answer !== undefined) this.update();
  }

  /** Also where the same has been asked before. */
  find(goal) {
    this.asked = undefined;
    this.page.change({goal, at: null, evict: this.evict.checked ? '1' : null});
  }

  async ask(question) {
    this.drop();
    this.asked = JSON.stringify(question);
    const abort = this.abort = new AbortController();
    const {model} = this.page;
    this.stop.hidden = false;
    this.answerPlace.replaceChildren(h('p', {className: 'dim'}, 'Searching for moves …'));
    try {
      const answer = await this.page.post('api/plan', question, {signal: abort.signal});
      if (abort !== this.abort) return;
      this.take(answer, model);
      announce(answer.summary);
    } catch (error) {
      if (abort !== this.abort) return;
      this.answerPlace.replaceChildren(error.name === 'AbortError' ? h('p', {className: 'dim', role: 'alert'}, 'Stopped.') : h('p', {className: 'problem', role: 'alert'}, error.message));
    }
    this.abort = undefined;
    this.stop.hidden = true;
  }

  /** Nothing is asked, and no answer there any more. */
  drop() {
    const {abort} = this;
    this.abort = this.asked = this.answer = undefined;
    abort?.abort();
    this.stop.hidden = true;
    this.closeMap();
    this.answerPlace.replaceChildren();
  }

  closeMap() {
    this.canvas?.close();
    this.canvas = undefined;
    this.mapPlace.replaceChildren();
  }

  /** Other views' questions come first. */
  close() {
    if (this.answer === undefined) this.drop();
    else this.closeMap();
  }

  /** `model` is the cluster that was asked about. */
  take(answer, model) {
    const {moves = []} = answer;
    const state = model.at(model.lastStep());
    const pods = model.rowsOf(new Set(moves.map(({pod}) => pod)));
    const nodes = new Map(Array.from(state.nodes, (row) => [model.node.name[row], row]));
    const node = (name) => nodes.get(name) ?? -1;
    this.answer = answer;
    this.asOf = model;
    this.moves = moves.map((move) => ({...move, row: pods.get(move.pod) ?? -1, fromRow: node(move.from), toRow: node(move.to)}));
    this.emptied = answer.goal.startsWith('empty=') ? node(answer.goal.slice('empty='.length)) : -1;
    this.touched = [...new Set(this.moves.flatMap(({fromRow, toRow}) => [fromRow, toRow]))].filter((row) => row >= 0);
    this.firstStep = this.firstNode = undefined;
    this.firstLeft = 0;
    this.old = h('p', {className: 'dim', id: 'plan-old'}, 'The cluster has changed since. ', h('button', {type: 'button', onclick: () => this.find(this.goal)}, 'Search again'));
    this.bar = this.moves.length === 0 ? undefined : this.makeBar();
    this.list = h('div', {});
    this.table = h('div', {});
    const [text, kind] = kOutcomes[answer.outcome] ?? [answer.outcome, 'warn'];
    this.answerPlace.replaceChildren(h('section', {className: 'answer', 'aria-label': 'Answer'},
      h('p', {className: 'message large', id: 'headline'}, answer.summary, ' ', h('span', {className: `badge ${kind}`}, text)),
      this.old, this.bar?.element ?? null, this.list, this.commands()));
    this.update();
  }

  /** What carries the plan out; null where there is nothing to do. */
  commands() {
    const {goal, namespace, evict, outcome} = this.answer;
    // A plan without moves cordons the node that it empties.
    const has = this.emptied >= 0 || this.moves.some(evicts);
    if (!has || !['found', 'partly'].includes(outcome)) return null;
    const asked = `--goal ${quoted(goal)}${namespace === undefined ? '' : ` -n ${quoted(namespace)}`}${evict ? ' --evict' : ''}`;
    return h('section', {className: 'card'}, h('h3', {}, 'Carry it out'),
      h('p', {className: 'dim'}, 'The first command searches once more, as the live cluster is then; the second one evicts pods, within their budgets.'),
      commandBox([`berth plan ${asked} -o yaml > plan.yaml`, 'berth plan --apply plan.yaml'], 'copy-plan'));
  }

  makeBar() {
    const last = this.moves.length;
    const say = h('output', {});
    const slider = h('input', {type: 'range', min: 0, max: last, step: 1, id: 'plan-at', 'aria-label': 'Moves made so far', oninput: () => this.go(Number(slider.value))});
    const back = h('button', {type: 'button', id: 'plan-back', 'aria-label': 'One move back', onclick: () => this.go(this.at - 1)}, '‹');
    const on = h('button', {type: 'button', id: 'plan-on', 'aria-label': 'One move on', onclick: () => this.go(this.at + 1)}, '›');
    const update = () => {
      slider.value = this.at;
      back.disabled = this.at === 0;
      on.disabled = this.at === last;
      const done = `${count(this.at)} of ${counted(last, 'step')}`;
      say.replaceChildren(...(this.at === 0 ? [`${done}: the cluster as it is`] : [`${done} · `, h('b', {}, moveText(this.moves[this.at - 1]))]));
      slider.setAttribute('aria-valuetext', say.textContent);
    };
    return {element: h('div', {className: 'timeline', role: 'group', 'aria-label': 'Steps'}, back, slider, on, say), update};
  }

  go(to) {
    const at = Math.min(this.moves.length, Math.max(0, to));
    this.page.change({at: at === 0 ? null : at});
  }

  /** Shows the cluster after as many moves as the address says. */
  update() {
    this.at = Math.min(this.moves.length, Math.max(0, Math.trunc(this.at) || 0));
    const {asOf} = this;
    if (!asOf.resources.includes(this.resource)) this.resource = asOf.resources[0];
    const done = this.moves.slice(0, this.at).filter((move) => move.row >= 0 && (move.toRow >= 0 || isLost(move))).map(({row, toRow}) => [row, toRow]);
    this.model = asOf.after(done, this.at > 0 ? this.emptied : -1);
    this.state = this.model.at(this.model.lastStep());
    this.nodes = this.state.nodes;
    const focused = this.element.contains(document.activeElement) ? document.activeElement.id : '';
    this.old.hidden = asOf === this.page.model;
    this.bar?.update();
    this.list.replaceChildren(...this.waves(), this.domains(), this.leftOut());
    if (this.touched.length > 0) this.showMap();
    if (focused !== '') this.element.querySelector(`#${CSS.escape(focused)}`)?.focus({preventScroll: true});
  }

  /** The steps that are on the page, wave by wave. */
  waves() {
    const first = this.firstStep ?? Math.floor(Math.max(0, this.at - 1) / kStepsAPage) * kStepsAPage;
    const waves = [];
    this.moves.slice(first, first + kStepsAPage).forEach((move, i) => {
      if (waves.at(-1)?.wave !== move.wave) waves.push({wave: move.wave, first: first + i + 1, moves: []});
      waves.at(-1).moves.push(move);
    });
    return [
      ...waves.map((one) => h('section', {className: 'wave', 'aria-label': `Wave ${one.wave}`},
        h('h3', {}, `Wave ${one.wave} `, one.wave === 1 ? null : h('small', {}, 'once the pods that moved before are ready again')),
        one.first === 1 && this.emptied >= 0 ? h('p', {className: 'dim'}, `${this.asOf.node.name[this.emptied]} is cordoned first.`) : null,
        h('ol', {className: 'moves', start: one.first}, one.moves.map((move, i) => this.step(move, one.first + i))))),
      pager(this.moves.length, first, kStepsAPage, 'steps', (to) => { this.firstStep = to; this.update(); }) ?? '',
    ];
  }

  step(move, number) {
    const frees = freesText(move);
    return h('li', {},
      h('button', {type: 'button', id: `step-${number}`, 'aria-current': number === this.at ? 'step' : undefined, onclick: () => this.go(number)}, moveText(move)), ' ',
      frees === '' ? null : h('small', {}, `frees ${frees}`), ' ', h('a', {href: podLink(move.pod), 'aria-label': `Pod ${move.pod}`}, 'pod'));
  }

  /** How many pods of the workload each domain has, before and after all moves. */
  domains() {
    const {domains = []} = this.answer;
    if (domains.length === 0) return '';
    return h('section', {className: 'card', id: 'domains'}, h('h3', {}, 'Pods by domain'),
      h('div', {className: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Pods by domain'}, h('table', {},
        h('thead', {}, h('tr', {}, h('th', {scope: 'col'}, 'Domain'), h('th', {scope: 'col', className: 'number'}, 'Pods'), h('th', {scope: 'col', className: 'number'}, 'After'))),
        h('tbody', {}, domains.map(({domain, before, after}) => h('tr', {},
          h('th', {scope: 'row'}, domain), h('td', {className: 'number'}, count(before)), h('td', {className: 'number'}, count(after))))))));
  }

  leftOut() {
    const {leftOut = [], goal} = this.answer;
    if (leftOut.length === 0) return '';
    const title = /^(fit|pending)/.test(goal) ? 'Pods that still wait' : goal.startsWith('empty=') ? 'Pods that hold the node' : 'Pods that stay';
    return h('section', {className: 'card', id: 'left-out'}, h('h3', {}, title),
      h('div', {className: 'scroll', tabIndex: 0, role: 'region', 'aria-label': title}, h('table', {},
        h('thead', {}, h('tr', {}, h('th', {scope: 'col'}, 'Pod'), h('th', {scope: 'col'}, 'Why'))),
        h('tbody', {}, leftOut.slice(this.firstLeft, this.firstLeft + kRowsAPage).map(({pod, why}) => h('tr', {},
          h('th', {scope: 'row'}, h('a', {href: podLink(pod)}, pod)), h('td', {className: 'why'}, why)))))),
      pager(leftOut.length, this.firstLeft, kRowsAPage, 'pods', (to) => { this.firstLeft = to; this.update(); }));
  }

  showMap() {
    if (this.canvas === undefined) {
      this.canvas = new Canvas(this, 'The table of the plan’s nodes has the same as text.');
      this.select = h('select', {id: 'plan-resource', onchange: (event) => this.page.change({resource: event.target.value})},
        this.asOf.resources.map((name) => h('option', {value: name}, name)));
      this.mapPlace.replaceChildren(
        h('div', {className: 'toolbar'},
          h('label', {className: 'field'}, h('span', {}, 'Resource'), this.select),
          h('p', {className: 'legend'}, 'Dashed: the pod leaves. Solid: the pod comes.')),
        this.canvas.element, this.table);
    }
    this.select.value = this.resource;
    this.table.replaceChildren(this.nodeTable());
    this.canvas.update();
  }

  /** The step that was made last, or, before the first, all of them. */
  shownMoves() { return this.at === 0 ? this.moves.slice(0, kMostArrows) : [this.moves[this.at - 1]]; }

  /** Of the drawing. */
  highlights(colours) {
    const marks = [];
    const arrows = [];
    const there = (row) => row >= 0;
    for (const {fromRow, toRow} of this.shownMoves()) {
      if (there(fromRow)) marks.push({node: fromRow, colour: colours.mark, width: 2, dashed: true});
      if (there(toRow)) marks.push({node: toRow, colour: colours.mark, width: 3});
      if (there(fromRow) && there(toRow)) arrows.push([fromRow, toRow]);
    }
    const {fromRow, toRow} = this.at === 0 ? {fromRow: -1, toRow: -1} : this.moves[this.at - 1];
    return {of: this.at, nodes: [fromRow, toRow].filter(there), marks, arrows};
  }

  /** Opens a node on the map of the cluster as it is. */
  open(node) { if (node !== '') location.hash = nodeLink(node); }

  /** The plan's nodes as they are now, those of the step first. */
  nodeTable() {
    const {model, state} = this;
    const uses = [...new Set(['cpu', 'memory', this.resource])];
    const last = this.at === 0 ? undefined : this.moves[this.at - 1];
    const concerned = last === undefined ? [] : [last.fromRow, last.toRow].filter((row) => row >= 0);
    const rows = [...concerned, ...this.touched.filter((row) => !concerned.includes(row))];
    const first = this.firstNode ?? 0;
    const says = (row) => [last?.fromRow === row ? 'the pod has left' : '', last?.toRow === row ? 'the pod has come' : '', model.node.cordoned[row] ? 'cordoned' : ''].filter((text) => text !== '').join(', ');
    const use = (row, resource) => {
      const part = state.requested(resource)[row];
      const whole = state.allocatable(resource)[row];
      return h('td', {className: 'number'}, h('span', {className: 'in-cell'}, percent(part, whole), meter(part, whole, `${amount(resource, part)} of ${amount(resource, whole)}`)));
    };
    return h('section', {className: 'card', id: 'plan-nodes'},
      h('div', {className: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Nodes of the plan'}, h('table', {className: 'nodes'},
        h('caption', {}, `${counted(rows.length, 'node')} of the plan, ${this.at === 0 ? 'as the cluster is' : `after ${count(this.at)} of ${counted(this.moves.length, 'step')}`}`),
        h('thead', {}, h('tr', {}, h('th', {scope: 'col'}, 'Node'), ['Pods', ...uses.filter((name) => name !== 'pods')].map((name) => h('th', {scope: 'col', className: 'number'}, name)), h('th', {scope: 'col'}, 'State'))),
        h('tbody', {}, rows.slice(first, first + kRowsAPage).map((row) => h('tr', {className: concerned.includes(row) ? 'current' : ''},
          h('th', {scope: 'row'}, h('a', {href: nodeLink(model.node.name[row])}, model.node.name[row])),
          h('td', {className: 'number'}, count(state.podsOf(row).length)),
          uses.filter((name) => name !== 'pods').map((name) => use(row, name)),
          h('td', {}, says(row))))))),
      pager(rows.length, first, kRowsAPage, 'nodes', (to) => { this.firstNode = to; this.update(); }));
  }
}

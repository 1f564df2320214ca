// SPDX-License-Identifier: Apache-2.0
// One pod: why it is where it is, or nowhere, and what would let it schedule.

import {age, amount, announce, byName, commandBox, count, counted, h, meter, nodeLink, pager, planLink, podLink} from './dom.js';
import {badge, changesOf, isStopped, kHeld, reasonText} from './pending.js';

const kNodesAPage = 20;
const kMostFound = 50;
const kMostClaims = 50;

export class PodView {
  constructor(page) {
    this.page = page;
    this.element = h('div', {className: 'column'});
  }

  /** What is shown stays until there is something newer. */
  forget() { this.current = undefined; }

  async show(parameters, path) {
    const key = path.join('/');
    if (key === '') return this.search();
    const {model} = this.page;
    if (key === this.key && this.current === model) return;
    this.current = model;
    if (key !== this.key) {
      this.key = key;
      this.firstNode = 0;
      this.fixes = undefined;
      this.document = undefined;
      this.element.replaceChildren(h('h2', {}, key), h('p', {className: 'dim'}, 'Judging …'));
    }
    const out = () => key !== this.key || model !== this.page.model;
    try {
      const document = await this.page.askFor('api/pod', {pod: key});
      if (out()) return;
      // With the same reasons the same changes help.
      const before = this.document?.verdict.message;
      if (document.verdict.message !== before) this.fixes = undefined;
      this.document = document;
      this.render();
      if (isStuck(document) && this.fixes === undefined) await this.findFixes(key);
    } catch (error) {
      if (out()) return;
      this.key = undefined;
      this.element.replaceChildren(h('h2', {}, key), h('p', {className: 'problem', role: 'alert'}, error.message));
    }
  }

  async findFixes(key) {
    const fixes = await this.page.askFor('api/fixes', {pod: key});
    if (key !== this.key) return;
    this.fixes = fixes;
    this.render();
    announce(`${counted(fixes.fixes.length, 'change')} found that would let ${fixes.fixesOf ?? 'it'} schedule.`);
  }

  /** A field to find a pod by its name. */
  search() {
    this.key = undefined;
    const {model} = this.page;
    const typed = this.element.querySelector('#find-pod');
    const text = typed?.value ?? '';
    const inHand = typed !== null && typed === document.activeElement;
    const found = h('ul', {className: 'pods found'});
    const note = h('p', {className: 'dim', role: 'status'});
    const state = model.at(model.lastStep());
    const find = (part) => {
      const rows = [];
      let total = 0;
      const look = (row) => {
        if (!this.page.shows(row) || !model.podKey(row).includes(part)) return;
        if (++total <= kMostFound) rows.push(row);
      };
      state.pending.forEach(look);
      if (part !== '') state.placed.forEach(look);
      note.textContent = part === '' ? `${counted(total, 'pending pod')}:` : total > kMostFound ? `The first ${kMostFound} of ${count(total)}:` : `${counted(total, 'pod')}:`;
      found.replaceChildren(...rows.map((row) => h('li', {}, h('a', {href: podLink(model.podKey(row))}, model.podKey(row)),
        h('small', {}, model.pod.node[row] < 0 ? 'pending' : model.node.name[model.pod.node[row]]))));
    };
    this.element.replaceChildren(
      h('h2', {}, 'Pod'),
      h('label', {className: 'field wide'}, h('span', {}, 'Find a pod by a part of namespace/name'),
        h('input', {type: 'search', id: 'find-pod', value: text, autocomplete: 'off', oninput: (event) => find(event.target.value.trim())})),
      note, found);
    find(text.trim());
    if (inHand) this.element.querySelector('#find-pod').focus();
  }

  render() {
    const {document, key} = this;
    const {verdict} = document;
    const focused = this.element.contains(window.document.activeElement) ? window.document.activeElement.id : '';
    const opened = [...this.element.querySelectorAll('details[open]')].map(({id}) => id);
    this.element.replaceChildren(h('div', {},
      h('p', {className: 'crumb'}, h('a', {href: '#/pod'}, 'Pod')),
      h('h2', {}, key, waits(document) ? badge(resultOf(verdict)) : h('span', {className: 'badge good'}, 'placed')),
      this.facts(),
      this.selectors(document.facts),
      waits(document) ? null : placement(document),
      this.verdict(verdict)));
    for (const id of opened) window.document.getElementById(id)?.setAttribute('open', '');
    if (focused !== '') window.document.getElementById(focused)?.focus({preventScroll: true});
  }

  facts() {
    const {model} = this.page;
    const row = model.rowsOf(new Set([this.key])).get(this.key);
    if (row === undefined) return null;
    const facts = [['Owner', model.ownerName(row)], ['Age', age(model.pod.created[row], model.taken())], ['Priority', count(model.pod.priority[row])]];
    for (const [name, values] of model.pod.requests) {
      if (name !== 'pods' && values[row] > 0) facts.push([name, amount(name, values[row])]);
    }
    if (this.document.verdict.profile !== undefined) facts.push(['Profile', this.document.verdict.profile]);
    // One that waits for its resize stays where it is.
    const movable = isStuck(this.document) && model.pod.node[row] < 0;
    return [
      h('dl', {className: 'pod-facts'}, facts.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value)))),
      movable ? h('p', {className: 'actions'}, h('a', {className: 'button', id: 'plan-pod', href: planLink(`fit=${this.key}`)}, 'Make room by moving')) : null,
    ];
  }

  /** What of its spec says where it may go, and its labels. */
  selectors({labels, selectors}) {
    const rows = [['labels', Object.entries(labels).map(([name, value]) => `${name}=${value}`)], ...selectorTexts(selectors)].filter(([, texts]) => texts.length > 0);
    const key = this.key.split('/');
    return [
      rows.length === 0 ? null : h('dl', {className: 'selectors'}, rows.map(([name, texts]) => h('div', {}, h('dt', {}, name), h('dd', {}, texts.map((text) => h('code', {}, text)))))),
      h('details', {id: 'pod-commands'}, h('summary', {}, 'Commands'), commandBox([`kubectl describe pod ${key[1]} -n ${key[0]}`, `berth why pod/${key[1]} -n ${key[0]}`], 'copy-pod')),
    ];
  }

  verdict(verdict) {
    return [
      verdict.message === undefined ? null : h('p', {className: 'message large'}, verdict.message),
      verdict.extendersNotAsked === undefined ? null : h('p', {className: 'dim'}, `Extenders that were not asked: ${verdict.extendersNotAsked.join(', ')}`),
      verdict.podGroup === undefined ? null : this.podGroup(verdict.podGroup),
      isStuck(this.document) ? this.fixesCard() : null,
      this.scores(verdict),
      this.nearMisses(verdict),
      this.claims(verdict),
      this.preemption(verdict.preemption),
    ];
  }

  podGroup(group) {
    return h('section', {className: 'card'}, h('h3', {}, `Pod group ${group.podGroup}`),
      h('p', {}, group.missing ? 'There is no such PodGroup: its pods wait for it.'
        : `${hasStarted(group) ? 'It has started.' : group.starts ? 'It would start now.' : 'It would not start now.'} ${group.placed} of its ${counted(group.existing, 'pod')} on nodes, ${group.fitting} of ${group.waiting.length} waiting fit${group.minCount === undefined ? '' : `, ${group.minCount} are needed`}.`),
      group.message === undefined ? null : h('p', {className: 'message'}, group.message));
  }

  fixesCard() {
    const {fixes} = this;
    const of = fixes?.fixesOf;
    const title = h('h3', {}, of === undefined ? 'What would let it schedule' : `What would let ${of} schedule, which its group waits for`);
    if (fixes === undefined) return h('section', {className: 'card'}, title, h('p', {className: 'dim'}, 'Trying changes, of the pod and of the cluster …'));
    if (fixes.fixes.length === 0) return h('section', {className: 'card'}, title, h('p', {}, `No change was found in ${counted(fixes.tried, 'trial')}.`));
    return h('section', {className: 'card', id: 'fixes'}, title,
      h('p', {className: 'dim'}, `The smallest first; each was tried (${counted(fixes.tried, 'trial')}).${fixes.fixesCutShort ? ' There may be more.' : ''}`),
      h('ol', {className: 'fixes'}, fixes.fixes.map((fix, i) => h('li', {},
        h('div', {}, changesOf(fix)),
        h('p', {className: 'dim'}, 'then on ', nodes(fix.nodes)),
        fix.commands.length === 0 ? null : h('details', {id: `commands-${i}`}, h('summary', {}, 'Commands'), commandBox(fix.commands, `copy-${i}`))))));
  }

  nearMisses(verdict) {
    const {nearMisses} = this.document;
    if (nearMisses.length === 0) return null;
    const all = Object.keys(verdict.nodes).length;
    return h('section', {className: 'card'},
      h('h3', {}, verdict.result === 'scheduled' ? 'Nodes that do not fit' : 'Why not: nearest misses first'),
      h('div', {className: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Rejected nodes'}, h('table', {},
        h('thead', {}, h('tr', {}, h('th', {scope: 'col', className: 'number'}, 'Nodes'), h('th', {scope: 'col'}, h('span', {className: 'unseen'}, 'Share')), h('th', {scope: 'col'}, 'Reason'), h('th', {scope: 'col'}, 'Would evictions help'), h('th', {scope: 'col'}, 'Such as'))),
        h('tbody', {}, nearMisses.map((group) => h('tr', {},
          h('td', {className: 'number'}, count(group.nodes)),
          h('td', {}, meter(group.nodes, all, `${count(group.nodes)} of ${counted(all, 'node')}`)),
          h('td', {}, reasonText(group), group.inTheWay === undefined ? null : h('p', {className: 'dim'}, `${group.examples[0]}: ${group.inTheWay}`)),
          h('td', {}, group.code === 'Unschedulable' ? 'maybe' : 'no'),
          h('td', {}, nodes(group.examples, group.nodes))))))));
  }

  scores(verdict) {
    const scored = Object.entries(verdict.nodes).filter(([, node]) => node.feasible);
    if (scored.length === 0) return null;
    scored.sort(([a, x], [b, y]) => (y.total ?? 0) - (x.total ?? 0) || byName(a, b));
    const plugins = [...new Set(scored.flatMap(([, node]) => Object.entries(node.scores ?? {}).filter(([, score]) => score.weighted > 0).map(([plugin]) => plugin)))];
    const shown = scored.slice(this.firstNode, this.firstNode + kNodesAPage);
    const most = Math.max(1, ...scored.slice(0, 1).map(([, node]) => node.total ?? 0));
    return h('section', {className: 'card', id: 'scores'},
      h('h3', {}, `${counted(scored.length, 'node')} would take it`),
      h('p', {className: 'dim'}, isHeld(verdict) ? 'They would if it were in no pod group: its group keeps it from going there.'
        : verdict.best?.length > 1 ? `${counted(verdict.best.length, 'node')} with the highest total: the scheduler would draw one.` : `The scheduler would take ${verdict.best?.[0]}.`),
      h('div', {className: 'legend'}, plugins.map((plugin, i) => h('span', {className: 'swatch'}, h('i', {className: `kind-${i % 7}`}), plugin))),
      h('div', {className: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Scores'}, h('table', {className: 'scores'},
        h('caption', {className: 'unseen'}, 'Weighted scores of nodes, highest total first'),
        h('thead', {}, h('tr', {}, h('th', {scope: 'col'}, 'Node'), h('th', {scope: 'col', className: 'number'}, 'Total'), h('th', {scope: 'col'}, 'Weighted scores'))),
        h('tbody', {}, shown.map(([name, node]) => h('tr', {},
          h('th', {scope: 'row'}, h('a', {href: nodeLink(name)}, name)),
          h('td', {className: 'number'}, count(node.total ?? 0)),
          h('td', {}, stack(plugins, node, most))))))),
      pager(scored.length, this.firstNode, kNodesAPage, 'nodes', (first) => { this.firstNode = first; this.render(); }));
  }

  /** What each claim gets, nodes where it fares alike on one line. */
  claims(verdict) {
    const groups = new Map();
    for (const [name, {claims = []}] of Object.entries(verdict.nodes)) {
      claims.forEach((claim, place) => {
        const key = JSON.stringify([place, claim]);
        const group = groups.get(key) ?? {claim, place, on: []};
        group.on.push(name);
        groups.set(key, group);
      });
    }
    if (groups.size === 0) return null;
    const gets = ({devices = [], provisioner, volume}) => devices.join('; ') || volume || (provisioner === undefined ? '–' : `made by ${provisioner}`);
    const alike = [...groups.values()].sort((a, b) => a.place - b.place || b.on.length - a.on.length);
    return h('section', {className: 'card', id: 'claims'},
      h('h3', {}, 'Claims'),
      h('div', {className: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Claims'}, h('table', {},
        h('thead', {}, h('tr', {}, h('th', {scope: 'col', className: 'number'}, 'Nodes'), ['Claim', 'Gets', 'Keeps the pod out', 'Such as'].map((title) => h('th', {scope: 'col'}, title)))),
        h('tbody', {}, alike.slice(0, kMostClaims).map(({claim, on}) => h('tr', {},
          h('td', {className: 'number'}, count(on.length)),
          h('th', {scope: 'row'}, claim.claim),
          h('td', {}, gets(claim)),
          h('td', {}, claim.problem ?? '–'),
          h('td', {}, nodes(on.slice(0, 5), on.length))))))),
      alike.length <= kMostClaims ? null : h('p', {className: 'dim'}, `and ${count(alike.length - kMostClaims)} more that fare otherwise`));
  }

  preemption(preview) {
    if (preview === undefined) return null;
    const candidates = Object.entries(preview.candidates ?? {});
    const best = new Set(preview.best ?? []);
    candidates.sort(([a], [b]) => best.has(b) - best.has(a) || byName(a, b));
    return h('section', {className: 'card'}, h('h3', {}, 'Preemption'),
      candidates.length === 0 ? h('p', {}, preview.message ?? 'Evictions do not help.')
        : [h('p', {className: 'dim'}, `Evicting pods of lower priority makes room on ${counted(candidates.length, 'node')}.`),
          h('ul', {className: 'plain'}, candidates.slice(0, 10).map(([name, {victims, pdbViolations}]) => h('li', {},
            h('a', {href: nodeLink(name)}, name), best.has(name) ? h('span', {className: 'badge good'}, 'best') : null,
            ` evicts ${victims.slice(0, 5).join(', ')}${victims.length > 5 ? ` and ${victims.length - 5} more` : ''}`,
            pdbViolations === undefined ? null : h('span', {className: 'badge warn'}, `breaks ${counted(pdbViolations, 'budget')}`))))]);
  }
}

// Of a tree the counts do not tell.
const hasStarted = ({compositePodGroup, minCount = 0, placed}) => compositePodGroup === undefined && placed > 0 && placed >= minCount;

/** Whether some node would take the pod, and its pod group keeps it from going there. */
const isHeld = ({podGroup}) => podGroup?.holdsPod === true;

const resultOf = (verdict) => isHeld(verdict) ? kHeld : verdict.result;

/** Whether the pod waits, and would get no node now. */
const isStuck = ({node, verdict}) => waits({node}) && isStopped({result: resultOf(verdict)});

/** Whether the pod has no node, or waits on it for its resize. */
const waits = ({node}) => node === undefined;

/** Where a pod is, and how that node would do if the pod waited. */
function placement({node, verdict}) {
  const here = verdict.nodes[node];
  const others = Object.values(verdict.nodes).filter(({feasible}) => feasible);
  const better = others.filter(({total = 0}) => total > (here?.total ?? 0)).length;
  let text = '.';
  if (here?.feasible) {
    text = `, which scores ${count(here.total ?? 0)} today: ${better === 0 ? 'no feasible node scores more' : `${count(better)} of ${counted(others.length, 'feasible node')} ${better === 1 ? 'scores' : 'score'} more`}. What follows is as if it waited.`;
  } else if (here !== undefined) {
    text = `, which would be rejected today${here.reasons === undefined ? '' : `: ${here.reasons.join('; ')}`}. What follows is as if it waited.`;
  }
  return h('p', {className: 'lead', id: 'placement'}, 'It is on ', h('a', {href: nodeLink(node)}, node), text);
}

const requirement = ({key, operator, values = []}) => `${key} ${operator}${values.length === 0 ? '' : ` (${values.join(', ')})`}`;

/** Of pods: "app=web, tier In (a, b)". */
function selectorText(selector) {
  if (selector === undefined) return 'no pod';
  const {matchLabels = {}, matchExpressions = []} = selector;
  const parts = [...Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`), ...matchExpressions.map(requirement)];
  return parts.length === 0 ? 'all pods' : parts.join(', ');
}

function termText({labelSelector, matchLabelKeys = [], mismatchLabelKeys = [], namespaceSelector, namespaces = [], topologyKey}) {
  const where = [namespaces.length > 0 ? ` in ${namespaces.join(', ')}` : '', namespaceSelector === undefined ? '' : ` in namespaces of ${selectorText(namespaceSelector).replace('all pods', 'any labels')}`];
  const keys = [...matchLabelKeys.map((key) => ` with the same ${key}`), ...mismatchLabelKeys.map((key) => ` with another ${key}`)];
  return `${selectorText(labelSelector)}${where.join('')}${keys.join('')}, by ${topologyKey}`;
}

function tolerationText({effect, key, operator, tolerationSeconds, value}) {
  const what = key === undefined ? 'every taint' : value === undefined || operator === 'Exists' ? key : `${key}${operator === 'Lt' ? '<' : operator === 'Gt' ? '>' : '='}${value}`;
  return `${what}${effect === undefined ? '' : `:${effect}`}${tolerationSeconds === undefined ? '' : ` for ${tolerationSeconds} s`}`;
}

function constraintText({labelSelector, matchLabelKeys = [], maxSkew, minDomains, nodeAffinityPolicy, nodeTaintsPolicy, topologyKey, whenUnsatisfiable}) {
  const more = [...matchLabelKeys.map((key) => `with the same ${key}`), minDomains === undefined ? '' : `minDomains ${minDomains}`,
    nodeAffinityPolicy === undefined ? '' : `nodeAffinityPolicy ${nodeAffinityPolicy}`, nodeTaintsPolicy === undefined ? '' : `nodeTaintsPolicy ${nodeTaintsPolicy}`];
  return [`${selectorText(labelSelector)} by ${topologyKey}`, `maxSkew ${maxSkew}`, whenUnsatisfiable, ...more].filter((part) => part !== '').join(', ');
}

/** [[name, texts]] */
function selectorTexts({nodeAffinity = [], nodeSelector = {}, podAffinity = [], podAntiAffinity = [], tolerations = [], topologySpreadConstraints = []}) {
  const nodeTerm = ({matchExpressions = [], matchFields = []}) => [...matchExpressions, ...matchFields].map(requirement).join(' and ') || 'no node';
  return [
    ['nodeSelector', Object.entries(nodeSelector).map(([key, value]) => `${key}=${value}`)],
    ['nodeAffinity', nodeAffinity.length === 0 ? [] : [nodeAffinity.map(nodeTerm).join(' or ')]],
    ['podAffinity', podAffinity.map(termText)],
    ['podAntiAffinity', podAntiAffinity.map(termText)],
    ['topologySpreadConstraints', topologySpreadConstraints.map(constraintText)],
    ['tolerations', tolerations.map(tolerationText)],
  ];
}

function nodes(names, total = names.length) {
  const kMost = 5;
  const links = names.slice(0, kMost).flatMap((name, i) => [i > 0 ? ', ' : '', h('a', {href: nodeLink(name)}, name)]);
  const more = total - Math.min(names.length, kMost);
  return [...links, more > 0 ? ` and ${count(more)} more` : ''];
}

/** The weighted scores of a node, one after the other; `most` is as long as the cell. */
function stack(plugins, node, most) {
  const parts = plugins.map((plugin, i) => [plugin, node.scores?.[plugin]?.weighted ?? 0, i]).filter(([, score]) => score > 0);
  const text = parts.map(([plugin, score]) => `${plugin} ${score}`).join(', ');
  return h('span', {className: 'stack', role: 'img', 'aria-label': text || 'no score'}, parts.map(([plugin, score, i]) => {
    const part = h('i', {className: `kind-${i % 7}`, title: `${plugin}: ${score}`});
    part.style.width = `${(100 * score) / most}%`;
    return part;
  }));
}

// SPDX-License-Identifier: Apache-2.0
// The pods without a node, by what keeps them there.

import {age, announce, commandBox, count, counted, h, meter, namespaceOf, pager, planLink, podLink} from './dom.js';
import {reasonLink} from './reasons.js';

const kPodsAPage = 24;
// How long what was tried on an earlier picture stays, in ms: each search may take seconds.
const kFixLasts = 600_000;
/** The result of a pod that fits, while its pod group keeps it from its node. */
export const kHeld = 'held by its pod group';
export const kResults = {
  unschedulable: ['no node fits', 'bad'],
  scheduled: ['would schedule now', 'good'],
  [kHeld]: [kHeld, 'bad'],
  gated: ['gated', 'warn'],
  ignored: ['not for this scheduler', 'warn'],
  error: ['error', 'bad'],
};

export const isStopped = ({result}) => result === 'unschedulable' || result === kHeld;

export function badge(result) {
  const [text, kind] = kResults[result] ?? [result, 'warn'];
  return h('span', {className: `badge ${kind}`}, text);
}

const kRuledOut = 'ruled out before filtering';

/** "Insufficient cpu NodeResourcesFit", each reason with a link to what the docs say of it. */
export function reasonText({plugin, reasons}) {
  if (plugin === undefined) return h('span', {className: 'reason'}, h('a', {href: reasonLink()}, kRuledOut));
  const links = reasons.map((reason, i) => [i === 0 ? '' : '; ', h('a', {href: reasonLink(plugin, reason)}, reason)]);
  return h('span', {className: 'reason'}, links.length === 0 ? 'rejected' : links, h('small', {}, plugin));
}

/** The changes of a fix, with whose each is. */
export function changesOf(fix) {
  return fix.changes.map((change) => {
    const [of, ...rest] = change.split(': ');
    return h('p', {}, h('span', {className: `badge ${of === 'pod' ? 'plain' : 'cluster'}`}, of), rest.join(': '));
  });
}

/** What rejects most nodes, and what rejects the others. */
function mainReason([first, ...others]) {
  if (first === undefined) return null;
  const also = others.map(({reasons, plugin}) => reasons.join('; ') || plugin || kRuledOut);
  return [reasonText(first), also.length === 0 ? null : h('small', {className: 'also'}, `and ${also.join(', ')}`)];
}

export class PendingView {
  constructor(page) {
    this.page = page;
    this.element = h('div', {className: 'column'});
    this.open = new Map(); // first pod shown of each group, by its key
    this.fixes = new Map(); // of each group, by its key: {of, fixes, at} or {error, at}
  }

  /** What is shown stays until there is something newer. */
  forget() { this.current = undefined; }

  async show() {
    this.showing = true;
    if (this.document === undefined) this.element.replaceChildren(h('h2', {}, 'Pending pods'), h('p', {className: 'dim'}, 'Judging …'));
    else this.render();
    const {model} = this.page;
    if (this.current !== model) {
      this.current = model;
      try {
        let document;
        do {
          document = await this.page.ask('api/pending');
          if (!this.showing || model !== this.page.model) {
            this.current = undefined;
            return;
          }
          this.document = document;
          this.render();
        } while (!document.complete);
        announce(`${counted(this.document.pending, 'pending pod')} in ${counted(this.document.groups.length, 'group')}`);
      } catch (error) {
        this.current = undefined;
        this.document = undefined;
        this.element.replaceChildren(h('p', {className: 'problem', role: 'alert'}, error.message));
        return;
      }
    }
    this.findFixes();
  }

  close() {
    this.showing = false;
    // Another view's questions come first.
    this.abort?.abort();
  }

  /** The groups with the pods that are shown. */
  groups() {
    const {namespace} = this.page;
    if (namespace === '') return this.document.groups;
    return this.document.groups.map((group) => ({...group, pods: group.pods.filter((pod) => namespaceOf(pod) === namespace)}))
      .filter(({pods}) => pods.length > 0).sort((a, b) => b.pods.length - a.pods.length);
  }

  key({result, reasons = [], message, pods}) {
    return JSON.stringify([result, reasons.map(({plugin, reasons: texts}) => [plugin, texts]), message, pods[0]]);
  }

  /** The best fix of each group, one after the other, the largest group first. */
  async findFixes() {
    if (this.finding || this.document === undefined) return;
    this.finding = true;
    const due = () => this.groups().find((group) => isStopped(group) && !(performance.now() - this.fixes.get(this.key(group))?.at < kFixLasts));
    try {
      for (let group = due(); group !== undefined; group = this.showing && this.current !== undefined ? due() : undefined) {
        const key = this.key(group);
        const [pod] = group.pods;
        let found;
        try {
          this.abort = new AbortController();
          const {fixes, fixesCutShort, fixesOf} = await this.page.askFor('api/fixes', {pod}, {signal: this.abort.signal});
          found = {of: fixesOf ?? pod, fixes, cutShort: fixesCutShort};
        } catch (error) {
          if (error.name === 'AbortError') break;
          found = {error: error.message};
        }
        this.fixes.set(key, {...found, at: performance.now()});
        if (this.showing && this.document !== undefined) this.render();
      }
    } finally {
      this.finding = false;
    }
  }

  render() {
    const {judged, complete} = this.document;
    const groups = this.groups();
    const {namespace} = this.page;
    const shown = groups.reduce((sum, {pods}) => sum + pods.length, 0);
    const pending = namespace === '' ? this.document.pending : shown;
    this.pending = pending;
    const focused = this.element.contains(document.activeElement) ? document.activeElement.id : '';
    const opened = new Set([...this.element.querySelectorAll('details[open]')].map(({id}) => id));
    this.element.replaceChildren(h('div', {},
      h('h2', {}, namespace === '' ? 'Pending pods' : `Pending pods in ${namespace}`),
      h('p', {className: 'lead'}, pending === 0 ? (complete ? 'Every pod has a node.' : 'None so far.')
        : `${counted(pending, 'pod')} without a node, by what keeps ${pending === 1 ? 'it' : 'them'} out. Each is judged alone against the cluster as it is.`),
      pending === 0 ? null : h('p', {className: 'actions'}, h('a', {className: 'button', id: 'plan-all', href: planLink('pending')}, 'Make room by moving other pods')),
      complete ? null : h('p', {className: 'progress'}, meter(judged, this.document.pending, 'judged'), `${count(judged)} of ${count(this.document.pending)} judged`),
      groups.map((group, i) => this.group(group, i))));
    for (const details of this.element.querySelectorAll('details')) details.open = opened.has(details.id);
    if (focused !== '') document.getElementById(focused)?.focus({preventScroll: true});
  }

  group(group, number) {
    const {pods, reasons = [], message, result} = group;
    const key = this.key(group);
    const first = this.open.get(key) ?? 0;
    const {model} = this.page;
    return h('section', {className: 'card group'},
      h('div', {className: 'group-count'}, h('strong', {}, count(pods.length)), h('span', {}, pods.length === 1 ? 'pod' : 'pods'), meter(pods.length, this.pending, `of ${count(this.pending)} pending`)),
      h('div', {className: 'group-body'},
        h('h3', {}, badge(result), mainReason(reasons)),
        message === undefined ? null : h('p', {className: 'message'}, message),
        isStopped(group) ? this.fix(key, pods, number) : null,
        h('ul', {className: 'pods'}, pods.slice(first, first + kPodsAPage).map((pod) => h('li', {}, h('a', {href: podLink(pod)}, pod),
          h('small', {}, age(model.createdOf(pod), model.taken()))))),
        pager(pods.length, first, kPodsAPage, `pods of group ${number + 1}`, (to) => { this.open.set(key, to); this.render(); })));
  }

  /** The smallest change that lets the group's first pod schedule. */
  fix(key, pods, number) {
    const found = this.fixes.get(key);
    const say = (text) => h('p', {className: 'dim best-fix'}, text);
    if (found === undefined) return say('Trying changes …');
    if (found.error !== undefined) return say(`No change could be tried: ${found.error}`);
    if (found.fixes.length === 0) return say(`No change was found ${found.cutShort ? 'in the time that there was' : 'that would let it schedule'}.`);
    const [best] = found.fixes;
    return h('div', {className: 'best-fix'},
      h('h4', {}, 'Best fix', found.of === pods[0] && pods.length === 1 ? null : h('small', {}, `tried for ${found.of}`)),
      changesOf(best),
      best.commands.length === 0 ? null : h('details', {id: `commands-${number}`}, h('summary', {}, 'Commands'), commandBox(best.commands, `copy-${number}`)),
      found.fixes.length === 1 ? null : h('p', {className: 'dim'}, h('a', {href: podLink(found.of)}, `${counted(found.fixes.length - 1, 'other change')} would do, too`)));
  }
}

// SPDX-License-Identifier: Apache-2.0
// The pods without a node, by what keeps them there.

import {announce, count, counted, h, meter, pager, podLink} from './dom.js';

const kPodsAPage = 24;
export const kResults = {
  unschedulable: ['no node fits', 'bad'],
  scheduled: ['would schedule now', 'good'],
  gated: ['gated', 'warn'],
  ignored: ['not for this scheduler', 'warn'],
  error: ['error', 'bad'],
};

export function badge(result) {
  const [text, kind] = kResults[result] ?? [result, 'warn'];
  return h('span', {className: `badge ${kind}`}, text);
}

/** "NodeResourcesFit: Insufficient cpu" */
export function reasonText({plugin, reasons}) {
  if (plugin === undefined) return h('span', {className: 'reason'}, 'ruled out before filtering');
  return h('span', {className: 'reason'}, reasons.join('; ') || 'rejected', h('small', {}, plugin));
}

/** What rejects most nodes, and what rejects the others. */
function mainReason([first, ...others]) {
  if (first === undefined) return null;
  const also = others.map(({reasons, plugin}) => reasons.join('; ') || plugin || 'ruled out before filtering');
  return [reasonText(first), also.length === 0 ? null : h('small', {className: 'also'}, `and ${also.join(', ')}`)];
}

export class PendingView {
  constructor(page) {
    this.page = page;
    this.element = h('div', {className: 'column'});
    this.open = new Map(); // first pod shown of each group, by its message
  }

  forget() { this.document = undefined; }

  async show() {
    this.showing = true;
    if (this.document?.complete) return this.render();
    if (this.document === undefined) this.element.replaceChildren(h('h2', {}, 'Pending pods'), h('p', {className: 'dim'}, 'Judging …'));
    const {model} = this.page;
    try {
      do {
        const document = await this.page.ask('api/pending');
        if (!this.showing || model !== this.page.model) return;
        this.document = document;
        this.render();
      } while (!this.document.complete);
      announce(`${counted(this.document.pending, 'pending pod')} in ${counted(this.document.groups.length, 'group')}`);
    } catch (error) {
      this.element.replaceChildren(h('p', {className: 'problem', role: 'alert'}, error.message));
    }
  }

  close() { this.showing = false; }

  render() {
    const {groups, pending, judged, complete} = this.document;
    const focused = this.element.contains(document.activeElement) ? document.activeElement.id : '';
    this.element.replaceChildren(h('div', {},
      h('h2', {}, 'Pending pods'),
      h('p', {className: 'lead'}, pending === 0 ? 'Every pod has a node.'
        : `${counted(pending, 'pod')} without a node, by what keeps ${pending === 1 ? 'it' : 'them'} out. Each is judged alone against the cluster as it is.`),
      complete ? null : h('p', {className: 'progress'}, meter(judged, pending, 'judged'), `${count(judged)} of ${count(pending)} judged`),
      groups.map((group, i) => this.group(group, i))));
    if (focused !== '') document.getElementById(focused)?.focus({preventScroll: true});
  }

  group(group, number) {
    const {pods, reasons = [], message, result} = group;
    const key = JSON.stringify([result, reasons, message]);
    const first = this.open.get(key) ?? 0;
    return h('section', {className: 'card group'},
      h('div', {className: 'group-count'}, h('strong', {}, count(pods.length)), h('span', {}, pods.length === 1 ? 'pod' : 'pods'), meter(pods.length, this.document.pending, `of ${count(this.document.pending)} pending`)),
      h('div', {className: 'group-body'},
        h('h3', {}, badge(result), mainReason(reasons)),
        message === undefined ? null : h('p', {className: 'message'}, message),
        h('ul', {className: 'pods'}, pods.slice(first, first + kPodsAPage).map((pod) => h('li', {}, h('a', {href: podLink(pod)}, pod)))),
        pager(pods.length, first, kPodsAPage, `pods of group ${number + 1}`, (to) => { this.open.set(key, to); this.render(); })));
  }
}

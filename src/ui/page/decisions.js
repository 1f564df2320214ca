// SPDX-License-Identifier: Apache-2.0
// What a recording's scheduler decided, one decision after the other.

import {count, counted, h, namespaceOf, pager, podLink, time} from './dom.js';
import {decisionsOf, timeline} from './timeline.js';

const kRowsAPage = 50;

export class DecisionsView {
  constructor(page) {
    this.page = page;
    this.element = h('div', {className: 'column'});
    this.only = 'all';
  }

  async show(parameters) {
    const last = this.page.model.lastStep();
    const step = Math.min(last, Number(parameters.get('step') ?? last));
    const turned = this.step !== undefined && this.step !== step;
    this.step = step;
    if (this.bar === undefined) {
      this.bar = timeline(this.page, step);
      this.rows = h('div', {});
      this.element.replaceChildren(h('h2', {}, 'Decisions'), this.bar.element, this.rows);
    }
    this.bar.update(step);
    try {
      this.decisions = await decisionsOf(this.page);
    } catch (error) {
      this.rows.replaceChildren(h('p', {className: 'problem', role: 'alert'}, error.message));
      return;
    }
    if (turned) this.first = undefined;
    this.render();
  }

  render() {
    const {decisions, page} = this;
    const wanted = (i) => (page.namespace === '' || namespaceOf(decisions.podOf(i)) === page.namespace) && (this.only === 'all' || (this.only === 'placed') === (decisions.node[i] >= 0));
    const rows = [];
    for (let i = 0; i < decisions.count; ++i) if (wanted(i)) rows.push(i);
    // The page that the slider is on.
    const at = rows.findIndex((i) => i + 1 >= this.step);
    const first = this.first ?? Math.floor(Math.max(0, at < 0 ? rows.length - 1 : at) / kRowsAPage) * kRowsAPage;
    const choose = (value, label) => h('label', {className: 'segment'},
      h('input', {type: 'radio', name: 'only', id: `only-${value}`, checked: this.only === value, onchange: () => { this.only = value; this.first = undefined; this.render(); }}), h('span', {}, label));
    const focused = this.rows.contains(document.activeElement) ? document.activeElement.id : '';
    this.rows.replaceChildren(
      h('div', {className: 'toolbar'},
        h('fieldset', {className: 'segments'}, h('legend', {}, 'Show'), choose('all', 'all'), choose('placed', 'placed'), choose('failed', 'not placed')),
        h('a', {className: 'button', href: `#/map?step=${this.step}`}, `The map after decision ${count(this.step)}`)),
      h('div', {className: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Decisions'}, h('table', {className: 'decisions'},
        h('caption', {}, `${counted(rows.length, 'decision')}${page.model.cluster.cutShort ? '; the recording goes on, but no more is shown' : ''}`),
        h('thead', {}, h('tr', {}, h('th', {scope: 'col', className: 'number'}, 'No.'), ['Time', 'Pod', 'Node', 'Message'].map((title) => h('th', {scope: 'col'}, title)))),
        h('tbody', {}, rows.slice(first, first + kRowsAPage).map((i) => h('tr', {className: i + 1 === this.step ? 'current' : '', 'aria-current': i + 1 === this.step ? 'step' : undefined},
          h('td', {className: 'number'}, h('a', {href: page.link({step: i + 1}), 'aria-label': `Decision ${i + 1}`}, count(i + 1))),
          h('td', {className: 'time'}, time(decisions.time[i])),
          h('th', {scope: 'row'}, h('a', {href: podLink(decisions.podOf(i))}, decisions.podOf(i))),
          h('td', {}, decisions.nodeOf(i) || h('span', {className: 'badge bad'}, 'none')),
          h('td', {className: 'why'}, decisions.messageOf(i))))))),
      pager(rows.length, first, kRowsAPage, 'decisions', (to) => { this.first = to; this.render(); }) ?? '');
    if (focused !== '') document.getElementById(focused)?.focus({preventScroll: true});
  }
}

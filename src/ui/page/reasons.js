// SPDX-License-Identifier: Apache-2.0
// The page of the reasons (docs/reasons.md), as this program has it, at the plugin and reason that a
// link names.

import {fileText} from './api.js';
import {h} from './dom.js';

/** The address of a reason; without a plugin it is one that the scheduler itself gives. */
export function reasonLink(plugin, reason) {
  const path = plugin === undefined ? '' : `/${encodeURIComponent(plugin)}`;
  return `#/reasons${path}${reason === undefined ? '' : `?reason=${encodeURIComponent(reason)}`}`;
}

/** Whether a reason is what a row says, in which <x> stands for a name or a number. */
function matches(row, reason) {
  const text = row.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(/<[^<>]+>/g, '.+');
  return new RegExp(`^${text}$`).test(reason);
}

/** Code and bold text; of a link to another page its words. */
function inline(text) {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*|\[[^\]]+\]\([^)]+\))/).map((part) => {
    if (part.startsWith('`')) return h('code', {}, part.slice(1, -1));
    if (part.startsWith('**')) return h('strong', {}, part.slice(2, -2));
    return part.replace(/^\[([^\]]+)\]\([^)]+\)$/, '$1').replaceAll('&lt;', '<');
  });
}

const cells = (line) => line.split(/(?<!\\)\|/).slice(1, -1).map((cell) => cell.trim().replaceAll('\\|', '|'));

/** [{title, blocks: [text or {head, rows}]}] of the part of Markdown that the page is written in. */
function sectionsOf(text) {
  const sections = [{title: '', blocks: []}];
  for (const block of text.replaceAll(/<!--[^]*?-->/g, '').split(/\n{2,}/)) {
    const lines = block.trim().split('\n');
    if (lines[0] === '') continue;
    const heading = /^#+ (.*)$/.exec(lines[0]);
    if (heading !== null) {
      sections.push({title: heading[1], blocks: []});
    } else if (lines[0].startsWith('|')) {
      const [head, , ...rows] = lines.map(cells);
      sections.at(-1).blocks.push({head, rows});
    } else {
      sections.at(-1).blocks.push(lines.join(' '));
    }
  }
  return sections.filter(({title, blocks}) => title !== '' || blocks.length > 0);
}

export class ReasonsView {
  constructor(page) {
    this.page = page;
    this.element = h('div', {className: 'column'});
  }

  async show(parameters, [plugin]) {
    const reason = parameters.get('reason') ?? '';
    try {
      this.sections ??= sectionsOf(await fileText('reasons.md'));
    } catch (error) {
      this.element.replaceChildren(h('p', {className: 'problem', role: 'alert'}, error.message));
      return;
    }
    const asked = JSON.stringify([plugin, reason]);
    if (asked === this.asked) return;
    this.asked = asked;
    // A reason may have more than one row; the plugin's own says most.
    const sections = this.sections.filter(({title}) => title === plugin);
    const found = (section, row) => reason !== '' && (sections.length === 0 || sections.includes(section)) && matches(row[0].replaceAll('`', ''), reason);
    this.element.replaceChildren(...this.sections.map((section, i) => h(i === 0 ? 'div' : 'section', {className: i === 0 ? '' : 'card', id: `reasons-${section.title}`},
      h(i === 0 ? 'h2' : 'h3', {}, section.title),
      section.blocks.map((block) => (typeof block === 'string' ? h('p', {className: 'lead'}, inline(block)) : table(section.title, block, (row) => found(section, row)))))));
    const row = this.element.querySelector('[aria-current]');
    const section = [...this.element.children].find(({id}) => id === `reasons-${plugin}`);
    (row ?? section)?.scrollIntoView({block: row === null ? 'start' : 'center'});
  }
}

function table(title, {head, rows}, isFound) {
  return h('div', {className: 'scroll', tabIndex: 0, role: 'region', 'aria-label': `Reasons: ${title}`}, h('table', {},
    h('thead', {}, h('tr', {}, head.map((text) => h('th', {scope: 'col'}, inline(text))))),
    h('tbody', {}, rows.map((row) => {
      const found = isFound(row);
      return h('tr', {className: found ? 'current' : '', 'aria-current': found ? 'true' : undefined},
        row.map((text, i) => h(i === 0 ? 'th' : 'td', {scope: i === 0 ? 'row' : undefined}, inline(text))));
    }))));
}

// SPDX-License-Identifier: Apache-2.0
// Elements in one call, and how numbers and amounts are written.

/**
 * An element. Properties are set as such ("className", "onclick", "value"), attributes where there is
 * no such property ("aria-label"). Children are nodes, texts, or lists of them; null and false are
 * left out. Text never becomes markup.
 */
export function h(tag, properties, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null) continue;
    if (name in element && !name.startsWith('aria-') && name !== 'list') {
      element[name] = value;
    } else {
      element.setAttribute(name, value);
    }
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== false && child !== undefined));
  return element;
}

const kNumber = new Intl.NumberFormat('en');
const kShort = new Intl.NumberFormat('en', {maximumSignificantDigits: 3});

export const count = (number) => kNumber.format(number);
export const counted = (number, noun) => `${count(number)} ${noun}${number === 1 ? '' : 's'}`;
export const percent = (part, whole) => (whole > 0 ? `${Math.round((100 * part) / whole)} %` : '–');

const kUnits = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

/** An amount of a resource: cores of cpu (amounts are in thousandths), bytes with binary units. */
export function amount(resource, value) {
  if (resource === 'cpu') return kShort.format(value / 1000);
  if (resource !== 'memory' && resource !== 'ephemeral-storage' && !resource.startsWith('hugepages-')) {
    return count(value);
  }
  let unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.length) {
    value /= 1024;
    ++unit;
  }
  return `${kShort.format(value)} ${kUnits[unit]}${unit === 0 ? 'B' : 'B'}`;
}

const kTime = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'medium', timeStyle: 'medium', timeZone: 'UTC',
});
export const time = (milliseconds) => `${kTime.format(milliseconds)} UTC`;

/** How long ago, as kubectl writes it: 45s, 12m, 3h20m, 4d6h, 30d. Both in seconds; 0: unknown. */
export function age(created, now) {
  if (created === 0) return 'unknown';
  const seconds = Math.max(0, Math.floor(now - created));
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  const both = (large, small, unit) => (small === 0 ? large : `${large}${small}${unit}`);
  if (seconds < 120) return `${seconds}s`;
  if (minutes < 10) return both(`${minutes}m`, seconds % 60, 's');
  if (hours < 3) return `${minutes}m`;
  if (hours < 8) return both(`${hours}h`, minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  return days < 8 ? both(`${days}d`, hours % 24, 'h') : `${days}d`;
}

/** Commands in a box, with a button that takes them to the clipboard. */
export function commandBox(commands, id) {
  const text = commands.join('\n');
  const box = h('pre', {tabIndex: 0, role: 'group', 'aria-label': 'Commands'}, text);
  const button = h('button', {
    type: 'button', className: 'copy', id, onclick: async () => {
      try {
        await navigator.clipboard.writeText(text);
        button.textContent = 'Copied';
        announce('Copied.');
      } catch {
        // The browser does not let us: the text is chosen, and Ctrl+C takes it.
        getSelection().selectAllChildren(box);
      }
    },
  }, 'Copy');
  return h('div', {className: 'commands'}, box, button);
}

const kByName = new Intl.Collator('en', {numeric: true});
/** node-2 before node-10. */
export const byName = (a, b) => kByName.compare(a, b);

/** Says something to those who cannot see it. */
export function announce(text) {
  document.getElementById('status').textContent = text;
}

/** A horizontal bar, `part` of `whole` long. */
export function meter(part, whole, label) {
  const fill = h('span', {className: 'meter-fill'});
  fill.style.width = `${whole > 0 ? Math.min(100, (100 * part) / whole) : 0}%`;
  return h('span', {className: 'meter', role: 'img', 'aria-label': label}, fill);
}

/** "Earlier" and "later" over `total` rows, `size` at a time; calls `go` with the first row. */
export function pager(total, first, size, noun, go) {
  if (total <= size) return null;
  const last = Math.min(total, first + size);
  return h('div', {className: 'pager', role: 'group', 'aria-label': `Pages of ${noun}`},
    h('button', {type: 'button', disabled: first === 0, onclick: () => go(Math.max(0, first - size))}, 'Previous'),
    h('span', {}, `${count(first + 1)}–${count(last)} of ${count(total)}`),
    h('button', {type: 'button', disabled: last === total, onclick: () => go(first + size)}, 'Next'));
}

export const warningList = (texts) => h('ul', {className: 'warnings', tabIndex: 0, 'aria-label': 'Warnings'}, texts.map((text) => h('li', {}, text)));

/** That of a pod's key. */
export const namespaceOf = (key) => key.slice(0, key.indexOf('/'));

/** Links to views; the address' hash is the page's state. */
export const podLink = (key) => `#/pod/${key.split('/').map(encodeURIComponent).join('/')}`;
export const nodeLink = (name) => `#/map?node=${encodeURIComponent(name)}`;
export const planLink = (goal) => `#/plan?goal=${encodeURIComponent(goal)}`;

// SPDX-License-Identifier: Apache-2.0
// The slider over a recording's decisions.

import {count, h, time} from './dom.js';

/** The decisions, as rows of columns, once they have been asked for; null until then. */
export async function decisionsOf(page) {
  page.decisions ??= page.ask('api/decisions').then((document) => ({
    ...document,
    count: document.pod.length,
    podOf: (i) => document.pod[i],
    nodeOf: (i) => (document.node[i] < 0 ? '' : document.nodes[document.node[i]]),
    messageOf: (i) => (document.message[i] < 0 ? '' : document.messages[document.message[i]]),
  }));
  return page.decisions;
}

/** An element that shows the step of the address and changes it. */
export function timeline(page, first) {
  const last = page.model.lastStep();
  let step = first;
  const say = h('output', {className: 'step'});
  const slider = h('input', {
    type: 'range', min: 0, max: last, step: 1, id: 'step', 'aria-label': 'Decisions made so far',
    oninput: () => page.change({step: slider.value}),
  });
  const go = (to) => page.change({step: Math.min(last, Math.max(0, to))});
  const back = h('button', {type: 'button', id: 'step-back', 'aria-label': 'One decision back', onclick: () => go(step - 1)}, '‹');
  const on = h('button', {type: 'button', id: 'step-on', 'aria-label': 'One decision on', onclick: () => go(step + 1)}, '›');
  const update = (to) => {
    step = to;
    slider.value = step;
    back.disabled = step === 0;
    on.disabled = step === last;
    const place = `${count(step)} of ${count(last)} decisions`;
    say.textContent = place;
    decisionsOf(page).then((decisions) => {
      if (step !== to || step === 0) return;
      const node = decisions.nodeOf(step - 1);
      say.replaceChildren(place, ' · ', time(decisions.time[step - 1]), ' · ',
        h('b', {}, decisions.podOf(step - 1)), node === '' ? ' fits nowhere' : ` → ${node}`);
      slider.setAttribute('aria-valuetext', say.textContent);
    }, () => {});
  };
  update(step);
  return {element: h('div', {className: 'timeline', role: 'group', 'aria-label': 'Time'}, back, slider, on, say), update};
}

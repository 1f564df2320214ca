// SPDX-License-Identifier: Apache-2.0
// What if the cluster were another: a form, and the answer as a difference from today.

import {amount, announce, count, counted, h, namespaceOf, nodeLink, pager, percent, podLink, warningList} from './dom.js';

const kRowsAPage = 50;
const kMostSuggested = 40;

const words = (text) => text.split(/[\s,]+/).filter((word) => word !== '');

export class WhatIfView {
  constructor(page) {
    this.page = page;
    this.result = h('div', {id: 'answer', 'aria-live': 'polite'},
      h('p', {className: 'empty'}, 'What differs will stand here: who moves where, who fits nowhere, which budgets stop a drain.'));
    this.form = this.makeForm();
    this.element = h('div', {className: 'column two'},
      h('div', {}, h('h2', {}, 'What if'),
        h('p', {className: 'lead'}, 'Each question is put to a copy of the cluster, which the scheduler then works on until it is done. Nothing changes in the cluster itself.'),
        this.form),
      this.result);
  }

  show(parameters) {
    // What was filled in meanwhile stays.
    if (parameters.toString() === this.asked) return;
    this.asked = parameters.toString();
    const fill = (name, value) => {
      if (value !== null) this.form.elements.namedItem(name).value = value;
    };
    fill('drain', parameters.get('drain'));
    fill('like', parameters.get('like'));
    if (parameters.has('like') && this.form.elements.namedItem('count').value === '') fill('count', '1');
  }

  makeForm() {
    const {page} = this;
    const suggest = (id, names) => {
      const options = h('datalist', {id: `${id}-names`});
      const fill = (text) => {
        const last = text.split(/[\s,]+/).pop();
        const found = [];
        for (const name of names()) {
          if (name.includes(last)) found.push(name);
          if (found.length === kMostSuggested) break;
        }
        options.replaceChildren(...found.map((value) => h('option', {value})));
      };
      return {options, fill};
    };
    const field = (name, label, properties, names) => {
      const list = names === undefined ? undefined : suggest(name, names);
      return h('label', {className: 'field wide'}, h('span', {}, label),
        h('input', {name, id: `ask-${name}`, autocomplete: 'off', spellcheck: false, list: list && `${name}-names`,
          oninput: list && ((event) => list.fill(event.target.value)), onfocus: list && ((event) => list.fill(event.target.value)), ...properties}),
        list?.options ?? null);
    };
    const nodes = () => page.model.node.name;
    const owners = () => page.model.owners.filter((owner) => owner !== '' && !owner.includes('/DaemonSet/'));
    return h('form', {className: 'card ask', onsubmit: (event) => { event.preventDefault(); this.ask(); }},
      h('fieldset', {}, h('legend', {}, 'Nodes'),
        h('div', {className: 'pair'},
          field('count', 'Add nodes', {type: 'number', min: 1, max: 10000, placeholder: '0'}),
          field('like', 'like', {placeholder: 'a node'}, nodes)),
        field('cordon', 'Cordon', {placeholder: 'nodes that keep their pods and take no others'}, nodes),
        field('drain', 'Drain', {placeholder: 'nodes, evicted as kubectl drain does'}, nodes),
        field('remove', 'Remove', {placeholder: 'nodes that fail'}, nodes)),
      h('fieldset', {}, h('legend', {}, 'Pods'),
        h('div', {className: 'pair wide-first'},
          field('scale', 'Scale', {placeholder: 'namespace/Kind/name'}, owners),
          field('replicas', 'to', {type: 'number', min: 0, max: 100000, placeholder: 'replicas'})),
        h('label', {className: 'field wide'}, h('span', {}, 'Fill with copies of a pod, as JSON'),
          h('textarea', {name: 'fill', id: 'ask-fill', rows: 5, spellcheck: false, placeholder: '{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c",\n  "resources":{"requests":{"cpu":"500m"}}}]}}'}))),
      h('fieldset', {}, h('legend', {}, 'Scheduler'),
        h('label', {className: 'field wide'}, h('span', {}, 'Another configuration, as YAML'),
          h('textarea', {name: 'config', id: 'ask-config', rows: 4, spellcheck: false, placeholder: 'apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n…'})),
        h('label', {}, h('input', {name: 'reschedule', id: 'ask-reschedule', type: 'checkbox'}), ' Schedule all pods again from nothing')),
      h('p', {className: 'actions'},
        h('button', {type: 'submit', className: 'primary', id: 'ask'}, 'Ask'),
        h('button', {type: 'button', id: 'cancel', hidden: true, onclick: () => this.abort?.abort()}, 'Stop asking'),
        h('button', {type: 'reset'}, 'Clear')));
  }

  /** The document of the question (docs/explain.md). Throws an Error where a field makes no sense. */
  question() {
    const get = (name) => this.form.elements.namedItem(name).value.trim();
    const question = {};
    if (get('count') !== '' || get('like') !== '') {
      if (get('count') === '' || get('like') === '') throw new Error('How many nodes, and like which one?');
      question.addNodes = {count: Number(get('count')), like: get('like')};
    }
    if (get('cordon') !== '') question.cordon = words(get('cordon'));
    if (get('drain') !== '') question.drain = words(get('drain'));
    if (get('remove') !== '') question.removeNodes = words(get('remove'));
    if (get('scale') !== '') {
      const [namespace, kind, name, ...rest] = get('scale').split('/');
      if (!name || rest.length > 0) throw new Error('What to scale is written namespace/Kind/name, such as shop/Deployment/web.');
      if (get('replicas') === '') throw new Error('To how many replicas?');
      question.scale = [{namespace, kind, name, replicas: Number(get('replicas'))}];
    }
    if (get('fill') !== '') {
      let pod;
      try {
        pod = JSON.parse(get('fill'));
      } catch (error) {
        throw new Error(`The pod is no JSON: ${error.message}`);
      }
      question.fill = {pod: {apiVersion: 'v1', kind: 'Pod', ...pod}};
    }
    if (get('config') !== '') question.newConfig = get('config');
    if (this.form.elements.namedItem('reschedule').checked) question.reschedule = true;
    if (Object.keys(question).length === 0) throw new Error('Nothing is asked yet: fill in at least one field.');
    return question;
  }

  async ask() {
    const say = (text) => this.result.replaceChildren(h('p', {className: 'problem', role: 'alert'}, text));
    let question;
    try {
      question = this.question();
    } catch (error) {
      return say(error.message);
    }
    this.abort?.abort();
    const abort = this.abort = new AbortController();
    const cancel = this.form.querySelector('#cancel');
    cancel.hidden = false;
    this.result.replaceChildren(h('p', {className: 'dim'}, 'Scheduling the copy …'));
    try {
      this.answer = await this.page.post('api/what-if', question, {signal: abort.signal});
      this.first = 0;
      this.render();
      announce('The answer is there.');
    } catch (error) {
      if (abort === this.abort) say(error.name === 'AbortError' ? 'Stopped.' : error.message);
    } finally {
      if (abort === this.abort) cancel.hidden = true;
    }
  }

  render() {
    const {answer} = this;
    this.result.replaceChildren(h('section', {className: 'answer', 'aria-label': 'Answer'},
      h('h2', {}, 'Today and then'),
      answer.warnings === undefined ? null : h('section', {className: 'card', id: 'answer-warnings'}, h('h3', {}, counted(answer.warnings.length, 'warning')), warningList(answer.warnings)),
      this.summary(answer),
      answer.drained.map((node) => this.drained(node)),
      answer.filled === undefined ? null : this.filled(answer.filled),
      answer.evictedBefore.length === 0 ? null : h('section', {className: 'card'}, h('h3', {}, `For the pods that are pending now preemption evicts ${counted(answer.evictedBefore.length, 'pod')}`), h('p', {}, list(answer.evictedBefore))),
      answer.evicted.length === 0 ? null : h('section', {className: 'card'}, h('h3', {}, `Preemption evicts ${counted(answer.evicted.length, 'pod')}`), h('p', {}, list(answer.evicted))),
      this.moved(answer)));
  }

  summary({now, before, after}) {
    const row = (name, get, write = count) => {
      const difference = get(after) - get(before);
      const sign = difference > 0 ? '+' : '−';
      return h('tr', {}, h('th', {scope: 'row'}, name), h('td', {className: 'number'}, write(get(now))), h('td', {className: 'number'}, write(get(before))), h('td', {className: 'number'}, write(get(after))),
        h('td', {className: 'number difference'}, difference === 0 ? '=' : `${sign}${write(Math.abs(difference))}`));
    };
    const share = (name, get) => h('tr', {}, h('th', {scope: 'row'}, name),
      ...[now, before, after].map((one) => h('td', {className: 'number'}, percent(get(one).requested, get(one).allocatable))), h('td', {}));
    return h('table', {className: 'summary'},
      h('caption', {className: 'unseen'}, 'The cluster now, with its pending pods placed, and then'),
      h('thead', {}, h('tr', {}, h('th', {scope: 'col'}, h('span', {className: 'unseen'}, 'What')), h('th', {scope: 'col', className: 'number'}, 'Now'), h('th', {scope: 'col', className: 'number'}, 'Placed'), h('th', {scope: 'col', className: 'number'}, 'Then'), h('th', {scope: 'col', className: 'number'}, 'Difference'))),
      h('tbody', {},
        row('Nodes', (one) => one.nodes), row('Nodes with pods', (one) => one.usedNodes), row('Nodes that would do, at least', (one) => one.usedNodesLowerBound), row('Pods', (one) => one.pods), row('Pending pods', (one) => one.pending), row('Evicted pods', (one) => one.evicted),
        row('CPU that nodes have', (one) => one.milliCPU.allocatable, (value) => amount('cpu', value)),
        share('CPU requested', (one) => one.milliCPU), row('CPU stranded', (one) => one.milliCPU.stranded, (value) => amount('cpu', value)),
        share('Memory requested', (one) => one.memory), row('Memory stranded', (one) => one.memory.stranded, (value) => amount('memory', value))));
  }

  drained(node) {
    const can = node.stopped.length === 0 && node.fitNowhere.length === 0;
    return h('section', {className: 'card'},
      h('h3', {}, `Drain of ${node.node}`, h('span', {className: `badge ${can ? 'good' : 'bad'}`}, can ? 'can be done' : 'not without loss')),
      h('p', {}, `${counted(node.moved.length, 'pod')} would move elsewhere.`),
      node.fitNowhere.length === 0 ? null : h('p', {}, 'Fit nowhere: ', list(node.fitNowhere)),
      node.stopped.length === 0 ? null : h('ul', {className: 'plain'}, node.stopped.map(({pod, budgets}) => h('li', {}, h('a', {href: podLink(pod)}, pod), ` stays: ${budgets.join(', ')} allows no eviction`))),
      node.withEmptyDir.length === 0 ? null : h('p', {}, `Data in emptyDir volumes is lost of ${counted(node.withEmptyDir.length, 'pod')}: `, list(node.withEmptyDir)),
      node.unmanaged.length === 0 ? null : h('p', {}, 'Gone, as no controller makes them again: ', list(node.unmanaged)));
  }

  filled(filled) {
    const nodes = Object.entries(filled.nodes).sort(([, a], [, b]) => b - a);
    return h('section', {className: 'card'}, h('h3', {}, filled.pods === 1 ? 'One copy fits' : `${count(filled.pods)} copies fit`),
      filled.message === undefined ? null : h('p', {className: 'message'}, `The next one: ${filled.message}`),
      h('p', {className: 'dim'}, `On ${counted(nodes.length, 'node')}${nodes.length === 0 ? '' : `: ${nodes.slice(0, 8).map(([name, pods]) => `${name} (${pods})`).join(', ')}${nodes.length > 8 ? ', …' : ''}`}`));
  }

  moved({pods: all}) {
    const {first} = this;
    const {namespace} = this.page;
    const pods = namespace === '' ? all : all.filter(({pod}) => namespaceOf(pod) === namespace);
    const place = (pod, member) => {
      if (!(member in pod)) return h('td', {className: 'dim'}, 'not there');
      if (pod[member] === null) return h('td', {}, h('span', {className: 'badge bad'}, 'pending'));
      return h('td', {}, member === 'before' ? h('a', {href: nodeLink(pod[member])}, pod[member]) : pod[member]);
    };
    if (pods.length === 0) return h('p', {className: 'dim'}, all.length === 0 ? 'No pod is elsewhere.' : `No pod in ${namespace} is elsewhere.`);
    return h('section', {className: 'card'}, h('h3', {}, `${counted(pods.length, 'pod')}${namespace === '' ? '' : ` in ${namespace}`} elsewhere`),
      h('div', {className: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Pods that are elsewhere'}, h('table', {},
        h('thead', {}, h('tr', {}, ['Pod', 'Today', 'Then', 'Why'].map((title) => h('th', {scope: 'col'}, title)))),
        h('tbody', {}, pods.slice(first, first + kRowsAPage).map((pod) => h('tr', {},
          h('th', {scope: 'row'}, 'before' in pod ? h('a', {href: podLink(pod.pod)}, pod.pod) : pod.pod), place(pod, 'before'), place(pod, 'after'), h('td', {className: 'why'}, pod.message ?? '')))))),
      pager(pods.length, first, kRowsAPage, 'pods', (to) => { this.first = to; this.render(); }));
  }
}

function list(names) {
  const kMost = 20;
  return names.slice(0, kMost).join(', ') + (names.length > kMost ? ` and ${count(names.length - kMost)} more` : '');
}

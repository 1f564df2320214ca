// SPDX-License-Identifier: Apache-2.0
// What is shown is what the address' hash says: #/map?by=owner, #/pod/shop/web-3, ... A view is made
// once and then told of each change.

import {ask, askFor, post} from './api.js';
import {DecisionsView} from './decisions.js';
import {announce, count, h, percent, time} from './dom.js';
import {MapView} from './map.js';
import {Model} from './model.js';
import {PendingView} from './pending.js';
import {PodView} from './pod.js';
import {WhatIfView} from './what_if.js';

const kViews = [
  {path: 'map', title: 'Map', make: MapView},
  {path: 'pending', title: 'Pending', make: PendingView},
  {path: 'pod', title: 'Pod', make: PodView},
  {path: 'what-if', title: 'What if', make: WhatIfView},
  {path: 'decisions', title: 'Decisions', make: DecisionsView, recorded: true},
];
const kRefreshSeconds = 10;

class Page {
  constructor() {
    this.main = document.getElementById('main');
    this.shown = undefined; // the view
    this.made = new Map();
    this.ask = ask;
    this.askFor = askFor;
    this.post = post;
  }

  async start() {
    let map;
    try {
      map = await ask('api/map');
    } catch (error) {
      this.main.replaceChildren(h('p', {className: 'empty problem', role: 'alert'}, error.message));
      return;
    }
    this.take(map);
    document.getElementById('skip').addEventListener('click', (event) => {
      event.preventDefault();
      this.main.focus();
    });
    window.addEventListener('hashchange', () => this.route());
    this.route();
  }

  /** Another picture of the cluster. */
  take(document) {
    this.model = new Model(document);
    this.pendingPods = undefined;
    this.fillFacts();
    this.fillLive();
    for (const view of this.made.values()) view.forget?.();
  }

  /** [view, the rest of the path, parameters] of an address. */
  read(hash) {
    const [path, query] = hash.replace(/^#\/?/, '').split('?');
    const [name, ...rest] = path.split('/');
    const view = this.views().find((one) => one.path === name) ?? kViews[0];
    return [view, rest.map(decodeURIComponent), new URLSearchParams(query)];
  }

  views() { return kViews.filter(({recorded}) => !recorded || this.model.cluster.recording); }

  route() {
    const [view, rest, parameters] = this.read(location.hash);
    const other = this.shown !== view;
    if (other) {
      this.made.get(this.shown)?.close?.();
      if (!this.made.has(view)) this.made.set(view, new view.make(this));
      this.shown = view;
      this.main.replaceChildren(this.made.get(view).element);
      this.main.className = `view-${view.path}`;
      this.fillNavigation();
    }
    this.path = rest;
    this.parameters = parameters;
    document.title = `${view.title} · Berth`;
    this.made.get(view).show(parameters, rest);
    if (other && this.routed) this.main.focus({preventScroll: true});
    this.routed = true;
  }

  /** The address of this view with some parameters changed; null takes one out. */
  link(changes) {
    const parameters = new URLSearchParams(this.parameters);
    for (const [name, value] of Object.entries(changes)) {
      if (value === null || value === undefined || value === '') parameters.delete(name);
      else parameters.set(name, value);
    }
    const path = [this.shown.path, ...this.path].map(encodeURIComponent).join('/');
    const query = parameters.toString();
    return `#/${path}${query === '' ? '' : `?${query}`}`;
  }

  change(changes) {
    history.replaceState(null, '', this.link(changes));
    this.route();
  }

  fillNavigation() {
    document.getElementById('views').replaceChildren(...this.views().map((view) =>
      h('a', {href: `#/${view.path}`, 'aria-current': view === this.shown ? 'page' : undefined}, view.title)));
  }

  fillFacts() {
    const {cluster} = this.model;
    document.getElementById('source').textContent = cluster.name;
    const state = this.model.at(this.model.lastStep());
    const fact = (name, value, href) => h('div', {}, h('dt', {}, name), h('dd', {}, href === undefined ? value : h('a', {href}, value)));
    const share = (resource) => {
      const {part, whole} = state.total(resource);
      return percent(part, whole);
    };
    document.getElementById('facts').replaceChildren(
      fact('Nodes', count(state.nodes.length)),
      fact('Pods', count(state.numPods)),
      fact('Pending', count(state.pending.length), '#/pending'),
      fact('CPU', share('cpu')),
      fact('Memory', share('memory')));
  }

  /** Of a live cluster: when it was read, and to read it again. */
  fillLive() {
    const place = document.getElementById('live');
    const {cluster} = this.model;
    place.hidden = !cluster.live;
    if (!cluster.live) return;
    const again = h('label', {}, h('input', {type: 'checkbox', checked: this.timer !== undefined, onchange: (event) => this.repeat(event.target.checked)}), `every ${kRefreshSeconds} s`);
    place.replaceChildren(h('span', {}, `As of ${time(cluster.taken)}`), h('button', {type: 'button', id: 'refresh', onclick: () => this.refresh()}, 'Refresh'), again);
  }

  repeat(on) {
    clearInterval(this.timer);
    this.timer = on ? setInterval(() => this.refresh(), 1000 * kRefreshSeconds) : undefined;
    if (on) this.refresh();
  }

  async refresh() {
    if (this.refreshing) return;
    this.refreshing = true;
    const focused = document.activeElement?.id;
    try {
      this.take(await post('api/refresh'));
      this.route();
      announce('The cluster has been read again.');
      if (focused === 'refresh') document.getElementById('refresh').focus();
    } catch (error) {
      announce(error.message);
      document.getElementById('live').prepend(h('span', {className: 'problem'}, error.message));
    } finally {
      this.refreshing = false;
    }
  }
}

new Page().start();

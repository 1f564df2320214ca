// SPDX-License-Identifier: Apache-2.0
// What is shown is what the address' hash says: #/map?by=owner, #/pod/shop/web-3, ... A view is made
// once and then updated with each change.

import {ask, askFor, post} from './api.js';
import {DecisionsView} from './decisions.js';
import {announce, byName, count, counted, h, percent, time, warningList} from './dom.js';
import {MapView} from './map.js';
import {Model} from './model.js';
import {PendingView} from './pending.js';
import {PlanView} from './plan.js';
import {PodView} from './pod.js';
import {ReasonsView} from './reasons.js';
import {WhatIfView} from './what_if.js';

const kViews = [
  {path: 'map', title: 'Map', make: MapView},
  {path: 'pending', title: 'Pending', make: PendingView},
  {path: 'pod', title: 'Pod', make: PodView},
  {path: 'what-if', title: 'What if', make: WhatIfView},
  {path: 'plan', title: 'Plan', make: PlanView},
  {path: 'reasons', title: 'Reasons', make: ReasonsView},
  {path: 'decisions', title: 'Decisions', make: DecisionsView, recorded: true},
];
// Of a cluster that is watched: how often is asked whether it has changed, and how much more time than
// a new picture took passes before the next.
const kLookSeconds = 2;
const kRest = 10;

class Page {
  constructor() {
    this.main = document.getElementById('main');
    this.shown = undefined; // the view
    this.made = new Map();
    this.namespace = ''; // whose pods are shown; '': all
    this.following = true;
    this.nextPicture = 0;
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
    this.namespace = map.cluster.namespace ?? '';
    this.take(map);
    document.getElementById('skip').addEventListener('click', (event) => {
      event.preventDefault();
      this.main.focus();
    });
    window.addEventListener('hashchange', () => this.route());
    this.route();
    this.lookAgain();
  }

  /** Whether the pod of this row is of the namespace that is looked at. */
  shows(row) { return this.model.isOf(this.namespace, row); }

  /** Another picture of the cluster. */
  take(document) {
    this.model = new Model(document);
    this.fillFacts();
    this.fillNamespaces();
    this.fillLive();
    this.fillInput();
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
    const asked = parameters.get('namespace');
    if (asked === null && this.namespace !== '') {
      // It holds for all views.
      parameters.set('namespace', this.namespace);
      history.replaceState(null, '', this.link({}));
    } else if (asked !== null && asked !== this.namespace) {
      this.look(asked);
    }
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

  /** At the pods of a namespace, or of all: ''. */
  look(namespace) {
    this.namespace = namespace;
    this.fillFacts();
    this.fillNamespaces();
  }

  change(changes) {
    history.replaceState(null, '', this.link(changes));
    this.route();
  }

  fillNavigation() {
    document.getElementById('views').replaceChildren(...this.views().map((view) =>
      h('a', {href: `#/${view.path}`, 'aria-current': view === this.shown ? 'page' : undefined}, view.title)));
  }

  fillNamespaces() {
    const {namespace} = this;
    const place = document.getElementById('scope');
    const focused = document.activeElement?.id === 'namespace';
    const names = [...new Set([...this.model.namespaces, ...(namespace === '' ? [] : [namespace])])].sort(byName);
    place.replaceChildren(h('label', {className: 'field'}, h('span', {}, 'Namespace'),
      h('select', {id: 'namespace', onchange: (event) => {
        this.look(event.target.value);
        this.change({namespace: event.target.value});
      }}, h('option', {value: '', selected: namespace === ''}, 'all'), names.map((name) => h('option', {value: name, selected: name === namespace}, name)))));
    if (focused) document.getElementById('namespace').focus();
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
    const all = this.namespace === '';
    const shown = (rows) => rows.reduce((sum, row) => sum + this.shows(row), 0);
    const pending = all ? state.pending.length : shown(state.pending);
    document.getElementById('facts').replaceChildren(
      fact('Nodes', count(state.nodes.length)),
      fact(all ? 'Pods' : `Pods in ${this.namespace}`, count(all ? state.numPods : pending + shown(state.placed))),
      fact('Pending', count(pending), '#/pending'),
      fact('CPU', share('cpu')),
      fact('Memory', share('memory')));
  }

  /** Of a live cluster: when it was read, and whether the page follows it. */
  fillLive() {
    const place = document.getElementById('live');
    const {cluster} = this.model;
    place.hidden = !cluster.live;
    if (!cluster.live) return;
    const focused = place.contains(document.activeElement) ? document.activeElement.id : '';
    this.trouble = h('span', {className: 'problem', id: 'trouble', hidden: true});
    place.replaceChildren(this.trouble, h('span', {}, `As of ${time(cluster.taken)}`),
      h('button', {type: 'button', id: 'refresh', onclick: () => this.refresh()}, 'Refresh'),
      !cluster.watched ? '' : h('label', {}, h('input', {type: 'checkbox', id: 'follow', checked: this.following, onchange: (event) => { this.following = event.target.checked; }}), 'Follow'));
    if (focused !== '') document.getElementById(focused)?.focus();
  }

  /** What was read, and what was odd about it. */
  fillInput() {
    const place = document.getElementById('input');
    const {read, warnings} = this.model.cluster;
    place.hidden = read === undefined;
    if (read === undefined) return;
    const text = `Read ${read}.`;
    const open = place.querySelector('details')?.open;
    place.replaceChildren(warnings.length === 0 ? text : h('details', {open},
      h('summary', {}, text, h('span', {className: 'badge warn'}, counted(warnings.length, 'warning'))),
      warningList(warnings)));
  }

  say(trouble) {
    this.trouble.textContent = trouble;
    this.trouble.hidden = trouble === '';
  }

  /** Of a cluster that is watched: takes what has changed, for ever. */
  async lookAgain() {
    if (!this.model.cluster.watched) return;
    if (this.following && !document.hidden && !this.refreshing) {
      try {
        const {changed, reached} = await ask('api/changes');
        // A watch that ends is begun again at once; a longer while is worth a word.
        this.unreached = reached ? 0 : (this.unreached ?? 0) + 1;
        if (changed && performance.now() >= this.nextPicture) {
          const began = performance.now();
          this.take(await post('api/refresh?watched=true'));
          this.route();
          this.nextPicture = performance.now() + kRest * (performance.now() - began);
        }
        this.say(this.unreached > 2 ? 'The API server does not answer.' : '');
      } catch (error) {
        this.say(error.message);
      }
    }
    setTimeout(() => this.lookAgain(), 1000 * kLookSeconds);
  }

  async refresh() {
    if (this.refreshing) return;
    this.refreshing = true;
    try {
      this.take(await post('api/refresh'));
      this.route();
      announce('The cluster has been read again.');
    } catch (error) {
      announce(error.message);
      this.say(error.message);
    } finally {
      this.refreshing = false;
    }
  }
}

new Page().start();

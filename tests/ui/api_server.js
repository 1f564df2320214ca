// SPDX-License-Identifier: Apache-2.0
// As much of an API server as a client needs that lists and watches: objects in memory, in JSON.
import {writeFileSync} from 'node:fs';
import {createServer} from 'node:http';
import {once} from 'node:events';

const kResources = {Node: 'nodes', Pod: 'pods', Namespace: 'namespaces'};

/** Holds objects; `put` and `remove` change one, and tell those that watch. */
export class ApiServer {
  constructor() {
    this.version = 1;
    this.objects = new Map(Object.values(kResources).map((name) => [name, new Map()]));
    this.watches = new Map(); // answers that are open, by resource
    this.server = createServer((request, response) => this.answer(request, response));
  }

  /** The kubeconfig's file is written. */
  async start(kubeconfig) {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    this.port = this.server.address().port;
    writeFileSync(kubeconfig, JSON.stringify({
      apiVersion: 'v1', kind: 'Config', 'current-context': 'here',
      clusters: [{name: 'here', cluster: {server: `http://127.0.0.1:${this.port}`}}],
      users: [{name: 'me', user: {token: 'any'}}],
      contexts: [{name: 'here', context: {cluster: 'here', user: 'me'}}],
    }));
  }

  /** As after `stop`: the same address and objects. */
  async resume() {
    this.server.listen(this.port, '127.0.0.1');
    await once(this.server, 'listening');
  }

  stop() {
    this.server.close();
    this.server.closeAllConnections();
  }

  put(object) {
    const {metadata} = object;
    const objects = this.objects.get(kResources[object.kind]);
    const key = `${metadata.namespace ?? ''}/${metadata.name}`;
    const type = objects.has(key) ? 'MODIFIED' : 'ADDED';
    metadata.resourceVersion = String(++this.version);
    objects.set(key, object);
    this.tell(type, object);
  }

  remove(object) {
    this.objects.get(kResources[object.kind]).delete(`${object.metadata.namespace ?? ''}/${object.metadata.name}`);
    object.metadata.resourceVersion = String(++this.version);
    this.tell('DELETED', object);
  }

  tell(type, object) {
    for (const response of this.watches.get(kResources[object.kind]) ?? []) response.write(`${JSON.stringify({type, object})}\n`);
  }

  answer(request, response) {
    const {pathname, searchParams} = new URL(request.url, 'http://127.0.0.1');
    const resource = pathname.split('/').pop();
    response.setHeader('Content-Type', 'application/json');
    if (pathname.includes('/leases/')) {
      response.statusCode = 404;
      response.end(JSON.stringify({kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', code: 404, message: 'there is no lease'}));
    } else if (searchParams.get('watch') !== null) {
      response.flushHeaders();
      const open = this.watches.get(resource) ?? new Set();
      this.watches.set(resource, open.add(response));
      response.on('close', () => open.delete(response));
      if (searchParams.get('sendInitialEvents') !== 'true') return;
      for (const object of this.objects.get(resource)?.values() ?? []) response.write(`${JSON.stringify({type: 'ADDED', object})}\n`);
      const annotations = {'k8s.io/initial-events-end': 'true'};
      response.write(`${JSON.stringify({type: 'BOOKMARK', object: {metadata: {resourceVersion: String(this.version), annotations}}})}\n`);
    } else {
      response.end(JSON.stringify({metadata: {resourceVersion: String(this.version)}, items: [...(this.objects.get(resource)?.values() ?? [])]}));
    }
  }
}

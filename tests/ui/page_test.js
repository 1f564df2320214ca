// SPDX-License-Identifier: Apache-2.0
// The page of `berth ui` in a real Chromium, on made-up clusters. `./dev verify` runs it; by hand:
//   BERTH_BINARY=$PWD/.build/quick/bin/berth node --test tests/ui
// BERTH_UPDATE_DOCS=1 writes docs/ui.png again.
import assert from 'node:assert/strict';
import {execFileSync, spawn} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {fileURLToPath} from 'node:url';
import {chromium} from 'playwright-core';
import {ApiServer} from './api_server.js';
import {objects, write} from './cluster.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const berth = process.env.BERTH_BINARY ?? join(root, '.build/release/bin/berth');
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const kSchemes = ['light', 'dark'];
const kLimit = 2000; // ms from the navigation until the map of 5,000 nodes is drawn

const servers = [];
let folder;
let browser;
let large;
let small;
let recorded;
let room; // docs/plan.md
let zones; // docs/plan.md

/** Starts `berth ui`; its address, once it has one, and the lines that it says on standard error. */
async function serve(...flags) {
  const server = spawn(berth, ['ui', ...flags], {stdio: ['ignore', 'pipe', 'pipe']});
  servers.push(server);
  let said = '';
  server.stderr.on('data', (part) => {
    said += part;
    process.stderr.write(part);
  });
  let text = '';
  for await (const part of server.stdout) {
    text += part;
    if (text.includes('\n')) return {address: text.trim(), server, said: () => said.trim().split('\n')};
  }
  throw new Error(`berth ui ended: ${text}`);
}

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'berth-ui-'));
  await write(join(folder, 'large.json'), {nodes: 5000, pods: 50000});
  await write(join(folder, 'small.json'), {nodes: 60, pods: 700, unplaced: 150});
  execFileSync(berth, ['simulate', '--cluster', join(folder, 'small.json'), '--record', join(folder, 'recording')], {stdio: 'ignore'});
  large = await serve('--cluster', join(folder, 'large.json'));
  small = await serve('--cluster', join(folder, 'small.json'));
  recorded = await serve('--recording', join(folder, 'recording'));
  room = await serve('--cluster', join(root, 'docs/tutorial/room.yaml'));
  zones = await serve('--cluster', join(root, 'docs/tutorial/zones.yaml'));
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync'],
  });
});

after(async () => {
  await browser?.close();
  for (const server of servers) server.kill('SIGTERM');
  if (folder !== undefined) rmSync(folder, {recursive: true});
});

/**
 * Opens a page, gives it to `use`, and then holds it to what all pages must keep: nothing goes wrong,
 * and nothing is asked of another host. The browser itself notes a request that is `refused`.
 */
async function visit({address}, use, {scheme = 'light', hash = '', refused = 0, permissions = []} = {}) {
  const context = await browser.newContext({viewport: {width: 1440, height: 900}, colorScheme: scheme, permissions});
  const page = await context.newPage();
  const problems = [];
  page.on('console', (message) => {
    const known = refused > 0 && message.text().includes(`status of ${refused}`);
    if (['error', 'warning'].includes(message.type()) && !known) problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(error.stack));
  page.on('request', (request) => {
    if (new URL(request.url()).host !== new URL(address).host) problems.push(`asks ${request.url()}`);
  });
  try {
    await page.goto(address + hash);
    await use(page);
    assert.deepEqual(problems, []);
  } finally {
    await context.close();
  }
}

const drawn = (page) => page.waitForFunction(() => performance.getEntriesByName('map-drawn').length > 0);

test('a map of 5,000 nodes and 50,000 pods is drawn within two seconds', async () => {
  const times = [];
  // The machine may be busy with something else for a while.
  for (let i = 0; i < 12 && !(Math.min(...times) < kLimit); ++i) {
    await visit(large, async (page) => {
      await drawn(page);
      times.push(await page.evaluate(() => performance.getEntriesByName('map-drawn')[0].startTime));
      assert.match(await page.locator('#facts').innerText(), /5,000[^]*50,000/);
    });
  }
  console.log(`drawn after ${times.map((time) => `${Math.round(time)} ms`).join(', ')}`);
  assert.ok(Math.min(...times) < kLimit, `drawn after ${times} ms`);
});

test('the map shows nodes by use, priority and owner, as drawing and as table', async () => {
  await visit(large, async (page) => {
    await drawn(page);
    const picture = () => page.locator('#map').evaluate((canvas) => canvas.toDataURL());
    const seen = new Set([await picture()]);
    for (const by of ['priority', 'owner']) {
      await page.getByText(by, {exact: true}).click();
      await page.waitForURL(`**/*by=${by}*`);
      seen.add(await picture());
    }
    await page.locator('#resource').selectOption('memory');
    await page.waitForURL('**/*resource=memory*');
    seen.add(await picture());
    assert.equal(seen.size, 4, 'each looks different');
    await page.getByLabel('Filter').fill('gpu-48');
    await page.getByText('table', {exact: true}).click();
    assert.match(await page.locator('caption').innerText(), /^100 nodes/);
    await page.getByRole('button', {name: 'Pods'}).click();
    assert.equal(await page.locator('th[aria-sort=descending]').innerText(), 'Pods ↓');
    await page.getByRole('link', {name: 'gpu-4850'}).click();
    await page.getByRole('complementary', {name: 'Node gpu-4850'}).waitFor();
  });
});

test('all can be reached by keyboard', async () => {
  await visit(small, async (page) => {
    await drawn(page);
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Skip to the view');
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'main');
    for (let i = 0; i < 12 && (await page.evaluate(() => document.activeElement.id)) !== 'map'; ++i) await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'map');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    assert.match(await page.locator('#status').innerText(), /^compute-0039, zone-a, compute: cpu .* pods/);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.getByRole('complementary', {name: 'Node compute-0039'}).waitFor();
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('.panel').count(), 0);
  });
});

test('a pending pod has its reason and what would let it schedule', async () => {
  await visit(large, async (page) => {
    await page.getByRole('link', {name: 'Pending'}).click();
    const group = page.locator('.group').filter({hasText: 'shop/web-large-abc12-0'});
    await group.waitFor();
    assert.match(await group.innerText(), /^3\s+pods\s+no node fits\s+Insufficient cpu/);
    await group.getByRole('link', {name: 'shop/web-large-abc12-0'}).click();
    await page.getByText(/^0\/5000 nodes are available: .*47\d\d Insufficient cpu/).waitFor();
    await page.locator('#fixes').getByText(/request cpu \S+ instead of 48/).first().waitFor({timeout: 30_000});
    assert.match(await page.locator('h2').innerText(), /^shop\/web-large-abc12-0/);
  }, {hash: '#/pending'});
});

test('each group of pending pods has its best fix, with commands to copy', async () => {
  await visit(small, async (page) => {
    const group = page.locator('.group').filter({hasText: 'search/index-0'});
    await group.getByText('Best fix').waitFor({timeout: 30_000});
    assert.match(await group.innerText(), /2\s+pods\s+no node fits[^]*Best fix\s*tried for search\/index-0/);
    await group.getByText('Commands').click();
    const commands = await group.locator('pre').innerText();
    assert.match(commands, /^kubectl (label|patch) /);
    await group.getByRole('button', {name: 'Copy'}).click();
    await group.getByText('Copied').waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), commands);
    // What is open stays so while other groups get theirs.
    const large = page.locator('.group').filter({hasText: 'shop/web-large-abc12-0'});
    await large.getByText('Best fix').waitFor({timeout: 30_000});
    assert.ok(await group.locator('pre').isVisible());
    assert.equal(await page.locator('.group').filter({hasText: 'later-0'}).getByText('Best fix').count(), 0, 'a gate is no matter of nodes');
  }, {hash: '#/pending', permissions: ['clipboard-read', 'clipboard-write']});
});

test('a namespace that is chosen holds for every view', async () => {
  await visit(small, async (page) => {
    await page.locator('.group').first().waitFor();
    assert.ok(await page.locator('.group').count() > 3);
    await page.getByLabel('Namespace').selectOption('search');
    await page.getByRole('heading', {name: 'Pending pods in search'}).waitFor();
    const groups = await page.locator('.group .pods').allInnerTexts();
    assert.ok(groups.length > 0);
    for (const pods of groups) assert.doesNotMatch(pods, /^(?!search\/)\w+\//m);
    assert.match(await page.locator('#facts').innerText(), /Pods in search/);
    await page.getByRole('navigation').getByRole('link', {name: 'Pod', exact: true}).click();
    await page.waitForURL((url) => url.hash === '#/pod?namespace=search');
    await page.locator('#find-pod').fill('app-');
    for (const pod of await page.locator('.found li a').allInnerTexts()) assert.match(pod, /^search\//);
    await page.goto(page.url().replace(/#.*/, '#/map?by=owner&node=general-0030&namespace=search'));
    assert.match(await page.locator('.legend').innerText(), /other namespaces/);
    assert.match(await page.locator('.panel').innerText(), /\d+ pods? in search, of 1\d/);
    for (const pod of await page.locator('.panel tbody th').allInnerTexts()) assert.match(pod, /^search\//);
    await page.getByLabel('Namespace').selectOption('');
    await page.locator('.panel').getByText(/^1\d pods$/).waitFor();
    assert.ok(!page.url().includes('namespace'));
  }, {hash: '#/pending'});
});

test('berth ui -n shows the pods of a namespace at first', async () => {
  const server = await serve('--cluster', join(folder, 'small.json'), '-n', 'shop');
  await visit(server, async (page) => {
    await page.getByRole('heading', {name: 'Pending pods in shop'}).waitFor();
    assert.equal(await page.getByLabel('Namespace').inputValue(), 'shop');
  }, {hash: '#/pending'});
});

test('a node has labels, taints, conditions and age; a pod age and selectors', async () => {
  await visit(small, async (page) => {
    const panel = page.getByRole('complementary', {name: 'Node gpu-0058'});
    await panel.getByText('example.com/gpu=present:NoSchedule').waitFor();
    await panel.getByText('Ready: True').waitFor();
    await panel.getByText('topology.kubernetes.io/zone=zone-b').waitFor();
    assert.match(await panel.locator('.node-facts').innerText(), /Age \d{3,}d/);
  }, {hash: '#/map?node=gpu-0058'});
  await visit(small, async (page) => {
    await page.locator('.badge.bad').getByText('DiskPressure: True').waitFor();
  }, {hash: '#/map?node=general-0009'});
  await visit(small, async (page) => {
    await page.locator('.selectors').waitFor();
    assert.match(await page.locator('.pod-facts').innerText(), /Age\s+\d{3,}d/);
    const selectors = await page.locator('.selectors').innerText();
    assert.match(selectors, /nodeSelector\s+disk=nvme/);
    assert.match(selectors, /tolerations\s+example\.com\/gpu:NoSchedule/);
    assert.match(selectors, /labels\s+app=index/);
  }, {hash: '#/pod/search/index-0'});
});

test('a reason leads to what the docs say of it', async () => {
  await visit(small, async (page) => {
    const group = page.locator('.group').filter({hasText: 'shop/web-large-abc12-0'});
    await group.getByRole('link', {name: 'Insufficient cpu'}).click();
    await page.waitForURL((url) => url.hash.startsWith('#/reasons/NodeResourcesFit?'));
    const row = page.locator('[aria-current=true]');
    await row.waitFor();
    assert.match(await row.innerText(), /^Insufficient <resource>[^]*lower resources\.requests/);
    assert.ok(await row.isVisible());
    assert.equal(await page.locator('[aria-current=true]').count(), 1);
  }, {hash: '#/pending'});
});

test('more owners than colours at hand are told apart', async () => {
  await visit(large, async (page) => {
    await drawn(page);
    const colours = await page.locator('.legend .swatch i').evaluateAll((boxes) => boxes.map((box) => getComputedStyle(box).backgroundColor));
    assert.ok(colours.length > 20, `${colours.length} kinds`);
    assert.equal(new Set(colours).size, colours.length, 'no two are alike');
    const labels = await page.locator('.legend .swatch').allInnerTexts();
    assert.ok(labels.filter((label) => /^other owners in /.test(label)).length > 3, labels.join());
  }, {hash: '#/map?by=owner'});
});

test('the page follows a live cluster', async () => {
  const api = new ApiServer();
  await api.start(join(folder, 'kubeconfig'));
  try {
    const [node] = objects({nodes: 1, pods: 8});
    const pod = (name, cpu) => ({apiVersion: 'v1', kind: 'Pod', metadata: {name, namespace: 'shop', uid: name},
      spec: {schedulerName: 'default-scheduler', containers: [{name: 'c', resources: {requests: {cpu}}}]}, status: {phase: 'Pending'}});
    api.put(node);
    api.put(pod('first', '1000'));
    const live = await serve('--kubeconfig', join(folder, 'kubeconfig'));
    await visit(live, async (page) => {
      await page.getByText('shop/first').waitFor();
      const late = pod('late', '2000');
      api.put(late);
      await page.getByText('shop/late').waitFor({timeout: 20_000});
      assert.match(await page.locator('#facts').innerText(), /Pending\s+2/);
      api.remove(late);
      await page.getByText('shop/late').waitFor({state: 'detached', timeout: 20_000});
      // A picture that is to stay does.
      await page.getByLabel('Follow').uncheck();
      api.put(pod('later', '3000'));
      await page.waitForTimeout(5000);
      assert.equal(await page.getByText('shop/later').count(), 0);
      await page.getByLabel('Follow').check();
      await page.getByText('shop/later').waitFor({timeout: 20_000});
      // Standard error has what was read once, the page each time.
      const again = page.waitForResponse((response) => response.url().endsWith('api/refresh'));
      await page.getByRole('button', {name: 'Refresh'}).click();
      assert.equal((await again).status(), 200);
      // What cannot be followed any more is said.
      assert.deepEqual(live.said(), ['Read 1 node, 1 pod (1 pending).']);
      api.stop();
      const trouble = page.getByText('The API server does not answer.');
      await trouble.waitFor({timeout: 30_000});
      await api.resume();
      await trouble.waitFor({state: 'hidden', timeout: 60_000});
      api.put(pod('last', '4000'));
      await page.getByText('shop/last').waitFor({timeout: 20_000});
      // Each kind is asked for again by itself.
      for (let i = 0; i < 600 && live.said().length < 3; ++i) await page.waitForTimeout(100);
      const [, gone, back, ...more] = live.said();
      assert.match(gone, /^Warning: the cluster cannot be watched, until the server answers again: ./);
      assert.equal(back, 'The cluster is watched again.');
      assert.deepEqual(more, []);
    }, {hash: '#/pending'});
  } finally {
    api.stop();
  }
});

test('a pod that fits shows the scores of the nodes', async () => {
  await visit(small, async (page) => {
    await page.locator('#scores').waitFor();
    assert.match(await page.locator('#scores h3').innerText(), /^\d+ nodes would take it/);
    const widths = await page.locator('.stack').first().locator('i').evaluateAll((parts) => parts.map((part) => part.getBoundingClientRect().width));
    assert.ok(widths.length > 1 && widths.every((width) => width > 0), `${widths}`);
  }, {hash: '#/pod/auth/fresh-0'});
});

test('a pod that only its pod group keeps from a node is held', async () => {
  const file = join(folder, 'gang.json');
  const pod = (name, cpu) => ({apiVersion: 'v1', kind: 'Pod', metadata: {name, uid: name, namespace: 'ml'},
    spec: {schedulerName: 'default-scheduler', schedulingGroup: {podGroupName: 'train'}, containers: [{name: 'main', resources: {requests: {cpu}}}]}, status: {phase: 'Pending'}});
  writeFileSync(file, JSON.stringify({apiVersion: 'v1', kind: 'List', items: [
    {apiVersion: 'v1', kind: 'Node', metadata: {name: 'n1', uid: 'n1'}, status: {allocatable: {cpu: '4', pods: '9'}}},
    {apiVersion: 'scheduling.k8s.io/v1beta1', kind: 'PodGroup', metadata: {name: 'train', namespace: 'ml', uid: 'train'}, spec: {schedulingPolicy: {gang: {minCount: 2}}}},
    pod('train-0', '1'), pod('train-1', '9'),
  ]}));
  const server = await serve('--cluster', file, '--feature-gates', 'GenericWorkload=true');
  await visit(server, async (page) => {
    await page.locator('#scores').waitFor();
    assert.match(await page.locator('h2').innerText(), /^ml\/train-0\s*held by its pod group$/);
    assert.match(await page.locator('#scores').innerText(), /^1 node would take it\s+They would if it were in no pod group/);
    await page.locator('#fixes').waitFor();
    assert.match(await page.locator('#fixes').innerText(), /^What would let ml\/train-1 schedule, which its group waits for\s[^]*pod\s*request cpu \w+ instead of 9/);
  }, {hash: '#/pod/ml/train-0'});
  await visit(server, async (page) => {
    const held = page.locator('.group', {has: page.locator('.badge.bad', {hasText: 'held by its pod group'})});
    await held.locator('.best-fix', {hasText: 'tried for ml/train-1'}).waitFor();
  }, {hash: '#/pending'});
});

test('a pod on a node tells how that does and what the others score', async () => {
  await visit(small, async (page) => {
    await page.locator('.panel tbody th a').first().click();
    const placed = page.locator('#placement');
    await placed.waitFor();
    assert.match(await placed.innerText(), /^It is on general-0003, which scores \d+ today: /);
    assert.match(await page.locator('#scores h3').innerText(), /^\d+ nodes would take it/);
    assert.equal(await page.locator('#fixes').count(), 0);
  }, {hash: '#/map?node=general-0003'});
});

test('a pod has its claims and the plugin that rules nodes out before filtering', async () => {
  const file = join(folder, 'claims.json');
  const meta = (name, more) => ({name, uid: name, ...more});
  const node = (name, zone) => ({apiVersion: 'v1', kind: 'Node', metadata: meta(name, {labels: {zone}}), status: {allocatable: {cpu: '4', pods: '9'}}});
  const pod = (name, claim) => ({apiVersion: 'v1', kind: 'Pod', metadata: meta(name, {namespace: 'shop'}),
    spec: {schedulerName: 'default-scheduler', containers: [], volumes: [{name: 'data', persistentVolumeClaim: {claimName: claim}}]}, status: {phase: 'Pending'}});
  writeFileSync(file, JSON.stringify({apiVersion: 'v1', kind: 'List', items: [
    node('east-1', 'east'), node('east-2', 'east'), node('west-1', 'west'),
    {apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: meta('local'), provisioner: 'kubernetes.io/no-provisioner', volumeBindingMode: 'WaitForFirstConsumer'},
    {apiVersion: 'v1', kind: 'PersistentVolume', metadata: meta('pv-3'), spec: {capacity: {storage: '10Gi'}, accessModes: ['ReadWriteOnce'], storageClassName: 'local',
      nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: 'zone', operator: 'In', values: ['west']}]}]}}}, status: {phase: 'Available'}},
    {apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: meta('data', {namespace: 'shop'}), spec: {accessModes: ['ReadWriteOnce'], storageClassName: 'local', resources: {requests: {storage: '5Gi'}}}},
    pod('web', 'data'), pod('lost', 'gone'),
  ]}));
  const server = await serve('--cluster', file);
  await visit(server, async (page) => {
    const rows = page.locator('#claims tbody tr');
    await rows.first().waitFor();
    const texts = (await rows.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' '));
    assert.deepEqual(texts, ["2 shop/data – node(s) didn't find available persistent volumes to bind east-1, east-2", '1 shop/data pv-3 – west-1']);
  }, {hash: '#/pod/shop/web'});
  await visit(server, async (page) => {
    const reason = page.locator('.reason').first();
    await reason.waitFor();
    assert.match(await reason.innerText(), /^persistentvolumeclaim "gone" not found\s*VolumeRestrictions$/);
    await reason.getByRole('link').click();
    await page.locator('[aria-current=true]').waitFor();
  }, {hash: '#/pod/shop/lost'});
});

test('a question of what would be is asked and answered', async () => {
  await visit(small, async (page) => {
    await page.getByLabel('Drain').fill('general-0003');
    await page.getByRole('button', {name: 'Ask'}).click();
    const answer = page.locator('#answer');
    await answer.getByText('Drain of general-0003').waitFor({timeout: 30_000});
    assert.match(await answer.innerText(), /pods? would move elsewhere/);
    // Today's pending pods are scheduled first, so that the difference is the drain's alone.
    assert.match(await answer.locator('.summary').innerText(), /Nodes\s+60\s+60\s+60\s+=/);
    await page.getByRole('button', {name: 'Clear'}).click();
    await page.getByLabel('Add nodes').fill('2');
    await page.getByLabel('like').fill('general-0003');
    await page.getByRole('button', {name: 'Ask'}).click();
    await answer.getByText('+2').first().waitFor({timeout: 30_000});
    assert.match(await answer.locator('.summary').innerText(), /Nodes\s+60\s+60\s+62\s+\+2/);
    // Copies that only one node takes fit nowhere once it is cordoned.
    await page.getByRole('button', {name: 'Clear'}).click();
    const only = {metadata: {name: 'p'}, spec: {nodeSelector: {'kubernetes.io/hostname': 'general-0003'}, containers: [{name: 'c'}]}};
    await page.getByLabel('Fill with copies').fill(JSON.stringify(only));
    await page.getByLabel('Cordon').fill('general-0003');
    await page.getByRole('button', {name: 'Ask'}).click();
    await answer.getByText('0 copies fit').waitFor({timeout: 30_000});
    await page.getByRole('button', {name: 'Clear'}).click();
    await page.getByLabel('Drain').fill('general-9999');
    await page.getByRole('button', {name: 'Ask'}).click();
    await answer.getByText('the cluster has no node general-9999').waitFor();
  }, {hash: '#/what-if', refused: 400});
});

/** A node's cells in the table of a plan's nodes: its pods, and its shares of cpu and memory. */
async function nodeOf(page, name) {
  const row = page.locator('#plan-nodes tbody tr', {has: page.getByRole('link', {name, exact: true})});
  return (await row.locator('td').allInnerTexts()).map((text) => text.trim());
}

test('a plan makes room for a pending pod, and is looked at step by step', async () => {
  await visit(room, async (page) => {
    await page.getByRole('link', {name: 'Make room by moving'}).click();
    const headline = page.locator('#headline');
    await headline.waitFor();
    assert.match(await headline.innerText(), /^ml\/train-0 fits after 1 move; no plan has fewer\.\s+found$/);
    assert.deepEqual(await page.locator('.moves button').allInnerTexts(), ['shop/web-2 moves from n1 to n3', 'ml/train-0 gets n1']);
    assert.match(await page.locator('.moves li').first().innerText(), /frees 1 cpu, 1 GiB memory/);
    assert.match(await page.locator('.plan pre').innerText(), /^berth plan --goal fit=ml\/train-0 -o yaml > plan\.yaml\nberth plan --apply plan\.yaml$/);
    const picture = () => page.locator('#map').evaluate((canvas) => canvas.toDataURL());
    const pictures = new Set([await picture()]);
    const say = page.locator('.timeline output');
    assert.equal(await say.innerText(), '0 of 2 steps: the cluster as it is');
    assert.deepEqual((await nodeOf(page, 'n1')).slice(0, 2), ['2', '50 %']);
    // One on, by keyboard alone; what is in hand stays so.
    await page.locator('#plan-on').focus();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/*at=1*');
    assert.equal(await say.innerText(), '1 of 2 steps · shop/web-2 moves from n1 to n3');
    assert.equal(await page.locator('.moves [aria-current=step]').innerText(), 'shop/web-2 moves from n1 to n3');
    assert.deepEqual(await nodeOf(page, 'n1'), ['1', '25 %', '6 %', 'the pod has left']);
    assert.deepEqual((await nodeOf(page, 'n3')).slice(1), ['75 %', '13 %', 'the pod has come']);
    pictures.add(await picture());
    await page.keyboard.press('Enter');
    await page.waitForURL('**/*at=2*');
    assert.equal((await nodeOf(page, 'n1'))[1], '100 %');
    pictures.add(await picture());
    assert.equal(pictures.size, 3, 'each step looks different');
    // The address has the step; and back, by the slider and by a step of the list.
    await page.reload();
    await page.getByText(/^2 of 2 steps/).waitFor();
    await page.locator('#plan-at').focus();
    await page.keyboard.press('ArrowLeft');
    await page.getByText(/^1 of 2 steps/).waitFor();
    await page.keyboard.press('ArrowLeft');
    await page.getByText(/^0 of 2 steps/).waitFor();
    await page.locator('#step-2').focus();
    await page.keyboard.press('Enter');
    await page.getByText(/^2 of 2 steps/).waitFor();
    assert.equal(await page.evaluate(() => document.activeElement.id), 'step-2');
    // Enter on the drawing opens the node on the map.
    await page.locator('#map').focus();
    await page.keyboard.press('ArrowLeft');
    assert.match(await page.locator('#status').innerText(), /^n\d, no zone, no pool: cpu /);
    await page.keyboard.press('Enter');
    await page.getByRole('complementary', {name: /^Node n\d$/}).waitFor();
  }, {hash: '#/pod/ml/train-0'});
});

test('a plan may evict pods for good where that is asked for', async () => {
  await visit(room, async (page) => {
    await page.getByLabel('Goal').fill('fit=ml/train-0');
    await page.getByLabel(/evicted for good/).check();
    await page.getByRole('button', {name: 'Find moves'}).click();
    await page.locator('#headline', {hasText: 'ml/train-0 fits after 1 move'}).waitFor();
    assert.match(page.url(), /evict=1/);
    assert.match(await page.locator('.plan pre').innerText(), /^berth plan --goal fit=ml\/train-0 --evict -o yaml > plan\.yaml\n/);
    await page.reload();
    await page.locator('#headline').waitFor();
    assert.equal(await page.getByLabel(/evicted for good/).isChecked(), true);
  }, {hash: '#/plan'});
});

test('a plan empties a node, wave by wave', async () => {
  await visit(room, async (page) => {
    await page.getByRole('link', {name: 'Empty this node'}).click();
    await page.locator('#headline', {hasText: 'n1 is empty after 2 moves; no plan has fewer.'}).waitFor();
    const waves = page.locator('.wave');
    assert.match(await waves.nth(0).innerText(), /^Wave 1\s+n1 is cordoned first\.\s+[^]*shop\/web-1 moves from n1 to n3/);
    assert.match(await waves.nth(1).innerText(), /^Wave 2\s*once the pods that moved before are ready again\s+[^]*shop\/web-2 moves from n1 to n2/);
    assert.equal(await waves.nth(1).locator('ol').getAttribute('start'), '2');
    await page.locator('#step-1').click();
    await page.getByText(/^1 of 2 steps/).waitFor();
    assert.equal((await nodeOf(page, 'n1')).at(-1), 'the pod has left, cordoned');
    await page.locator('#step-2').click();
    await page.getByText(/^2 of 2 steps/).waitFor();
    assert.deepEqual((await nodeOf(page, 'n1')).slice(0, 2), ['0', '0 %']);
    assert.match(await page.locator('.plan pre').innerText(), /^berth plan --goal empty=n1 -o yaml > plan\.yaml\n/);
  }, {hash: '#/map?node=n1'});
});

test('a plan spreads a workload, and says what each domain has then', async () => {
  await visit(zones, async (page) => {
    await page.getByLabel('Namespace').selectOption('shop');
    await page.getByLabel('Goal').fill('skew=deploy/web:1');
    await page.getByRole('button', {name: 'Find moves'}).click();
    await page.locator('#headline', {hasText: 'shop/Deployment/web has a skew of 1 instead of 4 over topology.kubernetes.io/zone after 2 moves'}).waitFor();
    assert.deepEqual(await page.locator('#domains tbody tr').allInnerTexts(), ['a\t4\t2', 'b\t1\t2', 'c\t0\t1']);
    assert.match(await page.locator('.plan pre').innerText(), /^berth plan --goal skew=shop\/Deployment\/web:1 -o yaml > plan\.yaml\n/);
  }, {hash: '#/plan'});
});

test('a plan for all pending pods says who still waits, and holds to the namespace', async () => {
  await visit(small, async (page) => {
    await page.getByRole('link', {name: 'Make room by moving other pods'}).click();
    const headline = page.locator('#headline');
    await headline.waitFor({timeout: 60_000});
    assert.match(await headline.innerText(), /^\d+ of \d+ pending pods fit .*\s+for some of the pods$/);
    assert.match(await page.locator('#left-out').innerText(), /^Pods that still wait[^]*shop\/web-large-abc12-0\s+0\/60 nodes are available/);
    const steps = page.getByRole('group', {name: 'Pages of steps'});
    await steps.getByRole('button', {name: 'Next'}).click();
    await page.locator('#step-51').click();
    await page.getByText(/^51 of \d+ steps/).waitFor();
    assert.ok(await page.locator('#step-51[aria-current=step]').isVisible());
    const asked = page.waitForResponse((response) => response.url().endsWith('api/plan'), {timeout: 60_000});
    await page.getByLabel('Namespace').selectOption('search');
    assert.deepEqual(JSON.parse((await asked).request().postData()), {goal: 'pending', namespace: 'search'});
    await headline.waitFor();
    const texts = await page.locator('.moves button').allInnerTexts();
    assert.ok(texts.length > 0);
    for (const text of texts) assert.match(text, / moves from |^search\//);
  }, {hash: '#/pending'});
});

test('a goal that is none, that cannot be reached or that takes too long is told', async () => {
  await visit(room, async (page) => {
    const find = async (goal) => {
      await page.getByLabel('Goal').fill(goal);
      await page.getByRole('button', {name: 'Find moves'}).click();
    };
    await find('fitt=ml/train-0');
    await page.getByText('goal: "fitt" is no goal; did you mean fit?').waitFor();
    await find('empty=n9');
    await page.getByText('goal: the cluster has no node n9').waitFor();
    await find('fit=shop/web-1');
    await page.getByText('goal: shop/web-1 is on n1 already').waitFor();
    await find('empty=n3');
    await page.locator('#headline', {hasText: 'n3 cannot be emptied: pods on it stay'}).waitFor();
    assert.match(await page.locator('#left-out').innerText(), /^Pods that hold the node[^]*shop\/shell\s+no controller makes it again$/);
    assert.equal(await page.locator('.plan pre').count(), 0, 'there is nothing to carry out');
    // As long as no answer comes.
    await page.route('**/api/plan', () => {});
    await find('pending');
    await page.getByText('Searching for moves').waitFor();
    await page.getByRole('button', {name: 'Stop searching'}).click();
    await page.getByText('Stopped.').waitFor();
    assert.equal(await page.getByRole('button', {name: 'Stop searching'}).count(), 0);
    await page.unroute('**/api/plan');
    await find('pending');
    await page.locator('#headline', {hasText: '1 pending pod fits after 1 move'}).waitFor();
  }, {hash: '#/plan', refused: 400});
});

test('a plan stays as it was found when the cluster changes', async () => {
  const api = new ApiServer();
  await api.start(join(folder, 'kubeconfig-plan'));
  try {
    const node = (name) => ({apiVersion: 'v1', kind: 'Node', metadata: {name, uid: name}, status: {allocatable: {cpu: '4', pods: '9'}}});
    const pod = (name, cpu, nodeName) => ({apiVersion: 'v1', kind: 'Pod', metadata: {name, namespace: 'shop', uid: name,
      ownerReferences: [{apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'web', controller: true}]},
    spec: {schedulerName: 'default-scheduler', nodeName, containers: [{name: 'c', resources: {requests: {cpu}}}]}, status: {phase: nodeName === undefined ? 'Pending' : 'Running'}});
    for (const object of [node('n1'), node('n2'), pod('a', '1', 'n1'), pod('b', '2', 'n2'), pod('large', '4')]) api.put(object);
    const live = await serve('--kubeconfig', join(folder, 'kubeconfig-plan'));
    await visit(live, async (page) => {
      await page.locator('#headline', {hasText: 'shop/large fits after 1 move'}).waitFor();
      assert.ok(await page.locator('#plan-old').isHidden());
      api.put(pod('c', '1', 'n2'));
      await page.getByText('The cluster has changed since.').waitFor({timeout: 20_000});
      assert.equal((await nodeOf(page, 'n2'))[0], '1', 'the cluster that the plan is of');
      await page.getByRole('button', {name: 'Search again'}).click();
      await page.locator('#plan-old').waitFor({state: 'hidden'});
      await page.locator('#headline', {hasText: 'shop/large fits after 1 move'}).waitFor();
      assert.equal((await nodeOf(page, 'n2'))[0], '2');
    }, {hash: '#/plan?goal=fit%3Dshop%2Flarge'});
  } finally {
    api.stop();
  }
});

test('another configuration is tried on all pods, scheduled again', async () => {
  await visit(small, async (page) => {
    const answer = page.locator('#answer');
    const config = (strategy) => ['apiVersion: kubescheduler.config.k8s.io/v1', 'kind: KubeSchedulerConfiguration', 'profiles:',
      '- pluginConfig:', '  - name: NodeResourcesFit', `    args: {scoringStrategy: {type: ${strategy}}}`].join('\n');
    await page.getByLabel('Another configuration').fill(config('MostAllocated'));
    await page.getByLabel('Schedule all pods again').check();
    await page.getByRole('button', {name: 'Ask'}).click();
    await answer.locator('.summary').waitFor({timeout: 30_000});
    // Packing changes where pods go, and not how many there are.
    assert.match(await answer.locator('.summary').innerText(), /Pods\s+\d+\s+\d+\s+\d+\s+=/);
    assert.match(await answer.innerText(), /\d+ pods elsewhere/);
    await page.getByLabel('Another configuration').fill(config('Emptiest'));
    await page.getByRole('button', {name: 'Ask'}).click();
    await answer.getByText('Emptiest').waitFor();
  }, {hash: '#/what-if', refused: 400});
});

test('what was read, and what is odd about it or about a question, is told', async () => {
  const file = join(folder, 'odd.json');
  const meta = (name, more) => ({name, uid: name, ...more});
  writeFileSync(file, JSON.stringify({apiVersion: 'v1', kind: 'List', items: [
    {apiVersion: 'v1', kind: 'Node', metadata: meta('n1'), status: {allocatable: {cpu: '4', pods: '9'}}},
    {apiVersion: 'v1', kind: 'Secret', metadata: meta('s', {namespace: 'shop'})},
    {apiVersion: 'v1', kind: 'Pod', metadata: meta('lost', {namespace: 'shop'}), spec: {schedulerName: 'default-scheduler', containers: [], nodeName: 'n9'}},
    {apiVersion: 'v1', kind: 'Pod', metadata: meta('web', {namespace: 'shop'}), spec: {schedulerName: 'default-scheduler', containers: []}},
  ]}));
  const server = await serve('--cluster', file);
  await visit(server, async (page) => {
    const input = page.locator('#input');
    await input.waitFor();
    assert.match(await input.locator('summary').innerText(), /^Read 1 node, 1 pod \(1 pending\); skipped 1 Secret\.\s*1 warning$/);
    await input.locator('summary').click();
    assert.match(await input.locator('li').innerText(), /^pod shop\/lost is left out: spec\.nodeName: Not found: "n9"$/);
    await page.evaluate(axe);
    assert.deepEqual((await page.evaluate(() => window.axe.run(document))).violations.map(({id}) => id), []);
    const config = ['apiVersion: kubescheduler.config.k8s.io/v1', 'kind: KubeSchedulerConfiguration', 'profiles:',
      '- plugins: {multiPoint: {enabled: [{name: NodeResourcesMostAllocated}], disabled: [{name: NodeResourceFit}]}}', 'extenders: [{urlPrefix: "http://127.0.0.1:1", filterVerb: filter}]'].join('\n');
    await page.getByLabel('Another configuration').fill(config);
    await page.getByLabel('Fill with copies').fill('{"metadata":{"name":"p"},"spec":{"containers":[],"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"gone"}}]}}');
    await page.getByRole('button', {name: 'Ask'}).click();
    const warnings = page.locator('#answer-warnings li');
    await warnings.first().waitFor({timeout: 30_000});
    const texts = await warnings.allInnerTexts();
    assert.equal(texts.length, 4, `${texts}`);
    assert.match(texts[0], /^PersistentVolumeClaims of pods were not read: default\/gone; /);
    assert.match(texts[1], /NodeResourcesMostAllocated/);
    assert.match(texts[2], /there is no such plugin; did you mean NodeResourcesFit\?$/);
    assert.match(texts[3], /^the extenders of the configuration are not asked/);
  }, {hash: '#/what-if'});
});

test('a recording is shown after any of its decisions', async () => {
  await visit(recorded, async (page) => {
    await page.getByRole('link', {name: 'Decisions'}).click();
    const rows = page.locator('.decisions tbody tr');
    await rows.first().waitFor();
    const last = Number(await page.locator('#step').getAttribute('max'));
    assert.ok(last >= 150, `${last} decisions`);
    await page.locator('#step').fill('0');
    await page.getByText('placed', {exact: true}).click();
    const [step, , pod, node] = (await rows.first().innerText()).split('\t');
    await rows.first().getByRole('link').first().click();
    await page.getByText(`${step} of ${last} decisions`).waitFor();
    await page.getByRole('link', {name: `The map after decision ${step}`}).click();
    await page.getByText('table', {exact: true}).click();
    await page.getByLabel('Filter').fill(node);
    const pods = () => page.locator('table.nodes tbody tr').first().locator('td').nth(2).innerText().then(Number);
    const after = await pods();
    await page.getByRole('button', {name: 'One decision back'}).click();
    await page.getByText(`${step - 1} of ${last} decisions`).waitFor();
    assert.equal(await pods(), after - 1, `without ${pod}`);
  }, {hash: '#/map'});
});

test('what a cluster says never becomes markup', async () => {
  const markup = '<img src=x onerror=alert(1)>';
  const file = join(folder, 'markup.json');
  const label = {'topology.kubernetes.io/zone': markup, 'cloud.google.com/gke-nodepool': markup};
  writeFileSync(file, JSON.stringify({apiVersion: 'v1', kind: 'List', items: [
    {apiVersion: 'v1', kind: 'Node', metadata: {name: 'n1', labels: label}, spec: {taints: [{key: markup, effect: 'NoSchedule'}]}, status: {allocatable: {cpu: '1', pods: '9'}}},
    {apiVersion: 'v1', kind: 'Pod', metadata: {name: 'p', ownerReferences: [{apiVersion: 'v1', kind: 'Job', name: markup, uid: 'u', controller: true}]}, spec: {schedulingGates: [{name: markup}], containers: []}},
    {apiVersion: 'v1', kind: 'Pod', metadata: {name: 'q'}, spec: {containers: []}},
  ]}));
  const server = await serve('--cluster', file);
  const bad = `#/plan?goal=${encodeURIComponent(`fit=default/${markup}`)}`;
  for (const [hash, refused] of [['#/map?as=table&node=n1', 0], ['#/pending', 0], ['#/pod/default/p', 0], ['#/pod/default/q', 0], [bad, 400]]) {
    await visit(server, async (page) => {
      await page.getByText(markup).first().waitFor({timeout: 10_000});
      assert.equal(await page.locator('main img').count(), 0);
    }, {hash, refused});
  }
});

test('without the token the page says what is missing', async () => {
  const {address} = small;
  await visit({address: address.replace(/\?.*/, '')}, async (page) => {
    await page.getByText('open the address that was printed').waitFor();
  }, {refused: 401});
  await visit(small, async (page) => {
    await drawn(page);
    assert.ok(!page.url().includes('token'), 'the address bar does not keep it');
    await page.reload();
    await drawn(page);
  });
});

for (const scheme of kSchemes) {
  test(`axe has nothing to say of any view, ${scheme}`, async () => {
    const views = [
      [small, '#/map', 'canvas'], [small, '#/map?by=owner&node=general-0003', '.conditions'], [small, '#/map?as=table', 'table'],
      [small, '#/pending', '.best-fix h4'], [small, '#/reasons/NodeResourcesFit?reason=Insufficient%20cpu', '[aria-current=true]'], [small, '#/pod', '.found li'], [small, '#/pod/shop/web-large-abc12-0', '#fixes'],
      [small, '#/pod/auth/fresh-0', '#scores'], [small, '#/what-if?drain=general-0003', '.ask'],
      [room, '#/plan?goal=empty%3Dn1&at=1', '#plan-nodes td'], [room, '#/plan?goal=empty%3Dn3', '#left-out td'], [room, '#/plan', '#goal'],
      [recorded, '#/decisions', '.decisions td'], [recorded, '#/map?step=3', '.timeline'],
    ];
    for (const [server, hash, wanted] of views) {
      await visit(server, async (page) => {
        await page.locator(wanted).first().waitFor({timeout: 30_000});
        if (hash.startsWith('#/what-if')) {
          await page.getByRole('button', {name: 'Ask'}).click();
          await page.locator('.summary').waitFor({timeout: 30_000});
        }
        await page.evaluate(axe);
        const {violations} = await page.evaluate(() => axe.run(document));
        assert.deepEqual(violations.map(({id, nodes}) => `${id}: ${nodes.map((node) => node.html).join(' ')}`), [], hash);
      }, {scheme, hash});
    }
  });
}

test('an interrupt ends the program, also while it works on a question', async () => {
  // As many as fit are 100,000 at most: more than half a minute's work.
  const pod = {apiVersion: 'v1', kind: 'Pod', metadata: {name: 'p'}, spec: {containers: [{name: 'c', resources: {requests: {cpu: '10m'}}}]}};
  for (const question of [undefined, {fill: {pod}}]) {
    const {address, server} = await serve('--cluster', join(folder, 'large.json'));
    const ended = new Promise((resolve) => { server.on('exit', resolve); });
    if (question !== undefined) {
      const {host, searchParams} = new URL(address);
      const headers = {'X-Berth-Token': searchParams.get('token')};
      const asked = fetch(`http://${host}/api/what-if`, {method: 'POST', headers, body: JSON.stringify(question)});
      // It is taken before this is answered, and then never is.
      await fetch(`http://${host}/api/map`, {headers});
      asked.catch(() => {});
    }
    const began = Date.now();
    server.kill('SIGINT');
    assert.equal(await ended, 0);
    assert.ok(Date.now() - began < 10_000, `it took ${Date.now() - began} ms`);
  }
});

test('the picture of the page in docs/ui.md', {skip: !process.env.BERTH_UPDATE_DOCS}, async () => {
  await visit(large, async (page) => {
    await drawn(page);
    await page.screenshot({path: join(root, 'docs/ui.png')});
  }, {hash: '#/map?size=1&node=general-0003'});
});

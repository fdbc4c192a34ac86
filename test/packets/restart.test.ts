// What is found at start: one's own rules, half of them, damaged ones, and those of others.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { sliceObject, syntheticCluster } from '../../bench/synthetic-cluster.ts';
import type { Backend } from '../../src/backends/backend.ts';
import { openNftablesBackend } from '../../src/backends/nftables/open.ts';
import { silentLogger } from '../../src/base/log.ts';
import { createTestNamespace, type TestNamespace } from '../kernel/test-namespace.ts';
import { loadedState, setSlice } from './loaded-state.ts';

const LOADER = fileURLToPath(new URL('loader.ts', import.meta.url));
const UPSTREAM = fileURLToPath(new URL('../fixtures/upstream/nft-ip.nft', import.meta.url));
const open = (namespace: TestNamespace): Promise<Backend> =>
  openNftablesBackend({ namespace: namespace.path, families: ['IPv4'], log: silentLogger });
/** The table as nft lists it, without what moves by itself. */
const listing = (namespace: TestNamespace): string =>
  namespace.run('nft', 'list', 'table', 'ip', 'pointsman');
/** Frontend and endpoint of each element of the map endpoints, without slots, in order. */
function endpointsIn(namespace: TestNamespace): readonly string[] {
  const map = namespace.run('nft', 'list', 'map', 'ip', 'pointsman', 'endpoints');
  return [...map.matchAll(/([\d.]+ \. tcp \. \d+) \. 0x[0-9a-f]+ : ([\d.]+ \. \d+)/g)]
    .map(([, from, to]) => `${from} ${to}`)
    .sort();
}

test('a restart with no change sends nothing', async () => {
  using namespace = createTestNamespace();
  const state = await loadedState(syntheticCluster(300, 3));
  {
    await using backend = await open(namespace);
    assert.ok((await backend.reconcile(state.table)).messages > 0);
    // Slots are not in the order of a fresh start any more.
    for (let turn = 1; turn < 40; turn++) setSlice(state, sliceObject(turn % 7, 1 + (turn % 5), turn));
    assert.equal((await backend.commit((await state.take()).change)).failed, undefined);
  }
  const before = listing(namespace);
  await using again = await open(namespace);
  const { messages, failed, refused } = await again.reconcile(state.table);
  assert.deepEqual(
    { messages, failed, refused: refused.size },
    { messages: 0, failed: undefined, refused: 0 },
  );
  assert.equal(listing(namespace), before);
});

test('killed in the middle of a load, the next start brings the right state', async () => {
  using namespace = createTestNamespace();
  const count = 10_000;
  const loader = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', LOADER, namespace.path, String(count)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  await once(loader.stdout, 'data');
  // Until some of it is in the kernel, and surely not all.
  while (
    !/elements/.test(namespace.run('sh', '-c', 'nft list map ip pointsman services 2>/dev/null || true'))
  ) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  loader.kill('SIGKILL');
  await once(loader, 'close');
  const partly = endpointsIn(namespace).length;
  assert.ok(partly > 0 && partly < count * 3, `${partly} endpoints were there when it was killed`);

  const state = await loadedState(syntheticCluster(count, 3));
  await using backend = await open(namespace);
  assert.equal((await backend.reconcile(state.table)).failed, undefined);
  const wanted = [...state.table.entries.values()].flatMap(({ frontend, route }) => {
    assert.ok(frontend.kind === 'cluster-ip' && route.kind === 'balance');
    return route.endpoints.map(
      ({ address, port }) => `${frontend.address} . tcp . ${frontend.port} ${address} . ${port}`,
    );
  });
  assert.deepEqual(endpointsIn(namespace), wanted.sort());
  assert.equal((await backend.reconcile(state.table)).messages, 0);
});

test('whatever someone did to our table is mended, in one reconcile', async () => {
  using namespace = createTestNamespace();
  const state = await loadedState(syntheticCluster(20, 3));
  await using backend = await open(namespace);
  await backend.reconcile(state.table);
  const whole = listing(namespace);
  const blows = [
    'flush chain ip pointsman dispatch',
    'flush chain ip pointsman pick-3',
    'add rule ip pointsman postrouting counter',
    'flush map ip pointsman services',
    'flush map ip pointsman endpoints',
    'flush set ip pointsman cluster-ips',
    'add element ip pointsman services { 10.99.0.1 . tcp . 80 : 0:3 }',
    'add element ip pointsman cluster-ips { 10.99.0.1 }',
    'add element ip pointsman services { * : 0:3 }',
    'delete table ip pointsman',
  ];
  const sorted = (text: string): string =>
    text
      .replaceAll(/[\s,]+/g, '\n')
      .split('\n')
      .sort()
      .join(' ');
  for (const blow of blows) {
    namespace.run('nft', blow);
    assert.notEqual(sorted(listingIfAny(namespace)), sorted(whole), blow);
    const report = await backend.reconcile(state.table);
    assert.equal(report.failed, undefined, blow);
    assert.ok(report.messages > 0, blow);
    assert.equal(sorted(listing(namespace)), sorted(whole), blow);
  }
});

/** The table, or nothing when it is gone. */
function listingIfAny(namespace: TestNamespace): string {
  return namespace.run('sh', '-c', 'nft list table ip pointsman 2>/dev/null || true');
}

test('a change by someone else is noticed', async () => {
  using namespace = createTestNamespace();
  const state = await loadedState(syntheticCluster(3, 3));
  await using backend = await open(namespace);
  const { promise, resolve } = Promise.withResolvers<string>();
  backend.onForeignChange(resolve);
  await backend.reconcile(state.table);
  namespace.run('nft', 'add', 'table', 'ip', 'others');
  namespace.run('nft', 'flush', 'map', 'ip', 'pointsman', 'services');
  assert.match(await promise, /^nft \(pid \d+\) changed table ip pointsman: elements? deleted/);
});

test('a commit on a table that someone emptied fails as a whole, and a reconcile brings everything back', async () => {
  using namespace = createTestNamespace();
  const state = await loadedState(syntheticCluster(3, 3));
  await using backend = await open(namespace);
  await backend.reconcile(state.table);
  const whole = endpointsIn(namespace);
  namespace.run('nft', 'flush', 'map', 'ip', 'pointsman', 'endpoints');
  setSlice(state, sliceObject(1, 3, 1));
  const { change } = await state.take();
  const { failed } = await backend.commit(change);
  assert.equal(failed?.code, 'E_NETLINK');
  assert.match(failed?.message ?? '', /table ip pointsman: .*endpoints.*ENOENT/);
  await backend.reconcile(state.table);
  assert.equal(endpointsIn(namespace).length, whole.length);
});

test('tables of others stay as they are', async () => {
  using namespace = createTestNamespace();
  // What the upstream proxy wrote on a real node, and the like of what docker and firewalld write.
  namespace.run('nft', '-f', UPSTREAM);
  for (const command of [
    'add table ip nat',
    'add chain ip nat DOCKER',
    'add chain ip nat PREROUTING { type nat hook prerouting priority dstnat; }',
    'add rule ip nat PREROUTING fib daddr type local jump DOCKER',
    'add rule ip nat DOCKER tcp dport 8080 dnat to 172.17.0.2:80',
    'add table inet firewalld',
    'add chain inet firewalld filter_FORWARD { type filter hook forward priority filter + 10; }',
    'add rule inet firewalld filter_FORWARD ct state established,related accept',
  ]) {
    namespace.run('nft', command);
  }
  const others = (): string =>
    ['ip kube-proxy', 'ip nat', 'inet firewalld']
      .map((table) => namespace.run('nft', 'list', 'table', ...table.split(' ')))
      .join('');
  const before = others();
  const state = await loadedState(syntheticCluster(50, 3));
  {
    await using backend = await open(namespace);
    await backend.probe();
    await backend.reconcile(state.table);
    setSlice(state, sliceObject(1, 3, 1));
    await backend.commit((await state.take()).change);
    await backend.reconcile(state.table);
    assert.equal(others(), before);
    assert.deepEqual(await backend.cleanup(), ['nftables table ip pointsman']);
  }
  assert.equal(others(), before);
  assert.equal(namespace.run('nft', 'list', 'tables').includes('pointsman'), false);
});

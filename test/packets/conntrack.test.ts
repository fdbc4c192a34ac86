// Clients that keep their source port: tracked connections must not stick to an endpoint that is gone, and must not be
// cut while their endpoint serves.
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import type { Backend } from '../../src/backends/backend.ts';
import { openNftablesBackend } from '../../src/backends/nftables/open.ts';
import { sleep } from '../../src/base/backoff.ts';
import { silentLogger } from '../../src/base/log.ts';
import { createKernelClient } from '../../src/kernel/client.ts';
import { createConntrack } from '../../src/kernel/conntrack/conntrack.ts';
import { udpSocketIn } from '../../src/kernel/netns.ts';
import { createKoffiSys } from '../../src/kernel/sys/koffi.ts';
import {
  type CleanupReport,
  type ConntrackCleanup,
  createConntrackCleanup,
} from '../../src/observe/conntrack-cleanup.ts';
import { createSmallNet, type SmallNet } from '../packets/small-net.ts';
import type { ServiceGiven } from '../scenarios/scenario.ts';
import { NODE_ADDRESSES } from '../scenarios/stage.ts';
import { createWorld, settingsOf, type World } from '../scenarios/world.ts';

const CLIENT = '198.51.100.7';
const base: ServiceGiven = {
  clusterIP: '10.96.0.40',
  port: 5300,
  nodePort: 31040,
  vips: ['198.18.0.40'],
  externalIPs: ['203.0.113.40'],
  endpoints: 'a c',
};
const FRONTENDS = [
  { name: 'ClusterIP', address: '10.96.0.40', port: 5300 },
  { name: 'NodePort', address: '192.0.2.11', port: 31040 },
  { name: 'load balancer', address: '198.18.0.40', port: 5300 },
  { name: 'external IP', address: '203.0.113.40', port: 5300 },
];
const A = '10.50.1.1:8080';
const C = '10.50.2.1:8080';

let net: SmallNet;
let backend: Backend;
let world: World;
let cleanup: ConntrackCleanup;
let reports: CleanupReport[] = [];
const ending = new AbortController();
let running: Promise<void> | undefined;

before(async () => {
  net = await createSmallNet({
    node: NODE_ADDRESSES,
    pods: ['10.50.1.1'],
    askers: [],
    world: ['10.50.2.1'],
    outside: [CLIENT],
    ports: [8080],
  });
  backend = await openNftablesBackend({ namespace: net.node, families: ['IPv4'], log: silentLogger });
  world = createWorld(settingsOf({ id: '', title: '', services: {}, packets: [] }));
  await world.state.take();
  await backend.reconcile(world.state.table);
  cleanup = createConntrackCleanup({
    families: ['IPv4'],
    open: async () => {
      const client = await createKernelClient({ namespace: net.node });
      return { ...createConntrack(client), [Symbol.asyncDispose]: () => client.close() };
    },
    flowsOf: (key) => world.state.flowsOf(key),
    isNodeAddress: (address) => NODE_ADDRESSES.includes(address),
    done: (report) => reports.push(report),
    log: silentLogger,
    // Its pauses are left out; when there is nothing to do, it waits to be woken.
    sleep: (ms, signal) => (ms < 10_000 ? Promise.resolve(true) : sleep(ms, signal)),
  });
  running = cleanup.run(ending.signal);
});
after(async () => {
  ending.abort();
  await running;
  await backend?.[Symbol.asyncDispose]();
  await net?.[Symbol.asyncDispose]();
});

/** Brings the Service to a state, and waits for the clean-up that follows a sync. */
async function program(services: Readonly<Record<string, ServiceGiven | null>>): Promise<number> {
  world.set(services, 'IPv4');
  const { change } = await world.state.take();
  const report = await backend.commit(change);
  assert.equal(report.failed, undefined);
  reports = [];
  const touched = world.state.takeTouched();
  cleanup.look(touched);
  while (touched.size > 0 && reports.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  return reports.reduce((sum, { ended }) => sum + ended, 0);
}

/** A UDP client with a source port of its own for good. */
function client(frontend: {
  readonly address: string;
  readonly port: number;
}): Disposable & { ask(): Promise<string> } {
  const socket = createSocket('udp4');
  socket.bind({
    fd: udpSocketIn(createKoffiSys(), { namespace: net.namespaceOf('outside'), address: CLIENT, port: 0 }),
  });
  socket.on('error', () => {});
  return {
    async ask() {
      const answer = once(socket, 'message', { signal: AbortSignal.timeout(400) });
      socket.send('?', frontend.port, frontend.address);
      try {
        const [message] = await answer;
        return String(message).split(' ')[0] ?? '';
      } catch {
        return 'silence';
      }
    },
    [Symbol.dispose]: () => socket.close(),
  };
}

for (const frontend of FRONTENDS) {
  test(`${frontend.name}: a flow to an endpoint that left moves on, one to an endpoint that stays is kept`, async () => {
    await program({ S: base });
    const clients = Array.from({ length: 12 }, () => client(frontend));
    const first = await Promise.all(clients.map((one) => one.ask()));
    assert.deepEqual(new Set(first), new Set([A, C]));
    const ended = await program({ S: { ...base, endpoints: 'c' } });
    assert.equal(
      ended,
      first.filter((server) => server === A).length,
      'only flows to the endpoint that left are ended',
    );
    assert.deepEqual(new Set(await Promise.all(clients.map((one) => one.ask()))), new Set([C]));
    for (const one of clients) one[Symbol.dispose]();
  });

  test(`${frontend.name}: without endpoints no flow goes on, with new ones they do`, async () => {
    await program({ S: { ...base, endpoints: 'a' } });
    using one = client(frontend);
    assert.equal(await one.ask(), A);
    assert.ok((await program({ S: { ...base, endpoints: '' } })) >= 1);
    assert.equal(await one.ask(), 'silence');
    await program({ S: { ...base, endpoints: 'c' } });
    assert.equal(await one.ask(), C);
  });

  test(`${frontend.name}: flows of a deleted Service end`, async () => {
    await program({ S: { ...base, endpoints: 'a' } });
    using one = client(frontend);
    assert.equal(await one.ask(), A);
    assert.ok((await program({ S: null })) >= 1);
    assert.equal(await one.ask(), 'silence');
  });
}

test('a flow that began before there was a rule meets the Service once there is', async () => {
  await program({ S: null });
  using one = client({ address: '10.96.0.40', port: 5300 });
  assert.equal(await one.ask(), 'silence');
  await program({ S: { ...base, endpoints: 'c' } });
  assert.equal(await one.ask(), C);
});

test('a terminating endpoint that still serves keeps its flows, and loses them when it stops serving', async () => {
  await program({ S: { ...base, endpoints: 'a' } });
  using one = client({ address: '10.96.0.40', port: 5300 });
  assert.equal(await one.ask(), A);
  assert.equal(await program({ S: { ...base, endpoints: 'a! c' } }), 0);
  assert.equal(await one.ask(), A);
  assert.ok((await program({ S: { ...base, endpoints: 'a- c' } })) >= 1);
  assert.equal(await one.ask(), C);
});

test('policies do not end flows to an endpoint that serves elsewhere', async () => {
  await program({ S: { ...base, endpoints: 'c' } });
  using one = client({ address: '10.96.0.40', port: 5300 });
  assert.equal(await one.ask(), C);
  assert.equal(
    await program({ S: { ...base, endpoints: 'a c', spec: { internalTrafficPolicy: 'Local' } } }),
    0,
  );
  assert.equal(await one.ask(), C);
});

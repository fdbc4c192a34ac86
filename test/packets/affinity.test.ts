// Session affinity by real packets: what a client that was served once meets later, through whatever frontend.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Backend } from '../../src/backends/backend.ts';
import { openNftablesBackend } from '../../src/backends/nftables/open.ts';
import { silentLogger } from '../../src/base/log.ts';
import { FAMILIES, type Family } from '../../src/model/address.ts';
import type { JsonObject } from '../../src/model/decode.ts';
import { textIn } from '../scenarios/family.ts';
import type { ServiceGiven } from '../scenarios/scenario.ts';
import { ENDPOINTS, NODE_ADDRESSES } from '../scenarios/stage.ts';
import { createWorld, settingsOf, type World } from '../scenarios/world.ts';
import { createSmallNet, type SmallNet } from './small-net.ts';

const CLIENTS: readonly string[] = Array.from({ length: 12 }, (_, index) => `198.51.100.${10 + index}`);
const REMEMBERED: JsonObject = { sessionAffinity: 'ClientIP' };
const service = (endpoints: string, spec: JsonObject = REMEMBERED): ServiceGiven => ({
  clusterIP: '10.96.0.50',
  port: 80,
  nodePort: 31050,
  vips: ['198.18.0.50'],
  externalIPs: ['203.0.113.50'],
  endpoints,
  spec,
});
const FRONTENDS = {
  'node port': { address: '192.0.2.11', port: 31050 },
  ClusterIP: { address: '10.96.0.50', port: 80 },
  'load balancer': { address: '198.18.0.50', port: 80 },
  'external IP': { address: '203.0.113.50', port: 80 },
} as const;
type FrontendName = keyof typeof FRONTENDS;

let net: SmallNet;
let backend: Backend;
let world: World;

before(async () => {
  const both = (texts: readonly string[]): readonly string[] =>
    FAMILIES.flatMap((family) => texts.map((text) => textIn(family, text)));
  const on = (node: string): readonly string[] =>
    ['a', 'b', 'c', 'd'].flatMap((name) => {
      const endpoint = ENDPOINTS[name];
      return endpoint?.node === node ? endpoint.address : [];
    });
  net = await createSmallNet({
    node: both(NODE_ADDRESSES),
    pods: both(on('n1')),
    askers: [],
    world: both(on('n2')),
    outside: both(CLIENTS),
    ports: [8080],
  });
  backend = await openNftablesBackend({ namespace: net.node, families: FAMILIES, log: silentLogger });
  world = createWorld(settingsOf({ id: '', title: '', services: {}, packets: [] }));
  await world.state.take();
  assert.equal((await backend.reconcile(world.state.table)).failed, undefined);
});
after(async () => {
  await backend?.[Symbol.asyncDispose]();
  await net?.[Symbol.asyncDispose]();
});

async function program(family: Family, given: ServiceGiven): Promise<void> {
  world.set({ S: given }, family);
  const { failed, refused } = await backend.commit((await world.state.take()).change);
  assert.equal(failed, undefined);
  assert.equal(refused.size, 0);
}

/** Starts a test with a Service that is new. */
async function begin(family: Family, given: ServiceGiven): Promise<void> {
  world.clear();
  assert.equal((await backend.commit((await world.state.take()).change)).failed, undefined);
  await program(family, given);
}

async function ask(family: Family, frontend: FrontendName, client: string): Promise<string> {
  const { address, port } = FRONTENDS[frontend];
  const answer = await net.ask({
    from: 'outside',
    source: textIn(family, client),
    protocol: 'TCP',
    address: textIn(family, address),
    port,
  });
  assert.equal(answer.kind, 'answered');
  const server = answer.server.replace(/^\[|\]?:8080$/g, '');
  const [name] =
    Object.entries(ENDPOINTS).find(([, endpoint]) => textIn(family, endpoint.address) === server) ?? [];
  assert.ok(name, server);
  return name;
}

/** Who serves each client; several clients at once tell a memory from luck. */
const all = (family: Family, frontend: FrontendName): Promise<readonly string[]> =>
  Promise.all(CLIENTS.map((client) => ask(family, frontend, client)));

for (const family of FAMILIES) {
  // Twelve clients that meet the same of four endpoints again by luck: once in 10^7 runs.
  for (const first of Object.keys(FRONTENDS) as readonly FrontendName[]) {
    test(`${family}: S450 B043: who came by ${first} first stays with its endpoint by every other frontend`, async () => {
      await begin(family, service('a b c d'));
      const chosen = await all(family, first);
      for (const frontend of Object.keys(FRONTENDS) as readonly FrontendName[])
        assert.deepEqual(await all(family, frontend), chosen, frontend);
    });
  }

  test(`${family}: S411: fifteen requests meet one endpoint; without affinity they spread`, async () => {
    await begin(family, service('a b c d'));
    const once = new Set<string>();
    for (let turn = 0; turn < 15; turn++) once.add(await ask(family, 'ClusterIP', '198.51.100.10'));
    assert.equal(once.size, 1);
    await program(family, service('a b c d', {}));
    const spread = new Set<string>();
    for (let turn = 0; turn < 30; turn++) spread.add(await ask(family, 'ClusterIP', '198.51.100.10'));
    assert.ok(spread.size > 1);
  });

  test(`${family}: S451: under external policy Local only local endpoints are remembered for outsiders`, async () => {
    const spec = { ...REMEMBERED, externalTrafficPolicy: 'Local' };
    await begin(family, service('a b c d', spec));
    // By the ClusterIP a client may well be remembered for a remote endpoint.
    await all(family, 'ClusterIP');
    const chosen = await all(family, 'load balancer');
    for (const name of chosen) assert.ok(['a', 'b'].includes(name), name);
    assert.deepEqual(await all(family, 'load balancer'), chosen);
    assert.deepEqual(await all(family, 'node port'), chosen);
  });

  for (const [mark, what] of [
    ['-', 'unready'],
    ['!', 'terminating'],
  ] as const) {
    test(`${family}: S452 B042 B041: clients of an endpoint that becomes ${what} are served by others, the rest stay`, async () => {
      await begin(family, service('a b c d'));
      const chosen = await all(family, 'ClusterIP');
      await program(family, service(`a${mark} b c d`));
      const now = await all(family, 'ClusterIP');
      for (const [index, name] of chosen.entries()) {
        if (name === 'a') assert.notEqual(now[index], 'a');
        else assert.equal(now[index], name);
      }
    });
  }

  test(`${family}: S452: where all are terminating, clients stay with theirs`, async () => {
    await begin(family, service('a b c d'));
    const chosen = await all(family, 'ClusterIP');
    await program(family, service('a! b! c! d!'));
    assert.deepEqual(await all(family, 'ClusterIP'), chosen);
  });

  for (const [mark, row, what] of [
    ['-', 'S453', 'turns unready'],
    ['!', 'S453 B037', 'terminates'],
    [undefined, 'S454 B017', 'is deleted'],
  ] as const) {
    test(`${family}: ${row}: an open TCP connection to an endpoint that ${what} goes on`, async () => {
      await begin(family, service('a', {}));
      const { address, port } = FRONTENDS.ClusterIP;
      const connection = await net.open({
        from: 'outside',
        source: textIn(family, '198.51.100.10'),
        protocol: 'TCP',
        address: textIn(family, address),
        port,
      });
      try {
        assert.equal(await connection.alive(), true);
        await program(family, service(mark === undefined ? 'c' : `a${mark} c`, {}));
        assert.equal(await connection.alive(), true);
        assert.equal(await ask(family, 'ClusterIP', '198.51.100.11'), 'c');
      } finally {
        connection.close();
      }
    });
  }

  test(`${family}: S458 B076: an endpoint that moves to another slice, seen first in both, keeps its clients`, async () => {
    const slices = (...lists: readonly (readonly string[])[]): ServiceGiven => ({
      ...service(''),
      slices: lists.map((names) => ({
        endpoints: names.map((name) => ({ addresses: [ENDPOINTS[name]?.address], nodeName: 'n2' })),
      })),
    });
    await begin(family, slices(['c', 'd'], []));
    const chosen = await all(family, 'ClusterIP');
    for (const step of [slices(['c', 'd'], ['c']), slices(['d'], ['c']), slices(['d', 'd'], ['c'])]) {
      await program(family, step);
      assert.deepEqual(await all(family, 'ClusterIP'), chosen);
    }
  });
}

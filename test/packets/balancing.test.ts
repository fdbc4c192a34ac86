// What clients meet at a ClusterIP, by real packets through nftables mode: spread, affinity, removal, refusal.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Backend } from '../../src/backends/backend.ts';
import { openNftablesBackend } from '../../src/backends/nftables/open.ts';
import { silentLogger } from '../../src/base/log.ts';
import { parseCidr } from '../../src/model/address.ts';
import type { JsonObject } from '../../src/model/decode.ts';
import { decodeEndpointSlice, sliceKey } from '../../src/model/endpoint-slice.ts';
import { decodeService, serviceKey } from '../../src/model/service.ts';
import type { LocalDetector } from '../../src/plan/forwarding-table.ts';
import { type ClusterState, createClusterState } from '../../src/proxy/cluster-state.ts';
import { type Answer, createSmallNet, type Place, type SmallNet } from './small-net.ts';

/** Both families, each with its clients, endpoints and ClusterIP. */
const FAMILIES = [
  {
    family: 'IPv4',
    clusterIP: '10.96.0.10',
    asker: '10.50.1.20',
    far: '10.50.2.',
    near: '10.50.1.7',
    node: '192.0.2.11',
  },
  {
    family: 'IPv6',
    clusterIP: 'fd00:96::10',
    asker: 'fd00:50:1::20',
    far: 'fd00:50:2::',
    near: 'fd00:50:1::7',
    node: '2001:db8:1::11',
  },
] as const;
type Stage = (typeof FAMILIES)[number];
const ASKERS = 20;
const FAR = 8;
const far = ({ far: prefix }: Stage, index: number): string => `${prefix}${index + 1}`;
const numbered = (count: number, of: (index: number) => string): string[] =>
  Array.from({ length: count }, (_, index) => of(index));
const shown = (address: string): string => (address.includes(':') ? `[${address}]:8080` : `${address}:8080`);

let net: SmallNet;
let backend: Backend;
let state: ClusterState;

before(async () => {
  const both = (of: (stage: Stage) => readonly string[]): readonly string[] => FAMILIES.flatMap(of);
  net = await createSmallNet({
    node: both(({ node }) => [node]),
    pods: both(({ near }) => [near]),
    askers: both(({ asker }) => [
      asker,
      ...numbered(ASKERS, (index) => `${asker.replace(/20$/, '')}${100 + index}`),
    ]),
    world: both((stage) => numbered(FAR, (index) => far(stage, index))),
    outside: [],
    ports: [8080],
  });
  backend = await openNftablesBackend({ namespace: net.node, families: ['IPv4', 'IPv6'], log: silentLogger });
  const detector = (text: string): LocalDetector => {
    const cidr = parseCidr(text);
    assert.ok(cidr);
    return { kind: 'cidr', cidr };
  };
  const settings = { masqueradeAll: false, serviceCidrs: [], nodePortAddresses: 'all' } as const;
  state = createClusterState({
    nodeName: 'n1',
    families: ['IPv4', 'IPv6'],
    settings: {
      IPv4: { ...settings, localDetector: detector('10.50.0.0/16') },
      IPv6: { ...settings, localDetector: detector('fd00:50::/32') },
    },
  });
  await state.take();
  assert.equal((await backend.reconcile(state.table)).failed, undefined);
});
after(async () => {
  await backend?.[Symbol.asyncDispose]();
  await net?.[Symbol.asyncDispose]();
});

async function sync(): Promise<void> {
  const report = await backend.commit((await state.take()).change);
  assert.equal(report.failed, undefined);
  assert.equal(report.refused.size, 0);
}

/** One Service with these endpoints per family; an address is local when it is the near one. */
async function program(spec: JsonObject, endpoints: (stage: Stage) => readonly string[]): Promise<void> {
  const service = decodeService({
    metadata: { namespace: 'a', name: 's' },
    spec: {
      ipFamilies: ['IPv4', 'IPv6'],
      clusterIPs: FAMILIES.map(({ clusterIP }) => clusterIP),
      ports: ['TCP', 'UDP'].map((protocol) => ({ name: protocol, protocol, port: 80 })),
      ...spec,
    },
  });
  assert.equal(service.kind, 'decoded');
  state.setService(serviceKey('a', 's'), service.value);
  for (const stage of FAMILIES) {
    const slice = decodeEndpointSlice({
      metadata: { namespace: 'a', name: stage.family, labels: { 'kubernetes.io/service-name': 's' } },
      addressType: stage.family,
      ports: ['TCP', 'UDP'].map((protocol) => ({ name: protocol, protocol, port: 8080 })),
      endpoints: endpoints(stage).map((address) => ({
        addresses: [address],
        nodeName: address === stage.near ? 'n1' : 'n2',
      })),
    });
    assert.equal(slice.kind, 'decoded');
    state.setSlice(sliceKey(slice.value), slice.value);
  }
  await sync();
}

const ask = (
  stage: Stage,
  protocol: 'TCP' | 'UDP',
  more: { from?: Place; source?: string } = {},
): Promise<Answer> =>
  net.ask({ from: 'askers', source: stage.asker, protocol, address: stage.clusterIP, port: 80, ...more });

async function servers(
  stage: Stage,
  protocol: 'TCP' | 'UDP',
  count: number,
  source?: string,
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (let done = 0; done < count; done += 50) {
    const batch = Array.from({ length: Math.min(50, count - done) }, () =>
      ask(stage, protocol, source === undefined ? {} : { source }),
    );
    for (const answer of await Promise.all(batch)) {
      assert.equal(answer.kind, 'answered');
      counts.set(answer.server, (counts.get(answer.server) ?? 0) + 1);
    }
  }
  return counts;
}

/** Pearson's statistic against an even spread. */
const chiSquare = (counts: readonly number[]): number => {
  const expected = counts.reduce((sum, count) => sum + count, 0) / counts.length;
  return counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
};
/** Quantiles of the chi-square distribution for which an even spread fails once in a million runs. */
const LIMIT: Readonly<Record<number, number>> = { 3: 27.63, 5: 33.38, 8: 40.52 };

for (const stage of FAMILIES) {
  for (const protocol of ['TCP', 'UDP'] as const) {
    for (const count of [3, 5, 8]) {
      test(`${protocol} over ${stage.family}: new connections spread evenly over ${count} endpoints`, async () => {
        await program({}, (one) => numbered(count, (index) => far(one, index)));
        const counts = await servers(stage, protocol, 600);
        assert.equal(counts.size, count);
        const statistic = chiSquare([...counts.values()]);
        assert.ok(
          statistic < (LIMIT[count] ?? 0),
          `chi-square ${statistic} of ${JSON.stringify([...counts])}`,
        );
      });
    }
  }

  test(`${stage.family}: a client with affinity stays, other clients go elsewhere`, async () => {
    const spec = {
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 100 } },
    };
    await program(spec, (one) => numbered(4, (index) => far(one, index)));
    const all = new Set<string>();
    for (let index = 0; index < ASKERS; index++) {
      const own = await servers(stage, 'TCP', 10, `${stage.asker.replace(/20$/, '')}${100 + index}`);
      assert.equal(own.size, 1);
      for (const server of own.keys()) all.add(server);
    }
    // Twenty clients all at one of four endpoints: once in 10^11 runs.
    assert.ok(all.size > 1);
  });

  test(`${stage.family}: affinity to an endpoint that left is forgotten, to one that stays it is kept`, async () => {
    const spec = { sessionAffinity: 'ClientIP' };
    await program(spec, (one) => numbered(4, (index) => far(one, index)));
    const [before = ''] = (await servers(stage, 'TCP', 5)).keys();
    const index = numbered(4, (one) => shown(far(stage, one))).indexOf(before);
    const others = [0, 1, 2, 3].filter((one) => one !== (index + 1) % 4);
    await program(spec, (one) => others.map((other) => far(one, other)));
    assert.deepEqual([...(await servers(stage, 'TCP', 10)).keys()], [before], 'another one left');
    const without = others.filter((other) => other !== index);
    await program(spec, (one) => without.map((other) => far(one, other)));
    const moved = [...(await servers(stage, 'TCP', 10)).keys()];
    assert.equal(moved.length, 1);
    assert.notEqual(moved[0], before);
  });

  test(`${stage.family}: affinity ends after its time-out`, async () => {
    const spec = { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 1 } } };
    await program(spec, (one) => numbered(8, (index) => far(one, index)));
    const seen = new Set<string>();
    // Each pause lets the memory expire: one endpoint of eight fourteen times in a row comes once in 10^11 runs.
    for (let turn = 0; turn < 14 && seen.size < 2; turn++) {
      for (const server of (await servers(stage, 'TCP', 3)).keys()) seen.add(server);
      await new Promise((resolve) => setTimeout(resolve, 1500));
    }
    assert.ok(seen.size > 1);
  });

  test(`${stage.family}: a pod sees the client pod's address, and a client on the node as the node`, async () => {
    await program({}, (one) => [far(one, 0)]);
    for (const protocol of ['TCP', 'UDP'] as const) {
      assert.deepEqual(await ask(stage, protocol), {
        kind: 'answered',
        server: shown(far(stage, 0)),
        client: stage.asker,
      });
      assert.deepEqual(await ask(stage, protocol, { from: 'node', source: stage.node }), {
        kind: 'answered',
        server: shown(far(stage, 0)),
        client: stage.node,
      });
    }
  });

  test(`${stage.family}: a pod reaches itself through its Service`, async () => {
    await program({}, (one) => [one.near]);
    for (const protocol of ['TCP', 'UDP'] as const) {
      const answer = await ask(stage, protocol, { from: 'pods', source: stage.near });
      assert.equal(answer.kind, 'answered');
      assert.notEqual(answer.client, stage.near);
    }
  });

  test(`${stage.family}: without endpoints a connection is refused, not left to time out`, async () => {
    await program({}, () => []);
    assert.deepEqual(await ask(stage, 'TCP'), { kind: 'refused' });
    assert.deepEqual(await ask(stage, 'UDP'), { kind: 'refused' });
    assert.deepEqual(await ask(stage, 'TCP', { from: 'node', source: stage.node }), { kind: 'refused' });
  });

  test(`${stage.family}: removing an endpoint leaves connections to all others alone`, async () => {
    await program({}, (one) => numbered(6, (index) => far(one, index)));
    const question = {
      from: 'askers',
      source: stage.asker,
      protocol: 'TCP',
      address: stage.clusterIP,
      port: 80,
    } as const;
    const connections = await Promise.all(Array.from({ length: 40 }, () => net.open(question)));
    for (const left of [5, 4, 2, 1]) {
      await program({}, (one) => numbered(left, (index) => far(one, index)));
      const staying = connections.filter(({ server }) =>
        numbered(left, (index) => shown(far(stage, index))).includes(server),
      );
      assert.deepEqual(
        new Set(await Promise.all(staying.map((connection) => connection.alive()))),
        new Set([true]),
      );
    }
    for (const connection of connections) connection.close();
  });

  test(`${stage.family}: while endpoints change without pause no new connection fails`, async () => {
    await program({}, (one) => numbered(3, (index) => far(one, index)));
    let ended = false;
    const failures: Answer[] = [];
    let asked = 0;
    const load = async (): Promise<void> => {
      while (!ended) {
        const answer = await ask(stage, 'TCP');
        asked += 1;
        if (answer.kind !== 'answered') failures.push(answer);
      }
    };
    const loads = Array.from({ length: 8 }, load);
    for (let turn = 0; turn < 60; turn++) {
      const count = 1 + ((turn * 5) % FAR);
      await program({}, (one) => numbered(count, (index) => far(one, (index + turn) % FAR)));
    }
    ended = true;
    await Promise.all(loads);
    assert.ok(asked > 60);
    assert.deepEqual(failures, []);
  });
}

// Packets through the bare ruleset, with elements put in by hand: what the shared chains do on their own.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { elementOfRow } from '../../src/backends/nftables/row-codec.ts';
import { baseCommands, rungCommands } from '../../src/backends/nftables/ruleset.ts';
import { setDefinitions } from '../../src/backends/nftables/ruleset-sets.ts';
import type { TableFamily } from '../../src/backends/nftables/ruleset-statements.ts';
import { createKernelClient } from '../../src/kernel/client.ts';
import type { NftCommand } from '../../src/kernel/nft/commands.ts';
import { createNftables, type Nftables } from '../../src/kernel/nft/nftables.ts';
import type { TableSettings } from '../../src/plan/forwarding-table.ts';
import { createSmallNet, type Question, type SmallNet } from '../packets/small-net.ts';
import { committed } from './world.ts';

const TABLE = 'pointsman';
const PLAIN = { local: false, affinitySeconds: 0, rung: 3 } as const;
const STICKY = { local: false, affinitySeconds: 600, rung: 3 } as const;
const PLAIN_WORD = 3;
const STICKY_WORD = 0x10_0003;
const SETTINGS: TableSettings = {
  masqueradeAll: false,
  localDetector: { kind: 'interface', name: 'askers' },
  serviceCidrs: [],
  nodePortAddresses: 'all',
};
const PLACES = {
  ip: {
    vip: '10.96.0.10',
    node: '192.0.2.11',
    pods: ['10.50.1.7', '10.50.1.8'],
    asker: '10.50.1.20',
    remote: '10.50.2.7',
    client: '198.51.100.7',
  },
  ip6: {
    vip: 'fd00:96::a',
    node: '2001:db8:1::11',
    pods: ['fd00:50:1::7', 'fd00:50:1::8'],
    asker: 'fd00:50:1::20',
    remote: 'fd00:50:2::7',
    client: '2001:db8:51::7',
  },
} as const;

interface Stage extends AsyncDisposable {
  readonly net: SmallNet;
  readonly nft: Nftables;
}

/** The node with the ruleset and both plans, but without a Service. */
async function createStage(): Promise<Stage> {
  await using stack = new AsyncDisposableStack();
  const net = stack.use(
    await createSmallNet({
      node: [PLACES.ip.node, PLACES.ip6.node],
      pods: [...PLACES.ip.pods, ...PLACES.ip6.pods],
      askers: [PLACES.ip.asker, PLACES.ip6.asker],
      world: [PLACES.ip.remote, PLACES.ip6.remote],
      outside: [PLACES.ip.client, PLACES.ip6.client],
      ports: [8080],
    }),
  );
  const nft = createNftables(stack.use(await createKernelClient({ namespace: net.node })));
  for (const family of ['ip', 'ip6'] as const) {
    const rungs = [
      rungCommands(family, PLAIN, false, PLAIN_WORD),
      rungCommands(family, STICKY, false, STICKY_WORD),
    ];
    committed(await nft.commit([...baseCommands(family, SETTINGS), ...rungs.flat()]));
  }
  const owned = stack.move();
  return { net, nft, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

function elements(
  op: 'add-elements' | 'delete-elements',
  family: TableFamily,
  set: string,
  rows: Readonly<Record<string, string>>,
): NftCommand {
  const definition = setDefinitions(family).find(({ name }) => name === set);
  assert.ok(definition);
  return {
    op,
    family,
    table: TABLE,
    set,
    elements: Object.entries(rows).map(([key, data]) => {
      const element = elementOfRow(definition, key, data);
      return op === 'add-elements' ? element : { key: element.key };
    }),
  };
}

const bracketed = (address: string): string => (address.includes(':') ? `[${address}]` : address);

/** Who answered a number of new connections from one client, as `address:port`. */
async function serversOf(net: SmallNet, question: Question, count: number): Promise<ReadonlySet<string>> {
  const servers = new Set<string>();
  for (let turn = 0; turn < count; turn += 1) {
    const answer = await net.ask(question);
    assert.equal(answer.kind, 'answered');
    if (answer.kind === 'answered') servers.add(answer.server);
  }
  return servers;
}

test('a ClusterIP with three endpoints answers from each of them, over both families and protocols', async () => {
  await using stage = await createStage();
  const { net, nft } = stage;
  for (const family of ['ip', 'ip6'] as const) {
    const { vip, pods, remote, client } = PLACES[family];
    const endpoints = [...pods, remote];
    for (const protocol of ['TCP', 'UDP'] as const) {
      const frontend = `${vip} . ${protocol.toLowerCase()} . 80`;
      const slots = endpoints.map((address, slot) => [`${frontend} . ${slot}`, `${address} . 8080`]);
      committed(
        await nft.commit([
          elements('add-elements', family, 'endpoints', Object.fromEntries(slots)),
          elements('add-elements', family, 'services', { [frontend]: String(PLAIN_WORD) }),
          elements('add-elements', family, 'cluster-ips', { [vip]: '' }),
        ]),
      );
      const question: Question = { from: 'outside', source: client, protocol, address: vip, port: 80 };
      // With 60 draws of three, one of them is missed once in ten thousand million runs.
      const servers = await serversOf(net, question, 60);
      assert.deepEqual([...servers].sort(), endpoints.map((address) => `${bracketed(address)}:8080`).sort());
      assert.deepEqual(await net.ask({ ...question, port: 81 }), { kind: 'refused' });
    }
  }
});

test('only clients that do not come in by the interface of the pods are masqueraded', async () => {
  await using stage = await createStage();
  const { net, nft } = stage;
  for (const family of ['ip', 'ip6'] as const) {
    const { vip, node, asker, remote, client } = PLACES[family];
    const frontend = `${vip} . tcp . 80`;
    // A remote endpoint in all three slots.
    const slots = [0, 1, 2].map((slot) => [`${frontend} . ${slot}`, `${remote} . 8080`]);
    committed(
      await nft.commit([
        elements('add-elements', family, 'endpoints', Object.fromEntries(slots)),
        elements('add-elements', family, 'services', { [frontend]: String(PLAIN_WORD) }),
        elements('add-elements', family, 'cluster-ips', { [vip]: '' }),
      ]),
    );
    const question = { protocol: 'TCP', address: vip, port: 80 } as const;
    const seen = async (from: Question['from'], source?: string): Promise<string> => {
      const answer = await net.ask({ ...question, from, ...(source !== undefined && { source }) });
      return answer.kind === 'answered' ? answer.client : answer.kind;
    };
    assert.equal(await seen('askers', asker), asker);
    assert.equal(await seen('outside', client), node);
    assert.equal(await seen('node'), node);
  }
});

test('a remembered client keeps its slot until it is empty; without an id it is served all the same', async () => {
  await using stage = await createStage();
  const { net, nft } = stage;
  for (const family of ['ip', 'ip6'] as const) {
    const { vip, pods, remote, client } = PLACES[family];
    const addresses = [...pods, remote];
    const frontend = `${vip} . tcp . 80`;
    const slots = addresses.map((address, slot) => [`${frontend} . ${slot}`, `${address} . 8080`]);
    committed(
      await nft.commit([
        elements('add-elements', family, 'sticky-endpoints', Object.fromEntries(slots)),
        elements('add-elements', family, 'services', { [frontend]: String(STICKY_WORD) }),
      ]),
    );
    const question: Question = {
      from: 'outside',
      source: client,
      protocol: 'TCP',
      address: vip,
      port: 80,
    };
    assert.equal((await serversOf(net, question, 60)).size, 3);
    assert.deepEqual(await Array.fromAsync(nft.elements({ family, table: TABLE }, 'sticky-clients')), []);

    const ids = { [frontend]: String(0x2_0001) };
    committed(await nft.commit([elements('add-elements', family, 'affinity-ids', ids)]));
    const [server = '', ...others] = await serversOf(net, question, 20);
    assert.deepEqual(others, []);
    const remembered = await Array.fromAsync(nft.elements({ family, table: TABLE }, 'sticky-clients'));
    assert.equal(remembered.length, 1);
    assert.equal(remembered[0]?.timeoutMs, STICKY.affinitySeconds * 1000);

    const slot = addresses.findIndex((address) => `${bracketed(address)}:8080` === server);
    const gone = { [`${frontend} . ${slot}`]: `${addresses[slot]} . 8080` };
    committed(await nft.commit([elements('delete-elements', family, 'sticky-endpoints', gone)]));
    // Slot 0 is never left empty.
    if (slot === 0) {
      const again = { [`${frontend} . 0`]: `${addresses[1]} . 8080` };
      committed(await nft.commit([elements('add-elements', family, 'sticky-endpoints', again)]));
    }
    const [next = '', ...rest] = await serversOf(net, question, 20);
    assert.deepEqual(rest, []);
    assert.notEqual(next, server);
  }
});

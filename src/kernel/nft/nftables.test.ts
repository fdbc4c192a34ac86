import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PointsmanError } from '../../base/errors.ts';
import type { KernelClient, SubscribeOptions, TransactOutcome } from '../client.ts';
import { NFNL_SUBSYS_NFTABLES, netfilterType, nfgenmsg } from '../netlink/nfnetlink.ts';
import { hostU32 } from '../netlink/reader.ts';
import { createNetlinkWriter, putHostU32 } from '../netlink/writer.ts';
import type { NftCommand } from './commands.ts';
import { createNftables, type ForeignChange } from './nftables.ts';
import { encodeTransaction } from './transaction.ts';

const TABLE = { family: 'ip', table: 'pt' } as const;
const COMMANDS: readonly NftCommand[] = [
  { op: 'add-table', ...TABLE },
  { op: 'add-chain', ...TABLE, chain: 'one' },
];

interface Fake {
  readonly client: Parameters<typeof createNftables>[0];
  subscribed: SubscribeOptions | undefined;
}

/** A kernel that answers as it is told. Dumps hold whatever a transaction would write. */
function createFake(answers: {
  readonly outcome?: TransactOutcome;
  readonly generations?: number[];
  readonly dump?: () => readonly NftCommand[];
}): Fake {
  const fake: Fake = {
    subscribed: undefined,
    client: {
      portId: 77,
      transact: () => Promise.resolve(answers.outcome ?? { kind: 'committed', kernelMs: 1 }),
      async dump() {
        return [encodeTransaction(answers.dump?.() ?? []).bytes];
      },
      generation: () => Promise.resolve(answers.generations?.shift() ?? 1),
      subscribe(options: SubscribeOptions) {
        fake.subscribed = options;
        return Promise.resolve({ close: () => Promise.resolve() });
      },
    } satisfies Pick<KernelClient, 'transact' | 'dump' | 'generation' | 'subscribe' | 'portId'>,
  };
  return fake;
}

test('a refusal is told in words, with errno, the kernel`s own words and all', async () => {
  const message = new Uint8Array();
  const failure = { sequence: 3, errno: 17, errnoName: 'EEXIST', text: 'no', message };
  const { client } = createFake({ outcome: { kind: 'refused', failures: [failure] } });
  assert.deepEqual(await createNftables(client).commit(COMMANDS), {
    kind: 'refused',
    messages: 4,
    failures: [
      {
        operation: 'add',
        object: 'chain ip pt one',
        commandIndex: 1,
        errno: 17,
        errnoName: 'EEXIST',
        text: 'add chain ip pt one: EEXIST (file already exists): no',
      },
    ],
  });
});

test('an outcome that is not known stays so, with the number of messages sent', async () => {
  const { client } = createFake({ outcome: { kind: 'unknown', because: 'ENOBUFS' } });
  assert.deepEqual(await createNftables(client).commit(COMMANDS), {
    kind: 'unknown',
    because: 'ENOBUFS',
    messages: 4,
  });
});

test('a table is read again when the ruleset changes meanwhile', async () => {
  let dumps = 0;
  const { client } = createFake({
    generations: [1, 2, 2, 2],
    dump() {
      dumps += 1;
      return COMMANDS;
    },
  });
  const table = await createNftables(client).readTable(TABLE);
  assert.equal(table?.generation, 2);
  assert.deepEqual(table.chains, [{ ...TABLE, chain: 'one' }]);
  assert.equal(dumps, 6);
});

test('a table that changes all the time is an error in the end', async () => {
  const { client } = createFake({ generations: Array.from({ length: 100 }, (_, index) => index) });
  await assert.rejects(createNftables(client).readTable(TABLE), { code: 'E_NETLINK' });
});

test('other errors of a dump than a refusal are passed on as they are', async () => {
  const { client } = createFake({});
  const error = new PointsmanError('E_KERNEL_THREAD', 'dead');
  const broken = { ...client, dump: () => Promise.reject(error) };
  await assert.rejects(createNftables(broken).readTable(TABLE), error);
});

/** Events as the kernel sends them: what a socket did, then the generation. */
function eventsOf(
  portId: number,
  messages: readonly (readonly [number, string])[],
  processName: string,
): Uint8Array {
  const writer = createNetlinkWriter();
  for (const [message, table] of messages) {
    writer.beginMessage(netfilterType(NFNL_SUBSYS_NFTABLES, message), 0, 0);
    writer.raw(nfgenmsg(2));
    writer.string(1, table);
    writer.endMessage();
  }
  writer.beginMessage(netfilterType(NFNL_SUBSYS_NFTABLES, 15), 0, 0);
  writer.raw(nfgenmsg(0));
  writer.be32(1, 12);
  writer.be32(2, 4711);
  writer.string(3, processName);
  writer.endMessage();
  const bytes = writer.finish();
  // nlmsg_pid of every message.
  const view = Buffer.from(bytes.buffer);
  for (let at = 0; at < view.length; at += (hostU32(view, at) + 3) & ~3) putHostU32(view, portId, at + 12);
  return bytes;
}

test('what others change is told once for a table and transaction, and what we change is not', async () => {
  const fake = createFake({});
  const changes: ForeignChange[] = [];
  let lost = 0;
  await createNftables(fake.client).watch({
    onForeignChange: (change) => changes.push(change),
    onLost: () => {
      lost += 1;
    },
  });
  const NEWRULE = 6;
  const DELSETELEM = 14;
  fake.subscribed?.onEvent(eventsOf(77, [[NEWRULE, 'pt']], 'pointsman'));
  fake.subscribed?.onEvent(
    eventsOf(
      5,
      [
        [NEWRULE, 'pt'],
        [DELSETELEM, 'pt'],
        [NEWRULE, 'pt'],
        [NEWRULE, 'other'],
      ],
      'nft',
    ),
  );
  const who = { family: 'ip', processId: 4711, processName: 'nft' };
  assert.deepEqual(changes, [
    { ...who, table: 'pt', what: 'rule added, elements deleted' },
    { ...who, table: 'other', what: 'rule added' },
  ]);
  fake.subscribed?.onLost();
  assert.equal(lost, 1);
});

// Transactions over the kernel thread, against the real kernel: what counts as committed, and what does not.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createKernelClient, type KernelClient } from '../../src/kernel/client.ts';
import { openChannel } from '../../src/kernel/netlink/channel.ts';
import { decodeAnswer } from '../../src/kernel/netlink/error.ts';
import { messagesOf } from '../../src/kernel/netlink/reader.ts';
import { inNetns } from '../../src/kernel/netns.ts';
import { NETLINK_NETFILTER } from '../../src/kernel/sys/constants.ts';
import { createKoffiSys } from '../../src/kernel/sys/koffi.ts';
import {
  countElements,
  encodeBatch,
  encodeDumpElements,
  encodeDumpTables,
  tableNames,
} from './nft-messages.ts';
import { openDescriptors } from './open-descriptors.ts';
import { createTestNamespace, type TestNamespace } from './test-namespace.ts';

const ENOENT = 2;
const ERESTART = 85;
const open = (namespace: TestNamespace): Promise<KernelClient> =>
  createKernelClient({ namespace: namespace.path });
const tables = async (client: KernelClient): Promise<string[]> =>
  tableNames(await client.dump('nftables', encodeDumpTables()));

test('a batch is committed by the ack on its end, and names the new generation', async () => {
  using namespace = createTestNamespace();
  await using client = await open(namespace);
  const before = await client.generation();
  const outcome = await client.transact(encodeBatch((batch) => batch.newTable('pt-one')));
  assert.equal(outcome.kind, 'committed');
  assert.notEqual(await client.generation(), before);
  assert.deepEqual(await tables(client), ['pt-one']);
  assert.match(namespace.run('nft', 'list', 'tables'), /table ip pt-one/);
});

test('one bad message undoes the whole batch, though the kernel acks the good ones', async () => {
  using namespace = createTestNamespace();
  await using client = await open(namespace);
  const batch = (): Uint8Array<ArrayBuffer> =>
    encodeBatch(
      (content) => {
        content.newTable('pt-good');
        content.deleteTable('pt-none');
      },
      { ackAll: true },
    );
  // As the kernel says it: an ack of the first message, and an error of the second.
  const sys = createKoffiSys();
  const channel = inNetns(sys, namespace.path, () => openChannel(sys, { protocol: NETLINK_NETFILTER }));
  channel.send(batch());
  const errnos: number[] = [];
  channel.drain((datagram) => {
    for (const message of messagesOf(datagram)) {
      const answer = decodeAnswer(message);
      if (answer !== undefined) errnos.push(answer.errno);
    }
  });
  channel.close();
  assert.ok(errnos.includes(0) && errnos.includes(ENOENT), `${errnos}`);
  // Our client takes that for what it is.
  const outcome = await client.transact(
    encodeBatch((content) => {
      content.newTable('pt-good');
      content.deleteTable('pt-none');
    }),
  );
  assert.ok(outcome.kind === 'refused');
  assert.deepEqual(
    outcome.failures.map(({ sequence, errno }) => [sequence, errno]),
    [[3, ENOENT]],
  );
  assert.deepEqual(await tables(client), []);
});

test('a batch without its end applies nothing, whatever the kernel acks, and is not sent by the client', async () => {
  using namespace = createTestNamespace();
  await using client = await open(namespace);
  const sys = createKoffiSys();
  const channel = inNetns(sys, namespace.path, () => openChannel(sys, { protocol: NETLINK_NETFILTER }));
  channel.send(encodeBatch((content) => content.newTable('pt-open'), { open: true, ackAll: true }));
  let acks = 0;
  channel.drain((datagram) => {
    for (const message of messagesOf(datagram)) if (decodeAnswer(message)?.errno === 0) acks += 1;
  });
  channel.close();
  assert.ok(acks > 0);
  assert.deepEqual(await tables(client), []);
  await assert.rejects(
    client.transact(encodeBatch((content) => content.newTable('pt-open'), { open: true })),
    { code: 'E_MALFORMED' },
  );
});

test('a stale generation is refused as a whole, with ERESTART', async () => {
  using namespace = createTestNamespace();
  await using client = await open(namespace);
  const generation = await client.generation();
  await client.transact(encodeBatch((content) => content.newTable('pt-other')));
  const outcome = await client.transact(
    encodeBatch((content) => content.newTable('pt-late'), { generation }),
  );
  assert.ok(outcome.kind === 'refused');
  assert.deepEqual(
    outcome.failures.map(({ sequence, errno }) => [sequence, errno]),
    [[1, ERESTART]],
  );
  assert.deepEqual(await tables(client), ['pt-other']);
});

test('a batch of five megabytes is one datagram, committed at once, and does not hold up the main thread', async () => {
  using namespace = createTestNamespace();
  await using client = await open(namespace);
  await client.transact(
    encodeBatch((content) => {
      content.newTable('pt-big');
      content.newSet('pt-big', 'numbers');
    }),
  );
  const count = 330_000;
  const batch = encodeBatch((content) => content.newElements('pt-big', 'numbers', 0, count));
  assert.ok(batch.length > 5_000_000);
  const { worked, turns, stop } = watchMainThread();
  const outcome = await client.transact(batch);
  stop();
  assert.equal(outcome.kind, 'committed');
  assert.equal(batch.length, 0, 'the memory was handed over, not copied');
  // Had it waited for the kernel, asleep or not, the event loop would not have turned.
  assert.ok(turns() > 20, `the event loop turned ${turns()} times`);
  // The kernel works for a second or so; 20 ms is what the main thread may, and CPU time does not count what others do.
  assert.ok(worked() < 20, `the main thread worked for ${worked()} ms without a turn`);
  assert.equal(countElements(await client.dump('nftables', encodeDumpElements('pt-big', 'numbers'))), count);
});

test('the default send buffer refuses what ours takes', () => {
  using namespace = createTestNamespace();
  const sys = createKoffiSys();
  const channel = inNetns(sys, namespace.path, () =>
    openChannel(sys, { protocol: NETLINK_NETFILTER, growSendBuffer: false }),
  );
  const large = encodeBatch((content) => content.newElements('pt-none', 'numbers', 0, 40_000));
  assert.throws(() => channel.send(large), { code: 'E_NETLINK', message: /too long/ });
  channel.close();
});

test('thousands of refused messages lose no outcome: it is refused, or said to be unknown', async () => {
  using namespace = createTestNamespace();
  await using client = await open(namespace);
  const outcome = await client.transact(
    encodeBatch((content) => {
      for (let index = 0; index < 5000; index++) content.deleteTable(`pt-none-${index}`);
    }),
  );
  assert.notEqual(outcome.kind, 'committed');
  assert.equal(
    (await client.transact(encodeBatch((content) => content.newTable('pt-after')))).kind,
    'committed',
  );
});

test('a refused message tells its errno and where it was wrong', async () => {
  using namespace = createTestNamespace();
  await using client = await open(namespace);
  const outcome = await client.transact(encodeBatch((content) => content.newChain('pt-none', 'chain')));
  assert.ok(outcome.kind === 'refused');
  const [failure] = outcome.failures;
  assert.equal(failure?.errnoName, 'ENOENT');
  // The first attribute after nlmsghdr and nfgenmsg: the name of the table.
  assert.equal(failure?.offset, 20);
});

test('events tell what others change', async () => {
  using namespace = createTestNamespace();
  await using client = await open(namespace);
  const seen = Promise.withResolvers<void>();
  const subscription = await client.subscribe({
    protocol: 'nftables',
    groups: [7],
    onEvent: () => seen.resolve(),
    onLost: () => {},
  });
  namespace.run('nft', 'add', 'table', 'ip', 'pt-event');
  await seen.promise;
  await subscription.close();
});

test('closing leaves no descriptor open', async () => {
  using namespace = createTestNamespace();
  // The first client loads what stays for good.
  await (await open(namespace)).close();
  const before = openDescriptors().length;
  for (let turn = 0; turn < 3; turn++) {
    await using client = await open(namespace);
    await client.transact(encodeBatch((content) => content.newTable(`pt-${turn}`)));
    await tables(client);
  }
  assert.equal(openDescriptors().length, before);
});

test('without CAP_NET_ADMIN the error says so', () => {
  using namespace = createTestNamespace();
  const script = fileURLToPath(new URL('./transact-once.ts', import.meta.url));
  const without = ['setpriv', '--bounding-set=-net_admin', '--inh-caps=-net_admin'];
  const output = namespace.run(...without, process.execPath, '--disable-warning=ExperimentalWarning', script);
  assert.match(output, /^E_PERMISSION .*EPERM.* \(run as root or with the capability CAP_NET_ADMIN\)$/m);
});

/** The longest piece of work of the main thread between two turns of its event loop, in ms of CPU time, and the turns. */
function watchMainThread(): { worked(): number; turns(): number; stop(): void } {
  const now = (): number => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  let last = now();
  let longest = 0;
  let turns = 0;
  const sample = (): void => {
    const at = now();
    longest = Math.max(longest, at - last);
    last = at;
  };
  const timer = setInterval(() => {
    turns += 1;
    sample();
  }, 1);
  return {
    worked: () => longest,
    turns: () => turns,
    stop() {
      clearInterval(timer);
      sample();
    },
  };
}

// Where buffers end and the kernel loses messages, or changes what is being read.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createKernelClient } from '../../src/kernel/client.ts';
import { createControlBlock } from '../../src/kernel/control-block.ts';
import { type NetlinkChannel, openChannel } from '../../src/kernel/netlink/channel.ts';
import { NFNL_SUBSYS_NFTABLES, NFNLGRP_NFTABLES, readBatch } from '../../src/kernel/netlink/nfnetlink.ts';
import { startDump } from '../../src/kernel/netlink/query.ts';
import { probeSubsystem, runTransaction } from '../../src/kernel/netlink/transaction.ts';
import { inNetns } from '../../src/kernel/netns.ts';
import { NETLINK_NETFILTER } from '../../src/kernel/sys/constants.ts';
import { createKoffiSys } from '../../src/kernel/sys/koffi.ts';
import { startThread } from '../../src/kernel/thread-handle.ts';
import {
  type Content,
  encodeBatch,
  encodeDumpElements,
  encodeDumpTables,
  encodeGetTable,
  tableNames,
} from './nft-messages.ts';
import { createTestNamespace } from './test-namespace.ts';

test('more acks than the socket holds leave the outcome unknown, although all is applied', async () => {
  using namespace = createTestNamespace();
  const sys = createKoffiSys();
  const channel = inNetns(sys, namespace.path, () => openChannel(sys, { protocol: NETLINK_NETFILTER }));
  try {
    const signal = probeSubsystem(channel, NFNL_SUBSYS_NFTABLES, 'nf_tables');
    const run = (batch: Uint8Array): ReturnType<typeof runTransaction> =>
      runTransaction(channel, batch, readBatch(batch), signal);
    const outcome = run(
      encodeBatch(
        (batch) => {
          for (let index = 0; index < 2000; index += 1) batch.newTable(`pt-${index}`);
        },
        { ackAll: true },
      ),
    );
    assert.equal(outcome.kind, 'unknown');
    // The socket is good again for the next one.
    assert.equal(run(encodeBatch((batch) => batch.newTable('pt-after'))).kind, 'committed');
  } finally {
    channel.close();
  }
  await using client = await createKernelClient({ namespace: namespace.path });
  assert.equal(tableNames(await client.dump('nftables', encodeDumpTables())).length, 2001);
});

test('a netfilter subsystem without transactions is named as missing', () => {
  using namespace = createTestNamespace();
  const sys = createKoffiSys();
  const channel = inNetns(sys, namespace.path, () => openChannel(sys, { protocol: NETLINK_NETFILTER }));
  const NFNL_SUBSYS_HOOK = 12;
  try {
    assert.throws(() => probeSubsystem(channel, NFNL_SUBSYS_HOOK, 'nf_hooks'), {
      code: 'E_KERNEL_FEATURE',
      message: 'the kernel has no nf_hooks',
    });
  } finally {
    channel.close();
  }
});

test('a commit between two datagrams of a dump of elements is noticed', () => {
  using namespace = createTestNamespace();
  const sys = createKoffiSys();
  const [reader, writer] = inNetns(sys, namespace.path, () =>
    [1, 2].map(() => openChannel(sys, { protocol: NETLINK_NETFILTER })),
  ) as [NetlinkChannel, NetlinkChannel];
  const consistencyOfDump = (meanwhile: () => void): string => {
    const dump = startDump(reader, encodeDumpElements('pt', 'numbers'));
    assert.equal(dump.advance(1), 'going');
    meanwhile();
    assert.equal(dump.advance(10_000_000), 'complete');
    return dump.take().consistency;
  };
  try {
    const signal = probeSubsystem(writer, NFNL_SUBSYS_NFTABLES, 'nf_tables');
    const commit = (content: Content): void => {
      const batch = encodeBatch(content);
      assert.equal(runTransaction(writer, batch, readBatch(batch), signal).kind, 'committed');
    };
    commit((batch) => {
      batch.newTable('pt');
      batch.newSet('pt', 'numbers');
      batch.newElements('pt', 'numbers', 0, 5000);
    });
    assert.equal(
      consistencyOfDump(() => {}),
      'consistent',
    );
    assert.equal(
      consistencyOfDump(() => commit((batch) => batch.newElements('pt', 'numbers', 5000, 1))),
      'generations',
    );
  } finally {
    reader.close();
    writer.close();
  }
});

test('reading is not counted as a transaction, and what is sent is counted exactly', async () => {
  using namespace = createTestNamespace();
  await using client = await createKernelClient({ namespace: namespace.path });
  await client.dump('nftables', encodeDumpTables());
  await client.generation();
  await assert.rejects(client.request('nftables', encodeGetTable('pt-none')), {
    code: 'E_NETLINK',
    message: /ENOENT/,
  });
  const { transactions, messages, bytes, dumps } = client.counters();
  assert.deepEqual(
    { transactions, messages, bytes, dumps },
    { transactions: 0, messages: 0, bytes: 0, dumps: 1 },
  );

  const batch = encodeBatch((content) => content.newTable('pt'));
  const length = batch.length;
  await client.transact(batch);
  const after = client.counters();
  assert.deepEqual([after.transactions, after.messages, after.bytes], [1, 3, length]);
});

test('events wait in the socket while the main thread is behind, and come when it has caught up', async () => {
  using namespace = createTestNamespace();
  const control = createControlBlock();
  const arrived = Promise.withResolvers<void>();
  let events = 0;
  const thread = await startThread({
    control,
    namespace: namespace.path,
    onEvents(_, datagrams) {
      events += datagrams.length;
      arrived.resolve();
    },
    onLost: () => {},
  });
  try {
    await thread.run({
      kind: 'subscribe',
      subscription: 1,
      protocol: 'nftables',
      groups: [NFNLGRP_NFTABLES],
    });
    control.changeBacklog(100_000);
    // One more turn of the thread: the wait that it is in began before.
    await thread.run({ kind: 'unsubscribe', subscription: 99 });
    namespace.run('nft', 'add', 'table', 'ip', 'pt');
    // Each answer is a whole turn of the thread, in which it would have posted the events.
    for (let turn = 0; turn < 3; turn += 1) await thread.run({ kind: 'unsubscribe', subscription: 99 });
    assert.equal(events, 0);
    control.changeBacklog(-100_000);
    await arrived.promise;
  } finally {
    await thread.stop();
  }
});

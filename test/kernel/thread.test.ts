// The life of the kernel thread: what happens when it dies, and when it cannot follow.
import assert from 'node:assert/strict';
import { readlinkSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { createKernelClient, type KernelClient } from '../../src/kernel/client.ts';
import { NFNLGRP_NFTABLES } from '../../src/kernel/netlink/nfnetlink.ts';
import { OWN_NAMESPACE } from '../../src/kernel/netns.ts';
import { encodeBatch, encodeDumpTables, tableNames } from './nft-messages.ts';
import { createTestNamespace, type TestNamespace } from './test-namespace.ts';

const tables = async (client: KernelClient): Promise<string[]> =>
  tableNames(await client.dump('nftables', encodeDumpTables()));
const table = (name: string): Uint8Array<ArrayBuffer> => encodeBatch((content) => content.newTable(name));

/** A client whose threads the test can kill. */
async function openMortal(
  namespace: TestNamespace,
): Promise<{ client: KernelClient; threads: Worker[]; restarted: Promise<string> }> {
  const threads: Worker[] = [];
  const { promise, resolve } = Promise.withResolvers<string>();
  const client = await createKernelClient({
    namespace: namespace.path,
    onRestart: resolve,
    createWorker(script, options) {
      const worker = new Worker(script, options);
      threads.push(worker);
      return worker;
    },
  });
  return { client, threads, restarted: promise };
}

test('a dead thread is started anew: what was under way is unknown, what comes later works', async () => {
  using namespace = createTestNamespace();
  const { client, threads, restarted } = await openMortal(namespace);
  await using _ = client;
  assert.equal((await client.transact(table('pt-before'))).kind, 'committed');
  const large = encodeBatch((content) => {
    content.newTable('pt-large');
    content.newSet('pt-large', 'numbers');
    content.newElements('pt-large', 'numbers', 0, 200_000);
  });
  const underWay = client.transact(large);
  await threads[0]?.terminate();
  const outcome = await underWay;
  assert.equal(outcome.kind, 'unknown');
  assert.ok((await restarted).length > 0);
  assert.equal((await client.transact(table('pt-after'))).kind, 'committed');
  assert.ok((await tables(client)).includes('pt-after'));
  assert.equal(threads.length, 2);
});

test('a subscription outlives its thread, and hears that something may be missing', async () => {
  using namespace = createTestNamespace();
  const { client, threads, restarted } = await openMortal(namespace);
  await using _ = client;
  const lost = Promise.withResolvers<void>();
  let seen = Promise.withResolvers<void>();
  await client.subscribe({
    protocol: 'nftables',
    groups: [NFNLGRP_NFTABLES],
    onEvent: () => seen.resolve(),
    onLost: () => lost.resolve(),
  });
  await threads[0]?.terminate();
  await restarted;
  await lost.promise;
  seen = Promise.withResolvers<void>();
  namespace.run('nft', 'add', 'table', 'ip', 'pt-later');
  await seen.promise;
});

test('an overflow of events is reported as a loss, whatever number was lost', async () => {
  using namespace = createTestNamespace();
  await using client = await createKernelClient({ namespace: namespace.path });
  const lost = Promise.withResolvers<void>();
  await client.subscribe({
    protocol: 'nftables',
    groups: [NFNLGRP_NFTABLES],
    onEvent: () => {},
    onLost: () => lost.resolve(),
  });
  // Each element is an event: more than any socket buffer holds, while the thread is busy with the batch itself.
  await client.transact(
    encodeBatch((content) => {
      content.newTable('pt-flood');
      content.newSet('pt-flood', 'numbers');
      content.newElements('pt-flood', 'numbers', 0, 200_000);
    }),
  );
  await lost.promise;
});

test('the thread works in its namespace, and leaves the main thread where it was', async () => {
  using namespace = createTestNamespace();
  const before = readlinkSync(OWN_NAMESPACE);
  await using client = await createKernelClient({ namespace: namespace.path });
  await client.transact(table('pt-there'));
  assert.equal(readlinkSync(OWN_NAMESPACE), before);
  assert.deepEqual(await tables(client), ['pt-there']);
});

test('a namespace that is not there is named in the error', async () => {
  await assert.rejects(createKernelClient({ namespace: '/run/netns/pt-none' }), {
    code: 'E_SYSCALL',
    message: /\/run\/netns\/pt-none: ENOENT/,
  });
});

test('a process that closes its client ends by itself', () => {
  using namespace = createTestNamespace();
  const script = fileURLToPath(new URL('./transact-once.ts', import.meta.url));
  const node = ['timeout', '20', process.execPath, '--disable-warning=ExperimentalWarning'];
  assert.equal(namespace.run(...node, script), 'committed\n');
});

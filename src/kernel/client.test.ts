// The client with a thread that answers as it is told.
import assert from 'node:assert/strict';
import { closeSync, openSync } from 'node:fs';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { createKernelClient, DUMP_ATTEMPTS, type KernelClient } from './client.ts';
import type { Consistency } from './netlink/query.ts';

/**
 * A client whose thread answers one dump after the other with these consistencies, the last one for ever. The single
 * byte of each answer is the attempt, with 100 added if it was exclusive.
 */
async function withDumps(
  consistencies: readonly Consistency[],
  work: (client: KernelClient) => Promise<void>,
): Promise<void> {
  const wakeFd = openSync('/dev/null', 'w');
  const script = `
    const port = require('node:worker_threads').parentPort;
    const consistencies = ${JSON.stringify(consistencies)};
    let attempt = 0;
    port.on('message', ({ kind, id, command }) => {
      if (kind === 'stop') return port.close();
      const consistency = consistencies[Math.min(attempt, consistencies.length - 1)];
      attempt += 1;
      const pack = { chunks: [Uint8Array.of(attempt + (command.exclusive ? 100 : 0)).buffer], places: [[0, 0, 1]] };
      port.postMessage({ kind: 'answer', id, answer: { kind: 'answers', pack, consistency } });
    });
    port.postMessage({ kind: 'ready', wakeFd: ${wakeFd} });`;
  try {
    await using client = await createKernelClient({
      createWorker: (_, options) => new Worker(script, { ...options, eval: true }),
    });
    await work(client);
  } finally {
    closeSync(wakeFd);
  }
}

const REQUEST = new Uint8Array(20);
const answerOf = async (client: KernelClient): Promise<number | undefined> =>
  (await client.dump('nftables', REQUEST))[0]?.[0];

test('a consistent dump is taken as it is', () =>
  withDumps(['consistent'], async (client) => assert.equal(await answerOf(client), 1)));

test('an interrupted dump is done again, and our own commits wait for it then', () =>
  withDumps(['inconsistent', 'consistent'], async (client) => assert.equal(await answerOf(client), 102)));

test('commits of others during three dumps of elements do not keep a reader out', () =>
  withDumps(['generations'], async (client) => assert.equal(await answerOf(client), 103)));

test('objects that change during every dump are an error in the end', () =>
  withDumps(['inconsistent'], async (client) => {
    await assert.rejects(client.dump('nftables', REQUEST), {
      code: 'E_NETLINK',
      message: `objects changed during each of ${DUMP_ATTEMPTS} dumps of them`,
    });
  }));

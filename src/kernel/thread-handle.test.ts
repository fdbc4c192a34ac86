// One thread from start to end, with workers that misbehave.
import assert from 'node:assert/strict';
import { closeSync, openSync } from 'node:fs';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { createControlBlock } from './control-block.ts';
import { startThread, type ThreadHandle } from './thread-handle.ts';

/** A thread whose worker runs `script`, a CommonJS text with `port` and `wakeFd` at hand. */
function startScript(script: string, wakeFd: number): Promise<ThreadHandle> {
  return startThread({
    control: createControlBlock(),
    createWorker: (_, options) =>
      new Worker(
        `const wakeFd = ${wakeFd}; const port = require('node:worker_threads').parentPort; ${script}`,
        {
          ...options,
          eval: true,
        },
      ),
    onEvents: () => {},
    onLost: () => {},
  });
}

/** Stands for the eventfd: takes what is written. */
function withWakeFd(work: (wakeFd: number) => Promise<void>): Promise<void> {
  const fd = openSync('/dev/null', 'w');
  return work(fd).finally(() => closeSync(fd));
}

test('a thread that ignores the request to stop is terminated, and its commands are answered', () =>
  withWakeFd(async (wakeFd) => {
    const deaf = await startScript(`port.postMessage({ kind: 'ready', wakeFd }); for (;;);`, wakeFd);
    const command = assert.rejects(deaf.run({ kind: 'unsubscribe', subscription: 1 }), {
      code: 'E_KERNEL_THREAD',
    });
    await deaf.stop();
    await command;
    assert.equal(await deaf.end, undefined);
  }));

test('a thread that throws before it serves cannot be started, with the reason', () =>
  withWakeFd(async (wakeFd) => {
    await assert.rejects(startScript(`throw new Error('no libc')`, wakeFd), {
      code: 'E_KERNEL_THREAD',
      message: 'the kernel thread failed: no libc',
    });
  }));

test('a thread that throws later ends with the reason, and refuses what comes afterwards', () =>
  withWakeFd(async (wakeFd) => {
    const thread = await startScript(
      `port.postMessage({ kind: 'ready', wakeFd }); port.once('message', () => { throw new Error('a bug'); });`,
      wakeFd,
    );
    await assert.rejects(thread.run({ kind: 'unsubscribe', subscription: 1 }), {
      code: 'E_KERNEL_THREAD',
      message: 'the kernel thread died: the kernel thread failed: a bug',
    });
    assert.equal(await thread.end, 'the kernel thread failed: a bug');
    await assert.rejects(thread.run({ kind: 'unsubscribe', subscription: 1 }), { code: 'E_KERNEL_THREAD' });
    await thread.stop();
  }));

// What becomes of threads that die, with threads that are no threads.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PointsmanError } from '../base/errors.ts';
import { silentLogger } from '../base/log.ts';
import type { ThreadHandle } from './thread-handle.ts';
import { superviseThread } from './thread-supervisor.ts';

interface FakeThread extends ThreadHandle {
  die(because: string): void;
}

function createFakeThread(): FakeThread {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  return {
    run: async () => ({ kind: 'done' }),
    end: promise,
    async stop() {
      resolve(undefined);
    },
    die: resolve,
  };
}

test('a thread that dies is replaced: revived first, given out then, told at last', async () => {
  const threads = [createFakeThread(), createFakeThread()] as const;
  const order: string[] = [];
  const restarted = Promise.withResolvers<string>();
  let starts = 0;
  const supervisor = await superviseThread({
    log: silentLogger,
    async start() {
      const thread = threads[starts === 0 ? 0 : 1];
      starts += 1;
      return thread;
    },
    async revive(thread) {
      assert.equal(thread, threads[1]);
      order.push('revived');
    },
    onRestart(because) {
      order.push('told');
      restarted.resolve(because);
    },
  });
  assert.equal(await supervisor.thread(), threads[0]);
  threads[0].die('a test');
  // The commands of now wait for the next thread.
  await Promise.resolve();
  assert.equal(await supervisor.thread(), threads[1]);
  order.push('given');
  assert.equal(await restarted.promise, 'a test');
  assert.deepEqual([order[0], order.length], ['revived', 3]);
  await supervisor.close();
});

test('while no thread can be started commands are refused, and a later attempt still succeeds', async () => {
  const first = createFakeThread();
  const later = createFakeThread();
  const outcomes = [
    async (): Promise<ThreadHandle> => first,
    async (): Promise<ThreadHandle> => {
      throw new PointsmanError('E_SYSCALL', 'no more descriptors');
    },
    async (): Promise<ThreadHandle> => later,
  ];
  const restarted = Promise.withResolvers<void>();
  const supervisor = await superviseThread({
    log: silentLogger,
    start: () => outcomes.shift()?.() ?? Promise.reject(new Error('started too often')),
    revive: async () => {},
    onRestart: () => restarted.resolve(),
  });
  first.die('a test');
  await Promise.resolve();
  await assert.rejects(supervisor.thread(), {
    code: 'E_KERNEL_THREAD',
    message: 'the kernel thread cannot be started: no more descriptors',
  });
  await restarted.promise;
  assert.equal(await supervisor.thread(), later);
  await supervisor.close();
});

test('a thread that dies while it is revived is replaced as well', async () => {
  const threads = [createFakeThread(), createFakeThread(), createFakeThread()];
  const [first, second, third] = threads;
  const restarted = Promise.withResolvers<void>();
  const supervisor = await superviseThread({
    log: silentLogger,
    start: async () => threads.shift() ?? createFakeThread(),
    async revive(thread) {
      if (thread !== second) return;
      second?.die('again');
      throw new PointsmanError('E_KERNEL_THREAD', 'the kernel thread died: again');
    },
    onRestart: () => restarted.resolve(),
  });
  first?.die('once');
  await restarted.promise;
  assert.equal(await supervisor.thread(), third);
  await supervisor.close();
});

test('closing stops the thread, ends a restart under way, and refuses what comes later', async () => {
  for (const dead of [false, true]) {
    const thread = createFakeThread();
    let starts = 0;
    const supervisor = await superviseThread({
      log: silentLogger,
      async start() {
        starts += 1;
        return thread;
      },
      revive: async () => {},
      onRestart: () => assert.fail('nothing is restarted'),
    });
    if (dead) {
      thread.die('a test');
      await Promise.resolve();
    }
    await supervisor.close();
    assert.equal(starts, 1);
    await assert.rejects(supervisor.thread(), { code: 'E_KERNEL_THREAD', message: /closed/ });
  }
});

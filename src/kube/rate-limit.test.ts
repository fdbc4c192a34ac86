import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRateLimit } from './rate-limit.ts';

/** A clock that moves when someone sleeps. */
function withClock(qps: number, burst: number) {
  let time = 0;
  const limit = createRateLimit({
    qps,
    burst,
    now: () => time,
    sleep: (ms, signal) => {
      if (signal?.aborted === true) return Promise.resolve(false);
      time += ms;
      return Promise.resolve(true);
    },
  });
  return {
    limit,
    time: () => time,
    rest: (ms: number) => {
      time += ms;
    },
  };
}

test('a burst passes at once, then the rate holds', async () => {
  const { limit, time } = withClock(5, 10);
  for (let index = 0; index < 10; index += 1) await limit.wait();
  assert.equal(time(), 0);
  await limit.wait();
  assert.equal(time(), 200);
  await limit.wait();
  assert.equal(time(), 400);
});

test('a rest refills the burst and no more', async () => {
  const { limit, time, rest } = withClock(5, 3);
  for (let index = 0; index < 3; index += 1) await limit.wait();
  rest(60_000);
  const before = time();
  for (let index = 0; index < 3; index += 1) await limit.wait();
  assert.equal(time(), before);
  assert.equal(limit.take(), false);
});

test('who gives up does not use a turn', async () => {
  const { limit, time } = withClock(1, 1);
  await limit.wait();
  const stopper = new AbortController();
  const waiting = limit.wait(stopper.signal);
  await waiting;
  stopper.abort();
  assert.equal(await limit.wait(stopper.signal), false);
  const before = time();
  await limit.wait();
  assert.equal(time() - before, 1000);
});

test('zero is no bound', async () => {
  const { limit, time } = withClock(0, 0);
  for (let index = 0; index < 100; index += 1) assert.equal(await limit.wait(), true);
  assert.equal(time(), 0);
});

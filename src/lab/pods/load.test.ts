import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { PointsmanError } from '../../base/errors.ts';
import type { Answer } from './answer.ts';
import { type LoadOptions, startLoad } from './load.ts';

const end = { address: '10.0.0.1', port: 80 };
const answeredBy = (pod: string, ms = 1): Answer => ({
  kind: 'answered',
  pod,
  node: 'node-a',
  client: end,
  server: end,
  ms,
});
const refused: Answer = { kind: 'failed', how: 'refused', detail: 'connect ECONNREFUSED', ms: 1 };
const options: LoadOptions = { question: { protocol: 'TCP', ...end }, ratePerSecond: 100 };

/** Time that passes when the test says so, `performance.now()` too. */
function clock(t: TestContext): (ms: number) => Promise<void> {
  let now = 0;
  t.mock.timers.enable({ apis: ['setInterval'] });
  t.mock.method(performance, 'now', () => now);
  return async (ms) => {
    for (let step = 0; step < ms; step += 10) {
      now += 10;
      t.mock.timers.tick(10);
    }
    await new Promise(setImmediate);
  };
}

test('a load asks at its rate and counts who answered', async (t) => {
  const pass = clock(t);
  const pods = ['one', 'two', 'one'];
  let asked = 0;
  const ask = async (): Promise<Answer> => answeredBy(pods[asked++ % 3] ?? '', asked);
  await using load = startLoad({ ask }, options);
  await pass(990);
  const { answered, failed, skipped, pods: counts, durationMs, slowestMs, meanMs } = await load.stop();
  assert.deepEqual(
    { answered, failed, skipped, durationMs },
    { answered: 100, failed: 0, skipped: 0, durationMs: 990 },
  );
  assert.deepEqual(
    [...counts],
    [
      ['one', 67],
      ['two', 33],
    ],
  );
  assert.deepEqual([meanMs, slowestMs], [50.5, 100]);
});

test('a load that was stopped asks no more', async (t) => {
  const pass = clock(t);
  let asked = 0;
  await using load = startLoad({ ask: async () => answeredBy(String(asked++)) }, options);
  await load.stop();
  await pass(1000);
  assert.equal(asked, 1);
});

test('failures are counted by kind, and the first are told with their time', async (t) => {
  const pass = clock(t);
  let asked = 0;
  const ask = async (): Promise<Answer> => (asked++ < 3 ? answeredBy('one') : refused);
  await using load = startLoad({ ask }, options);
  await pass(200);
  const report = await load.stop();
  assert.equal(report.answered, 3);
  assert.equal(report.failed, 18);
  assert.deepEqual([...report.failures], [['refused', 18]]);
  assert.equal(report.examples.length, 10);
  assert.equal(report.examples[0]?.how, 'refused');
});

test('no more questions wait at once than are allowed; the others are skipped', async (t) => {
  const pass = clock(t);
  const pending: ((answer: Answer) => void)[] = [];
  const ask = (): Promise<Answer> => new Promise((resolve) => pending.push(resolve));
  await using load = startLoad({ ask }, { ...options, atOnce: 4 });
  await pass(90);
  assert.equal(pending.length, 4);
  assert.equal(load.report().skipped, 6);
  for (const resolve of pending) resolve(answeredBy('slow'));
  assert.equal((await load.stop()).answered, 4);
});

test('what the client throws ends the load and is told at the stop', async (t) => {
  const pass = clock(t);
  let asked = 0;
  const ask = async (): Promise<Answer> => {
    asked += 1;
    throw new PointsmanError('E_SYSCALL', 'no such namespace');
  };
  await using load = startLoad({ ask }, options);
  await new Promise(setImmediate);
  await pass(500);
  assert.equal(asked, 1);
  await assert.rejects(load.stop(), { code: 'E_SYSCALL' });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPacing } from './pacing.ts';
import { REFLECTOR_TIMING } from './reflector-timing.ts';

const paced = (random: number) => createPacing(REFLECTOR_TIMING, () => random);

test('waits grow to their bound, and begin anew after calm', () => {
  const pacing = paced(0.999999);
  const long = Array.from({ length: 9 }, () => pacing.milliseconds('long'));
  assert.deepEqual(long, [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
  const short = Array.from({ length: 5 }, () => pacing.milliseconds('short'));
  assert.deepEqual(short, [125, 250, 500, 1000, 1000]);
  pacing.reset();
  assert.deepEqual([pacing.milliseconds('long'), pacing.milliseconds('short')], [500, 125]);
});

test('what the server asked for is kept, spread over a fifth more', () => {
  assert.equal(paced(0).milliseconds({ atLeastMs: 10_000 }), 10_000);
  assert.equal(Math.round(paced(0.999999).milliseconds({ atLeastMs: 10_000 })), 12_000);
});

test('no wait is none', () => assert.equal(paced(1).milliseconds('none'), 0));

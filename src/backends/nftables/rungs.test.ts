import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LARGEST_RUNG, rungFor } from './rungs.ts';

test('the ladder is 1 to 8, then four per octave', () => {
  const rungs = new Set(Array.from({ length: 64 }, (_, index) => rungFor(index + 1)));
  assert.deepEqual([...rungs], [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64]);
});

test('a rung holds its list, and over half of it is full', () => {
  for (let length = 1; length <= LARGEST_RUNG; length += length < 2000 ? 1 : 97) {
    const rung = rungFor(length);
    assert.ok(rung >= length && rung < 2 * length + 1, `${length} on ${rung}`);
    assert.equal(rungFor(rung), rung);
  }
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ageOf, humanDuration, microTimestamp, timestamp } from './time.ts';

test('ages are told in two units at most', () => {
  const second = 1000;
  const minute = 60 * second;
  const hour = 60 * minute;
  const day = 24 * hour;
  const cases: readonly (readonly [ms: number, words: string])[] = [
    [-5 * second, '<invalid>'],
    [-1 * second, '0s'],
    [115 * second, '115s'],
    [2 * minute + 17 * second, '2m17s'],
    [3 * minute, '3m'],
    [95 * minute, '95m'],
    [3 * hour + 5 * minute, '3h5m'],
    [9 * hour + 5 * minute, '9h'],
    [50 * hour, '2d2h'],
    [9 * day, '9d'],
    [3 * 365 * day + 4 * day, '3y4d'],
    [9 * 365 * day, '9y'],
  ];
  for (const [ms, words] of cases) assert.equal(humanDuration(ms), words);
  assert.equal(ageOf(undefined, 0), '<unknown>');
});

test('times are written in UTC, to the second or to six digits', () => {
  assert.equal(timestamp(1_700_000_000_123), '2023-11-14T22:13:20Z');
  assert.equal(microTimestamp(1_700_000_000_123), '2023-11-14T22:13:20.123000Z');
});

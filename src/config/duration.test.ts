import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { durationText, parseDuration } from './duration.ts';

test('durations are read as Go reads them', () => {
  const table: readonly (readonly [string, number | undefined])[] = [
    ['0', 0],
    ['0s', 0],
    ['30s', 30_000],
    ['1h2m3.5s', 3_723_500],
    ['-1.5h', -5_400_000],
    ['+2ms', 2],
    ['.5s', 500],
    ['1.s', 1000],
    ['100us', 0.1],
    ['3µs', 0.003],
    ['30', undefined],
    ['', undefined],
    ['s', undefined],
    ['1 s', undefined],
    ['1d', undefined],
    ['9999999h', undefined],
  ];
  for (const [text, ms] of table) assert.equal(parseDuration(text), ms, text);
});

test('durations are written as Go writes them', () => {
  const table: readonly (readonly [number, string])[] = [
    [0, '0s'],
    [900_000, '15m0s'],
    [3_600_000, '1h0m0s'],
    [1500, '1.5s'],
    [250, '250ms'],
    [0.1, '100µs'],
    [0.000_005, '5ns'],
    [-61_000, '-1m1s'],
  ];
  for (const [ms, text] of table) assert.equal(durationText(ms), text);
});

test('what is written is read back', () => {
  fc.assert(
    fc.property(fc.integer({ min: -1_000_000_000, max: 1_000_000_000 }), (ms) => {
      assert.equal(parseDuration(durationText(ms)), ms);
    }),
  );
});

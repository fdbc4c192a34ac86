import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createLineSplitter } from './line-splitter.ts';

/** The lines and the rest that come out when the bytes arrive in these pieces. */
function split(bytes: Buffer, sizes: readonly number[]): { readonly lines: string[]; readonly rest: string } {
  const splitter = createLineSplitter();
  const lines: string[] = [];
  let from = 0;
  for (const size of [...sizes, bytes.length]) {
    const chunk = bytes.subarray(from, from + size);
    from += size;
    for (const line of splitter.push(chunk)) lines.push(line.toString());
    if (from >= bytes.length) break;
  }
  return { lines, rest: splitter.rest()?.toString() ?? '' };
}

test('lines come out whole, however the bytes are cut', () => {
  const text = fc.array(fc.string({ unit: 'grapheme' }).map((line) => line.replaceAll('\n', ' ')));
  const rest = fc.string().map((line) => line.replaceAll('\n', ' '));
  const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 60 });
  fc.assert(
    fc.property(text, rest, sizes, (lines, last, cuts) => {
      const bytes = Buffer.from(`${lines.map((line) => `${line}\n`).join('')}${last}`);
      const wanted = { lines: lines.filter((line) => line !== ''), rest: last };
      assert.deepEqual(split(bytes, cuts), wanted);
    }),
  );
});

test('a line without an end is refused before it fills the memory', () => {
  const splitter = createLineSplitter(1000);
  const chunk = Buffer.alloc(600, 0x20);
  assert.deepEqual([...splitter.push(chunk)], []);
  assert.throws(() => [...splitter.push(chunk)], { code: 'E_API_MALFORMED' });
});

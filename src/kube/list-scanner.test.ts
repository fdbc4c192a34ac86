import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createListScanner } from './list-scanner.ts';

function scan(
  text: string,
  sizes: readonly number[],
): { readonly items: string[]; readonly envelope: unknown } {
  const scanner = createListScanner();
  const bytes = Buffer.from(text);
  const items: string[] = [];
  let from = 0;
  for (const size of [...sizes, bytes.length]) {
    for (const item of scanner.push(bytes.subarray(from, from + size))) items.push(item.toString());
    from += size;
    if (from >= bytes.length) break;
  }
  return { items, envelope: scanner.end() };
}

/** Values that try to confuse the scanner: brackets, quotes and the word items in all places. */
const nasty = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('items', '"items":[{', '\\', '\\"', ']}', '{"items":[', 'é€😀'),
  fc.array(fc.record({ items: fc.array(fc.record({ items: fc.array(fc.string()) })), '"': fc.string() })),
  fc.double(),
  fc.constant(null),
);
const item = fc.dictionary(fc.constantFrom('items', 'metadata', 'a', '"', 'é'), nasty);
const envelope = fc.record({
  kind: nasty,
  metadata: fc.record({ resourceVersion: fc.string(), items: nasty }),
});

test('items come out one by one and the rest stays, however the bytes are cut', () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 80 });
  const gap = fc.constantFrom('', ' ', '\n  ');
  fc.assert(
    fc.property(envelope, fc.array(item), nasty, sizes, gap, (before, items, after, cuts, space) => {
      const texts = items.map((value) => JSON.stringify(value));
      const head = JSON.stringify(before).slice(0, -1);
      const list = `[${space}${texts.join(`${space},${space}`)}${space}]`;
      const text = `${head},${space}"items"${space}:${space}${list},"after":${JSON.stringify(after)}}`;
      const scanned = scan(text, cuts);
      assert.deepEqual(scanned.items, texts);
      // A text in the rest that looks like an empty list loses its spaces; nothing of ours reads such a text.
      const wanted = JSON.stringify({ ...before, items: [], after });
      assert.equal(squeezed(JSON.stringify(scanned.envelope)), squeezed(wanted));
    }),
  );
});

const squeezed = (text: string): string => text.replaceAll(/\[[\s,]*\]/g, '[]');

test('a list without items, or with null, has none', () => {
  for (const items of ['', ',"items":null', ',"items":[]']) {
    assert.deepEqual(scan(`{"kind":"List"${items}}`, []).items, []);
  }
});

for (const [what, text] of [
  ['cut off in an item', '{"items":[{"a":1},{"b"'],
  ['cut off between items', '{"items":[{"a":1},'],
  ['empty', ''],
  ['no JSON', 'upstream connect error'],
  ['no object', '[]'],
  ['holding an item that is no object', '{"items":[{"a":1},7]}'],
] as const) {
  test(`an answer that is ${what} is refused`, () => {
    assert.throws(() => scan(text, [3]), { code: 'E_API_MALFORMED' });
  });
}

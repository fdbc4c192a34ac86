import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isObject, type JsonValue, sameJson } from '../json.ts';
import { applyMergePatch } from './merge-patch.ts';

// RFC 7386, appendix A.
const EXAMPLES: readonly (readonly [original: JsonValue, patch: JsonValue, result: JsonValue])[] = [
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [
    ['a', 'b'],
    ['c', 'd'],
    ['c', 'd'],
  ],
  [{ a: 'b' }, ['c'], ['c']],
  [{ a: 'foo' }, null, null],
  [{ a: 'foo' }, 'bar', 'bar'],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: 'b', c: null }, { a: 'b' }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
];

test('the examples of RFC 7386 come out as it says', () => {
  for (const [original, patch, result] of EXAMPLES)
    assert.deepEqual(applyMergePatch(original, patch), result, JSON.stringify([original, patch]));
});

const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<JsonValue>;

test('a patch that was applied changes nothing more', () => {
  fc.assert(
    fc.property(json, json, (document, patch) => {
      const once = applyMergePatch(document, patch);
      assert.ok(sameJson(applyMergePatch(once, patch), once));
    }),
  );
});

test('fields that a patch does not name stay, and those it nulls go', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), json), fc.dictionary(fc.string(), json), (document, patch) => {
      const result = applyMergePatch(document, patch);
      assert.ok(isObject(result));
      for (const field of Object.keys(document))
        if (!Object.hasOwn(patch, field)) assert.ok(sameJson(result[field], document[field]));
      for (const field of Object.keys(patch))
        if (patch[field] === null) assert.ok(!Object.hasOwn(result, field));
    }),
  );
});

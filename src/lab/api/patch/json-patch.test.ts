import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonValue } from '../json.ts';
import { applyJsonPatch } from './json-patch.ts';

const after = (document: JsonValue, ...operations: JsonValue[]): JsonValue => {
  const patched = applyJsonPatch(document, operations);
  assert.ok(patched.ok, patched.ok ? '' : patched.why);
  return patched.value;
};
const fails = (document: JsonValue, ...operations: JsonValue[]): string => {
  const patched = applyJsonPatch(document, operations);
  assert.ok(!patched.ok);
  return patched.why;
};

test('each operation of RFC 6902 does what it says', () => {
  assert.deepEqual(after({ a: 1 }, { op: 'add', path: '/b', value: 2 }), { a: 1, b: 2 });
  assert.deepEqual(after({ a: [1, 3] }, { op: 'add', path: '/a/1', value: 2 }), { a: [1, 2, 3] });
  assert.deepEqual(after({ a: [1] }, { op: 'add', path: '/a/-', value: 2 }), { a: [1, 2] });
  assert.deepEqual(after({ a: 1, b: 2 }, { op: 'remove', path: '/a' }), { b: 2 });
  assert.deepEqual(after({ a: [1, 2] }, { op: 'remove', path: '/a/0' }), { a: [2] });
  assert.deepEqual(after({ a: { b: 1 } }, { op: 'replace', path: '/a/b', value: [] }), { a: { b: [] } });
  assert.deepEqual(after({ a: { b: 1 }, c: {} }, { op: 'move', from: '/a/b', path: '/c/d' }), {
    a: {},
    c: { d: 1 },
  });
  assert.deepEqual(after({ a: 1 }, { op: 'copy', from: '/a', path: '/b' }), { a: 1, b: 1 });
  assert.deepEqual(after({ a: [1] }, { op: 'test', path: '/a', value: [1] }), { a: [1] });
  assert.deepEqual(after({ 'a/b': 1, 'c~d': 2 }, { op: 'remove', path: '/a~1b' }), { 'c~d': 2 });
  assert.deepEqual(after({ 'a/b': 1, 'c~d': 2 }, { op: 'remove', path: '/c~0d' }), { 'a/b': 1 });
  assert.deepEqual(after({ a: 1 }, { op: 'replace', path: '', value: 2 }), 2);
});

test('what cannot be done is refused with its reason', () => {
  assert.match(fails({}, { op: 'remove', path: '/a' }), /missing/);
  assert.match(fails({}, { op: 'replace', path: '/a', value: 1 }), /missing/);
  assert.match(fails({}, { op: 'add', path: '/a/b', value: 1 }), /missing/);
  assert.match(fails({ a: [] }, { op: 'add', path: '/a/1', value: 1 }), /invalid index: 1/);
  assert.match(fails({ a: [0] }, { op: 'remove', path: '/a/01' }), /invalid index: 01/);
  assert.match(fails({ a: 1 }, { op: 'test', path: '/a', value: 2 }), /test failed/);
  assert.match(fails({}, { op: 'fold', path: '/a' }), /Unexpected kind: fold/);
  assert.match(fails({}, { op: 'add', path: '/a' }), /needs a value/);
  assert.match(fails({}, { op: 'add' }), /needs op and path/);
});

test('a failed operation leaves the document as it was', () => {
  const document = { a: [1, { b: 2 }] };
  const before = structuredClone(document);
  fails(
    document,
    { op: 'remove', path: '/a/0' },
    { op: 'replace', path: '/a/0/b', value: 3 },
    { op: 'remove', path: '/c' },
  );
  assert.deepEqual(document, before);
});

test('what was added can be removed again', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer()),
      fc.nat(),
      fc.jsonValue() as fc.Arbitrary<JsonValue>,
      (list, at, value) => {
        const path = `/list/${at % (list.length + 1)}`;
        assert.deepEqual(after({ list }, { op: 'add', path, value }, { op: 'remove', path }), { list });
      },
    ),
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonValue } from '../json.ts';
import { int32, keyed, list, map, object, set, text } from '../schema/schema.ts';
import { applyStrategicMergePatch } from './strategic-merge-patch.ts';

const SCHEMA = object('test.Thing', {
  ports: keyed(object('test.Port', { port: int32, name: text, protocol: text }), 'port', 'protocol'),
  words: set(text),
  plain: list(text),
  labels: map(),
  inner: object('test.Inner', { a: text, b: text }),
});

const after = (document: JsonValue, patch: JsonValue): JsonValue => {
  const patched = applyStrategicMergePatch(SCHEMA, document, patch);
  assert.ok(patched.ok, patched.ok ? '' : patched.why);
  return patched.value;
};
const ports = (...numbers: number[]): JsonValue => ({ ports: numbers.map((port) => ({ port })) });

test('items of a keyed list are merged by their key, new ones come last', () => {
  assert.deepEqual(
    after({ ports: [{ port: 1, name: 'a' }, { port: 2 }] }, { ports: [{ port: 2, name: 'b' }, { port: 3 }] }),
    { ports: [{ port: 1, name: 'a' }, { port: 2, name: 'b' }, { port: 3 }] },
  );
});

test('a directive deletes an item, replaces a list, an object, or deletes it', () => {
  assert.deepEqual(after(ports(1, 2), { ports: [{ port: 1, $patch: 'delete' }] }), ports(2));
  assert.deepEqual(after(ports(1, 2), { ports: [{ $patch: 'replace' }, { port: 3 }] }), ports(3));
  assert.deepEqual(after({ inner: { a: '1', b: '2' } }, { inner: { $patch: 'replace', a: '3' } }), {
    inner: { a: '3' },
  });
  assert.deepEqual(after({ inner: { a: '1' } }, { inner: { $patch: 'delete' } }), {});
  assert.deepEqual(after({}, { inner: { a: '1', $patch: 'merge' } }), { inner: { a: '1' } });
});

test('the order of items follows $setElementOrder, those it does not name keep their place', () => {
  assert.deepEqual(
    after(ports(1, 2, 3), { '$setElementOrder/ports': [{ port: 3 }, { port: 1 }] }),
    ports(3, 2, 1),
  );
  assert.deepEqual(
    after(ports(1, 2), {
      '$setElementOrder/ports': [{ port: 3 }, { port: 2 }, { port: 1 }],
      ports: [{ port: 3 }],
    }),
    ports(3, 2, 1),
  );
});

test('sets grow by what is new and shrink by $deleteFromPrimitiveList; plain lists are replaced', () => {
  assert.deepEqual(after({ words: ['a', 'b'] }, { words: ['b', 'c'] }), { words: ['a', 'b', 'c'] });
  assert.deepEqual(after({ words: ['a', 'b'] }, { '$deleteFromPrimitiveList/words': ['a'] }), {
    words: ['b'],
  });
  assert.deepEqual(after({ plain: ['a', 'b'] }, { plain: ['c'] }), { plain: ['c'] });
});

test('null removes a field, $retainKeys removes the others', () => {
  assert.deepEqual(after({ labels: { a: '1', b: '2' } }, { labels: { a: null } }), { labels: { b: '2' } });
  assert.deepEqual(after({ inner: { a: '1', b: '2' } }, { inner: { $retainKeys: ['b'], b: '3' } }), {
    inner: { b: '3' },
  });
});

test('what makes no sense is refused', () => {
  for (const patch of [{ ports: [{ name: 'a' }] }, { ports: [1] }, { inner: { $patch: 'fold' } }, ['a']])
    assert.equal(applyStrategicMergePatch(SCHEMA, ports(1), patch).ok, false, JSON.stringify(patch));
});

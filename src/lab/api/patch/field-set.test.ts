import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { int32, keyed, list, map, object, set, text } from '../schema/schema.ts';
import {
  decodeFields,
  difference,
  encodeFields,
  type FieldSet,
  fieldSet,
  intersection,
  isEmpty,
  LEAF,
  pathsOf,
  union,
} from './field-set.ts';
import { compareValues, fieldsOfValue, withoutFields } from './fields-of-value.ts';

const { set: anySet } = fc.letrec<{ set: FieldSet }>((tie) => ({
  set: fc.oneof(
    { maxDepth: 3 },
    fc.constant(LEAF),
    fc
      .tuple(fc.boolean(), fc.dictionary(fc.constantFrom('f:a', 'f:b', 'k:{"port":1}', 'v:"x"'), tie('set')))
      .map(([member, children]) => fieldSet(member, Object.entries(children)))
      .filter((one) => !isEmpty(one)),
  ),
}));

test('a set of fields survives its written form', () => {
  fc.assert(
    fc.property(anySet, (one) =>
      assert.deepEqual(encodeFields(decodeFields(encodeFields(one))), encodeFields(one)),
    ),
  );
});

test('union, intersection and difference are those of sets', () => {
  const paths = (one: FieldSet): Set<string> => new Set(pathsOf(one, '$'));
  fc.assert(
    fc.property(anySet, anySet, (left, right) => {
      const [a, b] = [paths(left), paths(right)];
      assert.deepEqual(paths(union(left, right)), a.union(b));
      assert.deepEqual(paths(intersection(left, right)), a.intersection(b));
      assert.deepEqual(paths(difference(left, right)), a.difference(b));
    }),
  );
});

const SCHEMA = object('test.Thing', {
  ports: keyed(object('test.Port', { port: int32, protocol: text, name: text }), 'port', 'protocol'),
  words: set(text),
  whole: list(text),
  labels: map(),
});

test('an intent owns its leaves and its items', () => {
  const fields = fieldsOfValue(SCHEMA, {
    ports: [{ port: 80, name: 'a' }],
    words: ['x'],
    whole: ['y'],
    labels: { l: 'm' },
  });
  assert.deepEqual(pathsOf(fields), [
    '.ports[port=80,protocol="TCP"]',
    '.ports[port=80,protocol="TCP"].port',
    '.ports[port=80,protocol="TCP"].name',
    '.words[="x"]',
    '.whole',
    '.labels.l',
  ]);
});

test('a comparison names what changed, came and went', () => {
  const before = { ports: [{ port: 80, name: 'a' }, { port: 81 }], labels: { x: '1' }, whole: ['a'] };
  const now = { ports: [{ port: 80, name: 'b' }], labels: { x: '1', y: '2' }, whole: ['a', 'b'] };
  const { changed, removed } = compareValues(SCHEMA, before, now);
  assert.deepEqual(pathsOf(changed), ['.ports[port=80,protocol="TCP"].name', '.labels.y', '.whole']);
  assert.deepEqual(pathsOf(removed), [
    '.ports[port=81,protocol="TCP"]',
    '.ports[port=81,protocol="TCP"].port',
  ]);
  assert.deepEqual(withoutFields(SCHEMA, before, removed), { ...before, ports: [{ port: 80, name: 'a' }] });
});

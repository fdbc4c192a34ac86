import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ApiObject } from '../api-object.ts';
import { createStore, type Entry } from './store.ts';

const thing = (name: string, more: object = {}): ApiObject => ({
  kind: 'Thing',
  apiVersion: 'v1',
  metadata: { name },
  ...more,
});
const told = (entries: readonly Entry[] | undefined): string[] | undefined =>
  entries?.map(([key, object]) => `${key}@${object.metadata.resourceVersion}`);

test('one counter versions the objects of all resources', () => {
  const store = createStore({ historyLimit: 10 });
  store.put('things', 'b', thing('b'));
  store.put('others', 'x', thing('x'));
  store.put('things', 'a', thing('a'));
  assert.equal(store.version, 3);
  assert.deepEqual(told(store.entries('things')), ['a@3', 'b@1']);
});

test('the state at an older version can be had as long as the history reaches', () => {
  const store = createStore({ historyLimit: 4 });
  const states: (string[] | undefined)[] = [told(store.entries('things'))];
  for (const key of ['a', 'b', 'a', 'c']) {
    store.put('things', key, thing(key, { at: store.version }));
    states.push(told(store.entries('things')));
  }
  for (const [version, state] of states.entries())
    assert.deepEqual(told(store.entriesAt('things', version)), state);
  store.remove('things', 'a');
  assert.deepEqual(told(store.entriesAt('things', 4)), states[4]);
  assert.equal(store.entriesAt('things', 0), undefined);
  assert.equal(store.eventsSince('things', 0), undefined);
  store.compact();
  assert.equal(store.eventsSince('things', 4), undefined);
  assert.deepEqual(store.eventsSince('things', 5), []);
});

test('any state follows from any earlier one and the events in between', () => {
  const change = fc.record({ key: fc.constantFrom('a', 'b', 'c'), gone: fc.boolean() });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 30 }), fc.nat(), (changes, from) => {
      const store = createStore({ historyLimit: 100 });
      for (const { key, gone } of changes) {
        if (gone) store.remove('things', key);
        else store.put('things', key, thing(key));
      }
      const start = from % (store.version + 1);
      const state = new Map(store.entriesAt('things', start));
      for (const event of store.eventsSince('things', start) ?? []) {
        if (event.type === 'DELETED') state.delete(event.key);
        else state.set(event.key, event.object);
      }
      assert.deepEqual([...state].sort(), [...store.entries('things')].sort());
    }),
  );
});

test('events made by a listener come after the one that it was told', () => {
  const store = createStore({ historyLimit: 10 });
  const seen: string[] = [];
  using _first = store.subscribe('things', ({ key }) => {
    if (key === 'a') store.put('things', 'b', thing('b'));
  });
  using _second = store.subscribe('things', ({ key }) => seen.push(key));
  store.put('things', 'a', thing('a'));
  assert.deepEqual(seen, ['a', 'b']);
});

test('a listener that is disposed hears no more', () => {
  const store = createStore({ historyLimit: 10 });
  const seen: string[] = [];
  const subscription = store.subscribe('things', ({ key }) => seen.push(key));
  store.put('things', 'a', thing('a'));
  subscription[Symbol.dispose]();
  store.put('things', 'b', thing('b'));
  assert.deepEqual(seen, ['a']);
});

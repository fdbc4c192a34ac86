import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { silentLogger } from '../base/log.ts';
import { type Change, createObjectFeed } from './object-feed.ts';

interface Event {
  readonly name: string;
  readonly gone: boolean;
  readonly version: number;
}

const objectOf = ({ name, version }: Event) => ({
  metadata: { name, namespace: 'ns', resourceVersion: String(version) },
});

function owner() {
  const objects = new Map<string, number>();
  const changes: Change<number>[] = [];
  const feed = createObjectFeed<number>({
    name: 'things',
    decode: (object) => Number((object as ReturnType<typeof objectOf>).metadata.resourceVersion),
    onChange(change) {
      changes.push(change);
      if (change.kind === 'set') objects.set(change.key, change.value);
      else assert.ok(objects.delete(change.key), `${change.key} was deleted twice`);
    },
    log: silentLogger,
  });
  return { objects, changes, feed };
}

/** What the server holds after these events. */
function stateAfter(events: readonly Event[]): Map<string, Event> {
  const state = new Map<string, Event>();
  for (const event of events) {
    if (event.gone) state.delete(event.name);
    else state.set(event.name, event);
  }
  return state;
}

const history = fc
  .array(fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd'), gone: fc.boolean() }), { maxLength: 40 })
  .map((steps) => {
    const present = new Set<string>();
    const events: Event[] = [];
    for (const { name, gone } of steps) {
      if (gone && !present.has(name)) continue;
      if (gone) present.delete(name);
      else present.add(name);
      events.push({ name, gone, version: events.length + 1 });
    }
    return events;
  });

test('lists, events, gaps and replays in any mixture end in the state of the server', () => {
  const moves = fc.array(
    fc.oneof(
      fc.record({ kind: fc.constant('events' as const), count: fc.integer({ min: 1, max: 10 }) }),
      fc.record({ kind: fc.constant('replay' as const), back: fc.integer({ min: 1, max: 20 }) }),
      fc.record({ kind: fc.constant('gap and list' as const), count: fc.integer({ min: 0, max: 10 }) }),
    ),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(history, moves, (events, steps) => {
      const { objects, changes, feed } = owner();
      let at = 0;
      const play = (from: number, to: number): void => {
        for (const event of events.slice(from, to)) {
          if (event.gone) feed.remove(objectOf(event));
          else feed.set(objectOf(event), { kind: 'event', position: at });
          at = Math.max(at, event.version);
        }
      };
      for (const step of [...steps, { kind: 'events' as const, count: events.length }]) {
        if (step.kind === 'events') play(at, at + step.count);
        else if (step.kind === 'replay') play(Math.max(0, at - step.back), at);
        else {
          at = Math.min(events.length, at + step.count);
          feed.beginList();
          for (const event of stateAfter(events.slice(0, at)).values()) {
            feed.set(objectOf(event), { kind: 'listed', anyVersion: false });
          }
          feed.endList();
        }
        const wanted = [...stateAfter(events.slice(0, at)).values()].map((event) => [
          `ns/${event.name}`,
          event.version,
        ]);
        assert.deepEqual(new Map(objects), new Map(wanted as [string, number][]));
        assert.equal(feed.objects, objects.size);
      }
      const sets = changes.filter(({ kind }) => kind === 'set').map((change) => JSON.stringify(change));
      assert.equal(new Set(sets).size, sets.length, 'a version was announced twice');
    }),
  );
});

test('an object without a version is announced each time', () => {
  const { changes, feed } = owner();
  const object = { metadata: { name: 'x' } };
  feed.set(object, { kind: 'event', position: '' });
  feed.set(object, { kind: 'event', position: '' });
  assert.equal(changes.length, 2);
});

test('an object without a name is counted and passed over', () => {
  const { changes, feed } = owner();
  feed.set({ metadata: {} }, { kind: 'listed', anyVersion: true });
  feed.set({}, { kind: 'listed', anyVersion: true });
  assert.deepEqual([changes.length, feed.skipped], [0, 2]);
});

test('the key is the name where there is no namespace', () => {
  const { changes, feed } = owner();
  feed.set({ metadata: { name: 'node-a', resourceVersion: '1' } }, { kind: 'listed', anyVersion: true });
  assert.equal(changes[0]?.key, 'node-a');
});

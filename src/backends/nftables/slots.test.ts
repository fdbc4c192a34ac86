import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Endpoint, endpointText } from '../../model/service-port.ts';
import { arrangeDense, arrangeSticky, type Slots } from './slots.ts';

const endpoint = (name: number): Endpoint => ({ address: `10.0.0.${name}`, port: 80, local: false });
const list = (...names: number[]): Endpoint[] => names.map(endpoint);
const texts = (slots: Slots): (string | undefined)[] => slots.map((slot) => slot && endpointText(slot));
const histories = fc.array(fc.uniqueArray(fc.integer({ min: 1, max: 40 }), { maxLength: 30 }), {
  minLength: 1,
  maxLength: 12,
});

test('a new list stands in the given order', () => {
  assert.deepEqual(arrangeDense([], list(1, 2, 3)), list(1, 2, 3));
  assert.deepEqual(arrangeSticky([], list(1, 2, 3)), list(1, 2, 3));
});

test('a replaced endpoint changes one slot', () => {
  assert.deepEqual(arrangeDense(list(1, 2, 3), list(1, 3, 4)), list(1, 4, 3));
});

test('of a shrinking dense list the last slot moves into the gap', () => {
  assert.deepEqual(arrangeDense(list(1, 2, 3, 4), list(1, 3, 4)), list(1, 4, 3));
});

test('of a shrinking sticky list the others keep their slots', () => {
  assert.deepEqual(arrangeSticky(list(1, 2, 3, 4), list(1, 3, 4)), [
    endpoint(1),
    undefined,
    endpoint(3),
    endpoint(4),
  ]);
});

test('slot 0 of a sticky list is filled by an endpoint that also keeps its own slot', () => {
  assert.deepEqual(arrangeSticky(list(1, 2, 3), list(2, 3)), [endpoint(2), endpoint(2), endpoint(3)]);
});

test('a new endpoint fills the hole of a sticky list', () => {
  const holed = arrangeSticky(list(1, 2, 3), list(1, 3));
  assert.deepEqual(arrangeSticky(holed, list(1, 3, 9)), list(1, 9, 3));
});

test('a sticky list that is half holes is packed', () => {
  assert.deepEqual(texts(arrangeSticky(list(1, 2, 3, 4, 5, 6), list(5, 6))).length, 2);
});

test('however it came about, a dense list holds each endpoint once', () => {
  fc.assert(
    fc.property(histories, (history) => {
      let slots: Slots = [];
      for (const names of history) {
        slots = arrangeDense(slots, list(...names));
        assert.deepEqual(
          texts(slots).sort(),
          list(...names)
            .map(endpointText)
            .sort(),
        );
      }
    }),
  );
});

test('however it came about, a sticky list holds every endpoint, no other, slot 0 is full and over half is', () => {
  fc.assert(
    fc.property(histories, (history) => {
      let slots: Slots = [];
      for (const names of history) {
        slots = arrangeSticky(slots, list(...names));
        const full = texts(slots).filter((text) => text !== undefined);
        assert.deepEqual(
          [...new Set(full)].sort(),
          list(...names)
            .map(endpointText)
            .sort(),
        );
        if (names.length > 0) {
          assert.notEqual(slots[0], undefined);
          assert.ok(full.length * 2 > slots.length);
        }
      }
    }),
  );
});

test('an endpoint that stays in a sticky list keeps its slot unless the list is packed', () => {
  fc.assert(
    fc.property(histories, (history) => {
      let slots: Slots = [];
      for (const names of history) {
        const next = arrangeSticky(slots, list(...names));
        const staying = slots.filter(
          (slot) =>
            slot !== undefined && names.some((name) => endpointText(endpoint(name)) === endpointText(slot)),
        );
        const packed = new Set(staying).size * 2 <= slots.length;
        if (!packed) {
          for (const [index, slot] of slots.entries()) {
            if (slot === undefined || !staying.includes(slot) || next.length <= index) continue;
            assert.equal(texts(next)[index], endpointText(slot));
          }
        }
        slots = next;
      }
    }),
  );
});

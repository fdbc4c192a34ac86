import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createNetlinkWriter } from '../netlink/writer.ts';
import { type AddressMessage, addressesIn, writeAddress } from './addresses.ts';

test('addresses are read as they were written', () => {
  const messages: fc.Arbitrary<AddressMessage> = fc.constantFrom(4, 16).chain((length) =>
    fc.record(
      {
        address: fc.uint8Array({ minLength: length, maxLength: length }),
        prefix: fc.integer({ min: 0, max: length * 8 }),
        interfaceIndex: fc.integer({ min: 1, max: 0x7fffffff }),
        gone: fc.boolean(),
      },
      { noNullPrototype: true },
    ),
  );
  fc.assert(
    fc.property(fc.array(messages, { maxLength: 5 }), (list) => {
      const writer = createNetlinkWriter();
      for (const [index, message] of list.entries()) writeAddress(writer, message, index);
      assert.deepEqual([...addressesIn(writer.finish())], list);
    }),
  );
});

test('an address message without address is an error, other messages are passed over', () => {
  const writer = createNetlinkWriter();
  writer.beginMessage(16, 0, 1);
  writer.raw(new Uint8Array(16));
  writer.endMessage();
  assert.deepEqual([...addressesIn(writer.finish())], []);
  writer.beginMessage(20, 0, 1);
  writer.raw(new Uint8Array(8));
  writer.endMessage();
  assert.throws(() => [...addressesIn(writer.finish())], { code: 'E_MALFORMED' });
});

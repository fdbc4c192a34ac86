// The writer and the reader against each other, and against bytes of a real kernel exchange.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { attributeMap, attributesOf, hostU16, hostU32, messagesOf, stringOf } from './reader.ts';
import { createNetlinkWriter, type NetlinkWriter } from './writer.ts';

/** An attribute as the tests think of it: bytes, or attributes nested in it. */
type Tree = { readonly type: number; readonly value: Uint8Array | readonly Tree[] };

const type = fc.integer({ min: 1, max: 0x3fff });
const leaf = fc.record({ type, value: fc.uint8Array({ maxLength: 40 }) }, { noNullPrototype: true });
const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small' },
    leaf,
    fc.record(
      { type, value: fc.array(tie('tree') as fc.Arbitrary<Tree>, { maxLength: 4 }) },
      { noNullPrototype: true },
    ),
  ),
}));

function write(writer: NetlinkWriter, trees: readonly Tree[]): void {
  for (const { type: attribute, value } of trees) {
    if (value instanceof Uint8Array) {
      writer.bytes(attribute, value);
      continue;
    }
    const mark = writer.beginNested(attribute);
    write(writer, value);
    writer.endNested(mark);
  }
}

/** Reads attributes back in the shape that `like` has. */
function read(payload: Buffer, like: readonly Tree[]): Tree[] {
  return [...attributesOf(payload)].map(({ type: attribute, payload: value }, index) => {
    const expected = like[index]?.value;
    return {
      type: attribute,
      value:
        expected === undefined || expected instanceof Uint8Array
          ? Uint8Array.from(value)
          : read(value, expected),
    };
  });
}

const message = (trees: readonly Tree[], initialBytes?: number): Uint8Array => {
  const writer = createNetlinkWriter(initialBytes);
  writer.beginMessage(7, 5, 9);
  write(writer, trees);
  writer.endMessage();
  return writer.finish();
};

test('what is written is read back, nested to any depth, whatever the buffer began with', () => {
  fc.assert(
    fc.property(fc.array(tree, { maxLength: 6 }), fc.integer({ min: 1, max: 64 }), (trees, initialBytes) => {
      const messages = [...messagesOf(message(trees, initialBytes))];
      assert.equal(messages.length, 1);
      const [only] = messages;
      assert.ok(only);
      assert.deepEqual([only.type, only.flags, only.sequence, only.portId], [7, 5, 9, 0]);
      assert.deepEqual(read(only.payload, trees), trees);
    }),
  );
});

test('everything is padded to four bytes with zeros, also in memory that was used before', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 9 }), { maxLength: 5 }), (values) => {
      const writer = createNetlinkWriter(8);
      writer.bytes(1, new Uint8Array(400).fill(0xff));
      writer.reset();
      for (const value of values) writer.bytes(1, value);
      const bytes = writer.finish();
      let at = 0;
      for (const value of values) {
        const end = at + 4 + value.length;
        const next = (end + 3) & ~3;
        assert.equal(hostU16(Buffer.from(bytes), at), 4 + value.length);
        assert.ok(bytes.subarray(end, next).every((byte) => byte === 0));
        at = next;
      }
      assert.equal(bytes.length, at);
    }),
  );
});

test('integers have the order that their method names', () => {
  const writer = createNetlinkWriter();
  writer.be16(1, 0x0102);
  writer.be32(2, 0x01020304);
  writer.be64(3, 0x0102030405060708n);
  writer.host16(4, 0x0102);
  writer.host32(5, 0x01020304);
  writer.host64(6, 0x0102030405060708n);
  writer.u8(7, 0xab);
  writer.be32(8, -100);
  writer.flag(9);
  const values = attributeMap(Buffer.from(writer.finish()));
  const bytes = (attribute: number): number[] => [...(values.get(attribute) ?? [])];
  assert.deepEqual(bytes(1), [1, 2]);
  assert.deepEqual(bytes(2), [1, 2, 3, 4]);
  assert.deepEqual(bytes(3), [1, 2, 3, 4, 5, 6, 7, 8]);
  assert.deepEqual(bytes(4), [...new Uint8Array(new Uint16Array([0x0102]).buffer)]);
  assert.deepEqual(bytes(5), [...new Uint8Array(new Uint32Array([0x01020304]).buffer)]);
  assert.deepEqual(bytes(6), [...new Uint8Array(new BigUint64Array([0x0102030405060708n]).buffer)]);
  assert.deepEqual(bytes(7), [0xab]);
  assert.deepEqual(bytes(8), [0xff, 0xff, 0xff, 0x9c]);
  assert.deepEqual(bytes(9), []);
});

test('strings end with NUL and are read without it', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0') && text.isWellFormed()),
      (text) => {
        const writer = createNetlinkWriter(1);
        writer.string(1, text);
        const value = attributeMap(Buffer.from(writer.finish())).get(1);
        assert.ok(value);
        assert.equal(value.at(-1), 0);
        assert.equal(stringOf(value), text);
      },
    ),
  );
});

test('an attribute holds 65531 bytes and not one more', () => {
  const writer = createNetlinkWriter();
  writer.bytes(1, new Uint8Array(65531));
  assert.throws(() => writer.bytes(1, new Uint8Array(65532)), { code: 'E_MALFORMED' });
});

test('a nested attribute of more than 65535 bytes is refused, although its parts fit', () => {
  const fits = createNetlinkWriter();
  const inner = fits.beginNested(1);
  fits.bytes(2, new Uint8Array(65524));
  fits.endNested(inner);
  assert.equal(hostU16(Buffer.from(fits.finish())), 65532);

  const tooLong = createNetlinkWriter();
  const mark = tooLong.beginNested(1);
  tooLong.bytes(2, new Uint8Array(40_000));
  tooLong.bytes(2, new Uint8Array(40_000));
  assert.throws(() => tooLong.endNested(mark), { code: 'E_MALFORMED' });
});

test('a message cut short is refused, not read beyond its end', () => {
  fc.assert(
    fc.property(fc.array(tree, { minLength: 1, maxLength: 4 }), fc.nat(), (trees, cut) => {
      const whole = message(trees);
      const length = cut % whole.length;
      if (length === 0) return;
      assert.throws(() => [...messagesOf(whole.subarray(0, length))], { code: 'E_MALFORMED' });
    }),
  );
});

test('an attribute that claims more than there is, or less than its header, is refused', () => {
  for (const claimed of [3, 13]) {
    const bytes = Buffer.from(new Uint16Array([claimed, 1, 0, 0, 0, 0]).buffer);
    assert.throws(() => [...attributesOf(bytes)], { code: 'E_MALFORMED' });
  }
});

test('arbitrary bytes are either read within their bounds or refused', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      try {
        for (const { payload } of messagesOf(bytes))
          for (const { payload: value } of attributesOf(payload)) value.at(-1);
      } catch (error) {
        assert.equal((error as { code?: unknown }).code, 'E_MALFORMED');
      }
    }),
  );
});

test('several messages share a datagram, each with its own length', () => {
  const writer = createNetlinkWriter();
  for (const sequence of [1, 2, 3]) {
    writer.beginMessage(20, 1, sequence);
    writer.raw(Uint8Array.of(sequence));
    writer.endMessage();
  }
  const bytes = writer.finish();
  assert.equal(hostU32(Buffer.from(bytes)), 20);
  assert.deepEqual(
    [...messagesOf(bytes)].map(({ sequence, payload }) => [sequence, payload[0]]),
    [
      [1, 1],
      [2, 2],
      [3, 3],
    ],
  );
});

test('what finish gives stays as it is when the writer goes on', () => {
  const writer = createNetlinkWriter();
  writer.u8(1, 1);
  const first = writer.finish();
  writer.reset();
  writer.u8(1, 2);
  assert.equal(first[4], 1);
  assert.equal(first.buffer.byteLength, first.length);
});

test('bytes nested in one step are the same bytes as in three steps', () => {
  fc.assert(
    fc.property(type, type, fc.uint8Array({ maxLength: 100 }), (outer, inner, value) => {
      const step = createNetlinkWriter(4);
      step.nestedBytes(outer, inner, value);
      step.u8(1, 1);
      const steps = createNetlinkWriter(4);
      const mark = steps.beginNested(outer);
      steps.bytes(inner, value);
      steps.endNested(mark);
      steps.u8(1, 1);
      assert.deepEqual(step.finish(), steps.finish());
    }),
  );
});

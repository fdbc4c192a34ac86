import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { attributePath } from './attribute-path.ts';
import {
  NLM_F_ACK_TLVS,
  NLM_F_CAPPED,
  NLM_F_MULTI,
  NLMSG_DONE,
  NLMSG_ERROR,
  NLMSGERR_ATTR_MSG,
} from './constants.ts';
import { decodeAnswer, decodeDone, describeFailure, encodeAnswer } from './error.ts';
import { messagesOf, type NetlinkMessage } from './reader.ts';
import { createNetlinkWriter, NLMSG_HDRLEN, putHostU32 } from './writer.ts';

const only = (bytes: Uint8Array): NetlinkMessage => {
  const [message] = [...messagesOf(bytes)];
  assert.ok(message);
  return message;
};

test('an answer is read as it was written', () => {
  const u32 = fc.integer({ min: 0, max: 0xffff_ffff });
  const answer = fc.record(
    {
      sequence: u32,
      errno: fc.integer({ min: 0, max: 4095 }),
      answeredType: fc.integer({ min: 0, max: 0xffff }),
      offset: u32,
      text: fc.string().filter((text) => !text.includes('\0')),
      missingType: u32,
      missingIn: u32,
    },
    { requiredKeys: ['sequence', 'errno', 'answeredType'], noNullPrototype: true },
  );
  fc.assert(
    fc.property(answer, (written) => {
      const writer = createNetlinkWriter();
      encodeAnswer(writer, written);
      const { errnoName: _, ...read } = decodeAnswer(only(writer.finish()));
      assert.deepEqual(read, written);
    }),
  );
});

for (const { name, capped } of [
  { name: 'right after the header of a capped original', capped: true },
  { name: 'after the whole padded original otherwise', capped: false },
]) {
  test(`the kernel's words stand ${name}`, () => {
    const originalLength = NLMSG_HDRLEN + 5;
    const body = Buffer.alloc(4 + (capped ? NLMSG_HDRLEN : 24));
    putHostU32(body, -22, 0);
    putHostU32(body, originalLength, 4);
    putHostU32(body, 77, 12);
    const writer = createNetlinkWriter();
    writer.beginMessage(NLMSG_ERROR, NLM_F_ACK_TLVS | (capped ? NLM_F_CAPPED : 0), 77);
    writer.raw(body);
    writer.string(NLMSGERR_ATTR_MSG, 'not so');
    writer.endMessage();
    const { sequence, errnoName, text } = decodeAnswer(only(writer.finish()));
    assert.deepEqual({ sequence, errnoName, text }, { sequence: 77, errnoName: 'EINVAL', text: 'not so' });
  });
}

test('an error that is too short is refused', () => {
  const writer = createNetlinkWriter();
  writer.beginMessage(NLMSG_ERROR, 0, 1);
  writer.raw(new Uint8Array(16));
  writer.endMessage();
  assert.throws(() => decodeAnswer(only(writer.finish())), { code: 'E_MALFORMED' });
});

test('the end of a dump tells whether it failed', () => {
  const done = (status: number): NetlinkMessage => {
    const writer = createNetlinkWriter();
    const body = Buffer.alloc(4);
    putHostU32(body, status, 0);
    writer.beginMessage(NLMSG_DONE, NLM_F_MULTI | (status < 0 ? NLM_F_ACK_TLVS : 0), 4);
    writer.raw(body);
    if (status < 0) writer.string(NLMSGERR_ATTR_MSG, 'no more');
    writer.endMessage();
    return only(writer.finish());
  };
  assert.equal(decodeDone(done(0)), undefined);
  assert.deepEqual(decodeDone(done(-12)), { sequence: 4, errno: 12, errnoName: 'ENOMEM', text: 'no more' });
});

test('a failure is described in one line with what the kernel told', () => {
  const failure = { sequence: 1, errno: 2, errnoName: 'ENOENT' };
  assert.equal(describeFailure(failure), 'ENOENT');
  assert.equal(
    describeFailure({ ...failure, offset: 20, text: 'no chain' }),
    'ENOENT at offset 20: no chain',
  );
  assert.equal(describeFailure({ ...failure, missingType: 3 }), 'ENOENT (attribute 3 is missing)');
});

test('an offset leads to the types of the attributes around it', () => {
  const writer = createNetlinkWriter();
  writer.beginMessage(1, 0, 1);
  writer.raw(new Uint8Array(4));
  const offsets: number[] = [];
  const here = (): void => void offsets.push(writer.length);
  here();
  writer.string(1, 'table');
  here();
  const list = writer.beginNested(3);
  here();
  writer.be32(1, 5);
  const element = writer.beginNested(2);
  here();
  writer.bytes(9, Uint8Array.of(1));
  writer.endNested(element);
  writer.endNested(list);
  here();
  writer.be16(4, 1);
  writer.endMessage();
  const message = writer.finish();
  assert.deepEqual(
    offsets.map((offset) => attributePath(message, offset, 4)),
    [[1], [3], [3, 1], [3, 2, 9], [4]],
  );
  assert.deepEqual(attributePath(message, 21, 4), []);
  assert.deepEqual(attributePath(message, 4000, 4), []);
});

// Transactions against kernels that this machine cannot be: older ones, and one that loses answers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EINVAL, ENOBUFS, ENOENT, EOPNOTSUPP, EPERM, ERESTART } from '../sys/errno.ts';
import { openChannel } from './channel.ts';
import { encodeAnswer } from './error.ts';
import { createFakeNetlink, type FakeReceived } from './fake-netlink.ts';
import {
  beginBatch,
  endBatch,
  messageWithSequence,
  NFNL_MSG_BATCH_BEGIN,
  NFNL_MSG_BATCH_END,
  NFNL_SUBSYS_NFTABLES,
  netfilterType,
  nfgenmsg,
  readBatch,
} from './nfnetlink.ts';
import { messagesOf } from './reader.ts';
import { type BatchOutcome, probeSubsystem, runTransaction } from './transaction.ts';
import { createNetlinkWriter } from './writer.ts';

const NEWTABLE = netfilterType(NFNL_SUBSYS_NFTABLES, 0);
const NEWGEN = netfilterType(NFNL_SUBSYS_NFTABLES, 15);
const GETGEN = netfilterType(NFNL_SUBSYS_NFTABLES, 16);

function batch(generation?: number): Uint8Array {
  const writer = createNetlinkWriter();
  beginBatch(writer, NFNL_SUBSYS_NFTABLES, 1, generation);
  writer.beginMessage(NEWTABLE, 1, 2);
  writer.raw(nfgenmsg(2));
  writer.endMessage();
  endBatch(writer, NFNL_SUBSYS_NFTABLES, 3);
  return writer.finish();
}

function answer(errno: number, sequence: number, answeredType: number): Uint8Array {
  const writer = createNetlinkWriter();
  encodeAnswer(writer, { errno, sequence, answeredType });
  return writer.finish();
}

const endAck = answer(0, 3, NFNL_MSG_BATCH_END);

function generation(value: number): Uint8Array {
  const writer = createNetlinkWriter();
  writer.beginMessage(NEWGEN, 0, 0);
  writer.raw(nfgenmsg(0));
  writer.be32(1, value);
  writer.endMessage();
  return writer.finish();
}

/** The outcome of a batch with the kernel answering so; GETGEN is answered with generation 8. */
function outcomeOf(
  answers: readonly FakeReceived[],
  options: { readonly endIsAcked?: boolean; readonly base?: number; readonly silent?: boolean } = {},
): BatchOutcome {
  const { endIsAcked = true, base, silent = false } = options;
  const { sys } = createFakeNetlink((datagram) => {
    const [first] = [...messagesOf(datagram)];
    if (first?.type !== GETGEN) return answers;
    return silent ? [] : [generation(8)];
  });
  const bytes = batch(base);
  return runTransaction(openChannel(sys, { protocol: 12 }), bytes, readBatch(bytes), { endIsAcked });
}

test('the ack of BATCH_END is a commit', () => {
  assert.deepEqual(outcomeOf([endAck]), { kind: 'committed', generation: 8 });
});

test('acks of other messages are no commit', () => {
  const outcome = outcomeOf([answer(0, 1, NFNL_MSG_BATCH_BEGIN), answer(0, 2, NEWTABLE)]);
  assert.equal(outcome.kind, 'unknown');
});

test('silence of a kernel that acks BATCH_END is no commit', () => {
  assert.equal(outcomeOf([]).kind, 'unknown');
});

test('silence of a kernel that does not ack BATCH_END is a commit, once it answers a further request', () => {
  assert.deepEqual(outcomeOf([], { endIsAcked: false }), { kind: 'committed', generation: 8 });
  assert.equal(outcomeOf([], { endIsAcked: false, silent: true }).kind, 'unknown');
});

test('any error is a refusal, and all errors are told, on old and new kernels', () => {
  for (const endIsAcked of [true, false]) {
    const outcome = outcomeOf([answer(ENOENT, 2, NEWTABLE), answer(ERESTART, 1, NFNL_MSG_BATCH_BEGIN)], {
      endIsAcked,
    });
    assert.deepEqual(outcome, {
      kind: 'refused',
      failures: [
        { sequence: 2, errno: ENOENT, errnoName: 'ENOENT' },
        { sequence: 1, errno: ERESTART, errnoName: 'ERESTART' },
      ],
    });
  }
});

test('lost answers leave the outcome unknown, unless one that arrived decides it', () => {
  for (const endIsAcked of [true, false]) {
    assert.equal(outcomeOf([-ENOBUFS, answer(0, 2, NEWTABLE)], { endIsAcked }).kind, 'unknown');
  }
  assert.equal(outcomeOf([-ENOBUFS, answer(ENOENT, 2, NEWTABLE)]).kind, 'refused');
  assert.equal(outcomeOf([-ENOBUFS, endAck]).kind, 'committed');
});

test('the generation told is this commit`s own, even if another writer came right after', () => {
  assert.deepEqual(outcomeOf([endAck], { base: 7 }), { kind: 'committed', generation: 8 });
  assert.deepEqual(outcomeOf([endAck], { base: 5 }), { kind: 'committed', generation: 6 });
  // A batch that changed nothing leaves the generation as it was.
  assert.deepEqual(outcomeOf([endAck], { base: 8 }), { kind: 'committed', generation: 8 });
  // The kernel skips 0.
  assert.deepEqual(outcomeOf([endAck], { base: 0xffff_ffff }), { kind: 'committed', generation: 1 });
});

test('the probe tells old kernels from new ones and names what is missing', () => {
  const probe = (...answers: readonly FakeReceived[]): unknown => {
    const { sys } = createFakeNetlink(() => answers);
    return probeSubsystem(openChannel(sys, { protocol: 12 }), NFNL_SUBSYS_NFTABLES, 'nf_tables');
  };
  assert.deepEqual(probe(), { endIsAcked: false });
  assert.deepEqual(probe(answer(0, 2, NFNL_MSG_BATCH_END)), { endIsAcked: true });
  assert.throws(() => probe(answer(EPERM, 1, NFNL_MSG_BATCH_BEGIN)), { code: 'E_PERMISSION' });
  assert.throws(() => probe(answer(EOPNOTSUPP, 1, NFNL_MSG_BATCH_BEGIN)), { code: 'E_KERNEL_FEATURE' });
  assert.throws(() => probe(answer(EINVAL, 1, NFNL_MSG_BATCH_BEGIN)), { code: 'E_NETLINK' });
});

test('a batch is checked before it is sent', () => {
  const whole = batch(7);
  assert.deepEqual(readBatch(whole), { messages: 3, endSequence: 3, generation: 7 });
  const messages = [1, 2, 3].map((sequence) => {
    const message = messageWithSequence(whole, sequence);
    assert.ok(message);
    return message;
  });
  const [begin, table, end] = messages as [Uint8Array, Uint8Array, Uint8Array];
  for (const wrong of [
    [],
    [begin, table],
    [table, end],
    [begin, begin, end],
    [begin, end, table],
    [begin, end, end],
  ]) {
    assert.throws(() => readBatch(Buffer.concat(wrong)), { code: 'E_MALFORMED' });
  }
  const unacked = createNetlinkWriter();
  beginBatch(unacked, NFNL_SUBSYS_NFTABLES, 1);
  unacked.beginMessage(NFNL_MSG_BATCH_END, 1, 2);
  unacked.raw(nfgenmsg(0, NFNL_SUBSYS_NFTABLES));
  unacked.endMessage();
  assert.throws(() => readBatch(unacked.finish()), { code: 'E_MALFORMED', message: /NLM_F_ACK/ });
  assert.equal(messageWithSequence(whole, 4), undefined);
});

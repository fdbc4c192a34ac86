import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ENOBUFS, ENOENT, EPERM } from '../sys/errno.ts';
import { createArena, datagramsOf } from './arena.ts';
import { openChannel } from './channel.ts';
import { NLM_F_DUMP_INTR, NLM_F_MULTI, NLMSG_DONE } from './constants.ts';
import { encodeAnswer } from './error.ts';
import { createFakeNetlink, type FakeReceived } from './fake-netlink.ts';
import { NFNL_SUBSYS_CTNETLINK, NFNL_SUBSYS_NFTABLES, netfilterType, nfgenmsg } from './nfnetlink.ts';
import { ask, type Dump, startDump } from './query.ts';
import { createNetlinkWriter, putHostU32 } from './writer.ts';

const REQUEST = Uint8Array.of(20, 0, 0, 0);

function object(size: number, flags = NLM_F_MULTI): Uint8Array {
  const writer = createNetlinkWriter();
  writer.beginMessage(100, flags, 1);
  writer.raw(new Uint8Array(size));
  writer.endMessage();
  return writer.finish();
}

function done(status = 0, flags = NLM_F_MULTI): Uint8Array {
  const writer = createNetlinkWriter();
  const body = Buffer.alloc(4);
  putHostU32(body, status, 0);
  writer.beginMessage(NLMSG_DONE, flags, 1);
  writer.raw(body);
  writer.endMessage();
  return writer.finish();
}

function refusal(errno: number): Uint8Array {
  const writer = createNetlinkWriter();
  encodeAnswer(writer, { errno, sequence: 1, answeredType: 100 });
  return writer.finish();
}

const dumpOf = (...answers: readonly FakeReceived[]): Dump =>
  startDump(openChannel(createFakeNetlink(() => answers).sys, { protocol: 0 }), REQUEST);

const sizes = (dump: Dump): number[] => datagramsOf(dump.take().pack).map(({ length }) => length);

test('a dump is complete with NLMSG_DONE and keeps every datagram', () => {
  const dump = dumpOf(object(1000), object(30_000), done());
  assert.equal(dump.advance(1_000_000), 'complete');
  assert.deepEqual(sizes(dump), [1016, 30_016, 20]);
});

test('a dump gives way after the bytes it was asked for, and says when nothing is there', () => {
  const dump = dumpOf(object(1000), object(1000), object(1000));
  assert.equal(dump.advance(1500), 'going');
  assert.equal(dump.advance(1500), 'starved');
});

test('a change during a dump is noticed on any of its messages, and so is a loss', () => {
  for (const answers of [
    [object(10, NLM_F_MULTI | NLM_F_DUMP_INTR), object(10), done()],
    [object(10), done(0, NLM_F_MULTI | NLM_F_DUMP_INTR)],
    [object(10), -ENOBUFS],
  ]) {
    const dump = dumpOf(...answers);
    assert.equal(dump.advance(1_000_000), 'complete');
    assert.equal(dump.take().consistency, 'inconsistent');
  }
  const calm = dumpOf(object(10), done());
  calm.advance(1_000_000);
  assert.equal(calm.take().consistency, 'consistent');
});

test('a commit during a dump of nf_tables objects is noticed by their generation, which others do not have', () => {
  const consistencyOf = (subsystem: number, ...generations: readonly number[]): string => {
    const objects = generations.map((generation) => {
      const writer = createNetlinkWriter();
      writer.beginMessage(netfilterType(subsystem, 12), NLM_F_MULTI, 1);
      writer.raw(nfgenmsg(2, generation));
      writer.endMessage();
      return writer.finish();
    });
    const dump = dumpOf(...objects, done());
    dump.advance(1_000_000);
    return dump.take().consistency;
  };
  assert.equal(consistencyOf(NFNL_SUBSYS_NFTABLES, 7, 7, 7), 'consistent');
  assert.equal(consistencyOf(NFNL_SUBSYS_NFTABLES, 7, 7, 8), 'generations');
  assert.equal(consistencyOf(NFNL_SUBSYS_CTNETLINK, 7, 7, 8), 'consistent');
});

test('a refusal, at once or in the middle, is an error with the errno', () => {
  assert.throws(() => dumpOf(refusal(ENOENT)).advance(1), {
    code: 'E_NETLINK',
    facts: { errno: ENOENT, errnoName: 'ENOENT', offset: undefined, text: undefined },
  });
  assert.throws(() => dumpOf(object(10), done(-ENOENT)).advance(1_000_000), { code: 'E_NETLINK' });
  assert.throws(() => dumpOf(refusal(EPERM)).advance(1), { code: 'E_PERMISSION' });
});

test('a single request gives what is queued, or the refusal, or says that the answer is lost', () => {
  const asked = (...answers: readonly FakeReceived[]): number[] => {
    const channel = openChannel(createFakeNetlink(() => answers).sys, { protocol: 0 });
    return datagramsOf(ask(channel, REQUEST).pack).map(({ length }) => length);
  };
  assert.deepEqual(asked(object(10, 0)), [28]);
  assert.throws(() => asked(refusal(ENOENT)), { code: 'E_NETLINK' });
  assert.throws(() => asked(-ENOBUFS), { code: 'E_NETLINK_LOST' });
});

test('a datagram larger than the space for it is an error, not a truncated answer', () => {
  const huge = object(70_000);
  const large = dumpOf(huge);
  // The first chunk is larger than the space that is promised.
  assert.equal(large.advance(1), 'going');
  const full = dumpOf(object(65_000), huge);
  assert.throws(() => full.advance(1_000_000), { code: 'E_NETLINK_LOST' });
});

test('an arena gives back what was kept in it, in order, and is empty afterwards', () => {
  const arena = createArena();
  const datagrams = fc.array(fc.uint8Array({ maxLength: 3000 }), { maxLength: 200 });
  fc.assert(
    fc.property(datagrams, (kept) => {
      for (const datagram of kept) {
        arena.space().set(datagram);
        arena.keep(datagram.length);
      }
      assert.equal(
        arena.length,
        kept.reduce((sum, { length }) => sum + length, 0),
      );
      const pack = arena.take();
      assert.equal(arena.length, 0);
      // Whatever the arena does next, the pack may be transferred.
      const moved = structuredClone(pack, { transfer: [...pack.chunks] });
      assert.deepEqual(
        datagramsOf(moved).map((bytes) => Uint8Array.from(bytes)),
        kept,
      );
    }),
    { numRuns: 30 },
  );
});

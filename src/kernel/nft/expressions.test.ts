import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { attributeMap } from '../netlink/reader.ts';
import { createNetlinkWriter, type NetlinkWriter } from '../netlink/writer.ts';
import { type Expression, type KnownExpression, readExpressions, writeExpressions } from './expressions.ts';
import { type Register, register } from './register.ts';

const LIST = 4;

const registers: fc.Arbitrary<Register> = fc.integer({ min: 0, max: 15 }).map(register);
const u32 = fc.integer({ min: 0, max: 0xffff_ffff });
const u53 = fc.maxSafeNat();
const value = fc.uint8Array({ minLength: 1, maxLength: 64 });
const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,30}$/);
const choice = fc.constantFrom('none', 'random', 'persistent', 'fully-random');
const { constant } = fc;

type Kinds = { readonly [E in KnownExpression as E['kind']]: fc.Arbitrary<E> };

/** Every kind with all that it can say; absent properties are left away, as the decoder does. (Clones lose fast-check's null prototypes.) */
const KINDS: Kinds = {
  'meta-load': fc.record({
    kind: constant('meta-load'),
    key: fc.constantFrom('priority', 'mark', 'l4proto', 'iifname', 'oifname', 'nfproto'),
    to: registers,
  }),
  'meta-set': fc.record({
    kind: constant('meta-set'),
    key: fc.constantFrom('priority', 'mark', 'nftrace'),
    from: registers,
  }),
  payload: fc.record({
    kind: constant('payload'),
    base: fc.constantFrom('link', 'network', 'transport'),
    offset: u32,
    length: u32,
    to: registers,
  }),
  ct: fc.record(
    {
      kind: constant('ct'),
      key: fc.constantFrom('state', 'status', 'dst_ip', 'dst_ip6', 'proto_dst', 'mark'),
      direction: fc.constantFrom('original', 'reply'),
      to: registers,
    },
    { requiredKeys: ['kind', 'key', 'to'] },
  ),
  compare: fc.record({
    kind: constant('compare'),
    from: registers,
    operator: fc.constantFrom('equal', 'not-equal', 'less', 'at-most', 'greater', 'at-least'),
    value,
  }),
  range: fc.record({
    kind: constant('range'),
    from: registers,
    operator: fc.constantFrom('within', 'outside'),
    first: value,
    last: value,
  }),
  bitwise: fc
    .tuple(
      registers,
      registers,
      fc.array(fc.tuple(fc.nat(255), fc.nat(255)), { minLength: 1, maxLength: 16 }),
    )
    .map(([from, to, bytes]) => ({
      kind: 'bitwise',
      from,
      to,
      mask: Uint8Array.from(bytes, ([mask]) => mask),
      xor: Uint8Array.from(bytes, ([, xor]) => xor),
    })),
  byteorder: fc.record({
    kind: constant('byteorder'),
    operation: fc.constantFrom('to-host', 'to-network'),
    from: registers,
    to: registers,
    length: u32,
    size: fc.constantFrom(2, 4, 8),
  }),
  immediate: fc.record({ kind: constant('immediate'), to: registers, value }),
  verdict: fc.record({
    kind: constant('verdict'),
    verdict: fc.oneof(
      fc.record({ kind: fc.constantFrom('accept', 'drop', 'return') }),
      fc.record({ kind: fc.constantFrom('jump', 'goto'), chain: name }),
    ),
  }),
  lookup: fc.record(
    {
      kind: constant('lookup'),
      from: registers,
      set: name,
      to: fc.oneof(registers, constant('verdict' as const)),
      inverted: fc.boolean(),
    },
    { requiredKeys: ['kind', 'from', 'set', 'inverted'] },
  ),
  'number-generator': fc.record({
    kind: constant('number-generator'),
    mode: fc.constantFrom('random', 'incremental'),
    modulus: u32,
    offset: u32,
    to: registers,
  }),
  hash: fc.record(
    {
      kind: constant('hash'),
      type: constant('jenkins'),
      from: registers,
      length: u32,
      modulus: u32,
      seed: u32,
      offset: u32,
      to: registers,
    },
    { requiredKeys: ['kind', 'type', 'from', 'length', 'modulus', 'offset', 'to'] },
  ),
  fib: fc.record({
    kind: constant('fib'),
    address: fc.constantFrom('saddr', 'daddr'),
    result: constant('type'),
    to: registers,
  }),
  nat: fc
    .record(
      {
        kind: constant('nat'),
        type: fc.constantFrom('snat', 'dnat'),
        family: fc.constantFrom('ip', 'ip6'),
        address: registers,
        lastAddress: registers,
        port: registers,
        lastPort: registers,
        choice,
      },
      { requiredKeys: ['kind', 'type', 'family', 'choice'] },
    )
    // A range that ends where it begins is told as none.
    .filter(({ address, lastAddress, port, lastPort }) => {
      return (
        (lastAddress === undefined || lastAddress !== address) &&
        (lastPort === undefined || lastPort !== port)
      );
    }),
  masquerade: fc.record({ kind: constant('masquerade'), choice }),
  reject: fc.record(
    { kind: constant('reject'), with: fc.constantFrom('icmp', 'tcp-reset', 'icmpx'), code: fc.nat(255) },
    { requiredKeys: ['kind', 'with'] },
  ),
  'dynamic-set': fc.record(
    {
      kind: constant('dynamic-set'),
      operation: fc.constantFrom('add', 'update', 'delete'),
      set: name,
      key: registers,
      data: registers,
      timeoutMs: u53,
      inverted: fc.boolean(),
    },
    { requiredKeys: ['kind', 'operation', 'set', 'key', 'timeoutMs', 'inverted'] },
  ),
  counter: fc.record({ kind: constant('counter'), packets: u53, bytes: u53 }),
  limit: fc.record({
    kind: constant('limit'),
    of: fc.constantFrom('packets', 'bytes'),
    rate: u53,
    perSeconds: u53,
    burst: u32,
    inverted: fc.boolean(),
  }),
};

function encoded(expressions: readonly Expression[]): Buffer {
  const writer = createNetlinkWriter();
  writeExpressions(writer, LIST, expressions, new Map());
  return payloadOf(writer);
}

function payloadOf(writer: NetlinkWriter): Buffer {
  return attributeMap(Buffer.from(writer.finish())).get(LIST) ?? Buffer.alloc(0);
}

for (const [kind, arbitrary] of Object.entries(KINDS) as [string, fc.Arbitrary<KnownExpression>][]) {
  test(`a ${kind} expression is read as it was written`, () => {
    fc.assert(
      fc.property(arbitrary, (expression) => {
        assert.deepEqual(readExpressions(encoded([expression])), [structuredClone(expression)]);
      }),
      { numRuns: 50 },
    );
  });
}

test('a rule is read as it was written, its expressions in order', () => {
  const rules = fc.array(fc.oneof(...(Object.values(KINDS) as fc.Arbitrary<KnownExpression>[])), {
    maxLength: 12,
  });
  fc.assert(
    fc.property(rules, (expressions) => {
      assert.deepEqual(readExpressions(encoded(expressions)), structuredClone(expressions));
    }),
  );
});

/** One expression as the kernel might write it. */
function foreign(expressionName: string, attributes: (writer: NetlinkWriter) => void): Buffer {
  const writer = createNetlinkWriter();
  const list = writer.beginNested(LIST);
  const element = writer.beginNested(1);
  writer.string(1, expressionName);
  const data = writer.beginNested(2);
  attributes(writer);
  writer.endNested(data);
  writer.endNested(element);
  writer.endNested(list);
  return payloadOf(writer);
}

test('an expression of a kind that has no words is told by its name', () => {
  const xfrm = foreign('xfrm', (writer) => writer.be32(1, 1));
  assert.deepEqual(readExpressions(xfrm), [{ kind: 'unknown', name: 'xfrm' }]);
});

test('an expression that says more than its words can is unknown, not read in part', () => {
  // NFTA_DYNSET_EXPR: counters and limits of elements.
  const withCounter = foreign('dynset', (writer) => {
    writer.string(1, 'clients');
    writer.be32(3, 1);
    writer.be32(4, 1);
    writer.be32(9, 2);
    writer.endNested(writer.beginNested(7));
  });
  assert.deepEqual(readExpressions(withCounter), [{ kind: 'unknown', name: 'dynset' }]);
  // NFTA_PAYLOAD_SREG: writes into the packet.
  const payloadSet = foreign('payload', (writer) => {
    for (const type of [5, 2, 3, 4, 6, 7]) writer.be32(type, 1);
  });
  assert.deepEqual(readExpressions(payloadSet), [{ kind: 'unknown', name: 'payload' }]);
  // NFT_BITWISE_LSHIFT, and a meta key that came later.
  const shift = foreign('bitwise', (writer) => {
    for (const type of [1, 2, 3, 6]) writer.be32(type, 1);
  });
  assert.deepEqual(readExpressions(shift), [{ kind: 'unknown', name: 'bitwise' }]);
  const newKey = foreign('meta', (writer) => {
    writer.be32(1, 1);
    writer.be32(2, 1000);
  });
  assert.deepEqual(readExpressions(newKey), [{ kind: 'unknown', name: 'meta' }]);
});

test('padding attributes say nothing', () => {
  const padded = foreign('counter', (writer) => {
    writer.flag(3);
    writer.be64(1, 200n);
    writer.flag(3);
    writer.be64(2, 3n);
  });
  assert.deepEqual(readExpressions(padded), [{ kind: 'counter', packets: 3, bytes: 200 }]);
});

test('the flags that the kernel adds to a translation are not part of it', () => {
  const dnat = foreign('nat', (writer) => {
    writer.be32(1, 1);
    writer.be32(2, 2);
    for (const [type, number] of [
      [3, 1],
      [4, 1],
      [5, 9],
      [6, 9],
      [7, 3],
    ] as const)
      writer.be32(type, number);
  });
  assert.deepEqual(readExpressions(dnat), [
    { kind: 'nat', type: 'dnat', family: 'ip', address: 0, port: 1, choice: 'none' },
  ]);
});

test('an unknown expression cannot be written', () => {
  assert.throws(() => encoded([{ kind: 'unknown', name: 'xfrm' }]), RangeError);
});

test('a register is one of sixteen words', () => {
  assert.throws(() => register(16), RangeError);
  assert.throws(() => register(-1), RangeError);
  assert.throws(() => register(0.5), RangeError);
});

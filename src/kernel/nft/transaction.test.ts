import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { messageWithSequence, readBatch } from '../netlink/nfnetlink.ts';
import { attributesOf, messagesOf } from '../netlink/reader.ts';
import { NLMSG_HDRLEN } from '../netlink/writer.ts';
import { chainsIn } from './chains.ts';
import type { FieldType, NftCommand, SetDefinition, SetElement, Verdict } from './commands.ts';
import { elementsIn } from './elements.ts';
import { register } from './register.ts';
import { rulesIn } from './rules.ts';
import { setsIn } from './sets.ts';
import { tablesIn } from './tables.ts';
import { encodeTransaction } from './transaction.ts';
import { commentIn, commentUserdata } from './userdata.ts';

const TABLE = { family: 'ip6', table: 'pt' } as const;
const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,30}$/);
const bytes = fc.uint8Array({ minLength: 1, maxLength: 64 });
const u53 = fc.maxSafeNat();

const verdicts: fc.Arbitrary<Verdict> = fc.oneof(
  fc.record({ kind: fc.constantFrom('accept' as const, 'drop' as const, 'return' as const) }),
  fc.record({ kind: fc.constantFrom('jump' as const, 'goto' as const), chain: name }),
);
const elements: fc.Arbitrary<SetElement> = fc.record(
  {
    key: fc.oneof(bytes, fc.constant(new Uint8Array())),
    keyEnd: bytes,
    data: fc.oneof(bytes, verdicts),
    timeoutMs: u53,
    expiresMs: u53,
  },
  { requiredKeys: ['key'] },
);
const addElements = (list: readonly SetElement[]): NftCommand => ({
  op: 'add-elements',
  ...TABLE,
  set: 'x',
  elements: list,
});

test('elements of any kind are read as they were written', () => {
  fc.assert(
    fc.property(fc.array(elements, { maxLength: 20 }), (list) => {
      const { bytes: batch } = encodeTransaction([addElements(list)]);
      assert.deepEqual([...elementsIn([batch])], structuredClone(list));
    }),
  );
});

const fields = fc.constantFrom<FieldType>(
  'ipv4_addr',
  'ipv6_addr',
  'inet_proto',
  'inet_service',
  'mark',
  'classid',
);
const definitions: fc.Arbitrary<SetDefinition> = fc.record(
  {
    name,
    key: fc.array(fields, { minLength: 2, maxLength: 5 }),
    data: fc.oneof(fc.constant(['verdict' as const]), fc.array(fields, { minLength: 1, maxLength: 3 })),
    interval: fc.constant(true),
    dynamic: fc.constant(true),
    timeoutMs: u53,
    size: fc.integer({ min: 1, max: 0xffff_ffff }),
  },
  { requiredKeys: ['name', 'key'] },
);

test('definitions of sets and maps are read as they were written', () => {
  fc.assert(
    fc.property(fc.array(definitions, { maxLength: 5 }), (list) => {
      const { bytes: batch } = encodeTransaction(
        list.map((definition) => ({ op: 'add-set', ...TABLE, definition })),
      );
      assert.deepEqual(
        [...setsIn([batch])],
        structuredClone(list).map((definition) => ({
          ...TABLE,
          name: definition.name,
          anonymous: false,
          definition,
        })),
      );
    }),
  );
});

test('a key of one field is written and read; its ranges would need another form and are refused', () => {
  const definition: SetDefinition = { name: 'x', key: ['ifname'] };
  const { bytes: batch } = encodeTransaction([{ op: 'add-set', ...TABLE, definition }]);
  assert.deepEqual([...setsIn([batch])][0]?.definition, definition);
  const ranges = { name: 'x', key: ['ipv4_addr'], interval: true } as const;
  assert.throws(() => encodeTransaction([{ op: 'add-set', ...TABLE, definition: ranges }]), {
    code: 'E_MALFORMED',
  });
});

test('tables, chains and rules are read as they were written', () => {
  const hook = { type: 'nat', hook: 'postrouting', priority: -150 } as const;
  const expressions = [{ kind: 'verdict', verdict: { kind: 'goto', chain: 'two' } }] as const;
  const { bytes: batch } = encodeTransaction([
    { op: 'add-table', ...TABLE },
    { op: 'add-chain', ...TABLE, chain: 'one', hook, policy: 'drop' },
    { op: 'add-chain', ...TABLE, chain: 'two' },
    { op: 'add-rule', ...TABLE, chain: 'one', expressions, comment: 'why – ok' },
    { op: 'add-rule', ...TABLE, chain: 'two', expressions: [] },
  ]);
  assert.deepEqual([...tablesIn([batch])], [TABLE]);
  assert.deepEqual(
    [...chainsIn([batch])],
    [
      { ...TABLE, chain: 'one', hook, policy: 'drop' },
      { ...TABLE, chain: 'two' },
    ],
  );
  assert.deepEqual(
    [...rulesIn([batch])],
    [
      { ...TABLE, chain: 'one', handle: 0n, expressions, comment: 'why – ok' },
      { ...TABLE, chain: 'two', handle: 0n, expressions: [] },
    ],
  );
});

test('a comment that is too long for nft is cut', () => {
  const userdata = Buffer.from(commentUserdata('x'.repeat(300)));
  assert.equal(commentIn(userdata), 'x'.repeat(127));
});

test('a transaction is one complete batch with sequence numbers from 1, whatever the commands', () => {
  const command: fc.Arbitrary<NftCommand> = fc.oneof(
    fc.array(elements, { maxLength: 5 }).map(addElements),
    definitions.map((definition): NftCommand => ({ op: 'add-set', ...TABLE, definition })),
    name.map((chain): NftCommand => ({ op: 'flush-chain', ...TABLE, chain })),
    name.map((set): NftCommand => ({ op: 'delete-set', ...TABLE, set })),
  );
  fc.assert(
    fc.property(
      fc.array(command, { maxLength: 10 }),
      fc.option(fc.integer({ min: 1, max: 0xffff_ffff }), { nil: undefined }),
      (commands, generation) => {
        const options = generation === undefined ? {} : { generation };
        const { bytes: batch, messages } = encodeTransaction(commands, options);
        assert.deepEqual(readBatch(batch), { messages, endSequence: messages, ...options });
        const sequences = [...messagesOf(batch)].map(({ sequence }) => sequence);
        assert.deepEqual(
          sequences,
          Array.from({ length: messages }, (_, index) => index + 1),
        );
      },
    ),
  );
});

/** The offset of an element of the list attribute `list` in a message, counted from nlmsghdr as the kernel does. */
function offsetOf(message: Uint8Array, list: number, index: number): number {
  const buffer = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  for (const { type, payload } of attributesOf(buffer.subarray(NLMSG_HDRLEN), 4)) {
    const element = type === list ? [...attributesOf(payload)][index] : undefined;
    if (element !== undefined) return element.payload.byteOffset - buffer.byteOffset - 4;
  }
  throw new Error(`no element ${index}`);
}

const NFTA_SET_ELEM_LIST_ELEMENTS = 3;
const NFTA_RULE_EXPRESSIONS = 4;

test('long lists are cut into messages below 64 KB, none of them empty, and each element is named by its place', () => {
  const list = Array.from({ length: 4000 }, (_, index): SetElement => {
    const key = new Uint8Array(28);
    new DataView(key.buffer).setUint32(0, index);
    return { key, data: new Uint8Array(20) };
  });
  const { bytes: batch, describe } = encodeTransaction([
    { op: 'add-table', ...TABLE },
    addElements(list),
    { op: 'add-table', ...TABLE },
  ]);
  let first = 0;
  for (const { type, sequence } of messagesOf(batch)) {
    if ((type & 0xff) !== 12) continue;
    const message = messageWithSequence(batch, sequence);
    assert.ok(message !== undefined && message.length < 0xffff);
    const count = [...elementsIn([message])].length;
    assert.ok(count > 0);
    for (const index of [0, count - 1]) {
      const offset = offsetOf(message, NFTA_SET_ELEM_LIST_ELEMENTS, index);
      const { elementIndex, commandIndex, attribute } = describe({ sequence, offset, message });
      assert.deepEqual([commandIndex, elementIndex], [1, first + index]);
      assert.equal(attribute, 'NFTA_SET_ELEM_LIST_ELEMENTS NFTA_LIST_ELEM');
    }
    first += count;
  }
  assert.equal(first, list.length);
  assert.deepEqual([...elementsIn([batch])], list);
});

test('an empty list of elements is no message', () => {
  assert.equal(encodeTransaction([addElements([])]).messages, 2);
});

test('a rule with sets of its own takes several messages, all of which are its own', () => {
  const set = { key: ['mark'], elements: [{ key: Uint8Array.of(1, 0, 0, 0) }] } as const;
  const {
    bytes: batch,
    messages,
    describe,
  } = encodeTransaction([
    { op: 'add-table', ...TABLE },
    {
      op: 'add-rule',
      ...TABLE,
      chain: 'one',
      expressions: [
        { kind: 'meta-load', key: 'mark', to: register(0) },
        { kind: 'lookup', from: register(0), set, inverted: false },
      ],
    },
  ]);
  assert.equal(messages, 6);
  for (const sequence of [3, 4, 5]) assert.equal(describe({ sequence }).commandIndex, 1);
  const message = messageWithSequence(batch, 5) ?? new Uint8Array();
  const offset = offsetOf(message, NFTA_RULE_EXPRESSIONS, 1);
  assert.deepEqual(describe({ sequence: 5, offset, message }), {
    operation: 'add',
    object: 'rule in chain ip6 pt one, expression 1 (lookup)',
    attribute: 'NFTA_RULE_EXPRESSIONS NFTA_LIST_ELEM',
    commandIndex: 1,
    expressionIndex: 1,
  });
  assert.equal([...setsIn([batch])][0]?.anonymous, true);
});

test('without an offset or the message the object is named, and the batch itself too', () => {
  const { describe } = encodeTransaction([
    addElements([{ key: Uint8Array.of(1) }]),
    { op: 'destroy-elements', ...TABLE, set: 'x', elements: [{ key: Uint8Array.of(1) }] },
    { op: 'add-set', ...TABLE, definition: { name: 'm', key: ['mark'], data: ['mark'] } },
  ]);
  const words = (sequence: number): string => {
    const { operation, object } = describe({ sequence, offset: 20 });
    return `${operation} ${object}`;
  };
  assert.deepEqual([1, 2, 3, 4, 5].map(words), [
    'begin batch',
    'add elements of set ip6 pt x',
    'destroy elements of set ip6 pt x',
    'add map ip6 pt m',
    'end batch',
  ]);
});

// Phrases of rules as lists of expressions: what `nft` would write in one statement.
import type { Verdict } from '../../kernel/nft/commands.ts';
import { RTN_LOCAL } from '../../kernel/nft/expressions/fib.ts';
import type { Expression } from '../../kernel/nft/expressions.ts';
import { type Register, register } from '../../kernel/nft/register.ts';
import { addressBytes, type Cidr } from '../../model/address.ts';

/** The families of the tables. */
export type TableFamily = 'ip' | 'ip6';

/** Something that a rule can load, alone or as a part of a concatenation. */
export interface Operand {
  /** Words that it takes in the register file. */
  readonly words: number;
  load(to: Register): Expression;
}

/** An address in the header, of which a part can be loaded too. */
export interface AddressOperand extends Operand {
  loadStart(to: Register, bytes: number): Expression;
}

const FIRST: Register = register(0);

/** Where addresses stand in the header: RFC 791 and RFC 8200. */
const ADDRESSES = {
  ip: { source: 12, destination: 16, length: 4 },
  ip6: { source: 8, destination: 24, length: 16 },
} as const;

function address(family: TableFamily, which: 'source' | 'destination'): AddressOperand {
  const { length, [which]: offset } = ADDRESSES[family];
  const loadStart = (to: Register, bytes: number): Expression => ({
    kind: 'payload',
    base: 'network',
    offset,
    length: bytes,
    to,
  });
  return { words: length / 4, load: (to) => loadStart(to, length), loadStart };
}

export const source = (family: TableFamily): AddressOperand => address(family, 'source');
export const destination = (family: TableFamily): AddressOperand => address(family, 'destination');

export const PROTOCOL: Operand = { words: 1, load: (to) => ({ kind: 'meta-load', key: 'l4proto', to }) };
/** At the same place in TCP, UDP and SCTP. */
export const PORT: Operand = {
  words: 1,
  load: (to) => ({ kind: 'payload', base: 'transport', offset: 2, length: 2, to }),
};
/** skb->priority, the one word that a packet carries from one expression to the next. */
export const PRIORITY: Operand = { words: 1, load: (to) => ({ kind: 'meta-load', key: 'priority', to }) };

/** What the connection was first sent to, before any translation. */
export function originalDestination(family: TableFamily): Operand {
  const key = family === 'ip' ? 'dst_ip' : 'dst_ip6';
  return {
    words: ADDRESSES[family].length / 4,
    load: (to) => ({ kind: 'ct', key, direction: 'original', to }),
  };
}
export const ORIGINAL_PORT: Operand = {
  words: 1,
  load: (to) => ({ kind: 'ct', key: 'proto_dst', direction: 'original', to }),
};

/** A random number from `offset` on, one of `count`. */
export function random(count: number, offset = 0): Operand {
  return {
    words: 1,
    load: (to) => ({ kind: 'number-generator', mode: 'random', modulus: count, offset, to }),
  };
}

/** Loads operands one after the other and says what comes behind them. */
function loaded(operands: readonly Operand[]): {
  readonly expressions: readonly Expression[];
  readonly next: number;
} {
  let next = 0;
  const expressions = operands.map(({ words, load }) => {
    const expression = load(register(next));
    next += words;
    return expression;
  });
  return { expressions, next };
}

/** `a . b @set`; with `inverted`, `a . b != @set`. */
export function inSet(set: string, operands: readonly Operand[], inverted = false): readonly Expression[] {
  return [...loaded(operands).expressions, { kind: 'lookup', from: FIRST, set, inverted }];
}

/** `a . b map @map`, into the first register. */
function mapped(map: string, operands: readonly Operand[]): readonly Expression[] {
  return [
    ...loaded(operands).expressions,
    { kind: 'lookup', from: FIRST, set: map, to: FIRST, inverted: false },
  ];
}

/** `meta priority set a`. */
export function setPriority(value: Operand): readonly Expression[] {
  return [value.load(FIRST), { kind: 'meta-set', key: 'priority', from: FIRST }];
}

/** `meta priority set 0`: gives the word back. */
export const CLEAR_PRIORITY: readonly Expression[] = [
  { kind: 'immediate', to: FIRST, value: new Uint8Array(4) },
  { kind: 'meta-set', key: 'priority', from: FIRST },
];

/** `meta priority set a . b map @map`. */
export function setPriorityFrom(map: string, operands: readonly Operand[]): readonly Expression[] {
  return [...mapped(map, operands), { kind: 'meta-set', key: 'priority', from: FIRST }];
}

/** `meta priority vmap @map`. */
export function priorityVerdict(map: string): readonly Expression[] {
  return [PRIORITY.load(FIRST), { kind: 'lookup', from: FIRST, set: map, to: 'verdict', inverted: false }];
}

/** `dnat ip addr . port to a . b map @map`. */
export function dnatTo(
  family: TableFamily,
  map: string,
  operands: readonly Operand[],
): readonly Expression[] {
  const port = register(ADDRESSES[family].length / 4);
  return [
    ...mapped(map, operands),
    { kind: 'nat', type: 'dnat', family, address: FIRST, port, choice: 'none' },
  ];
}

/** `update @map { a . b timeout … : data }`, or `delete @map { a . b : data }`, where only the key counts. */
export function inDynamicMap(
  operation: 'update' | 'delete',
  map: string,
  key: readonly Operand[],
  data: Operand,
  timeoutMs: number,
): readonly Expression[] {
  const { expressions, next } = loaded(key);
  // At the next 16 bytes, where `nft` puts it too.
  const at = register((next + 3) & ~3);
  return [
    ...expressions,
    data.load(at),
    { kind: 'dynamic-set', operation, set: map, key: FIRST, data: at, timeoutMs, inverted: false },
  ];
}

/** `a cidr`; with `inverted`, `a != cidr`. Undefined for what never holds. */
export function inCidr(
  operand: AddressOperand,
  { address: text, prefix }: Cidr,
  inverted = false,
): readonly Expression[] | undefined {
  if (prefix === 0) return inverted ? undefined : [];
  const value = addressBytes(text);
  const operator = inverted ? 'not-equal' : 'equal';
  // Whole bytes are compared as they are, as `nft` does; other prefixes have to be masked.
  const bytes = prefix / 8;
  if (Number.isInteger(bytes)) {
    return [
      operand.loadStart(FIRST, bytes),
      { kind: 'compare', from: FIRST, operator, value: value.slice(0, bytes) },
    ];
  }
  const mask = value.map((_, index) => (0xff00 >> Math.min(8, Math.max(0, prefix - index * 8))) & 0xff);
  return [
    operand.load(FIRST),
    { kind: 'bitwise', from: FIRST, to: FIRST, mask, xor: new Uint8Array(value.length) },
    { kind: 'compare', from: FIRST, operator, value },
  ];
}

/** `meta l4proto tcp`, by linux/in.h's number. */
export function isProtocol(number: number): readonly Expression[] {
  return [
    PROTOCOL.load(FIRST),
    { kind: 'compare', from: FIRST, operator: 'equal', value: Uint8Array.of(number) },
  ];
}

/** `fib saddr type local`: the address is this node's. */
export function isLocal(which: 'saddr' | 'daddr'): readonly Expression[] {
  return [
    { kind: 'fib', address: which, result: 'type', to: FIRST },
    { kind: 'compare', from: FIRST, operator: 'equal', value: hostWord(RTN_LOCAL) },
  ];
}

/** IFNAMSIZ of linux/if.h. */
const INTERFACE_NAME_BYTES = 16;

/** `iifname "name"`, or `iifname "prefix*"`. A packet that this node sends has no such interface. */
export function fromInterface(name: string, whole: boolean, inverted = false): readonly Expression[] {
  const text = Buffer.from(name);
  const value = new Uint8Array(whole ? INTERFACE_NAME_BYTES : text.length);
  value.set(text.subarray(0, INTERFACE_NAME_BYTES - 1));
  return [
    { kind: 'meta-load', key: 'iifname', to: FIRST },
    { kind: 'compare', from: FIRST, operator: inverted ? 'not-equal' : 'equal', value },
  ];
}

/** `ct status dnat`, given the bit. */
export function hasStatus(bit: number): readonly Expression[] {
  const zero = new Uint8Array(4);
  return [
    { kind: 'ct', key: 'status', to: FIRST },
    { kind: 'bitwise', from: FIRST, to: FIRST, mask: hostWord(bit), xor: zero },
    { kind: 'compare', from: FIRST, operator: 'not-equal', value: zero },
  ];
}

export const MASQUERADE: readonly Expression[] = [{ kind: 'masquerade', choice: 'fully-random' }];
export const DROP: readonly Expression[] = [{ kind: 'verdict', verdict: { kind: 'drop' } }];

/** `goto chain`, `jump chain`. */
export function toChain(
  kind: Extract<Verdict, { chain: string }>['kind'],
  chain: string,
): readonly Expression[] {
  return [{ kind: 'verdict', verdict: { kind, chain } }];
}

/** A 32-bit number as the kernel holds it in a register. */
export function hostWord(value: number): Uint8Array {
  return new Uint8Array(Uint32Array.of(value).buffer);
}

// The expressions that rules are made of: a rule is a list of them, run from left to right until one ends it.
import { attributeMap, attributesOf, stringOf } from '../netlink/reader.ts';
import type { NetlinkWriter } from '../netlink/writer.ts';
import { NFTA_LIST_ELEM } from './constants.ts';
import { type Bitwise, bitwise } from './expressions/bitwise.ts';
import { type ByteOrder, byteOrder } from './expressions/byteorder.ts';
import type { AnonymousSetIds, Attributes, ExpressionCodec } from './expressions/codec.ts';
import { type Compare, compare, type Range, range } from './expressions/compare.ts';
import { type CtLoad, ctLoad } from './expressions/conntrack.ts';
import { type Counter, counter, type Limit, limit } from './expressions/counter.ts';
import { type DynamicSet, dynamicSet } from './expressions/dynamic-set.ts';
import { type Fib, fib } from './expressions/fib.ts';
import { type Hash, hash } from './expressions/hash.ts';
import { type Immediate, immediate, type VerdictStatement, verdict } from './expressions/immediate.ts';
import { type Lookup, lookup } from './expressions/lookup.ts';
import { type MetaLoad, type MetaSet, metaLoad, metaSet } from './expressions/meta.ts';
import { type Masquerade, masquerade, type Nat, nat } from './expressions/nat.ts';
import { type NumberGenerator, numberGenerator } from './expressions/number-generator.ts';
import { type PayloadLoad, payloadLoad } from './expressions/payload.ts';
import { type Reject, reject } from './expressions/reject.ts';

export type {
  Bitwise,
  ByteOrder,
  Compare,
  Counter,
  CtLoad,
  DynamicSet,
  Fib,
  Hash,
  Immediate,
  Limit,
  Lookup,
  Masquerade,
  MetaLoad,
  MetaSet,
  Nat,
  NumberGenerator,
  PayloadLoad,
  Range,
  Reject,
  VerdictStatement,
};

const NFTA_EXPR_NAME = 1;
const NFTA_EXPR_DATA = 2;

/** An expression that this codec has no words for, wholly or in part. It cannot be written. */
export interface UnknownExpression {
  readonly kind: 'unknown';
  /** The kernel's: `xfrm`. */
  readonly name: string;
}

export type KnownExpression =
  | MetaLoad
  | MetaSet
  | PayloadLoad
  | CtLoad
  | Compare
  | Range
  | Bitwise
  | ByteOrder
  | Immediate
  | VerdictStatement
  | Lookup
  | NumberGenerator
  | Hash
  | Fib
  | Nat
  | Masquerade
  | Reject
  | DynamicSet
  | Counter
  | Limit;

export type Expression = KnownExpression | UnknownExpression;

type Codecs = { readonly [E in KnownExpression as E['kind']]: ExpressionCodec<E> };

const CODECS: Codecs = {
  'meta-load': metaLoad,
  'meta-set': metaSet,
  payload: payloadLoad,
  ct: ctLoad,
  compare,
  range,
  bitwise,
  byteorder: byteOrder,
  immediate,
  verdict,
  lookup,
  'number-generator': numberGenerator,
  hash,
  fib,
  nat,
  masquerade,
  reject,
  'dynamic-set': dynamicSet,
  counter,
  limit,
};

const CODECS_BY_NAME: ReadonlyMap<string, readonly ExpressionCodec<KnownExpression>[]> = Map.groupBy(
  Object.values(CODECS) as ExpressionCodec<KnownExpression>[],
  ({ name }) => name,
);
const NO_ATTRIBUTES: Attributes = new Map();

/** Writes a list of expressions as the nested attribute `type`. An unknown one throws a RangeError. */
export function writeExpressions(
  writer: NetlinkWriter,
  type: number,
  expressions: readonly Expression[],
  sets: AnonymousSetIds,
): void {
  const list = writer.beginNested(type);
  for (const expression of expressions) {
    if (expression.kind === 'unknown')
      throw new RangeError(`cannot write an unknown expression ${expression.name}`);
    const codec = CODECS[expression.kind] as ExpressionCodec<KnownExpression>;
    const element = writer.beginNested(NFTA_LIST_ELEM);
    writer.string(NFTA_EXPR_NAME, codec.name);
    const data = writer.beginNested(NFTA_EXPR_DATA);
    codec.encode(writer, expression, sets);
    writer.endNested(data);
    writer.endNested(element);
  }
  writer.endNested(list);
}

/** Reads what `writeExpressions` or the kernel wrote. */
export function readExpressions(payload: Buffer): readonly Expression[] {
  const expressions: Expression[] = [];
  for (const { type, payload: element } of attributesOf(payload)) {
    if (type === NFTA_LIST_ELEM) expressions.push(readExpression(element));
  }
  return expressions;
}

function readExpression(payload: Buffer): Expression {
  const attributes = attributeMap(payload);
  const name = stringOf(attributes.get(NFTA_EXPR_NAME) ?? Buffer.alloc(0));
  const data = attributes.get(NFTA_EXPR_DATA);
  const fields = data === undefined ? NO_ATTRIBUTES : attributeMap(data);
  for (const codec of CODECS_BY_NAME.get(name) ?? []) {
    const expression = codec.decode(fields);
    if (expression !== undefined) return expression;
  }
  return { kind: 'unknown', name };
}

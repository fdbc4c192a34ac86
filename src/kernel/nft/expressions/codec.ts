// How an expression is described: its properties, each tied to a netlink attribute. Encoder and decoder follow from it.
import { stringOf } from '../../netlink/reader.ts';
import type { NetlinkWriter } from '../../netlink/writer.ts';
import type { AnonymousSet } from '../commands.ts';
import { readData, writeData } from '../data.ts';
import { type Register, registerNumber, registerOfNumber } from '../register.ts';

/** The attributes of one expression, by type. */
export type Attributes = ReadonlyMap<number, Buffer>;

/** The numbers that a batch gave to the sets of a rule's own. Named sets, new ones too, are found by their names. */
export type AnonymousSetIds = ReadonlyMap<AnonymousSet, number>;

/** One kind of expression on the wire. */
export interface ExpressionCodec<E> {
  /** NFTA_EXPR_NAME. Several kinds may share it. */
  readonly name: string;
  encode(writer: NetlinkWriter, expression: E, sets: AnonymousSetIds): void;
  /** Undefined when the attributes say something that this kind has no words for. */
  decode(attributes: Attributes): E | undefined;
}

/** A property of type T in an attribute. */
export interface Field<T> {
  readonly attribute: number;
  write(writer: NetlinkWriter, value: T, sets: AnonymousSetIds): void;
  /** Undefined for a value that has no word. */
  read(payload: Buffer): T | undefined;
  /** What an absent attribute means; without it the attribute must be there, unless the property is optional. */
  readonly absent?: T;
  /** The property is left away when it has the value `absent`, or, for optional ones, is undefined. */
  readonly optional?: boolean;
}

/** The properties of E but `kind`. */
type Fields<E> = { readonly [K in Exclude<keyof E, 'kind'>]-?: Field<NonNullable<E[K]>> };

/** A codec for expressions whose every property is one attribute. */
export function codecOf<E extends { readonly kind: string }>(
  name: string,
  kind: E['kind'],
  fields: Fields<E>,
): ExpressionCodec<E> {
  const entries = Object.entries(fields) as [string, Field<unknown>][];
  const known = new Set(entries.map(([, field]) => field.attribute));
  return {
    name,
    encode(writer, expression, sets) {
      const values = expression as Readonly<Record<string, unknown>>;
      for (const [property, field] of entries) {
        const value = values[property];
        if (value === undefined || (field.optional && value === field.absent)) continue;
        field.write(writer, value, sets);
      }
    },
    decode(attributes) {
      // The empty ones are padding, with which some architectures align numbers of 64 bits.
      for (const [type, { length }] of attributes) if (!known.has(type) && length > 0) return undefined;
      const expression: Record<string, unknown> = { kind };
      for (const [property, field] of entries) {
        const payload = attributes.get(field.attribute);
        const value = payload === undefined ? field.absent : field.read(payload);
        if (value !== undefined) expression[property] = value;
        else if (payload !== undefined || !field.optional) return undefined;
      }
      return expression as E;
    },
  };
}

/** An unsigned 32-bit number. */
export function be32(attribute: number): Field<number> {
  return {
    attribute,
    write: (writer, value) => writer.be32(attribute, value),
    read: (payload) => payload.readUInt32BE(),
  };
}

/** An unsigned 64-bit number below 2^53. */
export function be64(attribute: number): Field<number> {
  return {
    attribute,
    write: (writer, value) => writer.be64(attribute, BigInt(value)),
    read: (payload) => Number(payload.readBigUInt64BE()),
  };
}

export function u8(attribute: number): Field<number> {
  return {
    attribute,
    write: (writer, value) => writer.u8(attribute, value),
    read: (payload) => payload.readUInt8(),
  };
}

export function registerField(attribute: number): Field<Register> {
  return {
    attribute,
    write: (writer, value) => writer.be32(attribute, registerNumber(value)),
    read: (payload) => registerOfNumber(payload.readUInt32BE()),
  };
}

/** A number of a fixed list, by name. */
export function named<N extends string>(
  attribute: number,
  numbers: Readonly<Record<N, number>>,
  of: (attribute: number) => Field<number> = be32,
): Field<N> {
  const field = of(attribute);
  const names = new Map((Object.entries(numbers) as [N, number][]).map(([name, number]) => [number, name]));
  return {
    attribute,
    write: (writer, value, sets) => field.write(writer, numbers[value], sets),
    read(payload) {
      const number = field.read(payload);
      return number === undefined ? undefined : names.get(number);
    },
  };
}

/** A bit in a be32 of flags, the only one that may be set. */
export function flag(attribute: number, bit: number): Field<boolean> {
  return {
    attribute,
    write: (writer, value) => writer.be32(attribute, value ? bit : 0),
    read(payload) {
      const bits = payload.readUInt32BE();
      return (bits & ~bit) === 0 ? bits === bit : undefined;
    },
    absent: false,
  };
}

/** A value of fixed bytes. */
export function valueField(attribute: number): Field<Uint8Array> {
  return {
    attribute,
    write: (writer, value) => writeData(writer, attribute, value),
    read(payload) {
      const data = readData(payload);
      return data instanceof Uint8Array ? data : undefined;
    },
  };
}

export function text(attribute: number): Field<string> {
  return {
    attribute,
    write: (writer, value) => writer.string(attribute, value),
    read: stringOf,
  };
}

/** A field that need not be there. With `absent`, that is what its absence means; else the property is absent too. */
export function optional<T>(field: Field<T>, absent?: T): Field<T> {
  return { ...field, optional: true, ...(absent !== undefined && { absent }) };
}

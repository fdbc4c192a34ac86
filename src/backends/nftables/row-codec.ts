// Rows are text, elements are bytes: the translation, by the field types of the set's definition.
import { PointsmanError } from '../../base/errors.ts';
import type { FieldType, SetDefinition, SetElement } from '../../kernel/nft/commands.ts';
import {
  addressBytes,
  addressText,
  cidrBounds,
  cidrText,
  familyOf,
  parseCidr,
  widthOf,
} from '../../model/address.ts';

/** linux/in.h. */
const PROTOCOL_NUMBERS: Readonly<Record<string, number>> = { tcp: 6, udp: 17, sctp: 132 };
const PROTOCOL_NAMES: Readonly<Record<number, string>> = { 6: 'tcp', 17: 'udp', 132: 'sctp' };

/** Bytes of a field before padding; in a register each field takes a multiple of 4. */
const FIELD_BYTES: Readonly<Partial<Record<FieldType, number>>> = {
  ipv4_addr: 4,
  ipv6_addr: 16,
  inet_proto: 1,
  inet_service: 2,
  mark: 4,
  classid: 4,
};
const SEPARATOR = ' . ';
const DOT = 46;
const ZERO = 48;
const HOST_IS_LITTLE = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;

const padded = (bytes: number): number => (bytes + 3) & ~3;

function bytesOf(field: FieldType): number {
  const bytes = FIELD_BYTES[field];
  if (bytes === undefined) throw new PointsmanError('E_MALFORMED', `rows have no field of type ${field}`);
  return bytes;
}

/** The length of a key or value: fields are padded in concatenations only. */
function lengthOf(fields: readonly FieldType[]): number {
  if (fields.length === 1) return bytesOf(fields[0] ?? 'mark');
  return fields.reduce((sum, field) => sum + padded(bytesOf(field)), 0);
}

/** Writes the field that stands in `text` from `start` to `end`. This runs for every element of a load: no garbage. */
function writeField(
  field: FieldType,
  text: string,
  start: number,
  end: number,
  into: Uint8Array,
  at: number,
): void {
  switch (field) {
    case 'ipv4_addr': {
      let octet = 0;
      let offset = at;
      for (let index = start; index < end; index++) {
        const code = text.charCodeAt(index);
        if (code === DOT) {
          into[offset++] = octet;
          octet = 0;
        } else octet = octet * 10 + (code - ZERO);
      }
      into[offset] = octet;
      return;
    }
    case 'ipv6_addr':
      into.set(addressBytes(text.slice(start, end)), at);
      return;
    case 'inet_proto': {
      const name = text.slice(start, end);
      into[at] = PROTOCOL_NUMBERS[name] ?? Number(name);
      return;
    }
    case 'inet_service': {
      const port = numberIn(text, start, end);
      into[at] = port >> 8;
      into[at + 1] = port & 0xff;
      return;
    }
    default:
      // Slots and plan words are compared with registers that the kernel fills in its own byte order.
      writeWord(numberIn(text, start, end), into, at);
  }
}

function numberIn(text: string, start: number, end: number): number {
  let value = 0;
  for (let index = start; index < end; index++) value = value * 10 + (text.charCodeAt(index) - ZERO);
  return value;
}

function writeWord(value: number, into: Uint8Array, at: number): void {
  for (let index = 0; index < 4; index++) {
    into[at + index] = (value >>> (HOST_IS_LITTLE ? index * 8 : 24 - index * 8)) & 0xff;
  }
}

function readWord(from: Uint8Array, at: number): number {
  let value = 0;
  for (let index = 0; index < 4; index++) {
    value |= (from[at + index] ?? 0) << (HOST_IS_LITTLE ? index * 8 : 24 - index * 8);
  }
  return value >>> 0;
}

function readField(field: FieldType, from: Uint8Array, at: number): string {
  switch (field) {
    case 'ipv4_addr':
      return `${from[at]}.${from[at + 1]}.${from[at + 2]}.${from[at + 3]}`;
    case 'ipv6_addr':
      return addressText(from.subarray(at, at + 16));
    case 'inet_proto':
      return PROTOCOL_NAMES[from[at] ?? 0] ?? String(from[at]);
    case 'inet_service':
      return String(((from[at] ?? 0) << 8) | (from[at + 1] ?? 0));
    default:
      return String(readWord(from, at));
  }
}

function encodeFields(fields: readonly FieldType[], text: string): Uint8Array {
  const bytes = new Uint8Array(lengthOf(fields));
  let at = 0;
  let start = 0;
  for (const field of fields) {
    const next = text.indexOf(SEPARATOR, start);
    const end = next === -1 ? text.length : next;
    writeField(field, text, start, end, bytes, at);
    at += padded(bytesOf(field));
    start = end + SEPARATOR.length;
  }
  return bytes;
}

function decodeFields(fields: readonly FieldType[], bytes: Uint8Array): string {
  if (bytes.length < lengthOf(fields)) {
    throw new PointsmanError(
      'E_MALFORMED',
      `an element of ${bytes.length} bytes does not hold ${fields.join(SEPARATOR)}`,
    );
  }
  let text = '';
  let at = 0;
  for (const field of fields) {
    text = at === 0 ? readField(field, bytes, at) : text + SEPARATOR + readField(field, bytes, at);
    at += padded(bytesOf(field));
  }
  return text;
}

/** The number in a key of one word, such as a plan word. */
export function wordOfKey(key: Uint8Array): number {
  return readWord(key, 0);
}

/** The element of a row. In an interval set the first part of the key is a CIDR, and the others are single values. */
export function elementOfRow(definition: SetDefinition, key: string, data: string): SetElement {
  const value = definition.data === undefined ? {} : { data: encodeFields(definition.data, data) };
  if (!definition.interval) return { key: encodeFields(definition.key, key), ...value };
  const [range = '', ...rest] = key.split(' . ');
  const cidr = parseCidr(range);
  if (cidr === undefined)
    throw new PointsmanError('E_MALFORMED', `${range} in a row of ${definition.name} is no CIDR`);
  const { first, last } = cidrBounds(cidr);
  const end = (address: Uint8Array): Uint8Array =>
    encodeFields(definition.key, [addressText(address), ...rest].join(' . '));
  return { key: end(first), keyEnd: end(last), ...value };
}

/** The row of an element: its key and data as text. A verdict has no row. */
export function rowOfElement(
  definition: SetDefinition,
  element: SetElement,
): { readonly key: string; readonly data: string } {
  const data =
    definition.data !== undefined && element.data instanceof Uint8Array
      ? decodeFields(definition.data, element.data)
      : '';
  const key = decodeFields(definition.key, element.key);
  if (!definition.interval || element.keyEnd === undefined) return { key, data };
  const [first = '', ...rest] = key.split(' . ');
  return { key: [rangeText(first, element.keyEnd), ...rest].join(' . '), data };
}

/** The CIDR from a first address to the last one in `keyEnd`; `first-last` when it is none, which is never ours. */
function rangeText(first: string, keyEnd: Uint8Array): string {
  const family = familyOf(first);
  const from = addressBytes(first);
  const last = keyEnd.subarray(0, from.length);
  const prefix = from.findIndex((byte, index) => byte !== last[index]);
  const bits =
    prefix === -1 ? widthOf(family) : prefix * 8 + Math.clz32((from[prefix] ?? 0) ^ (last[prefix] ?? 0)) - 24;
  const cidr = { family, address: first, prefix: bits };
  const bounds = cidrBounds(cidr);
  return bounds.last.every((byte, index) => byte === last[index])
    ? cidrText(cidr)
    : `${first}-${addressText(last)}`;
}

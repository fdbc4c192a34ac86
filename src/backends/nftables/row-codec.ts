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

function writeField(field: FieldType, text: string, into: Uint8Array, at: number): void {
  const view = new DataView(into.buffer, into.byteOffset);
  switch (field) {
    case 'ipv4_addr':
    case 'ipv6_addr':
      into.set(addressBytes(text), at);
      return;
    case 'inet_proto':
      into[at] = PROTOCOL_NUMBERS[text] ?? Number(text);
      return;
    case 'inet_service':
      view.setUint16(at, Number(text));
      return;
    default:
      // Slots and plan words are compared with registers that the kernel fills in its own byte order.
      view.setUint32(at, Number(text), HOST_IS_LITTLE);
  }
}

function readField(field: FieldType, from: Uint8Array, at: number): string {
  const view = new DataView(from.buffer, from.byteOffset);
  switch (field) {
    case 'ipv4_addr':
      return addressText(from.subarray(at, at + 4));
    case 'ipv6_addr':
      return addressText(from.subarray(at, at + 16));
    case 'inet_proto':
      return PROTOCOL_NAMES[from[at] ?? 0] ?? String(from[at]);
    case 'inet_service':
      return String(view.getUint16(at));
    default:
      return String(view.getUint32(at, HOST_IS_LITTLE));
  }
}

function encodeFields(fields: readonly FieldType[], text: string): Uint8Array {
  const bytes = new Uint8Array(lengthOf(fields));
  const parts = text.split(' . ');
  let at = 0;
  for (const [index, field] of fields.entries()) {
    writeField(field, parts[index] ?? '', bytes, at);
    at += padded(bytesOf(field));
  }
  return bytes;
}

function decodeFields(fields: readonly FieldType[], bytes: Uint8Array): string {
  if (bytes.length < lengthOf(fields)) {
    throw new PointsmanError(
      'E_MALFORMED',
      `an element of ${bytes.length} bytes does not hold ${fields.join(' . ')}`,
    );
  }
  let text = '';
  let at = 0;
  for (const field of fields) {
    text = at === 0 ? readField(field, bytes, at) : `${text} . ${readField(field, bytes, at)}`;
    at += padded(bytesOf(field));
  }
  return text;
}

/** The number in a key of one word, such as a plan word. */
export function wordOfKey(key: Uint8Array): number {
  return Number(readField('classid', key, 0));
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

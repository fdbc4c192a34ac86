// Kubernetes' protobuf, read into the JSON that the same object would be. kubectl's `create` commands send it.
import type { JsonObject, JsonValue } from '../json.ts';
import type { ObjectSchema, Schema } from '../schema/schema.ts';
import { microTimestamp, timestamp } from '../time.ts';
import { FIELD_NUMBERS } from './field-numbers.ts';

export const PROTOBUF_TYPE = 'application/vnd.kubernetes.protobuf';

export type DecodedProtobuf =
  | { readonly ok: true; readonly value: JsonObject }
  | { readonly ok: false; readonly why: string };

/** One field on the wire. */
type WireField =
  | { readonly number: number; readonly kind: 'varint'; readonly value: bigint }
  | { readonly number: number; readonly kind: 'bytes'; readonly value: Uint8Array };

class Malformed extends Error {}

const MAGIC = [0x6b, 0x38, 0x73, 0x00];

/** Decodes a body: the magic `k8s\0`, then an envelope that names the type and holds the object. */
export function decodeProtobuf(schema: ObjectSchema, body: Uint8Array): DecodedProtobuf {
  if (!MAGIC.every((byte, at) => body[at] === byte))
    return {
      ok: false,
      why: 'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]',
    };
  if (FIELD_NUMBERS[schema.name] === undefined)
    return { ok: false, why: `the lab reads ${schema.name.split('.').at(-1)} objects as JSON or YAML only` };
  try {
    const envelope = new Map(fieldsOn(body.subarray(MAGIC.length)).map((field) => [field.number, field]));
    const type = new Map(fieldsOn(bytesOf(envelope.get(1))).map((field) => [field.number, field]));
    const object = message(schema, bytesOf(envelope.get(2)));
    return {
      ok: true,
      value: { ...object, apiVersion: textOf(bytesOf(type.get(1))), kind: textOf(bytesOf(type.get(2))) },
    };
  } catch (error) {
    if (error instanceof Malformed) return { ok: false, why: error.message };
    throw error;
  }
}

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');
const bytesOf = (field: WireField | undefined): Uint8Array =>
  field?.kind === 'bytes' ? field.value : new Uint8Array();
const numberOf = (field: WireField): number =>
  field.kind === 'varint' ? Number(BigInt.asIntN(64, field.value)) : 0;

function fieldsOn(bytes: Uint8Array): readonly WireField[] {
  const fields: WireField[] = [];
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at];
      if (byte === undefined || shift > 63n) throw new Malformed('unexpected EOF in a protobuf message');
      at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const number = tag >>> 3;
    switch (tag & 7) {
      case 0:
        fields.push({ number, kind: 'varint', value: varint() });
        break;
      case 2: {
        const length = Number(varint());
        if (at + length > bytes.length) throw new Malformed('unexpected EOF in a protobuf message');
        fields.push({ number, kind: 'bytes', value: bytes.subarray(at, at + length) });
        at += length;
        break;
      }
      // No type of the API has fields of 32 or 64 fixed bits that the lab reads.
      case 1:
        at += 8;
        break;
      case 5:
        at += 4;
        break;
      default:
        throw new Malformed(`proto: illegal wireType ${tag & 7}`);
    }
  }
  return fields;
}

function message(schema: ObjectSchema, bytes: Uint8Array): JsonObject {
  const numbers = FIELD_NUMBERS[schema.name] ?? {};
  const names = new Map(Object.entries(numbers).map(([name, number]) => [number, name]));
  const result: Record<string, JsonValue> = {};
  for (const field of fieldsOn(bytes)) {
    const name = names.get(field.number);
    const inner = name === undefined ? undefined : schema.fields[name];
    if (name === undefined || inner === undefined) continue;
    if (inner.kind === 'list') {
      const known = result[name];
      result[name] = [...(Array.isArray(known) ? known : []), single(inner.of, field) ?? null];
    } else if (inner.kind === 'map') {
      const entry = new Map(fieldsOn(bytesOf(field)).map((part) => [part.number, part]));
      const value = entry.get(2);
      const known = (result[name] ?? {}) as JsonObject;
      const decoded = value === undefined ? '' : (single(inner.of, value) ?? '');
      result[name] = { ...known, [textOf(bytesOf(entry.get(1)))]: decoded };
    } else {
      const value = single(inner, field);
      if (value !== undefined) result[name] = value;
    }
  }
  return result;
}

function single(schema: Schema, field: WireField): JsonValue | undefined {
  switch (schema.kind) {
    case 'string':
      if (schema.format === 'date-time') return timeOf(bytesOf(field));
      return schema.format === 'byte'
        ? Buffer.from(bytesOf(field)).toString('base64')
        : textOf(bytesOf(field));
    case 'integer':
      return numberOf(field);
    case 'boolean':
      return numberOf(field) !== 0;
    case 'intOrString':
      return intOrString(bytesOf(field));
    case 'quantity': {
      const [text] = fieldsOn(bytesOf(field));
      return textOf(bytesOf(text));
    }
    case 'object':
      return message(schema, bytesOf(field));
    default:
      return undefined;
  }
}

/** A time of 0 is none. */
function timeOf(bytes: Uint8Array): string | undefined {
  const parts = new Map(fieldsOn(bytes).map((field) => [field.number, numberOf(field)]));
  const seconds = parts.get(1) ?? 0;
  const nanos = parts.get(2) ?? 0;
  if (seconds === 0 && nanos === 0) return undefined;
  return nanos === 0 ? timestamp(seconds * 1000) : microTimestamp(seconds * 1000 + nanos / 1e6);
}

function intOrString(bytes: Uint8Array): JsonValue {
  const parts = new Map(fieldsOn(bytes).map((field) => [field.number, field]));
  const type = parts.get(1);
  if (type !== undefined && numberOf(type) === 1) return textOf(bytesOf(parts.get(3)));
  const number = parts.get(2);
  return number === undefined ? 0 : numberOf(number);
}

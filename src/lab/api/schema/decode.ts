// Decodes JSON by a schema as the real server does: unknown fields are named and dropped, zero values that say nothing
// are dropped, fields come out in the order of the schema, and a value of a wrong type is refused.
import { fieldsOf, isList, isObject, type JsonObject, type JsonValue } from '../json.ts';
import { goType, type ObjectSchema, type Schema } from './schema.ts';

export type Decoded =
  | { readonly ok: true; readonly value: JsonObject; readonly unknown: readonly string[] }
  | { readonly ok: false; readonly message: string };

/** Where a value stands: for errors, in the two ways in which the real server says it. */
interface Place {
  /** `spec.ports[0].port` */
  readonly path: string;
  /** `spec.ports.port` */
  readonly fieldPath: string;
  /** The object type that holds the field: `ServicePort`. */
  readonly holder: string;
}

class Mismatch extends Error {}

/** Decodes a whole object. `unknown` names the fields that were dropped, each as a path. */
export function decodeObject(schema: ObjectSchema, value: JsonValue): Decoded {
  const unknown: string[] = [];
  try {
    const place = { path: '', fieldPath: '', holder: typeWord(schema) };
    const decoded = decode(schema, value, place, unknown);
    return { ok: true, value: isObject(decoded) ? decoded : {}, unknown };
  } catch (error) {
    if (error instanceof Mismatch) return { ok: false, message: error.message };
    throw error;
  }
}

function typeWord(schema: ObjectSchema): string {
  return schema.name.slice(schema.name.lastIndexOf('.') + 1);
}

function decode(schema: Schema, value: JsonValue, place: Place, unknown: string[]): JsonValue | undefined {
  if (value === null) return undefined;
  switch (schema.kind) {
    case 'string':
      if (typeof value !== 'string') return mismatch(schema, value, place);
      if (schema.format === 'date-time' && value !== '' && Number.isNaN(Date.parse(value)))
        throw new Mismatch(
          `parsing time ${JSON.stringify(value)} as "2006-01-02T15:04:05Z07:00": cannot parse ${JSON.stringify(value)} as "2006"`,
        );
      return value === '' && schema.empty === 'dropped' ? undefined : value;
    case 'integer':
      if (typeof value !== 'number' || !Number.isInteger(value)) return mismatch(schema, value, place);
      if (schema.bits === 32 && value !== (value | 0)) return mismatch(schema, value, place);
      return value === 0 && schema.empty === 'dropped' ? undefined : value;
    case 'boolean':
      if (typeof value !== 'boolean') return mismatch(schema, value, place);
      return !value && schema.empty === 'dropped' ? undefined : value;
    case 'intOrString':
      if (typeof value === 'number' && Number.isInteger(value)) return value;
      return typeof value === 'string' ? value : mismatch(schema, value, place);
    case 'quantity':
      if (typeof value === 'number') return String(value);
      return typeof value === 'string' ? value : mismatch(schema, value, place);
    case 'list':
      return decodeList(schema, value, place, unknown);
    case 'map':
      return decodeMap(schema.of, schema, value, place, unknown);
    case 'object':
      return decodeFields(schema, value, place, unknown);
    case 'open':
      return (schema.list ? isList(value) : isObject(value)) ? value : mismatch(schema, value, place);
  }
}

function decodeList(
  schema: Extract<Schema, { kind: 'list' }>,
  value: JsonValue,
  place: Place,
  unknown: string[],
): JsonValue | undefined {
  if (!isList(value)) return mismatch(schema, value, place);
  if (value.length === 0 && schema.empty === 'dropped') return undefined;
  return value.map((item, at) => {
    const decoded = decode(schema.of, item, { ...place, path: `${place.path}[${at}]` }, unknown);
    return decoded ?? zeroOf(schema.of);
  });
}

/** What Go makes of null, or of a zero value, where a value must stand. */
function zeroOf(schema: Schema): JsonValue {
  if (schema.kind === 'object' || schema.kind === 'map' || schema.kind === 'open') return {};
  if (schema.kind === 'integer' || schema.kind === 'intOrString') return 0;
  if (schema.kind === 'boolean') return false;
  return schema.kind === 'list' ? [] : '';
}

function decodeMap(
  of: Schema,
  schema: Schema,
  value: JsonValue,
  place: Place,
  unknown: string[],
): JsonValue | undefined {
  if (!isObject(value)) return mismatch(schema, value, place);
  const entries = fieldsOf(value).map(([key, item]) => {
    const inner = { ...place, path: join(place.path, key), fieldPath: place.fieldPath };
    return [key, decode(of, item, inner, unknown) ?? zeroOf(of)] as const;
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

function decodeFields(schema: ObjectSchema, value: JsonValue, place: Place, unknown: string[]): JsonValue {
  if (!isObject(value)) return mismatch(schema, value, place);
  const result: Record<string, JsonValue> = {};
  for (const [field, inner] of Object.entries(schema.fields)) {
    const given = Object.hasOwn(value, field) ? value[field] : undefined;
    if (given === undefined) continue;
    const at: Place = {
      path: join(place.path, field),
      fieldPath: join(place.fieldPath, field),
      holder: typeWord(schema),
    };
    const decoded = decode(inner, given, at, unknown);
    if (decoded !== undefined) result[field] = decoded;
  }
  for (const field of Object.keys(value))
    if (!Object.hasOwn(schema.fields, field)) unknown.push(join(place.path, field));
  return result;
}

function join(path: string, field: string): string {
  return path === '' ? field : `${path}.${field}`;
}

function mismatch(schema: Schema, value: JsonValue, place: Place): never {
  const found =
    typeof value === 'number'
      ? schema.kind === 'integer'
        ? `number ${value}`
        : 'number'
      : typeof value === 'boolean'
        ? 'bool'
        : isList(value)
          ? 'array'
          : typeof value;
  const where = place.fieldPath === '' ? 'value' : `struct field ${place.holder}.${place.fieldPath}`;
  throw new Mismatch(`json: cannot unmarshal ${found} into Go ${where} of type ${goType(schema)}`);
}

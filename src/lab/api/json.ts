// JSON as plain readonly data. A field that is undefined counts as absent.

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;

export interface JsonObject {
  readonly [field: string]: JsonValue | undefined;
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** The fields that are present, in their order. */
export function fieldsOf(object: JsonObject): [string, JsonValue][] {
  return Object.entries(object).filter((entry): entry is [string, JsonValue] => entry[1] !== undefined);
}

/** Deep equality; the order of fields does not count. */
export function sameJson(left: JsonValue | undefined, right: JsonValue | undefined): boolean {
  if (left === right) return true;
  if (isList(left) && isList(right))
    return left.length === right.length && left.every((item, at) => sameJson(item, right[at]));
  if (!isObject(left) || !isObject(right)) return false;
  const fields = fieldsOf(left);
  return (
    fields.length === fieldsOf(right).length &&
    fields.every(([field, value]) => right[field] !== undefined && sameJson(value, right[field]))
  );
}

/** Parses a text that must be JSON; undefined when it is not. */
export function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** A copy with some fields set; a field set to undefined is left out. */
export function withFields<T extends JsonObject>(object: T, fields: JsonObject): T {
  const copy: Record<string, JsonValue> = {};
  for (const [field, value] of Object.entries({ ...object, ...fields }))
    if (value !== undefined) copy[field] = value;
  return copy as T;
}

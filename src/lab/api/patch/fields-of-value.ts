// From values to sets of fields, by a schema: which fields a value has, and which differ between two.
import { fieldsOf, isList, isObject, type JsonObject, type JsonValue, sameJson } from '../json.ts';
import type { Schema } from '../schema/schema.ts';
import { type FieldSet, fieldSet, LEAF, NO_FIELDS, union } from './field-set.ts';

/** A key that a list item may leave out, since it has a default. */
const KEY_DEFAULTS: JsonObject = { protocol: 'TCP' };

/** A part of a value, with the edge that leads to it and its schema. */
export interface Part {
  readonly edge: string;
  readonly schema: Schema;
  readonly value: JsonValue;
}

/** The edge of an item in a list known by keys. */
export function itemEdge(keys: readonly string[], item: JsonValue): string {
  const fields = isObject(item) ? item : {};
  const sorted = [...keys].sort().map((key) => [key, fields[key] ?? KEY_DEFAULTS[key] ?? null]);
  return `k:${JSON.stringify(Object.fromEntries(sorted))}`;
}

/** The parts of a value that can be owned one by one; undefined for a value that is owned as a whole. */
export function partsOf(schema: Schema, value: JsonValue): readonly Part[] | undefined {
  if (schema.kind === 'object' && !schema.atomic && isObject(value))
    return fieldsOf(value).flatMap(([field, inner]) => {
      const at = schema.fields[field];
      return at === undefined ? [] : [{ edge: `f:${field}`, schema: at, value: inner }];
    });
  if (schema.kind === 'map' && !schema.atomic && isObject(value))
    return fieldsOf(value).map(([key, inner]) => ({ edge: `f:${key}`, schema: schema.of, value: inner }));
  if (schema.kind !== 'list' || !isList(value)) return undefined;
  const { merge, of } = schema;
  if (merge.kind === 'keyed')
    return value.map((item) => ({ edge: itemEdge(merge.keys, item), schema: of, value: item }));
  if (merge.kind === 'set')
    return value.map((item) => ({ edge: `v:${JSON.stringify(item)}`, schema: of, value: item }));
  return undefined;
}

const isItem = (edge: string): boolean => edge.startsWith('k:');

/** All fields of a value, as an applied configuration owns them: leaves, and items of lists themselves. */
export function fieldsOfValue(schema: Schema, value: JsonValue): FieldSet {
  const parts = partsOf(schema, value);
  if (parts === undefined || parts.length === 0) return LEAF;
  return fieldSet(
    false,
    parts.map(({ edge, schema: at, value: inner }) => {
      const set = fieldsOfValue(at, inner);
      return [edge, isItem(edge) ? { member: true, children: set.children } : set] as const;
    }),
  );
}

/** All fields of a value and everything around them: what is new when the value is. */
function wholeValue(schema: Schema, value: JsonValue): FieldSet {
  const parts = partsOf(schema, value) ?? [];
  return fieldSet(
    true,
    parts.map(({ edge, schema: at, value: inner }) => [edge, wholeValue(at, inner)] as const),
  );
}

export interface Comparison {
  /** Added or with another value. */
  readonly changed: FieldSet;
  readonly removed: FieldSet;
}

export function compareValues(
  schema: Schema,
  before: JsonValue | undefined,
  after: JsonValue | undefined,
): Comparison {
  if (before === undefined)
    return { changed: after === undefined ? NO_FIELDS : wholeValue(schema, after), removed: NO_FIELDS };
  if (after === undefined) return { changed: NO_FIELDS, removed: wholeValue(schema, before) };
  if (sameJson(before, after)) return { changed: NO_FIELDS, removed: NO_FIELDS };
  const [old, now] = [partsOf(schema, before), partsOf(schema, after)];
  if (old === undefined || now === undefined) return { changed: LEAF, removed: NO_FIELDS };
  const oldByEdge = new Map(old.map((part) => [part.edge, part]));
  const nowByEdge = new Map(now.map((part) => [part.edge, part]));
  let changed = NO_FIELDS;
  let removed = NO_FIELDS;
  for (const edge of new Set([...oldByEdge.keys(), ...nowByEdge.keys()])) {
    const part = nowByEdge.get(edge) ?? oldByEdge.get(edge);
    if (part === undefined) continue;
    const inner = compareValues(part.schema, oldByEdge.get(edge)?.value, nowByEdge.get(edge)?.value);
    changed = union(changed, fieldSet(false, [[edge, inner.changed]]));
    removed = union(removed, fieldSet(false, [[edge, inner.removed]]));
  }
  return { changed, removed };
}

/** A value without some of its fields. An item goes when it is a member, a container when it is left empty. */
export function withoutFields(schema: Schema, value: JsonValue, set: FieldSet): JsonValue | undefined {
  const parts = partsOf(schema, value);
  if (parts === undefined || parts.length === 0) return set.member ? undefined : value;
  const kept = parts.flatMap((part) => {
    const inner = set.children.get(part.edge);
    if (inner === undefined) return [part];
    if (isItem(part.edge) && inner.member) return [];
    const left = withoutFields(part.schema, part.value, inner);
    return left === undefined ? [] : [{ ...part, value: left }];
  });
  if (kept.length === 0) return undefined;
  return isList(value)
    ? kept.map((part) => part.value)
    : Object.fromEntries(kept.map((part) => [part.edge.slice(2), part.value]));
}

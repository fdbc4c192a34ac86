// Strategic merge patch: a merge patch that knows from the schema which lists are merged item by item, and directives
// ($patch, $deleteFromPrimitiveList, $setElementOrder, $retainKeys) for what such a merge cannot say.
import { fieldsOf, isList, isObject, type JsonObject, type JsonValue, sameJson } from '../json.ts';
import type { Schema } from '../schema/schema.ts';
import type { Patched } from './json-patch.ts';

const PATCH = '$patch';
const RETAIN = '$retainKeys';
const DELETE_PREFIX = '$deleteFromPrimitiveList/';
const ORDER_PREFIX = '$setElementOrder/';

class BadPatch extends Error {}

export function applyStrategicMergePatch(schema: Schema, document: JsonValue, patch: JsonValue): Patched {
  if (!isObject(patch))
    return { ok: false, kind: 'malformed', why: 'a strategic merge patch must be an object' };
  try {
    return { ok: true, value: mergeObject(schema, isObject(document) ? document : {}, patch) ?? {} };
  } catch (error) {
    if (error instanceof BadPatch) return { ok: false, kind: 'malformed', why: error.message };
    throw error;
  }
}

function schemaOf(schema: Schema, field: string): Schema {
  if (schema.kind === 'object') return schema.fields[field] ?? { kind: 'open', list: false };
  return schema.kind === 'map' ? schema.of : { kind: 'open', list: false };
}

const isDirective = (field: string): boolean =>
  field === PATCH || field === RETAIN || field.startsWith(DELETE_PREFIX) || field.startsWith(ORDER_PREFIX);

/** A value of the patch that nothing in the document meets: without its directives. */
function plain(schema: Schema, value: JsonValue): JsonValue | undefined {
  if (isObject(value)) return mergeObject(schema, {}, value);
  if (!isList(value) || schema.kind !== 'list') return value;
  return mergeList(schema, [], value, undefined);
}

/** Undefined when the patch says that the object is to go. */
function mergeObject(schema: Schema, document: JsonObject, patch: JsonObject): JsonObject | undefined {
  const directive = patch[PATCH];
  if (directive === 'delete') return undefined;
  if (directive === 'replace')
    return Object.fromEntries(
      fieldsOf(patch).filter(([field, value]) => !isDirective(field) && value !== null),
    );
  if (directive !== undefined && directive !== 'merge')
    throw new BadPatch(`unrecognized type: $patch ${JSON.stringify(directive)}`);
  const retained = patch[RETAIN];
  const start = isList(retained)
    ? fieldsOf(document).filter(([field]) => retained.includes(field))
    : fieldsOf(document);
  const result = new Map<string, JsonValue>(start);
  for (const [field, value] of fieldsOf(patch)) {
    if (isDirective(field)) continue;
    if (value === null) {
      result.delete(field);
      continue;
    }
    const merged = mergeValue(schemaOf(schema, field), result.get(field), value, patch[ORDER_PREFIX + field]);
    if (merged === undefined) result.delete(field);
    else result.set(field, merged);
  }
  for (const [field, value] of fieldsOf(patch)) applyListDirective(schema, result, field, value, patch);
  return Object.fromEntries(result);
}

/** Directives about lists stand beside the list, in the object that holds it. */
function applyListDirective(
  schema: Schema,
  result: Map<string, JsonValue>,
  field: string,
  value: JsonValue,
  patch: JsonObject,
): void {
  if (field.startsWith(DELETE_PREFIX)) {
    const name = field.slice(DELETE_PREFIX.length);
    const list = result.get(name);
    if (isList(list) && isList(value))
      result.set(
        name,
        list.filter((item) => !value.some((gone) => sameJson(gone, item))),
      );
  }
  if (!field.startsWith(ORDER_PREFIX)) return;
  const name = field.slice(ORDER_PREFIX.length);
  const list = result.get(name);
  const at = schemaOf(schema, name);
  if (patch[name] === undefined && isList(list) && isList(value) && at.kind === 'list')
    result.set(name, ordered(at, list, value));
}

function mergeValue(
  schema: Schema,
  document: JsonValue | undefined,
  patch: JsonValue,
  order: JsonValue | undefined,
): JsonValue | undefined {
  if (isObject(patch)) {
    // Without a counterpart, or with one of another shape, the patch stands alone.
    return isObject(document) ? mergeObject(schema, document, patch) : plain(schema, patch);
  }
  if (!isList(patch) || schema.kind !== 'list') return patch;
  return mergeList(schema, isList(document) ? document : [], patch, order);
}

function mergeList(
  schema: Extract<Schema, { kind: 'list' }>,
  document: readonly JsonValue[],
  patch: readonly JsonValue[],
  order: JsonValue | undefined,
): readonly JsonValue[] {
  if (schema.merge.kind === 'atomic')
    return patch.filter((item) => !(isObject(item) && item[PATCH] === 'replace'));
  if (schema.merge.kind === 'set') {
    const added = patch.filter((item) => !document.some((known) => sameJson(known, item)));
    return ordered(schema, [...document, ...added], order);
  }
  const key = schema.merge.patchKey;
  if (patch.some((item) => isObject(item) && item[PATCH] === 'replace'))
    return patch.filter((item) => !(isObject(item) && item[PATCH] === 'replace'));
  const result = [...document];
  for (const item of patch) {
    if (!isObject(item)) throw new BadPatch(`expected an object in the list: ${JSON.stringify(item)}`);
    const id = item[key];
    if (id === undefined || id === null)
      throw new BadPatch(`map: ${JSON.stringify(item)} does not contain declared merge key: ${key}`);
    const at = result.findIndex((known) => isObject(known) && sameJson(known[key], id));
    const known = result[at];
    const merged = isObject(known) ? mergeObject(schema.of, known, item) : plain(schema.of, item);
    if (at < 0) {
      if (merged !== undefined) result.push(merged);
    } else if (merged === undefined) {
      // All items with the key go, though the schema allows but one.
      for (let index = result.length - 1; index >= 0; index -= 1) {
        const other = result[index];
        if (isObject(other) && sameJson(other[key], id)) result.splice(index, 1);
      }
    } else result[at] = merged;
  }
  return ordered(schema, result, order);
}

/** Sorts the items that `order` names as it names them; the others keep their place relative to those before them. */
function ordered(
  schema: Extract<Schema, { kind: 'list' }>,
  list: readonly JsonValue[],
  order: JsonValue | undefined,
): readonly JsonValue[] {
  if (!isList(order)) return list;
  const key = schema.merge.kind === 'keyed' ? schema.merge.patchKey : undefined;
  const idOf = (item: JsonValue): JsonValue =>
    key !== undefined && isObject(item) ? (item[key] ?? null) : item;
  const rankOf = (item: JsonValue): number => order.findIndex((wanted) => sameJson(idOf(wanted), idOf(item)));
  const named = list.filter((item) => rankOf(item) >= 0).sort((a, b) => rankOf(a) - rankOf(b));
  const result: JsonValue[] = [];
  let next = 0;
  for (const item of list) {
    if (rankOf(item) < 0) result.push(item);
    else {
      const at = named[next];
      if (at !== undefined) result.push(at);
      next += 1;
    }
  }
  return result;
}

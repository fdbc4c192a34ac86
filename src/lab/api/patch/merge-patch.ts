// JSON Merge Patch (RFC 7386): objects are merged field by field, null removes, anything else replaces.
import { fieldsOf, isObject, type JsonValue } from '../json.ts';

export function applyMergePatch(document: JsonValue | undefined, patch: JsonValue): JsonValue {
  if (!isObject(patch)) return patch;
  const result: Record<string, JsonValue> = Object.fromEntries(isObject(document) ? fieldsOf(document) : []);
  for (const [field, value] of fieldsOf(patch)) {
    if (value === null) delete result[field];
    else
      Object.defineProperty(result, field, {
        value: applyMergePatch(Object.hasOwn(result, field) ? result[field] : undefined, value),
        enumerable: true,
        configurable: true,
        writable: true,
      });
  }
  return result;
}

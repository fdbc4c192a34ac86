// Careful reading of objects from outside. What is wrong is said by field and value, and the rest goes on.

/** One part of an object that could not be used, and why. `because` is what status and events print. */
export interface Problem {
  /** Where, as a field path: `spec.ports[1].port`. */
  readonly field: string;
  readonly because: string;
}

/** What became of an object: a value with the parts that were left out, or nothing usable at all. */
export type Decoded<T> =
  | { readonly kind: 'decoded'; readonly value: T; readonly problems: readonly Problem[] }
  | { readonly kind: 'unusable'; readonly problems: readonly Problem[] };

/** Nothing of the object can be used. */
export function unusable(field: string, because: string): Decoded<never> {
  return { kind: 'unusable', problems: [{ field, because }] };
}

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object under a key, or an empty one. */
export function objectAt(parent: JsonObject, key: string): JsonObject {
  const value = parent[key];
  return isObject(value) ? value : {};
}

/** The array under a key, or an empty one. */
export function arrayAt(parent: JsonObject, key: string): readonly unknown[] {
  const value = parent[key];
  return Array.isArray(value) ? value : [];
}

/** The string under a key; anything else counts as absent. */
export function stringAt(parent: JsonObject, key: string): string | undefined {
  const value = parent[key];
  return typeof value === 'string' ? value : undefined;
}

export function booleanAt(parent: JsonObject, key: string): boolean | undefined {
  const value = parent[key];
  return typeof value === 'boolean' ? value : undefined;
}

/** The whole number under a key; fractions and other types count as absent. */
export function integerAt(parent: JsonObject, key: string): number | undefined {
  const value = parent[key];
  return typeof value === 'number' && Number.isInteger(value) ? value : undefined;
}

/** A value as it may stand in a message: JSON, cut at 80 characters. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

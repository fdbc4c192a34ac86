// What the fields of a resource are, once, as data: decoding, strict validation, strategic merge, field ownership and
// OpenAPI all read the same description.

/** How a list is merged by a strategic merge patch and by server-side apply. */
export type ListKind =
  /** One value: replaced as a whole. */
  | { readonly kind: 'atomic' }
  /** Scalars, each at most once. */
  | { readonly kind: 'set' }
  /** Objects known by their keys. `patchKey` is the one key that strategic merge patches know. */
  | { readonly kind: 'keyed'; readonly keys: readonly string[]; readonly patchKey: string };

export interface ObjectSchema {
  readonly kind: 'object';
  /** The full name in OpenAPI, such as `io.k8s.api.core.v1.ServicePort`. */
  readonly name: string;
  readonly fields: Readonly<Record<string, Schema>>;
  /** Replaced as a whole by server-side apply. */
  readonly atomic: boolean;
}

export type Schema =
  /** `empty: 'kept'` is a field that Go holds as a pointer or without `omitempty`: its zero value says something. */
  | { readonly kind: 'string'; readonly empty: 'dropped' | 'kept'; readonly format?: 'date-time' | 'byte' }
  | { readonly kind: 'integer'; readonly empty: 'dropped' | 'kept'; readonly bits: 32 | 64 }
  | { readonly kind: 'boolean'; readonly empty: 'dropped' | 'kept' }
  | { readonly kind: 'intOrString' }
  /** A resource quantity: text, or a number that becomes text. */
  | { readonly kind: 'quantity' }
  | {
      readonly kind: 'list';
      readonly of: Schema;
      readonly merge: ListKind;
      readonly empty: 'dropped' | 'kept';
    }
  | { readonly kind: 'map'; readonly of: Schema; readonly atomic: boolean }
  | ObjectSchema
  /** A part whose fields this server does not know: anything is taken as it is. */
  | { readonly kind: 'open'; readonly list: boolean };

export const text: Schema = { kind: 'string', empty: 'dropped' };
export const textKept: Schema = { kind: 'string', empty: 'kept' };
export const bytes: Schema = { kind: 'string', empty: 'kept', format: 'byte' };
export const time: Schema = { kind: 'string', empty: 'dropped', format: 'date-time' };
export const int32: Schema = { kind: 'integer', empty: 'dropped', bits: 32 };
export const int32Kept: Schema = { kind: 'integer', empty: 'kept', bits: 32 };
export const int64: Schema = { kind: 'integer', empty: 'dropped', bits: 64 };
export const int64Kept: Schema = { kind: 'integer', empty: 'kept', bits: 64 };
export const flag: Schema = { kind: 'boolean', empty: 'dropped' };
export const flagKept: Schema = { kind: 'boolean', empty: 'kept' };
export const intOrString: Schema = { kind: 'intOrString' };
export const quantity: Schema = { kind: 'quantity' };
export const open: Schema = { kind: 'open', list: false };
export const openList: Schema = { kind: 'open', list: true };

export function list(of: Schema, empty: 'dropped' | 'kept' = 'dropped'): Schema {
  return { kind: 'list', of, merge: { kind: 'atomic' }, empty };
}

export function set(of: Schema): Schema {
  return { kind: 'list', of, merge: { kind: 'set' }, empty: 'dropped' };
}

/** A list of objects known by `keys`; the first is the one that strategic merge patches use. */
export function keyed(of: Schema, patchKey: string, ...moreKeys: readonly string[]): Schema {
  return {
    kind: 'list',
    of,
    merge: { kind: 'keyed', keys: [patchKey, ...moreKeys], patchKey },
    empty: 'dropped',
  };
}

export function map(of: Schema = text, options: { readonly atomic?: boolean } = {}): Schema {
  return { kind: 'map', of, atomic: options.atomic ?? false };
}

export function object(name: string, fields: Readonly<Record<string, Schema>>): ObjectSchema {
  return { kind: 'object', name, fields, atomic: false };
}

/** An object that server-side apply replaces as a whole. */
export function atomicObject(name: string, fields: Readonly<Record<string, Schema>>): ObjectSchema {
  return { kind: 'object', name, fields, atomic: true };
}

/** How Go names the type, as decoding errors do: `int32`, `v1.ServiceSpec`, `[]string`. */
export function goType(schema: Schema): string {
  switch (schema.kind) {
    case 'string':
      return schema.format === 'date-time' ? 'v1.Time' : schema.format === 'byte' ? '[]uint8' : 'string';
    case 'integer':
      return `int${schema.bits}`;
    case 'boolean':
      return 'bool';
    case 'intOrString':
      return 'intstr.IntOrString';
    case 'quantity':
      return 'resource.Quantity';
    case 'list':
      return `[]${goType(schema.of)}`;
    case 'map':
      return `map[string]${goType(schema.of)}`;
    case 'object':
      return schema.name.split('.').slice(-2).join('.');
    case 'open':
      return schema.list ? '[]interface {}' : 'map[string]interface {}';
  }
}

// Sets of fields as metadata.managedFields holds them (FieldsV1): a tree whose edges are `f:NAME` for a field, `k:{…}` for
// an item known by its keys, `v:VALUE` for an item of a set; `.` says that the node itself belongs to the set.
import { fieldsOf, isObject, type JsonObject } from '../json.ts';

export interface FieldSet {
  readonly member: boolean;
  readonly children: ReadonlyMap<string, FieldSet>;
}

export const NO_FIELDS: FieldSet = { member: false, children: new Map() };
export const LEAF: FieldSet = { member: true, children: new Map() };

export function isEmpty(set: FieldSet): boolean {
  return !set.member && set.children.size === 0;
}

/** A node without children that are empty. */
export function fieldSet(member: boolean, children: Iterable<readonly [string, FieldSet]>): FieldSet {
  return { member, children: new Map([...children].filter(([, child]) => !isEmpty(child))) };
}

function combined(
  left: FieldSet,
  right: FieldSet,
  edges: Iterable<string>,
  decide: (left: boolean, right: boolean) => boolean,
  combine: (left: FieldSet, right: FieldSet) => FieldSet,
): FieldSet {
  const children = [...edges].map(
    (edge) =>
      [edge, combine(left.children.get(edge) ?? NO_FIELDS, right.children.get(edge) ?? NO_FIELDS)] as const,
  );
  return fieldSet(decide(left.member, right.member), children);
}

export function union(left: FieldSet, right: FieldSet): FieldSet {
  const edges = new Set([...left.children.keys(), ...right.children.keys()]);
  return combined(left, right, edges, (a, b) => a || b, union);
}

export function intersection(left: FieldSet, right: FieldSet): FieldSet {
  return combined(left, right, left.children.keys(), (a, b) => a && b, intersection);
}

export function difference(left: FieldSet, right: FieldSet): FieldSet {
  return combined(left, right, left.children.keys(), (a, b) => a && !b, difference);
}

export function encodeFields(set: FieldSet): JsonObject {
  if (set.children.size === 0) return {};
  const own: JsonObject = set.member ? { '.': {} } : {};
  const edges = [...set.children].sort(([a], [b]) => (a < b ? -1 : 1));
  return { ...own, ...Object.fromEntries(edges.map(([edge, child]) => [edge, encodeFields(child)])) };
}

export function decodeFields(fields: JsonObject): FieldSet {
  const edges = fieldsOf(fields);
  if (edges.length === 0) return LEAF;
  return fieldSet(
    fields['.'] !== undefined,
    edges.flatMap(([edge, child]) =>
      edge === '.' ? [] : [[edge, isObject(child) ? decodeFields(child) : LEAF] as const],
    ),
  );
}

/** The members as paths for people: `.spec.ports[port=80,protocol="TCP"].nodePort`. */
export function pathsOf(set: FieldSet, prefix = ''): readonly string[] {
  const own = set.member && prefix !== '' ? [prefix] : [];
  return [...own, ...[...set.children].flatMap(([edge, child]) => pathsOf(child, prefix + edgeWords(edge)))];
}

function edgeWords(edge: string): string {
  if (edge.startsWith('f:')) return `.${edge.slice(2)}`;
  if (!edge.startsWith('k:')) return `[=${edge.slice(2)}]`;
  const keys = JSON.parse(edge.slice(2)) as Readonly<Record<string, unknown>>;
  return `[${Object.entries(keys)
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .join(',')}]`;
}

// Who owns which fields of an object (metadata.managedFields, KEP-555).
import type { ApiObject, ManagedFieldsEntry } from '../api-object.ts';
import { type JsonObject, type JsonValue, sameJson, withFields } from '../json.ts';
import { apiVersionOf, type Resource } from '../resources/definition.ts';
import { timestamp } from '../time.ts';
import { decodeFields, difference, encodeFields, type FieldSet, isEmpty, union } from './field-set.ts';
import { compareValues } from './fields-of-value.ts';

export interface WriterOptions {
  readonly manager?: string;
  readonly subresource?: 'status';
  /** Milliseconds since the epoch. */
  readonly now: number;
}

const OWNABLE_METADATA = ['labels', 'annotations', 'ownerReferences', 'finalizers'] as const;

/** The part of an object that can be owned: not its identity, and not the side that the request cannot write. */
export function ownable(
  resource: Resource,
  object: ApiObject,
  subresource: 'status' | undefined,
): JsonObject {
  const metadata = Object.fromEntries(
    OWNABLE_METADATA.flatMap((field): (readonly [string, JsonValue])[] => {
      const value = object.metadata[field];
      return value === undefined ? [] : [[field, value]];
    }),
  );
  const hidesStatus = resource.hasStatus && subresource === undefined;
  return withFields(object as JsonObject, {
    kind: undefined,
    apiVersion: undefined,
    metadata,
    ...(hidesStatus ? { status: undefined } : {}),
  });
}

/** An object with nothing in it, to compare a new one with: parts that Go holds as plain structs are always there. */
function blank(resource: Resource, subresource: 'status' | undefined): JsonObject {
  const { fields } = resource.schema;
  return {
    metadata: {},
    ...(fields.spec?.kind === 'object' ? { spec: {} } : {}),
    ...(fields.status?.kind === 'object' && (subresource !== undefined || !resource.hasStatus)
      ? { status: { loadBalancer: {} } }
      : {}),
  };
}

export function entryFields(entry: ManagedFieldsEntry): FieldSet {
  return decodeFields(entry.fieldsV1 ?? {});
}

/** The entry with other fields; undefined when it has none left. */
export function withEntryFields(entry: ManagedFieldsEntry, set: FieldSet): ManagedFieldsEntry | undefined {
  return isEmpty(set) ? undefined : { ...entry, fieldsV1: encodeFields(set) };
}

/** Notes what a create or an update changed: its fields become the writer's, and nobody else's. */
export function updateManagers(
  resource: Resource,
  before: ApiObject | undefined,
  next: ApiObject,
  options: WriterOptions,
): ApiObject {
  const { manager, subresource } = options;
  const kept = before?.metadata.managedFields;
  const given = next.metadata.managedFields;
  // Ownership may be written itself, as kubectl does when it takes objects over to server-side apply.
  const base = before !== undefined && given !== undefined && !sameJson(given, kept) ? given : kept;
  const settled = (entries: readonly ManagedFieldsEntry[] | undefined): ApiObject => ({
    ...next,
    metadata: withFields(next.metadata, {
      managedFields: entries === undefined || entries.length === 0 ? undefined : entries,
    }),
  });
  if (manager === undefined) return settled(base);
  const { changed, removed } = compareValues(
    resource.schema,
    before === undefined ? blank(resource, subresource) : ownable(resource, before, subresource),
    ownable(resource, next, subresource),
  );
  if (isEmpty(changed) && isEmpty(removed)) return settled(base);
  const isWriter = (entry: ManagedFieldsEntry): boolean =>
    entry.manager === manager && entry.operation === 'Update' && entry.subresource === subresource;
  const own = base?.find(isWriter);
  const others = (base ?? []).flatMap((entry) => {
    if (isWriter(entry) || typeof entry.manager !== 'string') return [];
    return withEntryFields(entry, difference(difference(entryFields(entry), changed), removed)) ?? [];
  });
  const fields = union(own === undefined ? changed : difference(entryFields(own), removed), changed);
  if (isEmpty(fields)) return settled(others);
  const entry: ManagedFieldsEntry = {
    manager,
    operation: 'Update',
    apiVersion: apiVersionOf(resource),
    time: timestamp(options.now),
    fieldsType: 'FieldsV1',
    fieldsV1: encodeFields(fields),
    ...(subresource === undefined ? {} : { subresource }),
  };
  return settled([...others, entry]);
}

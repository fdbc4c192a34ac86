// Server-side apply (KEP-555): merges an intent into an object, and knows who else meant which fields.
import type { ApiObject, ManagedFieldsEntry } from '../api-object.ts';
import { isList, isObject, type JsonObject, type JsonValue, withFields } from '../json.ts';
import { apiVersionOf, type Resource } from '../resources/definition.ts';
import type { Schema } from '../schema/schema.ts';
import { type Failed, failure } from '../status.ts';
import { timestamp } from '../time.ts';
import {
  difference,
  encodeFields,
  type FieldSet,
  intersection,
  isEmpty,
  NO_FIELDS,
  pathsOf,
  union,
} from './field-set.ts';
import { compareValues, fieldsOfValue, itemEdge, withoutFields } from './fields-of-value.ts';
import { entryFields, ownable, withEntryFields } from './managed-fields.ts';

export interface ApplyOptions {
  readonly manager: string;
  /** Takes fields that others own rather than refuse. */
  readonly force: boolean;
  readonly subresource?: 'status';
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export type Applied = { readonly ok: true; readonly object: ApiObject } | Failed;

/** Merges an applied value into a live one: fields and items that the intent does not name stay. */
function mergeValue(schema: Schema, live: JsonValue | undefined, intent: JsonValue): JsonValue {
  if (live === undefined) return intent;
  const granular = (schema.kind === 'object' || schema.kind === 'map') && !schema.atomic;
  if (granular && isObject(live) && isObject(intent)) {
    const merged: Record<string, JsonValue | undefined> = { ...live };
    for (const [field, value] of Object.entries(intent)) {
      const at = schema.kind === 'map' ? schema.of : schema.fields[field];
      if (value !== undefined && at !== undefined) merged[field] = mergeValue(at, live[field], value);
    }
    return merged;
  }
  if (schema.kind !== 'list' || !isList(live) || !isList(intent)) return intent;
  const { merge, of } = schema;
  if (merge.kind === 'atomic') return intent;
  const edgeOf = (item: JsonValue): string =>
    merge.kind === 'keyed' ? itemEdge(merge.keys, item) : JSON.stringify(item);
  const wanted = new Map(intent.map((item) => [edgeOf(item), item]));
  const merged = live.map((item) => {
    const other = wanted.get(edgeOf(item));
    wanted.delete(edgeOf(item));
    return other === undefined ? item : mergeValue(of, item, other);
  });
  return [...merged, ...wanted.values()];
}

function conflicts(owners: readonly { entry: ManagedFieldsEntry; fields: FieldSet }[]): Failed {
  const causes = owners.flatMap(({ entry, fields }) =>
    pathsOf(fields).map((field) => ({
      reason: 'FieldManagerConflict',
      message: `conflict with ${words(entry)}`,
      field,
    })),
  );
  const lines = owners.map(({ entry, fields }) => {
    const paths = pathsOf(fields);
    return paths.length === 1
      ? `conflict with ${words(entry)}: ${paths[0]}`
      : `conflicts with ${words(entry)}:\n${paths.map((path) => `- ${path}`).join('\n')}`;
  });
  const count = `${causes.length} conflict${causes.length === 1 ? '' : 's'}`;
  return failure(409, 'Conflict', `Apply failed with ${count}: ${lines.join('\n')}`, { details: { causes } });
}

function words({ manager, apiVersion, subresource }: ManagedFieldsEntry): string {
  const where = subresource === undefined ? '' : ` with subresource ${JSON.stringify(subresource)}`;
  return `${JSON.stringify(manager)}${where} using ${apiVersion}`;
}

/**
 * Applies `intent`, a decoded object without defaults, to `live`. Fields that the manager applied before and leaves out
 * now go, unless someone else owns them too. The result still has to be decoded and validated.
 */
export function applyIntent(
  resource: Resource,
  live: ApiObject | undefined,
  intent: ApiObject,
  options: ApplyOptions,
): Applied {
  const { manager, subresource } = options;
  const { schema } = resource;
  const wanted = ownable(resource, intent, subresource);
  const set = fieldsOfValue(schema, wanted);
  const entries = live?.metadata.managedFields ?? [];
  const isOwn = (entry: ManagedFieldsEntry): boolean =>
    entry.manager === manager && entry.operation === 'Apply' && entry.subresource === subresource;
  const own = entries.find(isOwn);
  const others = entries.filter((entry) => !isOwn(entry));

  const before: JsonObject = live === undefined ? {} : ownable(resource, live, subresource);
  const merged = mergeValue(schema, live === undefined ? undefined : before, wanted);
  const left = own === undefined ? NO_FIELDS : difference(entryFields(own), set);
  const kept = others.map(entryFields).reduce(union, NO_FIELDS);
  const pruned = withoutFields(schema, merged, difference(left, kept)) ?? {};

  const { changed } = compareValues(schema, before, pruned);
  const contested = others.flatMap((entry) => {
    const fields = intersection(entryFields(entry), intersection(changed, set));
    return isEmpty(fields) ? [] : [{ entry, fields }];
  });
  if (contested.length > 0 && !options.force) return conflicts(contested);

  const entry: ManagedFieldsEntry = {
    manager,
    operation: 'Apply',
    apiVersion: apiVersionOf(resource),
    time: timestamp(options.now),
    fieldsType: 'FieldsV1',
    fieldsV1: encodeFields(set),
    ...(subresource === undefined ? {} : { subresource }),
  };
  const remaining = others.flatMap((one) => {
    const lost = contested.find((other) => other.entry === one)?.fields ?? NO_FIELDS;
    return withEntryFields(one, difference(entryFields(one), lost)) ?? [];
  });
  const result = isObject(pruned) ? pruned : {};
  const metadata = isObject(result.metadata) ? result.metadata : {};
  const base = live ?? intent;
  const hidesStatus = resource.hasStatus && subresource === undefined;
  return {
    ok: true,
    object: {
      kind: intent.kind,
      apiVersion: intent.apiVersion,
      ...result,
      ...(hidesStatus && live?.status !== undefined ? { status: live.status } : {}),
      metadata: withFields(
        {
          ...base.metadata,
          labels: undefined,
          annotations: undefined,
          ownerReferences: undefined,
          finalizers: undefined,
        } as JsonObject,
        { ...metadata, managedFields: [entry, ...remaining] },
      ),
    },
  };
}

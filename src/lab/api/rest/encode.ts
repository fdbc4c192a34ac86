// Objects as text. The text of a stored object is kept as long as the object, for it is written to many clients.
import type { ApiObject } from '../api-object.ts';
import { type JsonObject, withFields } from '../json.ts';
import { apiVersionOf, type Cell, type Column, type Resource } from '../resources/definition.ts';
import type { Form } from './media.ts';

export interface Encoder {
  /** One object in the form asked for. */
  object(resource: Resource, object: ApiObject, form: Form, include: IncludeObject): string;
  /** A list of objects. */
  list(
    resource: Resource,
    items: readonly ApiObject[],
    metadata: JsonObject,
    form: Form,
    include: IncludeObject,
  ): string;
  /** One row of a watch; the columns come with the first only. */
  row(resource: Resource, object: ApiObject, include: IncludeObject, withColumns: boolean): string;
}

/** What a Table's rows carry beside their cells. */
export type IncludeObject = 'None' | 'Metadata' | 'Object';

function columnDefinition({ name, type, format, wide }: Column): JsonObject {
  return { name, type, format: format ?? '', description: name, priority: wide ? 1 : 0 };
}

function partial(object: ApiObject): JsonObject {
  return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata };
}

function rowOf(resource: Resource, object: ApiObject, include: IncludeObject, now: number): JsonObject {
  const cells: readonly Cell[] = resource.cells(object, now);
  if (include === 'None') return { cells };
  return { cells, object: include === 'Object' ? object : partial(object) };
}

function table(
  columns: readonly Column[] | undefined,
  rows: readonly JsonObject[],
  metadata: JsonObject,
): JsonObject {
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata,
    columnDefinitions: columns === undefined ? null : columns.map(columnDefinition),
    rows,
  };
}

/** `now` in milliseconds since the epoch, for ages. */
export function createEncoder(now: () => number): Encoder {
  const texts = new WeakMap<ApiObject, string>();
  const textOf = (object: ApiObject): string => {
    const known = texts.get(object);
    if (known !== undefined) return known;
    const text = JSON.stringify(object);
    texts.set(object, text);
    return text;
  };
  const versionOf = ({ metadata }: ApiObject): JsonObject =>
    metadata.resourceVersion === undefined ? {} : { resourceVersion: metadata.resourceVersion };
  const row = (resource: Resource, object: ApiObject, include: IncludeObject, withColumns: boolean): string =>
    JSON.stringify(
      table(
        withColumns ? resource.columns : undefined,
        [rowOf(resource, object, include, now())],
        versionOf(object),
      ),
    );
  return {
    row,
    object(resource, object, form, include) {
      if (form === 'table') return row(resource, object, include, true);
      return form === 'metadata' ? JSON.stringify(partial(object)) : textOf(object);
    },
    list(resource, items, metadata, form, include) {
      if (form === 'table') {
        const rows = items.map((object) => rowOf(resource, object, include, now()));
        return JSON.stringify(table(resource.columns, rows, metadata));
      }
      const head =
        form === 'metadata'
          ? { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1', metadata }
          : { kind: `${resource.kind}List`, apiVersion: apiVersionOf(resource), metadata };
      const texts = items.map((object) =>
        form === 'metadata' ? JSON.stringify(partial(object)) : withoutKind(resource, object, textOf(object)),
      );
      return `${JSON.stringify(head).slice(0, -1)},"items":[${texts.join(',')}]}`;
    },
  };
}

/** Items of a list do not repeat kind and apiVersion, which every object begins with. */
function withoutKind(resource: Resource, object: ApiObject, text: string): string {
  const head = `{"kind":"${resource.kind}","apiVersion":"${apiVersionOf(resource)}",`;
  if (text.startsWith(head)) return `{${text.slice(head.length)}`;
  return JSON.stringify(withFields(object as JsonObject, { kind: undefined, apiVersion: undefined }));
}

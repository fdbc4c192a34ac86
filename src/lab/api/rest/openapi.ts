// OpenAPI v3 from the resources' schemas: what kubectl reads for apply, edit, diff and explain. Version 2, which kubectl
// looks into before it sends a List, describes no type: kubectl then leaves the checks to the server.
import { createHash } from 'node:crypto';
import type { JsonObject, JsonValue } from '../json.ts';
import { apiVersionOf, type Resource } from '../resources/definition.ts';
import type { ObjectSchema, Schema } from '../schema/schema.ts';
import { noSuchPath } from '../status.ts';
import { type ApiRequest, jsonReply, type Reply } from './request.ts';
import { resourcePath } from './routes.ts';

type Components = Map<string, JsonObject>;

function described(schema: Schema, components: Components): JsonObject {
  switch (schema.kind) {
    case 'string':
      return { type: 'string', ...(schema.format === undefined ? {} : { format: schema.format }) };
    case 'integer':
      return { type: 'integer', format: `int${schema.bits}` };
    case 'boolean':
      return { type: 'boolean' };
    case 'intOrString':
      return { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] };
    case 'quantity':
      return { oneOf: [{ type: 'string' }, { type: 'number' }] };
    case 'map':
      return {
        type: 'object',
        additionalProperties: described(schema.of, components),
        ...(schema.atomic ? { 'x-kubernetes-map-type': 'atomic' } : {}),
      };
    case 'list':
      return { type: 'array', items: described(schema.of, components), ...listWords(schema.merge) };
    case 'open':
      return {
        ...(schema.list ? { type: 'array', items: { type: 'object' } } : { type: 'object' }),
        'x-kubernetes-preserve-unknown-fields': true,
      };
    case 'object':
      addComponent(schema, components);
      return { allOf: [{ $ref: `#/components/schemas/${schema.name}` }], default: {} };
  }
}

function listWords(merge: Extract<Schema, { kind: 'list' }>['merge']): JsonObject {
  switch (merge.kind) {
    case 'atomic':
      return { 'x-kubernetes-list-type': 'atomic' };
    case 'set':
      return { 'x-kubernetes-list-type': 'set', 'x-kubernetes-patch-strategy': 'merge' };
    case 'keyed':
      return {
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': merge.keys,
        'x-kubernetes-patch-merge-key': merge.patchKey,
        'x-kubernetes-patch-strategy': 'merge',
      };
  }
}

function addComponent(schema: ObjectSchema, components: Components, extra: JsonObject = {}): void {
  if (components.has(schema.name)) return;
  // The place is taken first, so that a type that holds itself ends.
  components.set(schema.name, {});
  const properties = Object.fromEntries(
    Object.entries(schema.fields).map(([field, inner]) => [field, described(inner, components)]),
  );
  components.set(schema.name, {
    type: 'object',
    properties,
    ...(schema.atomic ? { 'x-kubernetes-map-type': 'atomic' } : {}),
    ...extra,
  });
}

const PATCH_TYPES = [
  'application/apply-patch+yaml',
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
];
const WRITE_PARAMETERS: readonly JsonValue[] = ['dryRun', 'fieldManager', 'fieldValidation'].map((name) => ({
  name,
  in: 'query',
  schema: { type: 'string', uniqueItems: true },
}));

function operations(resource: Resource): JsonObject {
  const gvk = { group: resource.group, version: resource.version, kind: resource.kind };
  const reference = { $ref: `#/components/schemas/${resource.schema.name}` };
  const content = (types: readonly string[], schema: JsonObject): JsonObject => ({
    content: Object.fromEntries(types.map((type) => [type, { schema }])),
  });
  const operation = (action: string, rest: JsonObject): JsonObject => ({
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': gvk,
    responses: { '200': { description: 'OK', ...content(['application/json'], reference) } },
    ...rest,
  });
  const write = (types: readonly string[], schema: JsonObject): JsonObject => ({
    parameters: WRITE_PARAMETERS,
    requestBody: { ...content(types, schema), required: true },
  });
  const many = resourcePath(resource, '{namespace}');
  return {
    [many]: {
      get: operation('list', {}),
      post: operation('post', write(['*/*'], reference)),
    },
    [`${many}/{name}`]: {
      get: operation('get', {}),
      put: operation('put', write(['*/*'], reference)),
      patch: operation('patch', write(PATCH_TYPES, { type: 'object' })),
      delete: operation('delete', {}),
    },
  };
}

function documentOf(groupVersion: string, resources: readonly Resource[]): JsonObject {
  const components: Components = new Map();
  for (const resource of resources)
    addComponent(resource.schema, components, {
      'x-kubernetes-group-version-kind': [
        { group: resource.group, version: resource.version, kind: resource.kind },
      ],
    });
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: groupVersion },
    paths: Object.assign({}, ...resources.map(operations)) as JsonObject,
    components: { schemas: Object.fromEntries(components) },
  };
}

/** The type as clients ask for it, and in a form that is a valid media type. */
const V2_ASKED = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
const V2_ANSWERED = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
const TITLE = 'Kubernetes';
const EMPTY_V2: JsonObject = {
  swagger: '2.0',
  info: { title: TITLE, version: 'v1.36.0' },
  paths: {},
  definitions: {},
};

/** A protobuf field of bytes, shorter than 128. */
function shortField(number: number, content: Uint8Array | string): Uint8Array {
  const bytes = Buffer.from(content);
  return Buffer.concat([Uint8Array.of((number << 3) | 2, bytes.length), bytes]);
}

function emptyV2(accept: string | undefined): Reply {
  if (!accept?.includes(V2_ASKED)) return jsonReply(200, EMPTY_V2);
  const info = Buffer.concat([shortField(1, TITLE), shortField(2, 'v1.36.0')]);
  const bytes = Buffer.concat([shortField(1, '2.0'), shortField(2, info)]);
  return { code: 200, body: { bytes }, contentType: V2_ANSWERED };
}

export interface OpenApi {
  /** The answer to a path under /openapi; undefined for any other. */
  reply(request: ApiRequest): Reply | undefined;
}

export function createOpenApi(resources: readonly Resource[]): OpenApi {
  const byPath = new Map<string, { readonly document: JsonObject; readonly hash: string }>();
  for (const groupVersion of new Set(resources.map(apiVersionOf))) {
    const own = resources.filter((resource) => apiVersionOf(resource) === groupVersion);
    const document = documentOf(groupVersion, own);
    const hash = createHash('sha512').update(JSON.stringify(document)).digest('hex').toUpperCase();
    byPath.set(groupVersion === 'v1' ? 'api/v1' : `apis/${groupVersion}`, { document, hash });
  }
  const index: JsonObject = {
    paths: Object.fromEntries(
      [...byPath].map(([path, { hash }]) => [
        path,
        { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` },
      ]),
    ),
  };
  return {
    reply({ path, header }) {
      if (path === '/openapi/v2') return emptyV2(header('accept'));
      if (!path.startsWith('/openapi/')) return undefined;
      if (path === '/openapi/v3') return jsonReply(200, index);
      const found = byPath.get(path.slice('/openapi/v3/'.length));
      return found === undefined || !path.startsWith('/openapi/v3/')
        ? jsonReply(404, noSuchPath().status)
        : jsonReply(200, found.document, { headers: { etag: `"${found.hash}"` } });
    },
  };
}

// Requests for resources, but for watches: from HTTP's words to the registry's and back.

import type { Tokens } from '../identity/users.ts';
import { isObject } from '../json.ts';
import type { Registry, Target, WriteOptions } from '../registry/context.ts';
import { type PatchType, patch } from '../registry/patch.ts';
import { get, list, listMetadata, targetOf } from '../registry/read.ts';
import { type DeleteOptions, remove } from '../registry/remove.ts';
import { createAccess } from '../registry/service-account-token.ts';
import { create, update } from '../registry/write.ts';
import type { Verb } from '../resources/definition.ts';
import { DELETE_OPTIONS, EVICTION, TOKEN_REQUEST } from '../schema/requests.ts';
import {
  type Answer,
  badRequest,
  deletedStatus,
  type Failed,
  methodNotAllowed,
  noSuchPath,
  notAcceptable,
} from '../status.ts';
import { readBody, readOptionalBody } from './body.ts';
import type { Encoder } from './encode.ts';
import { acceptedForm, type Form, mediaType } from './media.ts';
import { deleteOptions, includeObject, isTrue, listOptions, writeOptions } from './parameters.ts';
import { type ApiRequest, jsonReply, type Reply } from './request.ts';
import type { Route } from './routes.ts';

export interface Backing {
  readonly registry: Registry;
  readonly encoder: Encoder;
  readonly tokens: Tokens;
}

const failed = ({ status }: Failed, extra: Partial<Reply> = {}): Reply =>
  jsonReply(status.code ?? 500, status, extra);

const VERBS: Readonly<Record<string, { readonly one?: Verb; readonly many?: Verb }>> = {
  GET: { one: 'get', many: 'list' },
  HEAD: { one: 'get', many: 'list' },
  POST: { many: 'create' },
  PUT: { one: 'update' },
  PATCH: { one: 'patch' },
  DELETE: { one: 'delete', many: 'deletecollection' },
};

/** What the lab's Pods cannot do, and what can be done instead. */
const WITHOUT_KUBELET: Readonly<Record<string, string>> = {
  log: 'the lab runs no kubelet, so that there are no logs',
  exec: "the lab runs no kubelet: use 'pointsman lab exec POD -- COMMAND' in the place of kubectl exec",
  attach: 'the lab runs no kubelet, so that there is nothing to attach to',
  portforward: "the lab runs no kubelet: use 'pointsman lab exec' to reach a Pod from inside the cluster",
  proxy: 'the lab runs no proxy through the API server',
};

/** Answers a request for a resource. */
export async function answerResource(backing: Backing, request: ApiRequest, route: Route): Promise<Reply> {
  const { resource, name, subresource } = route;
  const { registry } = backing;
  const verb = VERBS[request.method]?.[name === undefined ? 'many' : 'one'];
  const missing = subresource === undefined ? undefined : WITHOUT_KUBELET[subresource];
  if (missing !== undefined) return failed(badRequest(missing));
  if (subresource !== undefined && subresource !== 'status') return answerOther(backing, request, route);
  if (subresource === 'status' && !resource.hasStatus) return failed(noSuchPath());
  const isStatusVerb = verb === 'get' || verb === 'update' || verb === 'patch';
  if (verb === undefined || !resource.verbs.includes(verb) || (subresource === 'status' && !isStatusVerb))
    return failed(methodNotAllowed());
  const form = acceptedForm(request.header('accept'), verb === 'list' || verb === 'deletecollection');
  if (form === undefined) return failed(notAcceptable());
  const warnings = resource.warning === undefined ? [] : [resource.warning];
  const shape: Shape = { backing, request, route, form, warnings };

  if (name === undefined) return verb === 'create' ? answerCreate(shape) : answerMany(shape, verb);
  const target: Target = { resource, namespace: route.namespace, name };
  switch (verb) {
    case 'get':
      return answered(shape, get(registry, target), 200);
    case 'update':
      return answerUpdate(shape, target);
    case 'patch':
      return answerPatch(shape, target);
    default:
      return answerDelete(shape, target);
  }
}

interface Shape {
  readonly backing: Backing;
  readonly request: ApiRequest;
  readonly route: Route;
  readonly form: Form;
  readonly warnings: readonly string[];
}

/** An answer for one object. `made` is the code of an object that the request created. */
function answered(
  { backing, request, route, form, warnings }: Shape,
  answer: Answer,
  made: 200 | 201,
): Reply {
  if (!answer.ok) return failed(answer, { warnings });
  const text = backing.encoder.object(route.resource, answer.object, form, includeObject(request.query));
  return {
    code: answer.created ? made : 200,
    body: { text },
    warnings: [...warnings, ...answer.warnings.map((warning) => warning)],
  };
}

async function answerCreate(shape: Shape): Promise<Reply> {
  const { backing, request, route } = shape;
  const { resource, namespace } = route;
  if (resource.namespaced && namespace === undefined) return failed(methodNotAllowed());
  const body = await readBody(request, resource);
  if (!body.ok) return failed(body);
  const options = writeOptions(request);
  if ('ok' in options) return failed(options);
  const answer = create(backing.registry, resource, namespace, body.value, {
    ...options,
    duplicates: body.duplicates,
  });
  return answered(shape, answer, 201);
}

function subresourceOf({ subresource }: Route): Pick<WriteOptions, 'subresource'> {
  return subresource === 'status' ? { subresource } : {};
}

async function answerUpdate(shape: Shape, target: Target): Promise<Reply> {
  const { backing, request, route } = shape;
  const body = await readBody(request, route.resource);
  if (!body.ok) return failed(body);
  const options = writeOptions(request);
  if ('ok' in options) return failed(options);
  const answer = update(backing.registry, target, body.value, {
    ...options,
    ...subresourceOf(route),
    duplicates: body.duplicates,
  });
  return answered(shape, answer, 201);
}

const PATCH_TYPES: Readonly<Record<string, PatchType>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
};

async function answerPatch(shape: Shape, target: Target): Promise<Reply> {
  const { backing, request, route } = shape;
  const type = PATCH_TYPES[mediaType(request.header('content-type')) ?? ''];
  const body = await readBody(request, route.resource, Object.keys(PATCH_TYPES));
  if (!body.ok) return failed(body);
  const options = writeOptions(request);
  if ('ok' in options) return failed(options);
  if (type === 'apply' && !request.query.get('fieldManager'))
    return failed(badRequest('fieldManager is required for apply patch'));
  const answer = patch(backing.registry, target, type ?? 'merge', body.value, {
    ...options,
    ...subresourceOf(route),
    duplicates: body.duplicates,
    force: isTrue(request.query.get('force')),
  });
  return answered(shape, answer, 201);
}

async function deletion(request: ApiRequest): Promise<{ readonly options: DeleteOptions } | Failed> {
  const body = await readOptionalBody(request, { kind: 'DeleteOptions', schema: DELETE_OPTIONS });
  return body.ok ? { options: deleteOptions(request.query, body.value) } : body;
}

async function answerDelete(shape: Shape, target: Target): Promise<Reply> {
  const asked = await deletion(shape.request);
  if ('ok' in asked) return failed(asked);
  const answer = remove(shape.backing.registry, target, asked.options);
  if (answer.ok && answer.deleted && !target.resource.returnsDeleted)
    return jsonReply(200, deletedStatus(target.resource, target.name, answer.object.metadata.uid ?? ''));
  return answered(shape, answer, 200);
}

async function answerMany(shape: Shape, verb: Verb): Promise<Reply> {
  const { backing, request, route, form, warnings } = shape;
  const { registry, encoder } = backing;
  const options = listOptions(request.query, route.namespace);
  if ('ok' in options) return failed(options);
  const asked = verb === 'deletecollection' ? await deletion(request) : undefined;
  if (asked !== undefined && 'ok' in asked) return failed(asked);
  const listed = list(registry, route.resource, options);
  if (!listed.ok) return failed(listed, { warnings });
  if (asked !== undefined)
    for (const object of listed.items) remove(registry, targetOf(route.resource, object), asked.options);
  const include = includeObject(request.query);
  const text = encoder.list(route.resource, listed.items, listMetadata(listed), form, include);
  return { code: 200, body: { text }, warnings };
}

/** `pods/eviction` and `serviceaccounts/token`. */
async function answerOther(backing: Backing, request: ApiRequest, route: Route): Promise<Reply> {
  const { resource, namespace, name = '', subresource } = route;
  const known = `${resource.plural}/${subresource}`;
  if (known !== 'pods/eviction' && known !== 'serviceaccounts/token') return failed(noSuchPath());
  if (request.method !== 'POST') return failed(methodNotAllowed());
  const target: Target = { resource, namespace, name };
  if (known === 'serviceaccounts/token') {
    const body = await readBody(request, { kind: 'TokenRequest', schema: TOKEN_REQUEST });
    if (!body.ok) return failed(body);
    const access = createAccess(backing.registry, target, body.value, backing.tokens);
    return access.ok ? jsonReply(201, access.object) : failed(access);
  }
  const body = await readBody(request, { kind: 'Eviction', schema: EVICTION });
  if (!body.ok) return failed(body);
  const options = isObject(body.value) ? body.value.deleteOptions : undefined;
  const answer = remove(backing.registry, target, deleteOptions(request.query, options));
  if (!answer.ok) return failed(answer);
  return jsonReply(201, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 });
}

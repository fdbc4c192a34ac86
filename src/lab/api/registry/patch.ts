// Patching objects, in the four forms of the API.
import type { ApiObject } from '../api-object.ts';
import { isObject, type JsonObject, type JsonValue, withFields } from '../json.ts';
import { applyJsonPatch, type Patched } from '../patch/json-patch.ts';
import { applyMergePatch } from '../patch/merge-patch.ts';
import { applyIntent } from '../patch/server-side-apply.ts';
import { applyStrategicMergePatch } from '../patch/strategic-merge-patch.ts';
import { apiVersionOf, type Resource } from '../resources/definition.ts';
import { decodeObject } from '../schema/decode.ts';
import { type Answer, badRequest, conflict, failure, invalid, notFound } from '../status.ts';
import { cannotBeHandled, decodeBody } from './accept.ts';
import { find, type Registry, shown, storageOf, type Target, type WriteOptions } from './context.ts';
import { createAccepted, replace } from './write.ts';

export type PatchType = 'json' | 'merge' | 'strategic' | 'apply';

export interface PatchOptions extends WriteOptions {
  /** For `apply`: take fields that others own. */
  readonly force?: boolean;
}

function patched(
  type: Exclude<PatchType, 'apply'>,
  resource: Resource,
  live: ApiObject,
  patch: JsonValue,
): Patched {
  switch (type) {
    case 'json':
      return applyJsonPatch(live, patch);
    case 'merge':
      return isObject(patch)
        ? { ok: true, value: applyMergePatch(live, patch) }
        : { ok: false, kind: 'malformed', why: 'a merge patch must be an object' };
    case 'strategic':
      return applyStrategicMergePatch(resource.schema, live, patch);
  }
}

/** How Go prints a value inside an error: `map[spec:map[type:NodePort]]`. */
function goText(value: JsonValue | undefined): string {
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`;
  if (!isObject(value)) return value === null || value === undefined ? '<nil>' : String(value);
  const fields = Object.keys(value).sort();
  return `map[${fields.map((field) => `${field}:${goText(value[field])}`).join(' ')}]`;
}

/** Changes an object by a patch. `apply` makes it when it is not there. */
export function patch(
  registry: Registry,
  target: Target,
  type: PatchType,
  body: JsonValue,
  options: PatchOptions = {},
): Answer {
  if (type === 'apply') return apply(registry, target, body, options);
  const { resource, name } = target;
  const before = find(registry, target);
  if (before === undefined) return notFound(resource, name);
  const result = patched(type, resource, shown(resource, before), body);
  if (!result.ok)
    return result.kind === 'failed'
      ? failure(422, 'Invalid', 'the server rejected our request due to an error in our request', {
          details: {},
        })
      : badRequest(`error decoding patch: ${result.why}`);
  const accepted = decodeBody(resource, result.value, options.duplicates ?? []);
  if (!accepted.ok)
    // A value of a wrong type is the patch's fault, and named as such.
    return accepted.status.code === 400 && accepted.status.message?.includes('cannot unmarshal')
      ? invalidPatch(resource, name, body, accepted.status.message)
      : accepted;
  const validation = options.validation ?? 'Strict';
  if (accepted.strictErrors.length > 0 && validation === 'Strict')
    return invalidPatch(resource, name, body, `strict decoding error: ${accepted.strictErrors.join(', ')}`);
  if (accepted.object.metadata.name !== name)
    return badRequest(
      `the name of the object (${accepted.object.metadata.name ?? ''}) does not match the name on the URL (${name})`,
    );
  const answer = replace(registry, target, before, accepted.object, options);
  const warnings = validation === 'Warn' ? accepted.strictErrors : [];
  return answer.ok ? { ...answer, warnings: [...answer.warnings, ...warnings] } : answer;
}

function invalidPatch(resource: Resource, name: string, body: JsonValue, why: string): Answer {
  return invalid(resource, name, [
    {
      reason: 'FieldValueInvalid',
      field: 'patch',
      message: `Invalid value: ${JSON.stringify(goText(body))}: ${why}`,
    },
  ]);
}

function apply(registry: Registry, target: Target, body: JsonValue, options: PatchOptions): Answer {
  const { resource, name, namespace } = target;
  const { manager } = options;
  if (manager === undefined)
    return badRequest(
      'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
    );
  if (resource.view !== undefined)
    return badRequest(`the lab applies Events in the form of the core group only (apiVersion v1)`);
  const intent = intentOf(resource, body, options);
  if (!intent.ok) return intent;
  const { metadata } = intent.object;
  if (metadata.name !== undefined && metadata.name !== name)
    return badRequest(
      `the name of the object (${metadata.name}) does not match the name on the URL (${name})`,
    );
  if (metadata.managedFields !== undefined) return badRequest('metadata.managedFields must be nil');
  const live = find(registry, target);
  if (
    live !== undefined &&
    metadata.resourceVersion !== undefined &&
    metadata.resourceVersion !== live.metadata.resourceVersion
  )
    return conflict(storageOf(registry, resource), name);
  if (live === undefined && options.subresource !== undefined) return notFound(resource, name);
  const applied = applyIntent(resource, live, intent.object, {
    manager,
    force: options.force ?? false,
    now: registry.cluster.now(),
    ...(options.subresource === undefined ? {} : { subresource: options.subresource }),
  });
  if (!applied.ok) return applied;
  const complete = resource.defaults(applied.object);
  const { manager: _manager, ...rest } = options;
  const answer =
    live === undefined
      ? createAccepted(
          registry,
          resource,
          namespace,
          withFields(complete, { metadata: { ...complete.metadata, name } }),
          { ...rest, managed: true },
        )
      : replace(registry, target, live, complete, { ...rest, managed: true });
  return answer.ok ? { ...answer, warnings: [...answer.warnings, ...intent.warnings] } : answer;
}

type Intent =
  | { readonly ok: true; readonly object: ApiObject; readonly warnings: readonly string[] }
  | Extract<Answer, { ok: false }>;

/** The intent decoded but without defaults: only what is written is meant. */
function intentOf(resource: Resource, body: JsonValue, options: PatchOptions): Intent {
  if (!isObject(body)) return badRequest('error decoding YAML: an object is expected');
  const expected = apiVersionOf(resource);
  if (body.kind !== resource.kind || body.apiVersion !== expected)
    return badRequest(
      `an apply patch must say apiVersion: ${expected} and kind: ${resource.kind}, found ${String(body.apiVersion)} and ${String(body.kind)}`,
    );
  const decoded = decodeObject(resource.schema, body);
  if (!decoded.ok) return badRequest(cannotBeHandled(resource, decoded.message));
  const strict = [
    ...(options.duplicates ?? []).map((path) => `duplicate field ${JSON.stringify(path)}`),
    ...decoded.unknown.map((path) => `unknown field ${JSON.stringify(path)}`),
  ];
  const validation = options.validation ?? 'Strict';
  if (strict.length > 0 && validation === 'Strict')
    return badRequest(cannotBeHandled(resource, `strict decoding error: ${strict.join(', ')}`));
  const metadata: JsonObject = isObject(decoded.value.metadata) ? decoded.value.metadata : {};
  return {
    ok: true,
    object: { ...decoded.value, kind: resource.kind, apiVersion: expected, metadata },
    warnings: validation === 'Warn' ? strict : [],
  };
}

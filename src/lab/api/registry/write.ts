// Creating and replacing objects.
import { type ApiObject, keyOf } from '../api-object.ts';
import { isObject, type JsonObject, type JsonValue, sameJson, withFields } from '../json.ts';
import { updateManagers } from '../patch/managed-fields.ts';
import type { Resource } from '../resources/definition.ts';
import {
  type Answer,
  alreadyExists,
  badRequest,
  conflict,
  done,
  type Failed,
  failure,
  forbidden,
  invalid,
  notFound,
} from '../status.ts';
import { acceptBody } from './accept.ts';
import { find, type Registry, shown, storageOf, stored, type Target, type WriteOptions } from './context.ts';
import { metadataErrors, newMetadata, nextMetadata } from './metadata.ts';
import { finishDeletion } from './remove.ts';

interface ManagedOptions extends WriteOptions {
  /** metadata.managedFields is settled already. */
  readonly managed?: boolean;
}

/** How often a generated name that is taken is drawn anew. */
const NAME_TRIES = 8;

/** Creates an object from a body. `namespace` is the one of the path. */
export function create(
  registry: Registry,
  resource: Resource,
  namespace: string | undefined,
  body: JsonValue,
  options: WriteOptions = {},
): Answer {
  const accepted = acceptBody(resource, body, {
    validation: options.validation ?? 'Strict',
    duplicates: options.duplicates ?? [],
  });
  if (!accepted.ok) return accepted;
  for (let tries = 1; ; tries += 1) {
    const answer = createAccepted(registry, resource, namespace, accepted.object, options);
    const generated = accepted.object.metadata.name === undefined;
    if (answer.ok) return { ...answer, warnings: [...answer.warnings, ...accepted.warnings] };
    if (!generated || answer.status.reason !== 'AlreadyExists' || tries === NAME_TRIES) return answer;
  }
}

/** Creates an object that is decoded already. */
export function createAccepted(
  registry: Registry,
  resource: Resource,
  namespace: string | undefined,
  accepted: ApiObject,
  options: ManagedOptions,
): Answer {
  const { cluster } = registry;
  const storage = storageOf(registry, resource);
  const given = resource.view === undefined ? accepted : storage.defaults(stored(resource, accepted));
  const wrong = checkPlace(registry, storage, namespace, given);
  if (wrong) return wrong;
  if (given.metadata.resourceVersion !== undefined)
    return failure(500, '', 'resourceVersion should not be set on objects to be created');
  const metadata = newMetadata(
    { ...given.metadata, ...(namespace === undefined ? {} : { namespace }) },
    storage,
    cluster,
  );
  // A new namespace carries its own name as a label, also a generated one.
  const named = storage.defaults({ ...given, metadata });
  const managed =
    options.managed === true
      ? named
      : updateManagers(storage, undefined, named, { ...options, now: cluster.now() });
  const reserved = storage.reserve(storage.prepareCreate(managed), undefined, cluster);
  const name = metadata.name ?? '';
  if (!reserved.ok) return invalid(storage, name, reserved.errors);
  const errors = [
    ...metadataErrors(reserved.object, undefined, storage),
    ...storage.validate(reserved.object, undefined),
  ];
  if (errors.length > 0) return invalid(storage, name, errors);
  const key = keyOf(namespace, name);
  if (cluster.store.get(storage.plural, key) !== undefined) return alreadyExists(storage, name);
  if (options.dryRun === true) return done(shown(resource, reserved.object), { created: true });
  reserved.settle();
  const put = cluster.store.put(storage.plural, key, reserved.object);
  registry.dependents.note(storage.plural, key, undefined, put);
  return done(shown(resource, put), { created: true });
}

/** A new object's namespace must be the path's, must be there, and must not be going away. */
function checkPlace(
  registry: Registry,
  resource: Resource,
  namespace: string | undefined,
  object: ApiObject,
): Failed | undefined {
  const own = object.metadata.namespace;
  if (own !== undefined && own !== namespace)
    return badRequest(
      'the namespace of the provided object does not match the namespace sent on the request',
    );
  if (namespace === undefined) return undefined;
  const found = registry.cluster.store.get('namespaces', namespace);
  if (found === undefined) return notFound({ group: '', plural: 'namespaces', kind: 'Namespace' }, namespace);
  if (found.metadata.deletionTimestamp === undefined) return undefined;
  return forbidden(
    resource,
    object.metadata.name ?? '',
    `unable to create new content in namespace ${namespace} because it is being terminated`,
    {
      causes: [
        {
          reason: 'NamespaceTerminating',
          message: `namespace ${namespace} is being terminated`,
          field: 'metadata.namespace',
        },
      ],
    },
  );
}

/** Replaces an object by a body (PUT). */
export function update(
  registry: Registry,
  target: Target,
  body: JsonValue,
  options: WriteOptions = {},
): Answer {
  const { resource, namespace, name } = target;
  const accepted = acceptBody(resource, body, {
    validation: options.validation ?? 'Strict',
    duplicates: options.duplicates ?? [],
  });
  if (!accepted.ok) return accepted;
  const { metadata } = accepted.object;
  if (metadata.name !== undefined && metadata.name !== name)
    return badRequest(
      `the name of the object (${metadata.name}) does not match the name on the URL (${name})`,
    );
  if (metadata.namespace !== undefined && metadata.namespace !== namespace)
    return badRequest(
      'the namespace of the provided object does not match the namespace sent on the request',
    );
  const before = find(registry, target);
  const version = metadata.resourceVersion;
  if (before === undefined) {
    if (!resource.createOnUpdate || options.subresource !== undefined) return notFound(resource, name);
    if (version !== undefined && version !== '0') return notFound(resource, name);
    const object = withFields(accepted.object, {
      metadata: withFields(metadata, { name, resourceVersion: undefined }),
    });
    return createAccepted(registry, resource, namespace, object, options);
  }
  if ((version === undefined || version === '0') && !resource.unconditionalUpdate)
    return invalid(resource, name, [
      {
        reason: 'FieldValueInvalid',
        field: 'metadata.resourceVersion',
        message: 'Invalid value: 0x0: must be specified for an update',
      },
    ]);
  const answer = replace(registry, target, before, accepted.object, options);
  return answer.ok ? { ...answer, warnings: [...answer.warnings, ...accepted.warnings] } : answer;
}

/**
 * Puts `accepted`, a decoded object in the resource's own form, in the place of `before`, the stored one.
 */
export function replace(
  registry: Registry,
  target: Target,
  before: ApiObject,
  accepted: ApiObject,
  options: ManagedOptions,
): Answer {
  const { cluster } = registry;
  const { resource, name } = target;
  const storage = storageOf(registry, resource);
  const given = resource.view === undefined ? accepted : storage.defaults(stored(resource, accepted));
  const { resourceVersion: version, uid } = given.metadata;
  if (uid !== undefined && uid !== before.metadata.uid)
    return conflict(
      storage,
      name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${before.metadata.uid}`,
    );
  if (version !== undefined && version !== '0' && version !== before.metadata.resourceVersion)
    return conflict(storage, name);
  const kept = withFields(given, { metadata: nextMetadata(given.metadata, before.metadata) });
  const sided = onlyOwnSide(storage, kept, before, options.subresource);
  const owned =
    options.managed === true
      ? sided
      : updateManagers(storage, before, sided, { ...options, now: cluster.now() });
  // A status is the controllers' word: it claims nothing and links no fields.
  const isStatus = options.subresource === 'status';
  const prepared = isStatus ? owned : storage.prepareUpdate(owned, before);
  const reserved = isStatus
    ? ({ ok: true, object: prepared, settle: () => undefined } as const)
    : storage.reserve(prepared, before, cluster);
  if (!reserved.ok) return invalid(storage, name, reserved.errors);
  const next = counted(storage, reserved.object, before);
  const errors = [...metadataErrors(next, before, storage), ...storage.validate(next, before)];
  if (errors.length > 0) return invalid(storage, name, errors);
  if (sameButTimes(next, before)) return done(shown(resource, before));
  if (options.dryRun === true) return done(shown(resource, next));
  reserved.settle();
  const key = keyOf(target.namespace, name);
  const put = cluster.store.put(storage.plural, key, next);
  registry.dependents.note(storage.plural, key, before, put);
  return finishDeletion(registry, storage, key, put) ?? done(shown(resource, put));
}

/** The main path does not touch the status, and the status path nothing else but metadata. */
function onlyOwnSide(
  resource: Resource,
  next: ApiObject,
  before: ApiObject,
  subresource: 'status' | undefined,
): ApiObject {
  if (!resource.hasStatus) return next;
  if (subresource !== 'status') return withFields(next, { status: before.status });
  return withFields(before, { metadata: next.metadata, status: next.status });
}

/** Counts the generation up when something else than metadata and status changed. */
function counted(resource: Resource, next: ApiObject, before: ApiObject): ApiObject {
  if (!resource.hasGeneration) return next;
  const rest = (object: ApiObject): JsonObject =>
    withFields(object as JsonObject, { metadata: undefined, status: undefined });
  if (sameJson(rest(next), rest(before))) return next;
  return { ...next, metadata: { ...next.metadata, generation: (before.metadata.generation ?? 0) + 1 } };
}

/** Equal but for the times in managedFields: such an update writes nothing. */
function sameButTimes(next: ApiObject, before: ApiObject): boolean {
  const timeless = (object: ApiObject): JsonObject => ({
    ...object,
    metadata: withFields(object.metadata, {
      managedFields: object.metadata.managedFields?.map((entry) => withFields(entry, { time: undefined })),
    }),
  });
  return isObject(next) && sameJson(timeless(next), timeless(before));
}

// Deleting objects: graceful deletion, finalizers, and what becomes of dependents.
import { type ApiObject, keyOf } from '../api-object.ts';
import { withFields } from '../json.ts';
import type { Resource } from '../resources/definition.ts';
import { type Answer, conflict, done, forbidden, notFound } from '../status.ts';
import { timestamp } from '../time.ts';
import { find, type Registry, resourceNamed, shown, storageOf, type Target } from './context.ts';
import { emptyNamespace, namespaceMayBeEmpty } from './namespaces.ts';

export interface DeleteOptions {
  readonly dryRun?: boolean;
  readonly gracePeriodSeconds?: number;
  /** What becomes of the objects that name this one as their owner; `Background` unless said otherwise. */
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan';
  readonly uid?: string;
  readonly resourceVersion?: string;
}

const FOREGROUND = 'foregroundDeletion';
const LASTING_NAMESPACES = ['default', 'kube-system', 'kube-public'];

/** Deletes an object; it stays, with a deletionTimestamp, while it has a grace period or finalizers. */
export function remove(registry: Registry, target: Target, options: DeleteOptions = {}): Answer {
  const { resource, name, namespace } = target;
  const storage = storageOf(registry, resource);
  const before = find(registry, target);
  if (before === undefined) return notFound(resource, name);
  const { uid, resourceVersion } = before.metadata;
  if (options.uid !== undefined && options.uid !== uid)
    return conflict(
      storage,
      name,
      `Precondition failed: UID in precondition: ${options.uid}, UID in object meta: ${uid}`,
    );
  if (options.resourceVersion !== undefined && options.resourceVersion !== resourceVersion)
    return conflict(
      storage,
      name,
      `Precondition failed: ResourceVersion in precondition: ${options.resourceVersion}, ResourceVersion in object meta: ${resourceVersion}`,
    );
  if (storage.plural === 'namespaces' && LASTING_NAMESPACES.includes(name))
    return forbidden(storage, name, 'this namespace may not be deleted');
  const answer = mark(registry, storage, keyOf(namespace, name), before, options);
  return answer.ok ? { ...answer, object: shown(resource, answer.object) } : answer;
}

function mark(
  registry: Registry,
  resource: Resource,
  key: string,
  before: ApiObject,
  options: DeleteOptions,
): Answer {
  const { cluster } = registry;
  const dependents = registry.dependents.of(before.metadata.uid ?? '');
  const waits = options.propagation === 'Foreground' && dependents.length > 0;
  const finalizers = [...(before.metadata.finalizers ?? []), ...(waits ? [FOREGROUND] : [])];
  const grace = resource.graceSeconds(before, options.gracePeriodSeconds);
  const already = before.metadata.deletionGracePeriodSeconds;
  // A second deletion can only shorten the time.
  const seconds = already === undefined ? grace : Math.min(grace, already);
  const isNamespace = resource.plural === 'namespaces';
  const leaves = seconds === 0 && finalizers.length === 0 && !isNamespace;
  if (options.dryRun === true) return done(before, { deleted: leaves });
  if (options.propagation === 'Orphan') for (const one of dependents) disown(registry, one, before);
  if (leaves) return erase(registry, resource, key, before);

  const deletionTimestamp =
    already === seconds && before.metadata.deletionTimestamp !== undefined
      ? before.metadata.deletionTimestamp
      : timestamp(cluster.now() + seconds * 1000);
  const marked = withFields(before, {
    metadata: withFields(before.metadata, {
      deletionTimestamp,
      deletionGracePeriodSeconds: seconds,
      ...(resource.hasGeneration && already === undefined
        ? { generation: (before.metadata.generation ?? 0) + 1 }
        : {}),
      finalizers: finalizers.length === 0 ? undefined : [...new Set(finalizers)],
    }),
    ...(isNamespace ? { status: { ...(before.status as object), phase: 'Terminating' } } : {}),
  });
  const put = already === seconds ? before : cluster.store.put(resource.plural, key, marked);
  if (waits) {
    registry.awaitingDependents.set(before.metadata.uid ?? '', { plural: resource.plural, key });
    deleteDependents(registry, before, false);
  }
  if (isNamespace) emptyNamespace(registry, key);
  const now = cluster.store.get(resource.plural, key);
  return now === undefined ? done(put, { deleted: true }) : done(now);
}

/** After a write: removes an object whose deletion has nothing left to wait for. */
export function finishDeletion(
  registry: Registry,
  resource: Resource,
  key: string,
  object: ApiObject,
): Answer | undefined {
  const { deletionTimestamp, deletionGracePeriodSeconds: grace, finalizers = [] } = object.metadata;
  if (deletionTimestamp === undefined || finalizers.length > 0) return undefined;
  if (resource.plural === 'namespaces') {
    namespaceMayBeEmpty(registry, key);
    return undefined;
  }
  return (grace ?? 0) === 0 ? erase(registry, resource, key, object) : undefined;
}

/** Takes an object away for good, and with it what it owned alone. */
export function erase(registry: Registry, resource: Resource, key: string, object: ApiObject): Answer {
  resource.release(object, registry.cluster);
  const last = registry.cluster.store.remove(resource.plural, key) ?? object;
  registry.dependents.note(resource.plural, key, object, undefined);
  deleteDependents(registry, object, true);
  for (const { uid } of object.metadata.ownerReferences ?? []) releaseOwner(registry, uid);
  const { namespace } = object.metadata;
  if (namespace !== undefined) namespaceMayBeEmpty(registry, namespace);
  return done(last, { deleted: true });
}

/** Deletes the dependents of an object; `onlyAlone` spares those that another owner keeps. */
function deleteDependents(registry: Registry, owner: ApiObject, onlyAlone: boolean): void {
  for (const { plural, key } of registry.dependents.of(owner.metadata.uid ?? '')) {
    const dependent = registry.cluster.store.get(plural, key);
    if (dependent === undefined) continue;
    const others = (dependent.metadata.ownerReferences ?? []).filter(
      ({ uid }) => uid !== owner.metadata.uid && isAlive(registry, uid),
    );
    if (onlyAlone && others.length > 0) continue;
    mark(registry, resourceNamed(registry, plural), key, dependent, {});
  }
}

function isAlive(registry: Registry, uid: string): boolean {
  return registry.resources.some(({ plural }) =>
    registry.cluster.store.entries(plural).some(([, object]) => object.metadata.uid === uid),
  );
}

/** Strikes an owner from a dependent's list. */
function disown(
  registry: Registry,
  { plural, key }: { plural: string; key: string },
  owner: ApiObject,
): void {
  const before = registry.cluster.store.get(plural, key);
  if (before === undefined) return;
  const left = (before.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== owner.metadata.uid);
  const metadata = withFields(before.metadata, { ownerReferences: left.length === 0 ? undefined : left });
  const put = registry.cluster.store.put(plural, key, { ...before, metadata });
  registry.dependents.note(plural, key, before, put);
}

/** Lets an owner go that only waited for its dependents. */
function releaseOwner(registry: Registry, uid: string): void {
  const place = registry.awaitingDependents.get(uid);
  if (place === undefined || registry.dependents.of(uid).length > 0) return;
  registry.awaitingDependents.delete(uid);
  const object = registry.cluster.store.get(place.plural, place.key);
  if (object === undefined) return;
  const left = (object.metadata.finalizers ?? []).filter((name) => name !== FOREGROUND);
  const metadata = withFields(object.metadata, { finalizers: left.length === 0 ? undefined : left });
  const put = registry.cluster.store.put(place.plural, place.key, { ...object, metadata });
  finishDeletion(registry, resourceNamed(registry, place.plural), place.key, put);
}

// The API as the lab's own controllers use it: the same objects and rules as over HTTPS, by function calls.
import type { ApiObject } from './api-object.ts';
import type { JsonObject, JsonValue } from './json.ts';
import { type Registry, resourceNamed, type Target, type WriteOptions } from './registry/context.ts';
import { type PatchOptions, type PatchType, patch } from './registry/patch.ts';
import { get, type Listed, type ListOptions, list, type Selection } from './registry/read.ts';
import { type DeleteOptions, remove } from './registry/remove.ts';
import { type Watch, type WatchEvent, type WatchStart, watch } from './registry/watch.ts';
import { create, update } from './registry/write.ts';
import type { Answer, Failed } from './status.ts';

export type ResourceName =
  | 'configmaps'
  | 'endpoints'
  | 'endpointslices'
  | 'events'
  | 'ipaddresses'
  | 'leases'
  | 'namespaces'
  | 'nodes'
  | 'pods'
  | 'secrets'
  | 'serviceaccounts'
  | 'servicecidrs'
  | 'services';

/** One object: `namespace` is left out for cluster-wide resources. */
export interface ObjectPlace {
  readonly resource: ResourceName;
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** An object to write; kind and apiVersion may be left out. */
export type Draft = JsonObject & { readonly metadata: JsonObject };

/**
 * All calls are synchronous and answer with what became of them (`ok`, or a Status as the HTTPS API would send); nothing
 * but a misspelt resource throws. Events reach the listeners before the call that made them returns, unless that call
 * itself came from a listener: then right after it.
 */
export interface ClusterApi {
  get(place: ObjectPlace): Answer;
  list(resource: ResourceName, options?: ListOptions): Listed | Failed;
  /** The namespace is the draft's. */
  create(resource: ResourceName, draft: Draft, options?: WriteOptions): Answer;
  /** Replaces the object; with metadata.resourceVersion only when it is still at that version. */
  update(resource: ResourceName, object: Draft, options?: WriteOptions): Answer;
  updateStatus(resource: ResourceName, object: Draft, options?: WriteOptions): Answer;
  patch(place: ObjectPlace, type: PatchType, body: JsonValue, options?: PatchOptions): Answer;
  delete(place: ObjectPlace, options?: DeleteOptions): Answer;
  /** `start`: `state` begins with all objects as ADDED events, `now` with what comes. Dispose the watch to end it. */
  watch(
    resource: ResourceName,
    selection: Selection,
    start: WatchStart,
    listener: (event: WatchEvent) => void,
  ): Watch | Failed;
}

const textOf = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');

export function createClusterApi(registry: Registry): ClusterApi {
  const targetOf = (plural: ResourceName, metadata: JsonObject): Target => {
    const resource = resourceNamed(registry, plural);
    return {
      resource,
      namespace: resource.namespaced ? textOf(metadata.namespace) : undefined,
      name: textOf(metadata.name),
    };
  };
  const place = ({ resource, namespace, name }: ObjectPlace): Target =>
    targetOf(resource, { namespace, name });
  return {
    get: (at) => get(registry, place(at)),
    list: (plural, options) => list(registry, resourceNamed(registry, plural), options),
    create(plural, draft, options) {
      const { resource, namespace } = targetOf(plural, draft.metadata);
      return create(registry, resource, namespace, draft, options);
    },
    update: (plural, object, options) => update(registry, targetOf(plural, object.metadata), object, options),
    updateStatus: (plural, object, options) =>
      update(registry, targetOf(plural, object.metadata), object, { ...options, subresource: 'status' }),
    patch: (at, type, body, options) => patch(registry, place(at), type, body, options),
    delete: (at, options) => remove(registry, place(at), options),
    watch: (plural, selection, start, listener) =>
      watch(registry, resourceNamed(registry, plural), selection, start, listener),
  };
}

/** The objects of a list that cannot fail: one without selectors. */
export function itemsOf(listed: Listed | Failed): readonly ApiObject[] {
  return listed.ok ? listed.items : [];
}

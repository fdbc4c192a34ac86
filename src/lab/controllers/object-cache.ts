// The objects of one resource as a controller sees them: kept up by a watch, by namespace.
import { PointsmanError } from '../../base/errors.ts';
import type { ApiObject } from '../api/api-object.ts';
import type { ClusterApi, ResourceName } from '../api/cluster-api.ts';

export interface ObjectCache<T extends ApiObject> extends Disposable {
  get(namespace: string, name: string): T | undefined;
  /** The objects of a namespace; of the empty one those of a cluster-wide resource. */
  in(namespace: string): readonly T[];
  all(): readonly T[];
}

/** `before` is undefined for a new object, `after` for one that is gone. */
export type Change<T> = (before: T | undefined, after: T | undefined) => void;

/** Opens the watch. `onChange` is told of the objects that are there already as well. */
export function createObjectCache<T extends ApiObject>(
  api: ClusterApi,
  resource: ResourceName,
  onChange: Change<T> = () => {},
): ObjectCache<T> {
  const namespaces = new Map<string, Map<string, T>>();
  const apply = (type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T): void => {
    const { namespace = '', name = '' } = object.metadata;
    const objects = namespaces.get(namespace) ?? new Map<string, T>();
    namespaces.set(namespace, objects);
    const before = objects.get(name);
    if (type === 'DELETED') objects.delete(name);
    else objects.set(name, object);
    if (objects.size === 0) namespaces.delete(namespace);
    onChange(before, type === 'DELETED' ? undefined : object);
  };
  // What the API stores under a resource has been decoded by the schema of that resource.
  const watch = api.watch(resource, {}, 'state', ({ type, object }) => apply(type, object as T));
  if (!watch.ok) throw new PointsmanError('E_LAB', `cannot watch ${resource}: ${watch.status.message ?? ''}`);
  for (const { type, object } of watch.initial) apply(type, object as T);
  return {
    get: (namespace, name) => namespaces.get(namespace)?.get(name),
    in: (namespace) => [...(namespaces.get(namespace)?.values() ?? [])],
    all: () => [...namespaces.values()].flatMap((objects) => [...objects.values()]),
    [Symbol.dispose]: () => watch[Symbol.dispose](),
  };
}

/** `namespace/name`, or the bare name of a cluster-wide object. */
export function objectKey({ metadata: { namespace, name = '' } }: ApiObject): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

// What the registry's functions share.
import { PointsmanError } from '../../../base/errors.ts';
import type { ApiObject } from '../api-object.ts';
import { keyOf } from '../api-object.ts';
import type { Cluster } from '../resources/cluster.ts';
import type { Resource } from '../resources/definition.ts';
import type { FieldValidation } from './accept.ts';
import type { Dependent, Dependents } from './dependents.ts';

export interface Registry {
  readonly cluster: Cluster;
  readonly resources: readonly Resource[];
  readonly dependents: Dependents;
  /** Owners being deleted that stay until their dependents are gone, by uid. */
  readonly awaitingDependents: Map<string, Dependent>;
}

/** Where an object is, or will be. */
export interface Target {
  readonly resource: Resource;
  readonly namespace: string | undefined;
  readonly name: string;
}

export interface WriteOptions {
  /** Answer as if, but change nothing. */
  readonly dryRun?: boolean;
  /** Who writes, for metadata.managedFields. Without it, ownership of fields is left as it is. */
  readonly manager?: string;
  /** What becomes of unknown fields; `Strict` unless said otherwise. */
  readonly validation?: FieldValidation;
  /** Paths of fields that stood twice in the request's text. */
  readonly duplicates?: readonly string[];
  readonly subresource?: 'status';
}

/** The resource by its plural name, of those with objects of their own. A name that is none is a programming error. */
export function resourceNamed(registry: Registry, plural: string): Resource {
  const found = registry.resources.find((resource) => resource.plural === plural);
  if (found === undefined) throw new PointsmanError('E_LAB', `the lab's API has no resource ${plural}`);
  return found;
}

/** The resource that holds the objects: another one for a view. */
export function storageOf(registry: Registry, resource: Resource): Resource {
  return resource.view === undefined ? resource : resourceNamed(registry, resource.view.of);
}

/** A stored object as the resource shows it. */
export function shown(resource: Resource, object: ApiObject): ApiObject {
  return resource.view === undefined ? object : resource.view.fromStored(object);
}

export function stored(resource: Resource, object: ApiObject): ApiObject {
  return resource.view === undefined ? object : resource.view.toStored(object);
}

export function find(registry: Registry, { resource, namespace, name }: Target): ApiObject | undefined {
  return registry.cluster.store.get(storageOf(registry, resource).plural, keyOf(namespace, name));
}

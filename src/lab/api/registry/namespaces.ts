// Emptying namespaces that are going away, as the namespace controller does.
import type { ApiObject } from '../api-object.ts';
import type { Registry } from './context.ts';
import { erase, remove } from './remove.ts';

function contents(registry: Registry, namespace: string): { plural: string; name: string }[] {
  const found: { plural: string; name: string }[] = [];
  for (const { plural, namespaced } of registry.resources) {
    if (!namespaced) continue;
    for (const [key] of registry.cluster.store.entries(plural))
      if (key.startsWith(`${namespace}/`)) found.push({ plural, name: key.slice(namespace.length + 1) });
  }
  return found;
}

/** Deletes everything in a namespace, and then the namespace when nothing stays. */
export function emptyNamespace(registry: Registry, namespace: string): void {
  for (const { plural, name } of contents(registry, namespace)) {
    const resource = registry.resources.find((one) => one.plural === plural);
    if (resource !== undefined) remove(registry, { resource, namespace, name });
  }
  namespaceMayBeEmpty(registry, namespace);
}

/** Removes a namespace that is going away, once it is empty and nobody's finalizer holds it. */
export function namespaceMayBeEmpty(registry: Registry, namespace: string): void {
  const object: ApiObject | undefined = registry.cluster.store.get('namespaces', namespace);
  if (object?.metadata.deletionTimestamp === undefined) return;
  if ((object.metadata.finalizers ?? []).length > 0 || contents(registry, namespace).length > 0) return;
  const resource = registry.resources.find(({ plural }) => plural === 'namespaces');
  if (resource !== undefined) erase(registry, resource, namespace, object);
}

// Paths of resources: `/api/v1/namespaces/NS/services/NAME/status`, `/apis/GROUP/VERSION/…`.
import { apiVersionOf, type Resource } from '../resources/definition.ts';

export interface Route {
  readonly resource: Resource;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  /** The old form `/api/v1/watch/…`. */
  readonly watch: boolean;
}

export interface Router {
  /** Undefined for a path that no resource answers to. */
  route(path: string): Route | undefined;
}

/** The path of a resource's objects. */
export function resourcePath(resource: Resource, namespace: string): string {
  const root = resource.group === '' ? '/api/v1' : `/apis/${apiVersionOf(resource)}`;
  return resource.namespaced
    ? `${root}/namespaces/${namespace}/${resource.plural}`
    : `${root}/${resource.plural}`;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function createRouter(resources: readonly Resource[]): Router {
  const byGroup = new Map(
    resources.map((resource) => [`${apiVersionOf(resource)}/${resource.plural}`, resource]),
  );
  return {
    route(path) {
      const parts = path.split('/').slice(1).map(decoded);
      if (parts.at(-1) === '') parts.pop();
      const [root, group, version] = parts;
      const core = root === 'api' && group === 'v1';
      if (!core && root !== 'apis') return undefined;
      const prefix = core ? 'v1' : `${group}/${version}`;
      let rest = parts.slice(core ? 2 : 3);
      const watch = rest[0] === 'watch';
      if (watch) rest = rest.slice(1);
      // `namespaces/NS/PLURAL…` is a namespaced resource, unless what follows is a subresource of the namespace itself.
      const inner =
        rest[0] === 'namespaces' && rest.length > 2 ? byGroup.get(`${prefix}/${rest[2]}`) : undefined;
      if (inner?.namespaced) {
        const [, namespace, , name, subresource, ...more] = rest;
        return more.length > 0 ? undefined : { resource: inner, namespace, name, subresource, watch };
      }
      const [plural, name, subresource, ...more] = rest;
      const resource = byGroup.get(`${prefix}/${plural}`);
      if (resource === undefined || more.length > 0) return undefined;
      // Without a namespace in the path, a namespaced resource can only be listed and watched.
      if (resource.namespaced && name !== undefined) return undefined;
      return { resource, namespace: undefined, name, subresource, watch };
    },
  };
}

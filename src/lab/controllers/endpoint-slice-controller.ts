// Keeps the EndpointSlices of all Services with a selector as endpoint-slices.ts wants them. Deleted Services need no
// care: their slices name them as owner and go with them.
import type { EndpointSlice } from '../api/resources/endpoint-slice.ts';
import type { Pod } from '../api/resources/pod/types.ts';
import type { Service } from '../api/resources/service/types.ts';
import { type ControllerContext, settle } from './controller-context.ts';
import {
  endpointGroups,
  isSelected,
  MANAGED_BY_LABEL,
  MANAGER,
  SERVICE_NAME_LABEL,
} from './endpoint-slices.ts';
import { type Node, ZONE_LABEL } from './node-object.ts';
import { createObjectCache, type ObjectCache, objectKey } from './object-cache.ts';
import { selects } from './pod-endpoint.ts';
import { sliceChanges } from './slice-changes.ts';
import { createWorkQueue } from './work-queue.ts';

const WRITER = { manager: 'endpointslice-controller' };

export function startEndpointSliceController(context: ControllerContext): Disposable {
  const { api } = context;
  const stack = new DisposableStack();
  const queue = stack.use(createWorkQueue(sync, () => context.now()));
  const slices = stack.use(createSliceIndex(context, (service) => queue.add(service)));
  const services: ObjectCache<Service> = stack.use(
    createObjectCache<Service>(api, 'services', (_, after) => {
      if (after !== undefined) queue.add(objectKey(after));
    }),
  );
  const pods: ObjectCache<Pod> = stack.use(
    createObjectCache<Pod>(api, 'pods', (before, after) => {
      const { namespace = '' } = (after ?? before)?.metadata ?? {};
      for (const service of services.in(namespace))
        if ([before, after].some((pod) => pod !== undefined && selects(service.spec.selector, pod)))
          queue.add(objectKey(service));
    }),
  );
  const nodes: ObjectCache<Node> = stack.use(
    createObjectCache<Node>(api, 'nodes', (before, after) => {
      const zone = (node: Node | undefined): string | undefined => node?.metadata.labels?.[ZONE_LABEL];
      const same = before !== undefined && after !== undefined && zone(before) === zone(after);
      if (!same) for (const service of services.all()) queue.add(objectKey(service));
    }),
  );
  return stack;

  function sync(key: string, since: number): void {
    const [namespace = '', name = ''] = key.split('/');
    const service = services.get(namespace, name);
    if (service === undefined || service.metadata.deletionTimestamp !== undefined || !isSelected(service))
      return;
    const groups = endpointGroups(service, pods.in(namespace), (node) => nodes.get('', node));
    const changes = sliceChanges({ service, groups, existing: slices.of(key), triggeredAt: since });
    for (const slice of changes.create)
      settle(context, `EndpointSlice of ${key}`, api.create('endpointslices', slice, WRITER));
    for (const slice of changes.update)
      settle(context, `EndpointSlice of ${key}`, api.update('endpointslices', slice, WRITER));
    for (const { metadata } of changes.remove) {
      const place = { resource: 'endpointslices', namespace, name: metadata.name ?? '' } as const;
      settle(context, `EndpointSlice of ${key}`, api.delete(place));
    }
  }
}

interface SliceIndex extends Disposable {
  /** The managed slices of the Service with this key, by age of the name. */
  of(service: string): readonly EndpointSlice[];
}

/** The slices that this controller manages, by Service; `onChange` names the Services whose slices anybody changes. */
function createSliceIndex({ api }: ControllerContext, onChange: (service: string) => void): SliceIndex {
  const byService = new Map<string, Map<string, EndpointSlice>>();
  const serviceOf = (slice: EndpointSlice | undefined): string | undefined => {
    const { labels = {}, namespace = '' } = slice?.metadata ?? {};
    const service = labels[SERVICE_NAME_LABEL];
    return service === undefined || labels[MANAGED_BY_LABEL] !== MANAGER
      ? undefined
      : `${namespace}/${service}`;
  };
  const cache = createObjectCache<EndpointSlice>(api, 'endpointslices', (before, after) => {
    const { name = '' } = (after ?? before)?.metadata ?? {};
    const [was, is] = [serviceOf(before), serviceOf(after)];
    if (was !== undefined) byService.get(was)?.delete(name);
    if (was !== undefined && byService.get(was)?.size === 0) byService.delete(was);
    if (is !== undefined && after !== undefined)
      byService.set(is, (byService.get(is) ?? new Map<string, EndpointSlice>()).set(name, after));
    for (const service of new Set([was, is])) if (service !== undefined) onChange(service);
  });
  return {
    of: (service) => [...(byService.get(service)?.values() ?? [])],
    [Symbol.dispose]: () => cache[Symbol.dispose](),
  };
}

// The proxy's book with a synthetic cluster in it.
import type { SyntheticCluster } from '../../bench/synthetic-cluster.ts';
import { decodeEndpointSlice, sliceKey } from '../../src/model/endpoint-slice.ts';
import { decodeService, serviceKey } from '../../src/model/service.ts';
import type { TableSettings } from '../../src/plan/forwarding-table.ts';
import { type ClusterState, createClusterState } from '../../src/proxy/cluster-state.ts';

export const SETTINGS: TableSettings = {
  masqueradeAll: false,
  localDetector: { kind: 'none' },
  serviceCidrs: [],
  nodePortAddresses: 'all',
};

export async function loadedState({ services, slices }: SyntheticCluster): Promise<ClusterState> {
  const state = createClusterState({
    nodeName: 'node-0',
    families: ['IPv4'],
    settings: { IPv4: SETTINGS, IPv6: SETTINGS },
  });
  for (const object of services) {
    const service = decodeService(object);
    if (service.kind === 'decoded')
      state.setService(serviceKey(service.value.namespace, service.value.name), service.value);
  }
  for (const object of slices) setSlice(state, object);
  await state.take();
  return state;
}

export function setSlice(state: ClusterState, object: unknown): void {
  const slice = decodeEndpointSlice(object);
  if (slice.kind === 'decoded') state.setSlice(sliceKey(slice.value), slice.value);
}

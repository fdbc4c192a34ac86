// Feeds a scenario's objects into the proxy's own book, as the watches would.
import { type Family, parseCidr } from '../../src/model/address.ts';
import { decodeEndpointSlice, sliceKey } from '../../src/model/endpoint-slice.ts';
import { decodeNode } from '../../src/model/node.ts';
import { decodeService, serviceKey } from '../../src/model/service.ts';
import type { ForwardingTable, LocalDetector, TableSettings } from '../../src/plan/forwarding-table.ts';
import { type ClusterState, createClusterState } from '../../src/proxy/cluster-state.ts';
import { textIn } from './family.ts';
import type { Scenario, ServiceGiven, SettingsName } from './scenario.ts';
import {
  CLUSTER_CIDR,
  NODE_ADDRESSES,
  NODE_NAME,
  POD_RANGE,
  serviceObject,
  sliceObjects,
  ZONE,
} from './stage.ts';

const DETECTORS: Readonly<Record<SettingsName, string | undefined>> = {
  base: CLUSTER_CIDR,
  none: undefined,
  'masquerade-all': CLUSTER_CIDR,
  'node-cidr': POD_RANGE,
};

export function settingsOf(scenario: Scenario): ForwardingTable['settings'] {
  const name = scenario.settings ?? 'base';
  const settingsIn = (family: Family): TableSettings => {
    const cidr = parseCidr(textIn(family, DETECTORS[name] ?? ''));
    const localDetector: LocalDetector = cidr ? { kind: 'cidr', cidr } : { kind: 'none' };
    return {
      masqueradeAll: name === 'masquerade-all',
      localDetector,
      serviceCidrs: (scenario.serviceCidrs ?? []).flatMap((text) => parseCidr(textIn(family, text)) ?? []),
      nodePortAddresses: scenario.nodePortAddresses?.map((text) => textIn(family, text)) ?? 'all',
    };
  };
  return { IPv4: settingsIn('IPv4'), IPv6: settingsIn('IPv6') };
}

export interface World {
  readonly state: ClusterState;
  /** Enters new and differing Services with their slices; null removes the Service, and leaves its slices. */
  set(services: Readonly<Record<string, ServiceGiven | null>>, family: Family): void;
  /** Removes everything. */
  clear(): void;
}

export function createWorld(settings: ForwardingTable['settings']): World {
  const state = createClusterState({ nodeName: NODE_NAME, families: ['IPv4', 'IPv6'], settings });
  state.setNode(
    decodeNode({
      metadata: { name: NODE_NAME, labels: { 'topology.kubernetes.io/zone': ZONE } },
      status: { addresses: NODE_ADDRESSES.map((address) => ({ type: 'InternalIP', address })) },
    }),
  );
  const services = new Set<string>();
  const slicesOf = new Map<string, ReadonlySet<string>>();
  const dropSlices = (name: string, keep: ReadonlySet<string>): void => {
    for (const key of slicesOf.get(name) ?? []) if (!keep.has(key)) state.setSlice(key, undefined);
    slicesOf.set(name, keep);
  };
  return {
    state,
    set(given, family) {
      for (const [name, value] of Object.entries(given)) {
        const key = serviceKey('shop', name.toLowerCase());
        if (value === null) {
          state.setService(key, undefined);
          services.delete(key);
          continue;
        }
        const service = decodeService(serviceObject(name, value, family));
        if (service.kind === 'decoded') state.setService(key, service.value);
        services.add(key);
        const kept = new Set<string>();
        for (const object of sliceObjects(name, value, family)) {
          const slice = decodeEndpointSlice(object);
          if (slice.kind !== 'decoded') continue;
          state.setSlice(sliceKey(slice.value), slice.value);
          kept.add(sliceKey(slice.value));
        }
        dropSlices(name, kept);
      }
    },
    clear() {
      for (const key of services) state.setService(key, undefined);
      services.clear();
      for (const name of slicesOf.keys()) dropSlices(name, new Set());
    },
  };
}

// Which Service has which health check node port, and what it is to tell; only what changed is looked at.
import { type Family, familyOf } from '../model/address.ts';
import type { EndpointSlice } from '../model/endpoint-slice.ts';
import { type Service, type ServiceKey, serviceKey } from '../model/service.ts';
import type { ServiceHealthPort } from '../observe/service-health.ts';
import { mergeSlices } from '../plan/merge-slices.ts';
import type { PortClashes } from './port-clashes.ts';

/** One health check node port: who has it, and which younger Services want it too. */
export interface HealthPort {
  readonly port: number;
  readonly holder: ServiceHealthPort | undefined;
  readonly others: readonly ServiceKey[];
}

export interface HealthPorts {
  /** A Service, or its endpoints, as they are now; undefined when it is gone. */
  set(key: ServiceKey, service: Service | undefined, slices: readonly EndpointSlice[]): void;
  /** Ports that changed since the last call. */
  take(): readonly HealthPort[];
}

interface Claim {
  readonly createdAt: number;
  readonly told: ServiceHealthPort;
}

export function createHealthPorts(
  nodeName: string,
  families: readonly Family[],
  clashes: Pick<PortClashes, 'healthPort'>,
): HealthPorts {
  const portOf = new Map<ServiceKey, number>();
  const claims = new Map<number, Map<ServiceKey, Claim>>();
  const changed = new Set<number>();

  return {
    set(key, service, slices) {
      const before = portOf.get(key);
      const port = service?.healthCheckNodePort ?? 0;
      if (before !== undefined && before !== port) {
        claims.get(before)?.delete(key);
        if (claims.get(before)?.size === 0) claims.delete(before);
        portOf.delete(key);
        changed.add(before);
      }
      if (service === undefined || port === 0) return;
      const { namespace, name, uid, createdAt } = service;
      const served = families.filter((family) => service.clusterIPs.some((ip) => familyOf(ip) === family));
      const counts = new Map(
        served.map((family) => [family, localReady(service, slices, family, nodeName)] as const),
      );
      const claimed = claims.get(port) ?? new Map<ServiceKey, Claim>();
      claimed.set(key, { createdAt, told: { namespace, name, uid, counts } });
      claims.set(port, claimed);
      portOf.set(key, port);
      changed.add(port);
    },
    take() {
      const taken = [...changed].map((port): HealthPort => {
        // As with frontends: the older has it, the name decides between Services of the same second.
        const [holder, ...others] = [...(claims.get(port)?.values() ?? [])].sort(
          (a, b) => a.createdAt - b.createdAt || (keyOf(a) < keyOf(b) ? -1 : 1),
        );
        clashes.healthPort(port, holder === undefined ? undefined : keyOf(holder));
        return { port, holder: holder?.told, others: others.map(keyOf) };
      });
      changed.clear();
      return taken;
    },
  };
}

const keyOf = ({ told }: Claim): ServiceKey => serviceKey(told.namespace, told.name);

/** Distinct addresses of ready endpoints on this node, over all ports (behaviour spec 6.2). */
function localReady(
  { ports }: Service,
  slices: readonly EndpointSlice[],
  family: Family,
  nodeName: string,
): number {
  const ready = new Set<string>();
  for (const { name, protocol } of ports) {
    for (const { traits } of mergeSlices(slices, family, name, protocol)) {
      if (traits.node === nodeName && traits.state === 'ready') ready.add(traits.address);
    }
  }
  return ready.size;
}

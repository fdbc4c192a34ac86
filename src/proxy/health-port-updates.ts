// Carries health check node ports from the cluster's state to their servers; a port that is taken is set aside by name.
import { serviceKey } from '../model/service.ts';
import type { ServiceHealth } from '../observe/service-health.ts';
import type { HealthPort } from './health-ports.ts';
import type { Quarantine } from './quarantine.ts';

export interface HealthPortUpdatesOptions {
  readonly servers: Pick<ServiceHealth, 'apply'>;
  readonly quarantine: Pick<Quarantine, 'hold' | 'release'>;
}

/** Takes changed ports; to be called once a sync has gone through, so that nothing is told that is not true yet. */
export function createHealthPortUpdates({
  servers,
  quarantine,
}: HealthPortUpdatesOptions): (changes: readonly HealthPort[]) => void {
  const held = new Map<number, readonly string[]>();
  return (changes) => {
    if (changes.length === 0) return;
    servers.apply(new Map(changes.map(({ port, holder }) => [port, holder])));
    for (const { port, holder, others } of changes) {
      const keys = others.map((key) => `services ${key} healthCheckNodePort ${port}`);
      for (const key of held.get(port) ?? []) if (!keys.includes(key)) quarantine.release('object', key);
      if (holder === undefined || keys.length === 0) held.delete(port);
      else {
        const reason = `the port is that of the older Service ${serviceKey(holder.namespace, holder.name)}`;
        for (const key of keys) quarantine.hold('object', key, reason);
        held.set(port, keys);
      }
    }
  };
}

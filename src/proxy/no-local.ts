// Service ports whose policy keeps traffic on the node while all their endpoints are elsewhere: upstream's gauge
// (behaviour spec 6.3, sync_proxy_rules_no_local_endpoints_total).
import { FAMILIES, type Family } from '../model/address.ts';
import type { ServiceKey } from '../model/service.ts';
import type { Entry } from '../plan/forwarding-table.ts';

export type PolicySide = 'internal' | 'external';

/** Service ports, by side of the policy and by family. */
export type NoLocalCounts = Readonly<Record<PolicySide, Readonly<Record<Family, number>>>>;

export interface NoLocal {
  /** The entries that one Service has now; none when it is gone. */
  set(key: ServiceKey, entries: readonly Entry[]): void;
  readonly counts: NoLocalCounts;
}

export function createNoLocal(): NoLocal {
  const byService = new Map<ServiceKey, NoLocalCounts>();
  const total = { internal: { IPv4: 0, IPv6: 0 }, external: { IPv4: 0, IPv6: 0 } };
  const add = (counts: NoLocalCounts | undefined, sign: 1 | -1): void => {
    if (counts === undefined) return;
    for (const side of ['internal', 'external'] as const)
      for (const family of FAMILIES) total[side][family] += sign * counts[side][family];
  };
  return {
    set(key, entries) {
      const before = byService.get(key);
      const now = noLocalOf(entries);
      if (before === undefined && now === undefined) return;
      add(before, -1);
      add(now, 1);
      if (now === undefined) byService.delete(key);
      else byService.set(key, now);
    },
    get counts() {
      return { internal: { ...total.internal }, external: { ...total.external } };
    },
  };
}

/** Undefined when there is none, as for nearly all. */
function noLocalOf(entries: readonly Entry[]): NoLocalCounts | undefined {
  const ports = new Set<string>();
  const counts = { internal: { IPv4: 0, IPv6: 0 }, external: { IPv4: 0, IPv6: 0 } };
  for (const { frontend, servicePort, route } of entries) {
    const side = sideWithout(frontend.kind, route);
    if (side === undefined) continue;
    const { family, portName, protocol } = servicePort;
    const port = `${side} ${family} ${protocol} ${portName}`;
    if (ports.has(port)) continue;
    ports.add(port);
    counts[side][family] += 1;
  }
  return ports.size === 0 ? undefined : counts;
}

/** A drop is what is planned when there are endpoints, and none that the policy allows; without any it is a reject. */
function sideWithout(kind: Entry['frontend']['kind'], route: Entry['route']): PolicySide | undefined {
  if (kind === 'cluster-ip') return route.kind === 'drop' ? 'internal' : undefined;
  return route.kind === 'drop' || (route.kind === 'by-source' && route.local.length === 0)
    ? 'external'
    : undefined;
}

// The claims of a Service on cluster IPs. Who holds which address is the IPAddress objects (KEP-1880).
import {
  type Address,
  type Cidr,
  cidrContains,
  FAMILIES,
  type Family,
  familyOf,
  parseAddress,
} from '../../../../model/address.ts';
import { type FieldError, invalidValue } from '../../field-error.ts';
import { timestamp } from '../../time.ts';
import type { Cluster } from '../cluster.ts';
import { addedCidrs } from '../ip-address.ts';
import { chooseAddress, isUsable } from './address-range.ts';
import { HEADLESS, isHeadless, needsClusterIp, type Service } from './types.ts';

export type Addresses =
  | { readonly ok: true; readonly addresses: readonly string[]; settle(): void }
  | { readonly ok: false; readonly errors: readonly FieldError[] };

const held = (service: Service | undefined): readonly Address[] =>
  service !== undefined && needsClusterIp(service.spec)
    ? (service.spec.clusterIPs ?? []).filter((address) => address !== HEADLESS)
    : [];

function rangesOf(cluster: Cluster): readonly Cidr[] {
  const added = addedCidrs(cluster.store.entries('servicecidrs').map(([, object]) => object));
  return [...cluster.serviceCidrs, ...added];
}

/** Chooses or checks the addresses; nothing is taken before `settle`. Families must be filled in. */
export function reserveAddresses(service: Service, before: Service | undefined, cluster: Cluster): Addresses {
  const { spec } = service;
  const own = new Set(held(before));
  const settle = (wanted: readonly Address[]) => (): void => {
    for (const address of own) if (!wanted.includes(address)) cluster.store.remove('ipaddresses', address);
    for (const address of wanted) if (!own.has(address)) record(address, service, cluster);
  };
  if (!needsClusterIp(spec)) return { ok: true, addresses: [], settle: settle([]) };
  if (isHeadless(spec)) return { ok: true, addresses: [HEADLESS], settle: settle([]) };

  const ranges = rangesOf(cluster);
  const asked = spec.clusterIPs ?? [];
  const chosen: string[] = [];
  const fail = (why: string): Addresses => ({
    ok: false,
    errors: [invalidValue('spec.clusterIPs', asked, why)],
  });
  const families: readonly string[] = spec.ipFamilies ?? [];
  for (const [at, family] of families.entries()) {
    const address = asked[at];
    if (address === undefined || address === '') {
      // An address that the update took away is not replaced: whether it may go is validation's to say.
      if (before?.spec.clusterIPs?.[at] !== undefined && own.size > at) continue;
      const free = chooseFree(ranges, family as Family, cluster);
      if (free === undefined)
        return {
          ok: false,
          errors: [invalidValue('spec.clusterIPs', asked, 'failed to allocate a serviceIP: range is full')],
        };
      chosen.push(free);
      continue;
    }
    // Malformed addresses and wrong families are validation's to name.
    const wanted = parseAddress(address) === address && familyOf(address) === family;
    if (wanted && !own.has(address)) {
      if (!ranges.some((range) => cidrContains(range, address) && isUsable(range, address)))
        return fail(
          `failed to allocate IP ${address}: the provided network does not match the current range`,
        );
      if (cluster.store.get('ipaddresses', address) !== undefined)
        return fail(`failed to allocate IP ${address}: provided IP is already allocated`);
    }
    chosen.push(address);
  }
  chosen.push(...asked.slice(families.length));
  return { ok: true, addresses: chosen, settle: settle(chosen.filter((address) => isAddress(address))) };
}

const isAddress = (text: string): boolean =>
  FAMILIES.some((family) => familyOf(text) === family) && parseAddress(text) === text;

function chooseFree(ranges: readonly Cidr[], family: Family, cluster: Cluster): Address | undefined {
  const isTaken = (address: Address): boolean => cluster.store.get('ipaddresses', address) !== undefined;
  for (const range of ranges) {
    if (range.family !== family) continue;
    const free = chooseAddress(range, isTaken, () => cluster.random());
    if (free !== undefined) return free;
  }
  return undefined;
}

function record(address: Address, service: Service, cluster: Cluster): void {
  const { name = '', namespace = '' } = service.metadata;
  cluster.store.put('ipaddresses', address, {
    kind: 'IPAddress',
    apiVersion: 'networking.k8s.io/v1',
    metadata: {
      name: address,
      uid: crypto.randomUUID(),
      generation: 1,
      creationTimestamp: timestamp(cluster.now()),
      labels: {
        'ipaddress.kubernetes.io/ip-family': familyOf(address),
        'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
      },
    },
    spec: { parentRef: { resource: 'services', namespace, name } },
  });
}

/** Gives back all addresses of a Service that is gone. */
export function releaseAddresses(service: Service, cluster: Cluster): void {
  for (const address of held(service)) cluster.store.remove('ipaddresses', address);
}

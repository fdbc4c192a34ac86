// Addresses for Services of type LoadBalancer, as a cloud's controller gives them.
import { type Address, type Cidr, cidrContains, type Family, parseAddress } from '../../model/address.ts';
import { sameJson } from '../api/json.ts';
import { chooseAddress } from '../api/resources/service/address-range.ts';
import type { Ingress, Service } from '../api/resources/service/types.ts';

/** A Service of this class is some other controller's. */
const isOurs = ({ spec, metadata }: Service): boolean =>
  spec.type === 'LoadBalancer' &&
  spec.loadBalancerClass === undefined &&
  metadata.deletionTimestamp === undefined;

export type LoadBalancing =
  /** `ingress` is what the status should say. */
  | { readonly kind: 'given'; readonly ingress: readonly Ingress[] }
  /** Not ours, and nothing of ours in it. */
  | { readonly kind: 'none' }
  | { readonly kind: 'exhausted'; readonly because: string };

/**
 * What a Service's status.loadBalancer should list: one address per family of the Service, the present ones if they
 * serve, `spec.loadBalancerIP` if it is free, else the next free one of the pool.
 *
 * @param isTaken whether another Service has the address
 */
export function loadBalancing(
  service: Service,
  pool: readonly Cidr[],
  isTaken: (address: Address) => boolean,
): LoadBalancing {
  const present = ingressOf(service);
  if (!isOurs(service)) {
    const someoneElses = service.spec.type === 'LoadBalancer' && service.spec.loadBalancerClass !== undefined;
    return someoneElses || present.length === 0 ? { kind: 'none' } : { kind: 'given', ingress: [] };
  }
  const wanted = parseAddress(service.spec.loadBalancerIP ?? '');
  const ingress: Ingress[] = [];
  for (const family of service.spec.ipFamilies ?? ['IPv4']) {
    const range = pool.find((cidr) => cidr.family === (family as Family));
    if (range === undefined) continue;
    const inRange = (address: Address | undefined): address is Address =>
      address !== undefined && cidrContains(range, address) && !isTaken(address);
    const kept = present.map(({ ip }) => ip).find(inRange);
    const ip = inRange(wanted) ? wanted : (kept ?? chooseAddress(range, isTaken, () => 0));
    if (ip === undefined)
      return {
        kind: 'exhausted',
        because: `all load-balancer addresses of ${range.address}/${range.prefix} are taken`,
      };
    ingress.push({ ip, ipMode: 'VIP' });
  }
  return { kind: 'given', ingress };
}

export const ingressOf = ({ status }: Service): readonly Ingress[] => status?.loadBalancer?.ingress ?? [];

export const sameIngress = (one: readonly Ingress[], other: readonly Ingress[]): boolean =>
  sameJson(one, other);

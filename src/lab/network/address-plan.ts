// Who has which address in a lab: documentation and private ranges, which live inside the lab's namespaces only. The
// same digits stand in both families, so that a reader sees at a glance whose address it is: node 2 is 192.0.2.12 and
// 2001:db8::12, its third Pod 10.244.2.4 and fd00:244:2::4.
import { PointsmanError } from '../../base/errors.ts';
import {
  type Address,
  cidrContains,
  type Family,
  familyOf,
  parseAddress,
  parseCidr,
} from '../../model/address.ts';

/** One address or range of each family. */
export type PerFamily = Readonly<Record<Family, string>>;

/** The network of the nodes; the switch is its router. */
export const NODE_NET: PerFamily = { IPv4: '192.0.2.0/24', IPv6: '2001:db8::/64' };
export const ROUTER: PerFamily = { IPv4: '192.0.2.1', IPv6: '2001:db8::1' };

/** The network beyond the cluster, with one client in it. */
export const OUTSIDE_NET: PerFamily = { IPv4: '198.51.100.0/24', IPv6: '2001:db8:51::/64' };
export const OUTSIDE_ROUTER: PerFamily = { IPv4: '198.51.100.1', IPv6: '2001:db8:51::1' };
export const OUTSIDE: PerFamily = { IPv4: '198.51.100.2', IPv6: '2001:db8:51::2' };

/** All Pods of all nodes, as `--cluster-cidr` wants it. */
export const CLUSTER_RANGE: PerFamily = { IPv4: '10.244.0.0/16', IPv6: 'fd00:244::/32' };
/** Cluster IPs. */
export const SERVICE_RANGE: PerFamily = { IPv4: '10.96.0.0/16', IPv6: 'fd00:96::/112' };
/** Load-balancer addresses. */
export const LOAD_BALANCER_RANGE: PerFamily = { IPv4: '203.0.113.0/24', IPv6: '2001:db8:113::/64' };

/** Node numbers go from 1 to this. */
export const MOST_NODES = 200;
/** A node's Pods are numbered from 2 (1 is the gateway) to this. */
export const FIRST_POD = 2;
export const LAST_POD = 254;

/** Addresses of the node with this number. */
export function nodeAddresses(node: number): PerFamily {
  return { IPv4: `192.0.2.${10 + checked(node)}`, IPv6: `2001:db8::${10 + node}` };
}

/** The node's Pods, as its `spec.podCIDRs`. */
export function podRanges(node: number): PerFamily {
  return { IPv4: `10.244.${checked(node)}.0/24`, IPv6: `fd00:244:${node}::/64` };
}

/** The node's own address on the bridge of its Pods, their gateway. */
export function podGateways(node: number): PerFamily {
  return { IPv4: `10.244.${checked(node)}.1`, IPv6: `fd00:244:${node}::1` };
}

/** Addresses of the node's Pod with this number. */
export function podAddresses(node: number, pod: number): PerFamily {
  return { IPv4: `10.244.${checked(node)}.${pod}`, IPv6: `fd00:244:${node}::${pod}` };
}

/** A stable Ethernet address, so that a neighbour's memory of an address is right also after it changed hands. */
export function hardwareAddress(kind: 'switch' | 'node' | 'bridge' | 'pod', node: number, pod = 0): string {
  const kinds = { switch: 1, node: 2, bridge: 3, pod: 4 };
  const bytes = [0x02, 0x4c, 0, kinds[kind], node, pod];
  return bytes.map((byte) => byte.toString(16).padStart(2, '0')).join(':');
}

/**
 * Addresses asked for a Pod in canonical text, IPv4 first. Throws E_LAB unless there is at most one of each family,
 * each in the node's range and not the gateway's.
 */
export function checkPodAddresses(node: number, texts: readonly string[]): readonly Address[] {
  const found = new Map<Family, Address>();
  for (const text of texts) {
    const address = parseAddress(text);
    if (address === undefined)
      throw new PointsmanError('E_LAB', `${JSON.stringify(text)} is not an IP address`);
    const family = familyOf(address);
    const range = podRanges(node)[family];
    const cidr = parseCidr(range);
    const taken = [podGateways(node)[family], `10.244.${node}.0`, `10.244.${node}.255`, `fd00:244:${node}::`];
    if (cidr === undefined || !cidrContains(cidr, address) || taken.includes(address)) {
      throw new PointsmanError('E_LAB', `no Pod of node ${node} can have the address ${address}`, {
        hint: `choose one of ${range}, the first is the gateway`,
      });
    }
    if (found.has(family)) throw new PointsmanError('E_LAB', `a Pod cannot have two ${family} addresses`);
    found.set(family, address);
  }
  return [found.get('IPv4'), found.get('IPv6')].filter((address) => address !== undefined);
}

function checked(node: number): number {
  if (Number.isInteger(node) && node >= 1 && node <= MOST_NODES) return node;
  throw new PointsmanError('E_LAB', `a lab has nodes 1 to ${MOST_NODES}, not ${node}`);
}

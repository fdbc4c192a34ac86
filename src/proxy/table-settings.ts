// What holds for all entries, from the configuration, the own Node and the cluster's ServiceCIDRs.
import type { ProxyConfig } from '../config/proxy-config.ts';
import { type Cidr, type Family, familyOf } from '../model/address.ts';
import type { Node } from '../model/node.ts';
import type { ForwardingTable, TableSettings } from '../plan/forwarding-table.ts';

/**
 * `serviceCidrs` are those of both families. The node's first address of a family serves node ports, all do while none is known (behaviour spec 1.6, `primary`).
 */
export function tableSettings(
  { clusterCidrs, masqueradeAll }: Pick<ProxyConfig, 'clusterCidrs' | 'masqueradeAll'>,
  node: Pick<Node, 'addresses'> | undefined,
  serviceCidrs: readonly Cidr[],
): ForwardingTable['settings'] {
  const settingsOf = (family: Family): TableSettings => {
    const cidr = clusterCidrs.find((candidate) => candidate.family === family);
    const primary = node?.addresses.find((address) => familyOf(address) === family && !isLoopback(address));
    return {
      masqueradeAll,
      localDetector: cidr === undefined ? { kind: 'none' } : { kind: 'cidr', cidr },
      serviceCidrs: serviceCidrs.filter((range) => range.family === family),
      nodePortAddresses: primary === undefined ? 'all' : [primary],
    };
  };
  return { IPv4: settingsOf('IPv4'), IPv6: settingsOf('IPv6') };
}

function isLoopback(address: string): boolean {
  return address.startsWith('127.') || address === '::1';
}

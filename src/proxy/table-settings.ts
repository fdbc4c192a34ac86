// What holds for all entries, from the configuration, the own Node, its addresses and the cluster's ServiceCIDRs.
import type { ProxyConfig } from '../config/proxy-config.ts';
import {
  type Address,
  type Cidr,
  cidrContains,
  type Family,
  familyOf,
  isLoopback,
} from '../model/address.ts';
import type { Node } from '../model/node.ts';
import type { ForwardingTable, LocalDetector, TableSettings } from '../plan/forwarding-table.ts';

export type SettingsConfig = Pick<
  ProxyConfig,
  'localDetection' | 'masqueradeAll' | 'nodePorts' | 'bindAddress'
>;

/** What is known so far. */
export interface SettingsFacts {
  readonly node: Pick<Node, 'addresses' | 'podCidrs'> | undefined;
  /** Of both families. */
  readonly serviceCidrs: readonly Cidr[];
  /** The addresses of this machine's interfaces; needed only where node ports are chosen by CIDR. */
  readonly localAddresses: readonly Address[];
}

export function tableSettings(config: SettingsConfig, facts: SettingsFacts): ForwardingTable['settings'] {
  const settingsOf = (family: Family): TableSettings => ({
    masqueradeAll: config.masqueradeAll,
    localDetector: detectorOf(config, facts, family),
    serviceCidrs: facts.serviceCidrs.filter((range) => range.family === family),
    nodePortAddresses: nodePortAddresses(config, facts, family),
  });
  return { IPv4: settingsOf('IPv4'), IPv6: settingsOf('IPv6') };
}

/** The node's first address of a family that is no loopback; a given bind address stands for it (behaviour spec 1.6). */
export function primaryAddress(
  { bindAddress }: Pick<ProxyConfig, 'bindAddress'>,
  node: Pick<Node, 'addresses'> | undefined,
  family: Family,
): Address | undefined {
  const given = bindAddress === undefined ? [] : [bindAddress];
  return [...given, ...(node?.addresses ?? [])].find(
    (address) => familyOf(address) === family && !isLoopback(address),
  );
}

/** Behaviour spec 3.3, Detector: the first CIDR of the family counts; without one there is no detector for it. */
function detectorOf(
  { localDetection }: SettingsConfig,
  { node }: SettingsFacts,
  family: Family,
): LocalDetector {
  const first = (cidrs: readonly Cidr[]): LocalDetector => {
    const cidr = cidrs.find((candidate) => candidate.family === family);
    return cidr === undefined ? { kind: 'none' } : { kind: 'cidr', cidr };
  };
  switch (localDetection.kind) {
    case 'cluster-cidr':
      return first(localDetection.cidrs);
    case 'node-cidr':
      return first(node?.podCidrs ?? []);
    case 'bridge':
      return { kind: 'interface', name: localDetection.name };
    case 'interface-prefix':
      return { kind: 'interface-prefix', prefix: localDetection.prefix };
  }
}

/**
 * Behaviour spec 1.6: the primary address, or all while none is known; or the machine's addresses in the CIDRs. All
 * of a family serve it when no CIDR is of that family, or one of them holds everything.
 */
function nodePortAddresses(
  config: SettingsConfig,
  { node, localAddresses }: SettingsFacts,
  family: Family,
): TableSettings['nodePortAddresses'] {
  if (config.nodePorts.kind === 'primary') {
    const primary = primaryAddress(config, node, family);
    return primary === undefined ? 'all' : [primary];
  }
  const cidrs = config.nodePorts.cidrs.filter((cidr) => cidr.family === family);
  if (cidrs.length === 0 || cidrs.some(({ prefix }) => prefix === 0)) return 'all';
  const inside = localAddresses.filter(
    (address) =>
      familyOf(address) === family &&
      !isLoopback(address) &&
      cidrs.some((cidr) => cidrContains(cidr, address)),
  );
  // Sorted: the order in which interfaces are listed says nothing.
  return [...new Set(inside)].sort();
}

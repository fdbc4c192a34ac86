// Which IP families this node has (behaviour spec 1.6): IPv4 always, IPv6 unless the kernel lacks it or it is off.
import { PointsmanError } from '../base/errors.ts';
import type { Cidr, Family } from '../model/address.ts';

const IPV6_ADDRESSES = '/proc/net/if_inet6';
const IPV6_SWITCH = '/proc/sys/net/ipv6/conf/all/disable_ipv6';

/** `read` gives a file's text, or undefined when there is no such file. */
export function detectFamilies(read: (path: string) => string | undefined): readonly Family[] {
  const there = read(IPV6_ADDRESSES) !== undefined && read(IPV6_SWITCH)?.trim() !== '1';
  return there ? ['IPv4', 'IPv6'] : ['IPv4'];
}

/** On a node of one family, cluster CIDRs of the other alone can only be a mistake. Throws E_CONFIG. */
export function checkClusterCidrs(families: readonly Family[], clusterCidrs: readonly Cidr[]): void {
  if (clusterCidrs.length === 0 || clusterCidrs.some(({ family }) => families.includes(family))) return;
  throw new PointsmanError(
    'E_CONFIG',
    `kube-proxy configuration is incorrect: cluster CIDRs contain only ${clusterCidrs[0]?.family} ranges, and this node has ${families.join(' and ')}`,
    { hint: 'correct --cluster-cidr' },
  );
}

// Which IP families this node has (behaviour spec 1.6): IPv4 always, IPv6 unless the kernel lacks it or it is off.
import type { Family } from '../model/address.ts';

const IPV6_ADDRESSES = '/proc/net/if_inet6';
const IPV6_SWITCH = '/proc/sys/net/ipv6/conf/all/disable_ipv6';

/** `read` gives a file's text, or undefined when there is no such file. */
export function detectFamilies(read: (path: string) => string | undefined): readonly Family[] {
  const there = read(IPV6_ADDRESSES) !== undefined && read(IPV6_SWITCH)?.trim() !== '1';
  return there ? ['IPv4', 'IPv6'] : ['IPv4'];
}

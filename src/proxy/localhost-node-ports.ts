// Whether node ports answer on 127.0.0.1, which only iptables mode can (behaviour spec 3.3, localhost NodePort).
import type { ProxyConfig } from '../config/proxy-config.ts';
import { cidrCovers } from '../model/address.ts';

const LOOPBACK = { family: 'IPv4', address: '127.0.0.0', prefix: 8 } as const;

/** It is asked for, and nodePortAddresses has loopback: by having nothing, or a range around it. */
export function servesLocalhost({ source, nodePorts }: Pick<ProxyConfig, 'source' | 'nodePorts'>): boolean {
  if (!source.iptables.localhostNodePorts || nodePorts.kind === 'primary') return false;
  const cidrs = nodePorts.cidrs.filter(({ family }) => family === 'IPv4');
  return cidrs.length === 0 || cidrs.some((cidr) => cidrCovers(cidr, LOOPBACK));
}

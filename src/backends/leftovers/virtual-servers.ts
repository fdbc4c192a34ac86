// Which virtual servers of IPVS are a kube-proxy's. Upstream's own clean-up removes all of the node, also those of other
// programs; here only what bears kube-proxy's mark goes.
import type { VirtualServer } from '../../kernel/genl/ipvs.ts';

export interface Marks {
  /** Addresses of the device kube-ipvs0. */
  readonly serviceAddresses: readonly Uint8Array[];
  /** Addresses of the node's other devices. */
  readonly nodeAddresses: readonly Uint8Array[];
  /** What the sets of node ports hold, by the family of the set; see `nodePortKey`. */
  readonly nodePorts: ReadonlySet<string>;
}

/** A node port of one family; `protocol` is IPPROTO_*. */
export const nodePortKey = (family: 4 | 6, protocol: number, port: number): string =>
  `${family}/${protocol}/${port}`;

export interface Sorted {
  readonly own: readonly VirtualServer[];
  readonly foreign: readonly VirtualServer[];
}

/**
 * A virtual server is kube-proxy's when its address is on kube-ipvs0, or when it serves, on an address of the node, a port
 * that stands in kube-proxy's sets of node ports.
 */
export function sortVirtualServers(servers: readonly VirtualServer[], marks: Marks): Sorted {
  const onDevice = new Set(marks.serviceAddresses.map(textOf));
  const onNode = new Set(marks.nodeAddresses.map(textOf));
  const isOwn = (server: VirtualServer): boolean => {
    if (server.kind === 'mark') return false;
    const { address, protocol, port } = server;
    const key = nodePortKey(address.length === 4 ? 4 : 6, protocol, port);
    return onDevice.has(textOf(address)) || (onNode.has(textOf(address)) && marks.nodePorts.has(key));
  };
  return { own: servers.filter(isOwn), foreign: servers.filter((server) => !isOwn(server)) };
}

const textOf = (address: Uint8Array): string => Buffer.from(address).toString('hex');

// What becomes of one packet, by the ForwardingTable alone: the same answer that every data path must give.
import { type Address, cidrContains, familyOf, isLoopback } from '../model/address.ts';
import type { Protocol } from '../model/service.ts';
import { type Endpoint, frontendKey } from '../model/service-port.ts';
import type { Entry, ForwardingTable, LocalDetector, TableSettings } from './forwarding-table.ts';

/** The first packet of a connection, as it meets this node. */
export interface Packet {
  readonly source: Address;
  readonly destination: Address;
  readonly protocol: Protocol;
  readonly port: number;
  /** The interface it came in by; undefined when a process of the node itself sent it. */
  readonly inputInterface: string | undefined;
}

/** What this node is to packets. */
export interface NodeAddresses {
  /** All addresses that the node answers to, loopback included. */
  readonly local: readonly Address[];
}

export type Fate =
  | {
      readonly kind: 'forwarded';
      /** Each is as likely as the others. */
      readonly endpoints: readonly Endpoint[];
      /** For a hairpin connection (the chosen endpoint is the client) the source is always replaced. */
      readonly masqueraded: boolean;
      readonly because: string;
      readonly entry: Entry;
    }
  | { readonly kind: 'rejected' | 'dropped'; readonly because: string; readonly entry?: Entry }
  /** Not a Service's business: it goes where routing takes it. */
  | { readonly kind: 'untouched'; readonly because: string };

/** Behaviour spec 3.2 and 3.3 for one packet, as nftables mode has it. */
export function fateOf(packet: Packet, table: ForwardingTable, node: NodeAddresses): Fate {
  const family = familyOf(packet.destination);
  const settings = table.settings[family];
  const entry = entryFor(packet, table, node);
  if (entry === undefined) return withoutEntry(packet, table, settings);
  const { allowedSources, route } = entry;
  if (allowedSources !== undefined && !allowedSources.some((range) => cidrContains(range, packet.source))) {
    return { kind: 'dropped', because: `${packet.source} is in none of loadBalancerSourceRanges`, entry };
  }
  const isPod = isLocalPod(packet, settings.localDetector);
  const isOwn = node.local.includes(packet.source);
  switch (route.kind) {
    case 'reject':
      return { kind: 'rejected', because: route.because, entry };
    case 'drop':
      return { kind: 'dropped', because: route.because, entry };
    case 'balance':
      return {
        kind: 'forwarded',
        endpoints: route.endpoints,
        ...masquerade(entry, settings, isPod, isOwn),
        entry,
      };
    case 'by-source': {
      const endpoints = isPod || isOwn ? route.all : route.local;
      if (endpoints.length === 0) return { kind: 'dropped', because: route.because, entry };
      return { kind: 'forwarded', endpoints, ...masquerade(entry, settings, isPod, isOwn), entry };
    }
  }
}

function entryFor(packet: Packet, table: ForwardingTable, node: NodeAddresses): Entry | undefined {
  const { destination: address, protocol, port } = packet;
  const family = familyOf(address);
  const direct = table.entries.get(frontendKey({ kind: 'cluster-ip', family, address, protocol, port }));
  if (direct !== undefined || !servesNodePorts(address, table.settings[family], node)) return direct;
  return table.entries.get(frontendKey({ kind: 'node-port', family, protocol, port }));
}

function servesNodePorts(address: Address, settings: TableSettings, node: NodeAddresses): boolean {
  if (!node.local.includes(address) || isLoopback(address)) return false;
  return settings.nodePortAddresses === 'all' || settings.nodePortAddresses.includes(address);
}

/** A ClusterIP answers for its own ports only, and a free address of a ServiceCIDR for none. */
function withoutEntry(packet: Packet, table: ForwardingTable, settings: TableSettings): Fate {
  for (const { frontend } of table.entries.values()) {
    if (frontend.kind === 'cluster-ip' && frontend.address === packet.destination) {
      return {
        kind: 'rejected',
        because: `no Service has port ${packet.port}/${packet.protocol} on this ClusterIP`,
      };
    }
  }
  if (settings.serviceCidrs.some((cidr) => cidrContains(cidr, packet.destination))) {
    return { kind: 'dropped', because: 'a ServiceCIDR holds the address, but no Service has it' };
  }
  return { kind: 'untouched', because: 'no Service has this address and port' };
}

function isLocalPod(packet: Packet, detector: LocalDetector): boolean {
  switch (detector.kind) {
    case 'none':
      return false;
    case 'cidr':
      return cidrContains(detector.cidr, packet.source);
    case 'interface':
      return packet.inputInterface === detector.name;
    case 'interface-prefix':
      return packet.inputInterface?.startsWith(detector.prefix) ?? false;
  }
}

function masquerade(
  entry: Entry,
  settings: TableSettings,
  isPod: boolean,
  isOwn: boolean,
): { readonly masqueraded: boolean; readonly because: string } {
  switch (entry.masquerade) {
    case 'always':
      return {
        masqueraded: true,
        because: 'externalTrafficPolicy is Cluster: the answer must come back through this node',
      };
    case 'own':
      return isOwn
        ? { masqueraded: true, because: 'the client is this node' }
        : { masqueraded: false, because: 'externalTrafficPolicy is Local: the client address is kept' };
    case 'unless-pod':
      if (settings.masqueradeAll) return { masqueraded: true, because: 'masqueradeAll is on' };
      if (settings.localDetector.kind === 'none')
        return { masqueraded: false, because: 'local pods cannot be told from others: no detector is set' };
      return isPod
        ? { masqueraded: false, because: 'the client is a pod, as the local detector tells' }
        : { masqueraded: true, because: 'the client is no pod, as the local detector tells' };
  }
}

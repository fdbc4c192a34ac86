// The addresses of a node over rtnetlink (linux/if_addr.h, linux/rtnetlink.h), and changes to them. Numbers on this
// wire are in the machine's own order.
import { PointsmanError } from '../../base/errors.ts';
import type { KernelClient, Subscription } from '../client.ts';
import { NLM_F_DUMP, NLM_F_REQUEST } from '../netlink/constants.ts';
import { attributeMap, hostU32, messagesOf } from '../netlink/reader.ts';
import { createNetlinkWriter, type NetlinkWriter, putHostU32 } from '../netlink/writer.ts';
import { AF_INET, AF_INET6 } from '../sys/constants.ts';

const RTM_NEWADDR = 20;
const RTM_DELADDR = 21;
const RTM_GETADDR = 22;
const IFADDRMSG_LENGTH = 8;
const IFA_ADDRESS = 1;
const IFA_LOCAL = 2;
const RTNLGRP_IPV4_IFADDR = 5;
const RTNLGRP_IPV6_IFADDR = 9;

/** An address of an interface. */
export interface InterfaceAddress {
  /** 4 or 16 bytes in network order; of a point-to-point link the own end. */
  readonly address: Uint8Array;
  readonly prefix: number;
  /** Number of the interface, as `ip link` prints it. */
  readonly interfaceIndex: number;
}

/** What a message says of an address. */
export interface AddressMessage extends InterfaceAddress {
  readonly gone: boolean;
}

/** Writes what the kernel would: a dump's line or an event. */
export function writeAddress(writer: NetlinkWriter, message: AddressMessage, sequence: number): void {
  writer.beginMessage(message.gone ? RTM_DELADDR : RTM_NEWADDR, 0, sequence);
  const header = Buffer.alloc(IFADDRMSG_LENGTH);
  header[0] = message.address.length === 4 ? AF_INET : AF_INET6;
  header[1] = message.prefix;
  putHostU32(header, message.interfaceIndex, 4);
  writer.raw(header);
  writer.bytes(IFA_ADDRESS, message.address);
  if (message.address.length === 4) writer.bytes(IFA_LOCAL, message.address);
  writer.endMessage();
}

/** The addresses that a datagram speaks of. Messages of other kinds are passed over. */
export function* addressesIn(datagram: Uint8Array): Generator<AddressMessage> {
  for (const { type, payload } of messagesOf(datagram)) {
    if (type !== RTM_NEWADDR && type !== RTM_DELADDR) continue;
    const attributes = attributeMap(payload, IFADDRMSG_LENGTH);
    // IFA_ADDRESS is the other end of a point-to-point link, where there is one.
    const address = attributes.get(IFA_LOCAL) ?? attributes.get(IFA_ADDRESS);
    if (address === undefined || (address.length !== 4 && address.length !== 16)) {
      throw new PointsmanError('E_MALFORMED', 'the kernel told of an interface address without the address');
    }
    yield {
      address: new Uint8Array(address),
      prefix: payload[1] ?? 0,
      interfaceIndex: hostU32(payload, 4),
      gone: type === RTM_DELADDR,
    };
  }
}

/** Asks for all addresses of all interfaces. */
export function addressesRequest(): Uint8Array<ArrayBuffer> {
  const writer = createNetlinkWriter(64);
  writer.beginMessage(RTM_GETADDR, NLM_F_REQUEST | NLM_F_DUMP, 1);
  writer.raw(new Uint8Array(IFADDRMSG_LENGTH));
  writer.endMessage();
  return writer.finish();
}

/** All addresses of all interfaces, loopback included. Rejects as `KernelClient.dump` does. */
export async function listAddresses(
  client: Pick<KernelClient, 'dump'>,
): Promise<readonly InterfaceAddress[]> {
  const found: InterfaceAddress[] = [];
  for (const datagram of await client.dump('route', addressesRequest())) {
    for (const { address, prefix, interfaceIndex } of addressesIn(datagram))
      found.push({ address, prefix, interfaceIndex });
  }
  return found;
}

/** Calls back after addresses came or went, or may have. It is for the caller to list them anew. */
export function watchAddresses(
  client: Pick<KernelClient, 'subscribe'>,
  onChange: () => void,
): Promise<Subscription> {
  return client.subscribe({
    protocol: 'route',
    groups: [RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR],
    onEvent(datagram) {
      if (!addressesIn(datagram).next().done) onChange();
    },
    onLost: onChange,
  });
}

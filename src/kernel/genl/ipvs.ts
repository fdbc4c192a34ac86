// Virtual servers of IPVS by generic netlink (linux/ip_vs.h): what there is, and how one is removed.
import { PointsmanError } from '../../base/errors.ts';
import type { DirectKernel } from '../direct.ts';
import { NLM_F_DUMP, NLM_F_REQUEST } from '../netlink/constants.ts';
import { attributeMap, hostU16, hostU32, messagesOf } from '../netlink/reader.ts';
import { createNetlinkWriter, type NetlinkWriter } from '../netlink/writer.ts';
import { AF_INET, AF_INET6 } from '../sys/constants.ts';
import { familyNumber, GENL_HDRLEN, genlmsghdr } from './family.ts';

const IPVS_GENL_NAME = 'IPVS';
const IPVS_GENL_VERSION = 1;
export const IPVS_CMD_NEW_SERVICE = 1;
const IPVS_CMD_DEL_SERVICE = 3;
const IPVS_CMD_GET_SERVICE = 4;
const IPVS_CMD_ATTR_SERVICE = 1;
const IPVS_SVC_ATTR_AF = 1;
const IPVS_SVC_ATTR_PROTOCOL = 2;
const IPVS_SVC_ATTR_ADDR = 3;
const IPVS_SVC_ATTR_PORT = 4;
const IPVS_SVC_ATTR_FWMARK = 5;
/** `union nf_inet_addr`: an IPv4 address fills its first four bytes. */
const ADDRESS_SPACE = 16;

/** A virtual server by address, or by the mark of its packets. */
export type VirtualServer =
  | {
      readonly kind: 'address';
      /** 4 or 16 bytes in network order. */
      readonly address: Uint8Array;
      /** IPPROTO_*. */
      readonly protocol: number;
      readonly port: number;
    }
  | { readonly kind: 'mark'; readonly mark: number };

/** Writes the attributes that name a virtual server. */
export function writeVirtualServer(writer: NetlinkWriter, server: VirtualServer): void {
  const nested = writer.beginNested(IPVS_CMD_ATTR_SERVICE);
  if (server.kind === 'mark') {
    writer.host16(IPVS_SVC_ATTR_AF, AF_INET);
    writer.host32(IPVS_SVC_ATTR_FWMARK, server.mark);
  } else {
    const { address, protocol, port } = server;
    const space = new Uint8Array(ADDRESS_SPACE);
    space.set(address);
    writer.host16(IPVS_SVC_ATTR_AF, address.length === 4 ? AF_INET : AF_INET6);
    writer.host16(IPVS_SVC_ATTR_PROTOCOL, protocol);
    writer.bytes(IPVS_SVC_ATTR_ADDR, space);
    writer.be16(IPVS_SVC_ATTR_PORT, port);
  }
  writer.endNested(nested);
}

/** Writes one message about a virtual server: a dump's line with IPVS_CMD_NEW_SERVICE. */
export function writeServerMessage(
  writer: NetlinkWriter,
  type: number,
  command: number,
  server: VirtualServer,
): void {
  writer.beginMessage(type, NLM_F_REQUEST, 1);
  writer.raw(genlmsghdr(command, IPVS_GENL_VERSION));
  writeVirtualServer(writer, server);
  writer.endMessage();
}

/** The virtual servers of a dump; `type` is the number of the family. */
export function* virtualServersIn(datagram: Uint8Array, type: number): Generator<VirtualServer> {
  for (const message of messagesOf(datagram)) {
    if (message.type !== type || message.payload[0] !== IPVS_CMD_NEW_SERVICE) continue;
    const service = attributeMap(message.payload, GENL_HDRLEN).get(IPVS_CMD_ATTR_SERVICE);
    if (service === undefined) throw new PointsmanError('E_MALFORMED', 'a virtual server without attributes');
    const attributes = attributeMap(service);
    const mark = attributes.get(IPVS_SVC_ATTR_FWMARK);
    if (mark !== undefined) {
      yield { kind: 'mark', mark: hostU32(mark) };
      continue;
    }
    const [family, protocol, address, port] = [
      IPVS_SVC_ATTR_AF,
      IPVS_SVC_ATTR_PROTOCOL,
      IPVS_SVC_ATTR_ADDR,
      IPVS_SVC_ATTR_PORT,
    ].map((attribute) => attributes.get(attribute));
    if (family === undefined || protocol === undefined || address === undefined || port === undefined)
      throw new PointsmanError('E_MALFORMED', 'a virtual server without its address');
    yield {
      kind: 'address',
      address: new Uint8Array(address.subarray(0, hostU16(family) === AF_INET ? 4 : 16)),
      protocol: hostU16(protocol),
      port: port.readUInt16BE(0),
    };
  }
}

export interface Ipvs {
  list(): readonly VirtualServer[];
  /** Removes a virtual server with its real servers. Throws E_NETLINK, with ESRCH when it is gone already. */
  remove(server: VirtualServer): void;
}

/** Undefined when the kernel has no IPVS. Asking loads the module ip_vs: look at /proc/net/ip_vs before. */
export function openIpvs(kernel: Pick<DirectKernel, 'dump' | 'request'>): Ipvs | undefined {
  const type = familyNumber(kernel, IPVS_GENL_NAME);
  if (type === undefined) return undefined;
  return {
    list() {
      const writer = createNetlinkWriter(64);
      writer.beginMessage(type, NLM_F_REQUEST | NLM_F_DUMP, 1);
      writer.raw(genlmsghdr(IPVS_CMD_GET_SERVICE, IPVS_GENL_VERSION));
      writer.endMessage();
      return kernel
        .dump('generic', writer.finish())
        .flatMap((datagram) => [...virtualServersIn(datagram, type)]);
    },
    remove(server) {
      const writer = createNetlinkWriter(128);
      writeServerMessage(writer, type, IPVS_CMD_DEL_SERVICE, server);
      kernel.request('generic', writer.finish());
    },
  };
}

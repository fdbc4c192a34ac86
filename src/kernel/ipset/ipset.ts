// The sets of ipset by netlink (linux/netfilter/ipset/ip_set.h): what is in them, and how one is destroyed.
import { PointsmanError } from '../../base/errors.ts';
import type { DirectKernel } from '../direct.ts';
import { NLM_F_DUMP, NLM_F_REQUEST } from '../netlink/constants.ts';
import { NFGENMSG_LENGTH, netfilterType, nfgenmsg } from '../netlink/nfnetlink.ts';
import { attributeMap, attributesOf, messagesOf, stringOf } from '../netlink/reader.ts';
import { createNetlinkWriter, type NetlinkWriter } from '../netlink/writer.ts';
import { AF_INET } from '../sys/constants.ts';
import { EINVAL, ENOENT } from '../sys/errno.ts';

const NFNL_SUBSYS_IPSET = 6;
/** The oldest that kernels of today speak; all here is as old. */
const IPSET_PROTOCOL_MIN = 6;
const IPSET_CMD_DESTROY = 3;
const IPSET_CMD_LIST = 7;
const IPSET_ATTR_PROTOCOL = 1;
const IPSET_ATTR_SETNAME = 2;
const IPSET_ATTR_FLAGS = 6;
const IPSET_ATTR_DATA = 7;
const IPSET_ATTR_ADT = 8;
// Inside an element.
const IPSET_ATTR_PORT = 4;
const IPSET_ATTR_PROTO = 7;
const IPSET_FLAG_LIST_SETNAME = 1 << 1;

/** What of an element matters here: its port, and the protocol (IPPROTO_*) where the set has one. */
export interface IpsetElement {
  readonly port: number;
  readonly protocol?: number;
}

function beginMessage(writer: NetlinkWriter, command: number, flags: number, set: string | undefined): void {
  writer.beginMessage(netfilterType(NFNL_SUBSYS_IPSET, command), NLM_F_REQUEST | flags, 1);
  writer.raw(nfgenmsg(AF_INET));
  writer.u8(IPSET_ATTR_PROTOCOL, IPSET_PROTOCOL_MIN);
  if (set !== undefined) writer.string(IPSET_ATTR_SETNAME, set);
}

/** Writes what the kernel would: a part of a dump, of one set. */
export function writeSet(writer: NetlinkWriter, name: string, elements: readonly IpsetElement[]): void {
  beginMessage(writer, IPSET_CMD_LIST, 0, name);
  const list = writer.beginNested(IPSET_ATTR_ADT);
  for (const { port, protocol } of elements) {
    const element = writer.beginNested(IPSET_ATTR_DATA);
    writer.be16(IPSET_ATTR_PORT, port);
    if (protocol !== undefined) writer.u8(IPSET_ATTR_PROTO, protocol);
    writer.endNested(element);
  }
  writer.endNested(list);
  writer.endMessage();
}

/** The sets of a dump with their elements that have a port. A large set comes in several parts. */
export function* setsIn(
  datagram: Uint8Array,
): Generator<{ readonly name: string; readonly elements: readonly IpsetElement[] }> {
  for (const { type, payload } of messagesOf(datagram)) {
    if (type !== netfilterType(NFNL_SUBSYS_IPSET, IPSET_CMD_LIST)) continue;
    const attributes = attributeMap(payload, NFGENMSG_LENGTH);
    const name = attributes.get(IPSET_ATTR_SETNAME);
    if (name === undefined)
      throw new PointsmanError('E_MALFORMED', 'the kernel told of a set without a name');
    const elements: IpsetElement[] = [];
    for (const { payload: element } of attributesOf(attributes.get(IPSET_ATTR_ADT) ?? Buffer.alloc(0))) {
      const parts = attributeMap(element);
      const port = parts.get(IPSET_ATTR_PORT)?.readUInt16BE(0);
      const protocol = parts.get(IPSET_ATTR_PROTO)?.[0];
      if (port !== undefined) elements.push({ port, ...(protocol !== undefined && { protocol }) });
    }
    yield { name: stringOf(name), elements };
  }
}

/** The names of all sets; empty when the kernel has no ipset. */
export function listSetNames(kernel: Pick<DirectKernel, 'dump'>): readonly string[] {
  const writer = createNetlinkWriter(64);
  beginMessage(writer, IPSET_CMD_LIST, NLM_F_DUMP, undefined);
  writer.be32(IPSET_ATTR_FLAGS, IPSET_FLAG_LIST_SETNAME);
  writer.endMessage();
  try {
    const datagrams = kernel.dump('netfilter', writer.finish());
    return [...new Set(datagrams.flatMap((datagram) => [...setsIn(datagram)].map(({ name }) => name)))];
  } catch (error) {
    // How nfnetlink says that nobody serves the subsystem.
    if (error instanceof PointsmanError && error.facts.errno === EINVAL) return [];
    throw error;
  }
}

/** The elements of a set that have a port; none when there is no such set. */
export function listElements(kernel: Pick<DirectKernel, 'dump'>, set: string): readonly IpsetElement[] {
  const writer = createNetlinkWriter(128);
  beginMessage(writer, IPSET_CMD_LIST, NLM_F_DUMP, set);
  writer.endMessage();
  try {
    const datagrams = kernel.dump('netfilter', writer.finish());
    return datagrams.flatMap((datagram) => [...setsIn(datagram)].flatMap(({ elements }) => elements));
  } catch (error) {
    if (error instanceof PointsmanError && error.facts.errno === ENOENT) return [];
    throw error;
  }
}

/** Errno of a set that a rule or another set uses (IPSET_ERR_BUSY). */
const IPSET_ERR_BUSY = 4100;

/** Destroys a set. Throws E_NETLINK. */
export function destroySet(kernel: Pick<DirectKernel, 'request'>, set: string): 'destroyed' | 'in use' {
  const writer = createNetlinkWriter(128);
  beginMessage(writer, IPSET_CMD_DESTROY, 0, set);
  writer.endMessage();
  try {
    kernel.request('netfilter', writer.finish());
    return 'destroyed';
  } catch (error) {
    if (error instanceof PointsmanError && error.facts.errno === IPSET_ERR_BUSY) return 'in use';
    throw error;
  }
}

// Links by rtnetlink (linux/if_link.h): one by its name, and its end.
import { PointsmanError } from '../../base/errors.ts';
import type { DirectKernel } from '../direct.ts';
import { NLM_F_REQUEST } from '../netlink/constants.ts';
import { attributeMap, hostS32, messagesOf, stringOf } from '../netlink/reader.ts';
import { createNetlinkWriter, type NetlinkWriter, putHostU32 } from '../netlink/writer.ts';
import { ENODEV } from '../sys/errno.ts';

const RTM_NEWLINK = 16;
const RTM_DELLINK = 17;
const RTM_GETLINK = 18;
const IFINFOMSG_LENGTH = 16;
const IFLA_IFNAME = 3;
const IFLA_LINKINFO = 18;
const IFLA_INFO_KIND = 1;

export interface Link {
  /** Number of the interface, as `ip link` prints it. */
  readonly index: number;
  readonly name: string;
  /** `dummy`, `veth`…; absent for devices of hardware. */
  readonly kind?: string;
}

const header = (index: number): Uint8Array => {
  const bytes = new Uint8Array(IFINFOMSG_LENGTH);
  putHostU32(bytes, index, 4);
  return bytes;
};

/** Writes what the kernel would: the answer about a link. */
export function writeLink(writer: NetlinkWriter, { index, name, kind }: Link): void {
  writer.beginMessage(RTM_NEWLINK, 0, 1);
  writer.raw(header(index));
  writer.string(IFLA_IFNAME, name);
  if (kind !== undefined) {
    const nested = writer.beginNested(IFLA_LINKINFO);
    writer.string(IFLA_INFO_KIND, kind);
    writer.endNested(nested);
  }
  writer.endMessage();
}

/** The links that a datagram tells of. */
export function* linksIn(datagram: Uint8Array): Generator<Link> {
  for (const { type, payload } of messagesOf(datagram)) {
    if (type !== RTM_NEWLINK) continue;
    const attributes = attributeMap(payload, IFINFOMSG_LENGTH);
    const name = attributes.get(IFLA_IFNAME);
    if (name === undefined)
      throw new PointsmanError('E_MALFORMED', 'the kernel told of a link without a name');
    const info = attributes.get(IFLA_LINKINFO);
    const kind = info === undefined ? undefined : attributeMap(info).get(IFLA_INFO_KIND);
    yield {
      index: hostS32(payload, 4),
      name: stringOf(name),
      ...(kind !== undefined && { kind: stringOf(kind) }),
    };
  }
}

/** The link of that name; undefined when there is none. */
export function findLink(kernel: Pick<DirectKernel, 'request'>, name: string): Link | undefined {
  const writer = createNetlinkWriter(64);
  writer.beginMessage(RTM_GETLINK, NLM_F_REQUEST, 1);
  writer.raw(header(0));
  writer.string(IFLA_IFNAME, name);
  writer.endMessage();
  try {
    for (const datagram of kernel.request('route', writer.finish()))
      for (const link of linksIn(datagram)) if (link.name === name) return link;
    return undefined;
  } catch (error) {
    if (error instanceof PointsmanError && error.facts.errno === ENODEV) return undefined;
    throw error;
  }
}

/** Removes a link with its addresses. Throws E_NETLINK. */
export function removeLink(kernel: Pick<DirectKernel, 'request'>, { index }: Link): void {
  const writer = createNetlinkWriter(64);
  writer.beginMessage(RTM_DELLINK, NLM_F_REQUEST, 1);
  writer.raw(header(index));
  writer.endMessage();
  kernel.request('route', writer.finish());
}

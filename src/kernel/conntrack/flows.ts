// Connection tracking entries over ctnetlink (linux/netfilter/nfnetlink_conntrack.h): dump requests, decoding, deletes.
// Everything on this wire is in network order.
import { PointsmanError } from '../../base/errors.ts';
import { type Attribute, attributesOf, messagesOf } from '../netlink/reader.ts';
import type { NetlinkWriter } from '../netlink/writer.ts';

const NFNL_SUBSYS_CTNETLINK = 1;
const IPCTNL_MSG_CT_NEW = 0;
const IPCTNL_MSG_CT_GET = 1;
const IPCTNL_MSG_CT_DELETE = 2;
const NLM_F_REQUEST = 1;
const NLM_F_ACK = 4;
const NLM_F_DUMP = 0x300;

const CTA_TUPLE_ORIG = 1;
const CTA_TUPLE_REPLY = 2;
const CTA_STATUS = 3;
const CTA_TIMEOUT = 7;
const CTA_ID = 12;
const CTA_ZONE = 18;
const CTA_FILTER = 25;
const CTA_STATUS_MASK = 26;
const CTA_FILTER_ORIG_FLAGS = 1;
const CTA_FILTER_REPLY_FLAGS = 2;
const CTA_TUPLE_IP = 1;
const CTA_TUPLE_PROTO = 2;
const CTA_IP_V4_SRC = 1;
const CTA_IP_V4_DST = 2;
const CTA_IP_V6_SRC = 3;
const CTA_IP_V6_DST = 4;
const CTA_PROTO_NUM = 1;
const CTA_PROTO_SRC_PORT = 2;
const CTA_PROTO_DST_PORT = 3;
/** net/netfilter/nf_conntrack_netlink.c: CTA_FILTER_FLAG(CTA_PROTO_NUM). */
const FILTER_PROTO_NUM = 1 << 3;

/** IPS_SEEN_REPLY of linux/netfilter/nf_conntrack_common.h: there was an answer. */
export const IPS_SEEN_REPLY: number = 1 << 1;

/** linux/socket.h. */
const AF_INET = 2;
const AF_INET6 = 10;
export type FlowFamily = 'ip' | 'ip6';

/** One direction: addresses as 4 or 16 bytes in network order, ports as numbers. */
export interface FlowTuple {
  readonly source: Uint8Array;
  readonly destination: Uint8Array;
  readonly sourcePort: number;
  readonly destinationPort: number;
}

/** A tracked connection. `reply.source` is who answers: the endpoint, after DNAT. */
export interface Flow {
  readonly family: FlowFamily;
  /** IPPROTO_TCP 6, UDP 17, SCTP 132. */
  readonly protocol: number;
  readonly original: FlowTuple;
  readonly reply: FlowTuple;
  /** IPS_* bits. */
  readonly status: number;
  /** Seconds until it expires. */
  readonly timeout: number;
  /** Told from a later connection with the same addresses and ports. */
  readonly id: number;
  readonly zone: number;
}

function header(family: FlowFamily): Uint8Array {
  return Uint8Array.of(family === 'ip' ? AF_INET : AF_INET6, 0, 0, 0);
}

/**
 * A dump of the family's flows of one protocol, with `unanswered` only of those without an answer so far. The kernel
 * filters (Linux 5.8, 5.15 for the latter); an older one sends more, so the caller looks again.
 */
export function writeFlowDump(
  writer: NetlinkWriter,
  family: FlowFamily,
  protocol: number,
  sequence: number,
  unanswered = false,
): void {
  writer.beginMessage((NFNL_SUBSYS_CTNETLINK << 8) | IPCTNL_MSG_CT_GET, NLM_F_REQUEST | NLM_F_DUMP, sequence);
  writer.raw(header(family));
  const tuple = writer.beginNested(CTA_TUPLE_ORIG);
  const proto = writer.beginNested(CTA_TUPLE_PROTO);
  writer.u8(CTA_PROTO_NUM, protocol);
  writer.endNested(proto);
  writer.endNested(tuple);
  const filter = writer.beginNested(CTA_FILTER);
  writer.host32(CTA_FILTER_ORIG_FLAGS, FILTER_PROTO_NUM);
  writer.host32(CTA_FILTER_REPLY_FLAGS, 0);
  writer.endNested(filter);
  if (unanswered) {
    writer.be32(CTA_STATUS, 0);
    writer.be32(CTA_STATUS_MASK, IPS_SEEN_REPLY);
  }
  writer.endMessage();
}

/** Deletes exactly this flow: ENOENT when it is gone, or when another has taken its place. */
export function writeFlowDelete(writer: NetlinkWriter, flow: Flow, sequence: number): void {
  writer.beginMessage(
    (NFNL_SUBSYS_CTNETLINK << 8) | IPCTNL_MSG_CT_DELETE,
    NLM_F_REQUEST | NLM_F_ACK,
    sequence,
  );
  writer.raw(header(flow.family));
  writeTuple(writer, CTA_TUPLE_ORIG, flow, flow.original);
  if (flow.zone !== 0) writer.be16(CTA_ZONE, flow.zone);
  writer.be32(CTA_ID, flow.id);
  writer.endMessage();
}

function writeTuple(writer: NetlinkWriter, type: number, flow: Flow, tuple: FlowTuple): void {
  const v4 = flow.family === 'ip';
  const outer = writer.beginNested(type);
  const ip = writer.beginNested(CTA_TUPLE_IP);
  writer.bytes(v4 ? CTA_IP_V4_SRC : CTA_IP_V6_SRC, tuple.source);
  writer.bytes(v4 ? CTA_IP_V4_DST : CTA_IP_V6_DST, tuple.destination);
  writer.endNested(ip);
  const proto = writer.beginNested(CTA_TUPLE_PROTO);
  writer.u8(CTA_PROTO_NUM, flow.protocol);
  writer.be16(CTA_PROTO_SRC_PORT, tuple.sourcePort);
  writer.be16(CTA_PROTO_DST_PORT, tuple.destinationPort);
  writer.endNested(proto);
  writer.endNested(outer);
}

/** Writes a flow as the kernel does in a dump. For tests and for making entries. */
export function writeFlow(writer: NetlinkWriter, flow: Flow, sequence: number): void {
  writer.beginMessage((NFNL_SUBSYS_CTNETLINK << 8) | IPCTNL_MSG_CT_NEW, 0, sequence);
  writer.raw(header(flow.family));
  writeTuple(writer, CTA_TUPLE_ORIG, flow, flow.original);
  writeTuple(writer, CTA_TUPLE_REPLY, flow, flow.reply);
  writer.be32(CTA_STATUS, flow.status);
  writer.be32(CTA_TIMEOUT, flow.timeout);
  if (flow.zone !== 0) writer.be16(CTA_ZONE, flow.zone);
  writer.be32(CTA_ID, flow.id);
  writer.endMessage();
}

/** The flows of a dump's datagram. Entries of other kinds (without ports, of other families) are passed over. */
export function* flowsOf(datagram: Uint8Array): Generator<Flow> {
  for (const { type, payload } of messagesOf(datagram)) {
    if (type >> 8 !== NFNL_SUBSYS_CTNETLINK || (type & 0xff) !== IPCTNL_MSG_CT_NEW || payload.length < 4)
      continue;
    const family = payload[0] === AF_INET ? 'ip' : payload[0] === AF_INET6 ? 'ip6' : undefined;
    if (family === undefined) continue;
    let original: TupleOf | undefined;
    let reply: TupleOf | undefined;
    const numbers = { status: 0, timeout: 0, id: 0, zone: 0 };
    for (const attribute of attributesOf(payload, 4)) {
      switch (attribute.type) {
        case CTA_TUPLE_ORIG:
          original = tupleOf(attribute);
          break;
        case CTA_TUPLE_REPLY:
          reply = tupleOf(attribute);
          break;
        case CTA_STATUS:
          numbers.status = attribute.payload.readUInt32BE();
          break;
        case CTA_TIMEOUT:
          numbers.timeout = attribute.payload.readUInt32BE();
          break;
        case CTA_ID:
          numbers.id = attribute.payload.readUInt32BE();
          break;
        case CTA_ZONE:
          numbers.zone = attribute.payload.readUInt16BE();
          break;
      }
    }
    if (original === undefined || reply === undefined) continue;
    yield { family, protocol: original.protocol, original: original.tuple, reply: reply.tuple, ...numbers };
  }
}

interface TupleOf {
  readonly protocol: number;
  readonly tuple: FlowTuple;
}

function tupleOf({ payload }: Attribute): TupleOf {
  let source: Uint8Array = new Uint8Array();
  let destination: Uint8Array = new Uint8Array();
  const ports = { protocol: 0, source: 0, destination: 0 };
  for (const part of attributesOf(payload)) {
    for (const { type, payload: value } of attributesOf(part.payload)) {
      if (part.type === CTA_TUPLE_IP) {
        if (type === CTA_IP_V4_SRC || type === CTA_IP_V6_SRC) source = new Uint8Array(value);
        if (type === CTA_IP_V4_DST || type === CTA_IP_V6_DST) destination = new Uint8Array(value);
      } else if (part.type === CTA_TUPLE_PROTO) {
        if (type === CTA_PROTO_NUM) ports.protocol = value[0] ?? 0;
        if (type === CTA_PROTO_SRC_PORT) ports.source = value.readUInt16BE();
        if (type === CTA_PROTO_DST_PORT) ports.destination = value.readUInt16BE();
      }
    }
  }
  if (source.length === 0 || source.length !== destination.length) {
    throw new PointsmanError('E_MALFORMED', 'a conntrack entry has no addresses');
  }
  return {
    protocol: ports.protocol,
    tuple: { source, destination, sourcePort: ports.source, destinationPort: ports.destination },
  };
}

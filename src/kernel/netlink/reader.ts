// Takes netlink messages apart (linux/netlink.h). Kernel answers are checked here once; inside, types are true.
import { endianness } from 'node:os';
import { PointsmanError } from '../../base/errors.ts';
import { NLA_HDRLEN, NLMSG_HDRLEN } from './writer.ts';

const LITTLE = endianness() === 'LE';
const NLA_TYPE_MASK = 0x3fff;

/** One netlink message: the header's fields and a view of what follows it. */
export interface NetlinkMessage {
  readonly type: number;
  readonly flags: number;
  readonly sequence: number;
  /** nlmsg_pid: the port id of who asked or, in nf_tables events, of who changed. */
  readonly portId: number;
  /** Payload after nlmsghdr; a view, valid as long as the datagram's memory is. */
  readonly payload: Buffer;
}

/** The payload of one attribute, read as what the caller knows it to be. */
export interface Attribute {
  readonly type: number;
  readonly payload: Buffer;
}

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Walks the messages of a datagram. A length that does not fit throws E_MALFORMED. */
export function* messagesOf(datagram: Uint8Array): Generator<NetlinkMessage> {
  const bytes = asBuffer(datagram);
  let at = 0;
  while (at + NLMSG_HDRLEN <= bytes.length) {
    const length = hostU32(bytes, at);
    if (length < NLMSG_HDRLEN || at + length > bytes.length) {
      throw new PointsmanError(
        'E_MALFORMED',
        `netlink message length ${length} does not fit ${bytes.length - at} bytes`,
      );
    }
    yield {
      type: hostU16(bytes, at + 4),
      flags: hostU16(bytes, at + 6),
      sequence: hostU32(bytes, at + 8),
      portId: hostU32(bytes, at + 12),
      payload: bytes.subarray(at + NLMSG_HDRLEN, at + length),
    };
    at += (length + 3) & ~3;
  }
  if (at < bytes.length) {
    throw new PointsmanError('E_MALFORMED', `${bytes.length - at} bytes are no netlink message`);
  }
}

/** Walks the attributes from `offset` on (4 for nfgenmsg). Flag bits are taken off the type. */
export function* attributesOf(payload: Buffer, offset = 0): Generator<Attribute> {
  let at = offset;
  while (at + NLA_HDRLEN <= payload.length) {
    const length = hostU16(payload, at);
    if (length < NLA_HDRLEN || at + length > payload.length) {
      throw new PointsmanError(
        'E_MALFORMED',
        `netlink attribute length ${length} does not fit ${payload.length - at} bytes`,
      );
    }
    yield {
      type: hostU16(payload, at + 2) & NLA_TYPE_MASK,
      payload: payload.subarray(at + NLA_HDRLEN, at + length),
    };
    at += (length + 3) & ~3;
  }
}

/** The attributes by type; of a repeated type the last counts, as in the kernel's nla_parse. */
export function attributeMap(payload: Buffer, offset = 0): ReadonlyMap<number, Buffer> {
  const map = new Map<number, Buffer>();
  for (const { type, payload: value } of attributesOf(payload, offset)) map.set(type, value);
  return map;
}

export const hostU16 = (bytes: Buffer, at = 0): number =>
  LITTLE ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at);
export const hostU32 = (bytes: Buffer, at = 0): number =>
  LITTLE ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at);
export const hostS32 = (bytes: Buffer, at = 0): number =>
  LITTLE ? bytes.readInt32LE(at) : bytes.readInt32BE(at);

/** A NUL-terminated string attribute. */
export function stringOf(payload: Buffer): string {
  const end = payload.indexOf(0);
  return payload.toString('utf8', 0, end === -1 ? payload.length : end);
}

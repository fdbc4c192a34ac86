// Builds netlink messages (linux/netlink.h): headers, attributes, nesting. Knows no protocol.
import { endianness } from 'node:os';
import { PointsmanError } from '../../base/errors.ts';

const LITTLE = endianness() === 'LE';
export const NLMSG_HDRLEN = 16;
export const NLA_HDRLEN = 4;
export const NLA_F_NESTED = 0x8000;
/** nla_len is a u16, so no attribute, header included, can be longer. */
export const NLA_MAX_LENGTH = 0xffff;

const align4 = (length: number): number => (length + 3) & ~3;

/** Writes a 16-bit unsigned integer in the machine's order. */
export function putHostU16(bytes: Buffer, value: number, at: number): void {
  if (LITTLE) bytes.writeUInt16LE(value, at);
  else bytes.writeUInt16BE(value, at);
}

/** Writes the low 32 bits of an integer, signed or not, in the machine's order. */
export function putHostU32(bytes: Buffer, value: number, at: number): void {
  if (LITTLE) bytes.writeUInt32LE(value >>> 0, at);
  else bytes.writeUInt32BE(value >>> 0, at);
}

/**
 * A growing buffer with netlink's writing rules. Integers named `be` are network order, as nf_tables and ctnetlink
 * want them; those named `host` are the machine's order, as rtnetlink wants them. Padding is always zero.
 */
export interface NetlinkWriter {
  /** Bytes written so far. */
  readonly length: number;
  /** Starts a message; lengths are filled in by `endMessage`. `type` and `flags` are nlmsghdr's, `pid` is left 0. */
  beginMessage(type: number, flags: number, sequence: number): void;
  endMessage(): void;
  /** Raw bytes of a fixed header after nlmsghdr (nfgenmsg, ifinfomsg…), padded to 4. */
  raw(bytes: Uint8Array): void;
  u8(type: number, value: number): void;
  be16(type: number, value: number): void;
  be32(type: number, value: number): void;
  be64(type: number, value: bigint): void;
  host16(type: number, value: number): void;
  host32(type: number, value: number): void;
  host64(type: number, value: bigint): void;
  /** A NUL-terminated string. */
  string(type: number, value: string): void;
  bytes(type: number, value: Uint8Array): void;
  /** An attribute without payload. */
  flag(type: number): void;
  /** Opens a nested attribute (NLA_F_NESTED is set) and returns the mark that `endNested` takes. */
  beginNested(type: number): number;
  endNested(mark: number): void;
  /** A copy of what was written, in its own allocation (safe to transfer to another thread). */
  finish(): Uint8Array<ArrayBuffer>;
  /** Forgets all, keeps the memory. */
  reset(): void;
}

export function createNetlinkWriter(initialBytes = 4096): NetlinkWriter {
  let buffer = Buffer.alloc(initialBytes);
  let at = 0;
  let messageStart = -1;

  const room = (bytes: number): void => {
    if (at + bytes <= buffer.length) return;
    const larger = Buffer.alloc(Math.max(buffer.length * 2, at + bytes));
    buffer.copy(larger, 0, 0, at);
    buffer = larger;
  };
  const host16At = (offset: number, value: number): void => putHostU16(buffer, value, offset);
  const host32At = (offset: number, value: number): void => putHostU32(buffer, value, offset);
  /** Writes an attribute header, makes room for the payload, and returns the payload's offset. */
  const attribute = (type: number, payload: number): number => {
    const length = NLA_HDRLEN + payload;
    if (length > NLA_MAX_LENGTH) {
      throw new PointsmanError(
        'E_MALFORMED',
        `netlink attribute ${type} of ${payload} bytes is over ${NLA_MAX_LENGTH}`,
      );
    }
    const padded = align4(length);
    room(padded);
    host16At(at, length);
    host16At(at + 2, type);
    const start = at + NLA_HDRLEN;
    at += padded;
    if (padded !== length) buffer.fill(0, start + payload, at);
    return start;
  };

  return {
    get length() {
      return at;
    },
    beginMessage(type, flags, sequence) {
      room(NLMSG_HDRLEN);
      messageStart = at;
      host32At(at, 0);
      host16At(at + 4, type);
      host16At(at + 6, flags);
      host32At(at + 8, sequence);
      host32At(at + 12, 0);
      at += NLMSG_HDRLEN;
    },
    endMessage() {
      host32At(messageStart, at - messageStart);
      messageStart = -1;
    },
    raw(bytes) {
      const padded = align4(bytes.length);
      room(padded);
      buffer.set(bytes, at);
      buffer.fill(0, at + bytes.length, at + padded);
      at += padded;
    },
    u8(type, value) {
      const offset = attribute(type, 1);
      buffer[offset] = value;
    },
    be16(type, value) {
      const offset = attribute(type, 2);
      buffer.writeUInt16BE(value, offset);
    },
    be32(type, value) {
      const offset = attribute(type, 4);
      buffer.writeUInt32BE(value >>> 0, offset);
    },
    be64(type, value) {
      const offset = attribute(type, 8);
      buffer.writeBigUInt64BE(BigInt.asUintN(64, value), offset);
    },
    host16(type, value) {
      const offset = attribute(type, 2);
      host16At(offset, value);
    },
    host32(type, value) {
      const offset = attribute(type, 4);
      host32At(offset, value);
    },
    host64(type, value) {
      const offset = attribute(type, 8);
      if (LITTLE) buffer.writeBigUInt64LE(BigInt.asUintN(64, value), offset);
      else buffer.writeBigUInt64BE(BigInt.asUintN(64, value), offset);
    },
    string(type, value) {
      const size = Buffer.byteLength(value);
      const offset = attribute(type, size + 1);
      buffer.write(value, offset);
      buffer[offset + size] = 0;
    },
    bytes(type, value) {
      const offset = attribute(type, value.length);
      buffer.set(value, offset);
    },
    flag(type) {
      attribute(type, 0);
    },
    beginNested(type) {
      const mark = at;
      attribute(type | NLA_F_NESTED, 0);
      return mark;
    },
    endNested(mark) {
      const length = at - mark;
      if (length > NLA_MAX_LENGTH) {
        throw new PointsmanError(
          'E_MALFORMED',
          `nested netlink attribute of ${length} bytes is over ${NLA_MAX_LENGTH}`,
        );
      }
      host16At(mark, length);
    },
    finish() {
      const copy = new Uint8Array(at);
      copy.set(buffer.subarray(0, at));
      return copy;
    },
    reset() {
      at = 0;
      messageStart = -1;
    },
  };
}

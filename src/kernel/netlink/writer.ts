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

/**
 * Writes the low 16 bits of an integer in the machine's order. Stores of single bytes, here and below, are several times
 * quicker than Buffer's methods: a large transaction has a million of them.
 */
export function putHostU16(bytes: Uint8Array, value: number, at: number): void {
  bytes[at] = LITTLE ? value : value >>> 8;
  bytes[at + 1] = LITTLE ? value >>> 8 : value;
}

/** Writes the low 32 bits of an integer, signed or not, in the machine's order. */
export function putHostU32(bytes: Uint8Array, value: number, at: number): void {
  if (LITTLE) {
    bytes[at] = value;
    bytes[at + 1] = value >>> 8;
    bytes[at + 2] = value >>> 16;
    bytes[at + 3] = value >>> 24;
  } else putNetworkU32(bytes, value, at);
}

function putNetworkU32(bytes: Uint8Array, value: number, at: number): void {
  bytes[at] = value >>> 24;
  bytes[at + 1] = value >>> 16;
  bytes[at + 2] = value >>> 8;
  bytes[at + 3] = value;
}

/** Below this length copying byte by byte is quicker than the call of `set`. */
const SHORT = 48;

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
  /** A nested attribute that holds one attribute of bytes: the same as the three calls, at half their price. */
  nestedBytes(type: number, inner: number, value: Uint8Array): void;
  /** A copy of what was written, in its own allocation (safe to transfer to another thread). */
  finish(): Uint8Array<ArrayBuffer>;
  /** Forgets all, keeps the memory. */
  reset(): void;
}

export function createNetlinkWriter(initialBytes = 4096): NetlinkWriter {
  // Every byte is written, padding too, so the memory need not be cleared.
  let buffer = Buffer.allocUnsafeSlow(initialBytes);
  let at = 0;
  let messageStart = -1;

  const room = (bytes: number): void => {
    if (at + bytes <= buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(buffer.length * 2, at + bytes));
    buffer.copy(larger, 0, 0, at);
    buffer = larger;
  };
  const host16At = (offset: number, value: number): void => putHostU16(buffer, value, offset);
  const host32At = (offset: number, value: number): void => putHostU32(buffer, value, offset);
  const header = (type: number, length: number): number => {
    host16At(at, length);
    host16At(at + 2, type);
    return at + NLA_HDRLEN;
  };
  const copy = (value: Uint8Array, offset: number): void => {
    const { length } = value;
    if (length > SHORT) buffer.set(value, offset);
    else for (let index = 0; index < length; index += 1) buffer[offset + index] = value[index] ?? 0;
  };
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
    const start = header(type, length);
    at += padded;
    for (let pad = start + payload; pad < at; pad += 1) buffer[pad] = 0;
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
      putNetworkU32(buffer, value, offset);
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
      copy(value, attribute(type, value.length));
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
    nestedBytes(type, inner, value) {
      const padded = align4(value.length);
      const start = attribute(type | NLA_F_NESTED, NLA_HDRLEN + padded);
      const end = at;
      at = start;
      copy(value, header(inner, NLA_HDRLEN + value.length));
      at = end;
      for (let pad = end - padded + value.length; pad < end; pad += 1) buffer[pad] = 0;
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

// User data of rules and sets: bytes that the kernel keeps for `nft`, which reads them as records of type, length and
// value (libnftnl/udata.h). Only what every version of `nft` understands is written: some crash on records of others.
import { endianness } from 'node:os';

/** NFTNL_UDATA_RULE_COMMENT. */
const RULE_COMMENT = 0;
/** NFTNL_UDATA_SET_KEYBYTEORDER and NFTNL_UDATA_SET_DATABYTEORDER; without them some types print swapped. */
const SET_KEYBYTEORDER = 0;
const SET_DATABYTEORDER = 1;
/** enum byteorder of nft's datatype.h. */
const BYTE_ORDERS = { host: 1, network: 2 } as const;
/** A record's length is a byte, and it includes the comment's NUL. */
const LONGEST_COMMENT = 127;

export type ByteOrder = keyof typeof BYTE_ORDERS;

/** The user data of a rule with a comment, which is cut where `nft` would refuse a longer one. */
export function commentUserdata(comment: string): Uint8Array {
  const bytes = Buffer.from(comment).subarray(0, LONGEST_COMMENT);
  return Uint8Array.of(RULE_COMMENT, bytes.length + 1, ...bytes, 0);
}

/** The comment in a rule's user data. */
export function commentIn(userdata: Buffer | undefined): string | undefined {
  for (const { type, value } of recordsOf(userdata)) {
    if (type === RULE_COMMENT) return value.subarray(0, -1).toString('utf8');
  }
  return undefined;
}

/** The user data of a set. */
export function byteOrderUserdata(key: ByteOrder, data: ByteOrder | undefined): Uint8Array {
  return Uint8Array.of(
    ...numberRecord(SET_KEYBYTEORDER, BYTE_ORDERS[key]),
    ...(data === undefined ? [] : numberRecord(SET_DATABYTEORDER, BYTE_ORDERS[data])),
  );
}

function numberRecord(type: number, value: number): readonly number[] {
  const bytes = endianness() === 'LE' ? [value, 0, 0, 0] : [0, 0, 0, value];
  return [type, bytes.length, ...bytes];
}

function* recordsOf(
  userdata: Buffer | undefined,
): Generator<{ readonly type: number; readonly value: Buffer }> {
  let at = 0;
  while (userdata !== undefined && at + 2 <= userdata.length) {
    const length = userdata.readUInt8(at + 1);
    yield { type: userdata.readUInt8(at), value: userdata.subarray(at + 2, at + 2 + length) };
    at += 2 + length;
  }
}

// The few forms of DER (X.690) that a certificate is made of.

const concat = (parts: readonly Uint8Array[]): Uint8Array => Buffer.concat(parts);

function lengthBytes(length: number): Uint8Array {
  if (length < 0x80) return Uint8Array.of(length);
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest >>>= 8) bytes.unshift(rest & 0xff);
  return Uint8Array.of(0x80 | bytes.length, ...bytes);
}

/** A value with its tag and length. */
export function tagged(tag: number, ...content: readonly Uint8Array[]): Uint8Array {
  const body = concat(content);
  return concat([Uint8Array.of(tag), lengthBytes(body.length), body]);
}

export const sequence = (...items: readonly Uint8Array[]): Uint8Array => tagged(0x30, ...items);
export const setOf = (item: Uint8Array): Uint8Array => tagged(0x31, item);
export const boolean = (value: boolean): Uint8Array => tagged(0x01, Uint8Array.of(value ? 0xff : 0));
export const octets = (content: Uint8Array): Uint8Array => tagged(0x04, content);
export const utf8 = (text: string): Uint8Array => tagged(0x0c, Buffer.from(text, 'utf8'));

/** A positive number in network order. */
export function integer(bytes: Uint8Array): Uint8Array {
  const start = bytes.findIndex((byte) => byte !== 0);
  const trimmed = start < 0 ? Uint8Array.of(0) : bytes.subarray(start);
  // The first bit is the sign.
  return tagged(0x02, ((trimmed[0] ?? 0) & 0x80) === 0 ? trimmed : concat([Uint8Array.of(0), trimmed]));
}

/** Bits in whole bytes but for `unused` at the end. */
export function bits(content: Uint8Array, unused = 0): Uint8Array {
  return tagged(0x03, Uint8Array.of(unused), content);
}

/** An object identifier such as `2.5.29.17`. */
export function identifier(dotted: string): Uint8Array {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const arcs = [first * 40 + second, ...rest];
  return tagged(0x06, Uint8Array.from(arcs.flatMap(base128)));
}

function base128(arc: number): readonly number[] {
  const bytes = [arc & 0x7f];
  for (let rest = arc >>> 7; rest > 0; rest >>>= 7) bytes.unshift((rest & 0x7f) | 0x80);
  return bytes;
}

/** A time in UTC; before 2050 as X.509 wants it (UTCTime), later as GeneralizedTime. */
export function time(ms: number): Uint8Array {
  const date = new Date(ms);
  const text = date.toISOString().replaceAll(/[-:T]|\.\d+/g, '');
  return date.getUTCFullYear() < 2050
    ? tagged(0x17, Buffer.from(text.slice(2), 'latin1'))
    : tagged(0x18, Buffer.from(text, 'latin1'));
}

// Free addresses in a range of cluster IPs.
import { type Address, addressBytes, addressText, type Cidr, cidrBounds } from '../../../../model/address.ts';

const toNumber = (bytes: Uint8Array): bigint =>
  bytes.reduce((number, byte) => (number << 8n) | BigInt(byte), 0n);

function toBytes(number: bigint, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let at = length - 1, rest = number; at >= 0; at -= 1, rest >>= 8n) bytes[at] = Number(rest & 0xffn);
  return bytes;
}

/** How far random choice walks before it gives up on the upper band. */
const MOST_STEPS = 65536;

interface Bounds {
  readonly first: bigint;
  /** The last usable one; the broadcast address of an IPv4 range is none. */
  readonly last: bigint;
  readonly length: number;
}

function usable(cidr: Cidr): Bounds {
  const { first, last } = cidrBounds(cidr);
  const spare = cidr.family === 'IPv4' ? 1n : 0n;
  return { first: toNumber(first) + 1n, last: toNumber(last) - spare, length: first.length };
}

export function isUsable(cidr: Cidr, address: Address): boolean {
  const { first, last } = usable(cidr);
  const number = toNumber(addressBytes(address));
  return number >= first && number <= last;
}

/** The first usable address: the `kubernetes` Service's. */
export function firstAddress(cidr: Cidr): Address {
  const { first, length } = usable(cidr);
  return addressText(toBytes(first, length));
}

/**
 * A free address: a random one of the upper band, and the lower band (16 to 256 addresses, for those who choose
 * themselves) only when that is full (KEP-3070). Undefined when nothing is free.
 */
export function chooseAddress(
  cidr: Cidr,
  isTaken: (address: Address) => boolean,
  random: () => number,
): Address | undefined {
  const { first, last, length } = usable(cidr);
  const size = last - first + 1n;
  if (size <= 0n) return undefined;
  const sixteenth = size / 16n;
  const band = sixteenth < 16n ? (size > 16n ? 16n : 0n) : sixteenth > 256n ? 256n : sixteenth;
  return (
    walk(first + band, size - band, length, isTaken, random) ?? walk(first, band, length, isTaken, () => 0)
  );
}

function walk(
  from: bigint,
  size: bigint,
  length: number,
  isTaken: (address: Address) => boolean,
  random: () => number,
): Address | undefined {
  if (size <= 0n) return undefined;
  const choices = size > 0xffffffffn ? 0xffffffffn : size;
  const start = BigInt(Math.floor(random() * Number(choices)));
  for (let step = 0n; step < size && step < MOST_STEPS; step += 1n) {
    const address = addressText(toBytes(from + ((start + step) % size), length));
    if (!isTaken(address)) return address;
  }
  return undefined;
}

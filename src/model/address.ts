// IP addresses and CIDRs: parsed once at the border, canonical text inside, bytes for the kernel.
import ipaddr from 'ipaddr.js';

export type Family = 'IPv4' | 'IPv6';
export const FAMILIES: readonly Family[] = ['IPv4', 'IPv6'];

/** An address in canonical text: dotted quad, or RFC 5952. Equal addresses are equal strings. */
export type Address = string;

export interface Cidr {
  readonly family: Family;
  /** The network address, host bits cleared. */
  readonly address: Address;
  readonly prefix: number;
}

/** The family of a canonical address. */
export function familyOf(address: Address): Family {
  return address.includes(':') ? 'IPv6' : 'IPv4';
}

export function isLoopback(address: Address): boolean {
  return address === '::1' || address.startsWith('127.');
}

const PLAIN_IPV4 = /^(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})$/;
const SLOPPY_IPV4 = /^\d+\.\d+\.\d+\.\d+$/;

/**
 * Reads an address as upstream's "sloppy" parser does (behaviour spec 1.4): leading zeros in IPv4 octets are decimal,
 * an IPv4-mapped IPv6 address counts as IPv4. Zones (`%eth0`) are refused. Undefined when it is no address.
 */
export function parseAddress(text: string): Address | undefined {
  if (PLAIN_IPV4.test(text)) return octetsFit(text) ? text : undefined;
  if (SLOPPY_IPV4.test(text)) {
    const decimal = text.split('.').map((octet) => String(Number(octet)));
    const joined = decimal.join('.');
    return PLAIN_IPV4.test(joined) && octetsFit(joined) ? joined : undefined;
  }
  if (!text.includes(':') || text.includes('%') || !ipaddr.IPv6.isValid(text)) return undefined;
  const parsed = ipaddr.IPv6.parse(text);
  return parsed.isIPv4MappedAddress() ? parsed.toIPv4Address().toString() : parsed.toRFC5952String();
}

function octetsFit(text: string): boolean {
  for (const octet of text.split('.')) if (Number(octet) > 255) return false;
  return true;
}

/** Reads `address/prefix`, leading zeros allowed in both, host bits cleared. Undefined when it is no CIDR. */
export function parseCidr(text: string): Cidr | undefined {
  const slash = text.indexOf('/');
  if (slash === -1) return undefined;
  const digits = text.slice(slash + 1);
  const given = text.slice(0, slash);
  const address = parseAddress(given);
  if (address === undefined || !/^\d{1,4}$/.test(digits)) return undefined;
  const family = familyOf(address);
  let prefix = Number(digits);
  // ::ffff:10.0.0.0/104 is 10.0.0.0/8.
  if (family === 'IPv4' && given.includes(':')) prefix -= 96;
  if (prefix < 0 || prefix > widthOf(family)) return undefined;
  return { family, address: addressText(masked(addressBytes(address), prefix)), prefix };
}

export function cidrText(cidr: Cidr): string {
  return `${cidr.address}/${cidr.prefix}`;
}

/** 32 or 128. */
export function widthOf(family: Family): number {
  return family === 'IPv4' ? 32 : 128;
}

/** The address in network order: 4 or 16 bytes. */
export function addressBytes(address: Address): Uint8Array {
  if (!address.includes(':')) {
    const bytes = new Uint8Array(4);
    let value = 0;
    let index = 0;
    for (let at = 0; at < address.length; at++) {
      const code = address.charCodeAt(at);
      if (code === 46) {
        bytes[index++] = value;
        value = 0;
      } else value = value * 10 + (code - 48);
    }
    bytes[index] = value;
    return bytes;
  }
  return Uint8Array.from(ipaddr.IPv6.parse(address).toByteArray());
}

/** Canonical text of 4 or 16 bytes in network order. IPv4-mapped bytes stay IPv6, since the kernel's tables do. */
export function addressText(bytes: Uint8Array): Address {
  if (bytes.length === 4) return `${bytes[0]}.${bytes[1]}.${bytes[2]}.${bytes[3]}`;
  return new ipaddr.IPv6([...bytes]).toRFC5952String();
}

/** A copy with all bits after the first `prefix` cleared. */
function masked(bytes: Uint8Array, prefix: number): Uint8Array {
  return bytes.map((byte, index) => {
    const keep = Math.min(8, Math.max(0, prefix - index * 8));
    return byte & (0xff00 >> keep) & 0xff;
  });
}

/** The first and the last address of a CIDR, in bytes. */
export function cidrBounds(cidr: Cidr): { readonly first: Uint8Array; readonly last: Uint8Array } {
  const first = addressBytes(cidr.address);
  const last = first.map((byte, index) => {
    const keep = Math.min(8, Math.max(0, cidr.prefix - index * 8));
    return byte | (0xff >> keep);
  });
  return { first, last };
}

export function cidrContains(cidr: Cidr, address: Address): boolean {
  if (familyOf(address) !== cidr.family) return false;
  return addressText(masked(addressBytes(address), cidr.prefix)) === cidr.address;
}

/** Whether `outer` covers all of `inner`. */
export function cidrCovers(outer: Cidr, inner: Cidr): boolean {
  return outer.prefix <= inner.prefix && cidrContains(outer, inner.address);
}

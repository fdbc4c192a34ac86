// Socket addresses as the kernel wants them: sockaddr_in, sockaddr_in6, sockaddr_nl.
import { isIPv4, isIPv6 } from 'node:net';
import { endianness } from 'node:os';
import { PointsmanError } from '../../base/errors.ts';
import { AF_INET, AF_INET6, AF_NETLINK } from './constants.ts';

const LITTLE = endianness() === 'LE';
const SOCKADDR_IN_SIZE = 16;
const SOCKADDR_IN6_SIZE = 28;
const SOCKADDR_NL_SIZE = 12;

const familyAt0 = (size: number, family: number): Buffer => {
  const bytes = Buffer.alloc(size);
  if (LITTLE) bytes.writeUInt16LE(family, 0);
  else bytes.writeUInt16BE(family, 0);
  return bytes;
};

/** The 4 or 16 bytes of an IP address in network order. A zone (`%eth0`) or anything else throws E_MALFORMED. */
export function ipBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  if (!isIPv6(address) || address.includes('%')) {
    throw new PointsmanError('E_MALFORMED', `${JSON.stringify(address)} is not an IP address`);
  }
  // The URL parser writes an embedded IPv4 part as hexadecimal, so only groups and `::` are left.
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = '', tail] = canonical.split('::');
  const groups = (part: string | undefined): number[] =>
    part === undefined || part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16));
  const before = groups(head);
  const after = groups(tail);
  const all = [...before, ...new Array<number>(8 - before.length - after.length).fill(0), ...after];
  const bytes = Buffer.alloc(16);
  for (const [index, group] of all.entries()) bytes.writeUInt16BE(group, index * 2);
  return bytes;
}

/** AF_INET or AF_INET6. */
export function familyOf(address: string): number {
  return ipBytes(address).length === 4 ? AF_INET : AF_INET6;
}

/** `struct sockaddr_in` or `struct sockaddr_in6`, by the address. */
export function internetAddress(address: string, port: number): Buffer {
  const ip = ipBytes(address);
  const sockaddr =
    ip.length === 4 ? familyAt0(SOCKADDR_IN_SIZE, AF_INET) : familyAt0(SOCKADDR_IN6_SIZE, AF_INET6);
  sockaddr.writeUInt16BE(port, 2);
  sockaddr.set(ip, ip.length === 4 ? 4 : 8);
  return sockaddr;
}

/** `struct sockaddr_nl` for bind: the kernel chooses the port id; groups are joined by socket option instead. */
export function netlinkAddress(): Buffer {
  return familyAt0(SOCKADDR_NL_SIZE, AF_NETLINK);
}

/** nl_pid of a `struct sockaddr_nl`: the port id that the kernel gave to a socket. */
export function netlinkPortId(sockaddr: Buffer): number {
  return LITTLE ? sockaddr.readUInt32LE(4) : sockaddr.readUInt32BE(4);
}

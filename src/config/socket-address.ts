// `IP:port` as Go writes it: IPv6 addresses stand in brackets.
import { type Address, parseAddress } from '../model/address.ts';

/** Where a server listens. */
export interface SocketAddress {
  readonly address: Address;
  /** 1 to 65535. */
  readonly port: number;
}

/** Splits at the port; `port` is undefined when it is no number from 1 to 65535. Undefined without a port part. */
export function parseHostPort(
  text: string,
): { readonly host: string; readonly port: number | undefined } | undefined {
  const match = /^(?:\[([^\][]*)\]|([^:\][]*)):([^:]*)$/.exec(text);
  if (match === null) return undefined;
  const digits = match[3] ?? '';
  const port = /^\d{1,5}$/.test(digits) ? Number(digits) : 0;
  return { host: match[1] ?? match[2] ?? '', port: port >= 1 && port <= 65_535 ? port : undefined };
}

/** Adds the port to a bare IP; anything else stays as it is. */
export function withPort(text: string, port: number): string {
  const address = parseAddress(text);
  return address === undefined ? text : socketAddressText({ address, port });
}

export function socketAddressText({ address, port }: SocketAddress): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

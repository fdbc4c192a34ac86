// What the Pods' servers answer: one line of JSON, to be read by people at a terminal and by the lab's own client.
import { familyOf } from '../../model/address.ts';

export interface SocketEnd {
  readonly address: string;
  readonly port: number;
}

/** Who answered, and whom it saw. */
export interface EchoAnswer {
  /** `namespace/name`. */
  readonly pod: string;
  readonly node: string;
  /** The address that the server was reached under. For UDP it is the one it is bound to, which may be a wildcard. */
  readonly server: SocketEnd;
  /** The client as the server sees it. */
  readonly client: SocketEnd;
}

/** `10.0.0.1:80`, `[fd00::1]:80`. */
export function socketEndText({ address, port }: SocketEnd): string {
  return familyOf(address) === 'IPv6' ? `[${address}]:${port}` : `${address}:${port}`;
}

/** The line, with its newline. */
export function encodeEchoAnswer({ pod, node, server, client }: EchoAnswer): string {
  const ends = { server: socketEndText(server), client: socketEndText(client) };
  return `${JSON.stringify({ pod, node, ...ends })}\n`;
}

/** The line for people, with its newline. */
export function answerInWords({ pod, node, server, client }: EchoAnswer): string {
  return `${pod} on ${node}, at ${socketEndText(server)}, sees ${socketEndText(client)}\n`;
}

/** Undefined for what no server of a lab would say. */
export function decodeEchoAnswer(line: string): EchoAnswer | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { pod, node, server, client } = value as Record<string, unknown>;
  const ends = [server, client].map(decodeSocketEnd);
  const [serverEnd, clientEnd] = ends;
  if (typeof pod !== 'string' || typeof node !== 'string' || !serverEnd || !clientEnd) return undefined;
  return { pod, node, server: serverEnd, client: clientEnd };
}

function decodeSocketEnd(text: unknown): SocketEnd | undefined {
  const match = typeof text === 'string' ? /^(?:\[(.+)\]|([^[\]:]+)):(\d+)$/.exec(text) : null;
  const address = match?.[1] ?? match?.[2];
  return address === undefined ? undefined : { address, port: Number(match?.[3]) };
}

/** The longest that a server can be asked to wait, in seconds. */
export const LONGEST_SLEEP_SECONDS = 3600;

/** How long `sleep=SECONDS` asks the server to wait, in ms; 0 when nothing (sensible) is asked. */
export function sleepWish(parameters: URLSearchParams): number {
  return 1000 * secondsOf(parameters.get('sleep'), 0);
}

/** A number of seconds between 0 and the longest, else `fallback`. */
export function secondsOf(text: string | null, fallback: number): number {
  const seconds = text === null || text.trim() === '' ? Number.NaN : Number(text);
  return seconds >= 0 && seconds <= LONGEST_SLEEP_SECONDS ? seconds : fallback;
}

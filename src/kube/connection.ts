// One way to exchange requests with the API server. HTTP/2 and HTTP/1.1 stand behind the same small interface.
import type { Readable } from 'node:stream';
import { PointsmanError } from '../base/errors.ts';
import type { Headers } from './access.ts';

export interface WireRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Headers;
  readonly body?: Buffer;
}

export interface WireResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Bytes as they came. Destroying it ends the exchange. */
  readonly body: Readable;
}

export interface Connection {
  readonly protocol: 'h2' | 'http/1.1';
  /** Whether new requests may go this way. */
  readonly usable: boolean;
  /** Whether it has answered anything yet: a failure of one that has may be its age, not the server. */
  readonly proven: boolean;
  /** Resolves with the response's head. Throws E_API_UNREACHABLE; an abort throws the signal's reason. */
  exchange(request: WireRequest, signal: AbortSignal | undefined): Promise<WireResponse>;
  /** Takes no new requests; open ones may still end within this time. */
  retire(graceMs: number): void;
  destroy(): void;
}

/** Milliseconds, all of them. */
export interface TransportTiming {
  readonly connect: number;
  /** From sending a request to the response's head. */
  readonly head: number;
  /** Between two pieces of a response's body; watches have their own watchdog. */
  readonly silence: number;
  /** From a ping's answer to the next ping. */
  readonly ping: number;
  /** How long a ping may stay unanswered before the connection counts as dead. */
  readonly pong: number;
  /** How long open requests of a replaced connection may go on. */
  readonly retire: number;
}

/**
 * A half-open connection is noticed after at most 25 s, whatever the kernel's TCP time-outs are. A head may take 30 s:
 * a server that waits for its cache answers within 3 s, and one under load says 429.
 */
export const TRANSPORT_TIMING: TransportTiming = {
  connect: 10_000,
  head: 30_000,
  silence: 30_000,
  ping: 15_000,
  pong: 10_000,
  retire: 60_000,
};

const HINTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'is the API server running and the address right',
  ENOTFOUND: "check the server's name and this node's DNS",
  EHOSTUNREACH: 'check the route to the API server',
  ENETUNREACH: 'check the route to the API server',
  CERT_HAS_EXPIRED: "renew the API server's certificate",
  ERR_TLS_CERT_ALTNAME_INVALID: "use a name of the server's certificate, or set tls-server-name",
  DEPTH_ZERO_SELF_SIGNED_CERT: "certificate-authority must hold the CA that signed the server's certificate",
  SELF_SIGNED_CERT_IN_CHAIN: "certificate-authority must hold the CA that signed the server's certificate",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    "certificate-authority must hold the CA that signed the server's certificate",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    "certificate-authority must hold the CA that signed the server's certificate",
};

/** E_API_UNREACHABLE for whatever went wrong on the way; one that is already ours passes. */
export function unreachable(server: URL, cause: unknown): PointsmanError {
  if (cause instanceof PointsmanError) return cause;
  // A host with several addresses fails with one error each, and an empty message on top.
  const first = cause instanceof AggregateError && cause.errors.length > 0 ? cause.errors[0] : cause;
  const reason = first instanceof Error ? first.message : String(first);
  const code = first instanceof Error && 'code' in first ? String(first.code) : '';
  const hint = HINTS[code];
  return new PointsmanError(
    'E_API_UNREACHABLE',
    `the API server ${server.origin} cannot be reached: ${reason}`,
    {
      cause,
      facts: { ...(code === '' ? {} : { code }) },
      ...(hint === undefined ? {} : { hint }),
    },
  );
}

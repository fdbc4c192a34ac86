// How a request failed, in words that a test or a reader can count.

export type FailureKind =
  /** Nobody listens, or a rule said so: RST or ICMP port unreachable. */
  | 'refused'
  /** The connection was there and went. */
  | 'reset'
  /** ICMP said that there is no way. */
  | 'unreachable'
  /** The client's own kernel would not send it. */
  | 'not-permitted'
  /** No sign of life. */
  | 'timeout'
  /** Something else spoke, or something else went wrong. */
  | 'other';

const KINDS: Readonly<Record<string, FailureKind>> = {
  ECONNREFUSED: 'refused',
  ECONNRESET: 'reset',
  ECONNABORTED: 'reset',
  EPIPE: 'reset',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EHOSTDOWN: 'unreachable',
  ENETDOWN: 'unreachable',
  // For IPv6 also: ICMP said that it is forbidden.
  EACCES: 'not-permitted',
  EPERM: 'not-permitted',
  ETIMEDOUT: 'timeout',
};

/** What a socket's error means. */
export function failureKind(error: unknown): FailureKind {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return KINDS[code] ?? 'other';
}

// Who a request comes from: a client certificate of the lab's authority, or a bearer token.
import type { PeerCertificate } from 'node:tls';

export interface User {
  readonly name: string;
  readonly groups: readonly string[];
}

/** Bearer tokens and whom they stand for. */
export interface Tokens {
  add(token: string, user: User): void;
  /** From now on the token is refused, as an expired one is. */
  revoke(token: string): void;
  userOf(token: string): User | undefined;
}

const AUTHENTICATED = 'system:authenticated';

export const ANONYMOUS: User = { name: 'system:anonymous', groups: ['system:unauthenticated'] };

export function createTokens(): Tokens {
  const users = new Map<string, User>();
  return {
    add: (token, user) => void users.set(token, user),
    revoke: (token) => void users.delete(token),
    userOf: (token) => users.get(token),
  };
}

/** The user of a certificate: its common name, its organizations as groups. */
export function userOfCertificate({ subject }: PeerCertificate): User | undefined {
  const first = (value: string | string[] | undefined): string | undefined =>
    Array.isArray(value) ? value[0] : value;
  const name = first(subject?.CN);
  if (name === undefined) return undefined;
  const groups: string[] = [subject.O ?? []].flat();
  return { name, groups: [...groups, AUTHENTICATED] };
}

export function serviceAccountUser(namespace: string, name: string): User {
  return {
    name: `system:serviceaccount:${namespace}:${name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, AUTHENTICATED],
  };
}

/** The token of an Authorization header. */
export function bearerToken(header: string | undefined): string | undefined {
  return /^bearer\s+(\S+)$/i.exec(header ?? '')?.[1];
}

// A request of the API, whichever HTTP version it came by, and the answer to it.
import type { OutgoingHttpHeaders } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import type { Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { User } from '../identity/users.ts';
import type { JsonValue } from '../json.ts';

export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly user: User;
  header(name: string): string | undefined;
  /** The whole body; undefined when it is larger than a request may be. */
  body(): Promise<Buffer | undefined>;
}

/** An answer in one piece. */
export interface Reply {
  readonly code: number;
  /** JSON to be written, text that is JSON already, or bytes of another type. */
  readonly body: { readonly json: JsonValue } | { readonly text: string } | { readonly bytes: Uint8Array };
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly warnings?: readonly string[];
}

export const jsonReply = (code: number, json: JsonValue, extra: Partial<Reply> = {}): Reply => ({
  code,
  body: { json },
  ...extra,
});

/** What both HTTP versions hand to a listener; the newer one's type covers what is used of either. */
export type RawRequest = Http2ServerRequest;

/** What is used of the responses of both HTTP versions. */
export interface RawResponse extends Writable {
  readonly headersSent: boolean;
  writeHead(code: number, headers: OutgoingHttpHeaders): unknown;
  flushHeaders(): void;
}

const MOST_BODY_BYTES = 3 * 1024 * 1024;

export function apiRequest(raw: RawRequest, user: User): ApiRequest {
  const url = new URL(raw.url, 'https://lab');
  const header = (name: string): string | undefined => {
    const value = raw.headers[name];
    return Array.isArray(value) ? value.join(',') : value;
  };
  return {
    method: raw.method,
    path: url.pathname,
    query: url.searchParams,
    user,
    header,
    async body() {
      if (Number(header('content-length') ?? 0) > MOST_BODY_BYTES) return undefined;
      const bytes = await buffer(raw);
      return bytes.length > MOST_BODY_BYTES ? undefined : bytes;
    },
  };
}

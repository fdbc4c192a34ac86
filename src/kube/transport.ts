// Requests to one API server as the rest of the room wants them: paths, JSON, streams, and errors with reasons.
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { PointsmanError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { ClusterAccess } from './access.ts';
import { apiError } from './api-status.ts';
import { createChannel } from './channel.ts';
import { TRANSPORT_TIMING, type TransportTiming, type WireResponse } from './connection.ts';
import { createRateLimit, type RateLimitOptions } from './rate-limit.ts';
import { readAll } from './read-chunks.ts';

/** Bytes. Answers read as a whole are single objects (etcd holds 1.5 MiB) or errors; lists are streamed. */
const MAX_BODY = 32 << 20;

export interface RequestOptions {
  /** Undefined values are left out. */
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
  readonly signal?: AbortSignal;
  /** Whether the server may compress the answer; of use for large lists only. */
  readonly compressed?: boolean;
}

export interface StreamOptions extends RequestOptions {
  /** Passes the rate bound by: watches do, as in upstream's client, and the further pages of a list. */
  readonly unbounded?: boolean;
}

export interface ApiResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
}

/** A response whose body is read as it comes. Whoever opened it reads it to its end or destroys it. */
export interface ApiStream {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Readable;
}

/** One exchange whose head came, or failed; for metrics. */
export interface RequestReport {
  readonly method: string;
  readonly host: string;
  /** 0 if there was no answer. */
  readonly status: number;
  readonly seconds: number;
}

export interface TransportOptions {
  readonly access: ClusterAccess;
  readonly log: Logger;
  readonly userAgent: string;
  readonly timing?: Partial<TransportTiming>;
  /** Upstream's bound, 5 requests a second and 10 at once, is the default (spec section 1.2). */
  readonly rate?: RateLimitOptions;
  readonly onRequest?: (report: RequestReport) => void;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

export interface Transport {
  readonly server: URL;
  /** Any answer, whatever its status. Throws E_API_UNREACHABLE, E_KUBECONFIG, E_CREDENTIAL_PLUGIN. */
  request(method: string, path: string, options?: RequestOptions): Promise<ApiResponse>;
  /** The parsed body of an answer below 400. Besides throws E_API and E_API_MALFORMED. */
  json(method: string, path: string, options?: RequestOptions): Promise<unknown>;
  /** GET with a body to read as it comes. Throws as `json` does, before the body. */
  stream(path: string, options?: StreamOptions): Promise<ApiStream>;
  /** Ends all exchanges and closes the connections. */
  close(): void;
  [Symbol.dispose](): void;
}

export function createTransport(options: TransportOptions): Transport {
  const { access, log, userAgent, onRequest, now = Date.now } = options;
  const { server } = access;
  const timing = { ...TRANSPORT_TIMING, ...options.timing };
  const limit = createRateLimit(options.rate ?? { qps: 5, burst: 10 });
  const prefix = server.pathname.replace(/\/+$/, '');
  const channel = createChannel({ access, log, timing });

  async function send(method: string, path: string, options: StreamOptions): Promise<WireResponse> {
    const { query = {}, contentType = 'application/json', accept = 'application/json', signal } = options;
    if (options.unbounded !== true && !(await limit.wait(signal))) throw signal?.reason;
    const body = options.body === undefined ? undefined : Buffer.from(JSON.stringify(options.body));
    const start = performance.now();
    const report = (status: number): void => {
      onRequest?.({ method, host: server.host, status, seconds: (performance.now() - start) / 1000 });
    };
    try {
      const response = await channel.exchange(
        {
          method,
          path: `${prefix}${path}${queryString(query)}`,
          headers: {
            accept,
            'user-agent': userAgent,
            ...(options.compressed === true && access.compression ? { 'accept-encoding': 'gzip' } : {}),
            ...(body === undefined
              ? {}
              : { 'content-type': contentType, 'content-length': String(body.length) }),
          },
          ...(body === undefined ? {} : { body }),
        },
        signal,
      );
      report(response.status);
      return response;
    } catch (error) {
      report(0);
      throw error;
    }
  }

  async function request(method: string, path: string, options: RequestOptions = {}): Promise<ApiResponse> {
    const response = await send(method, path, options);
    return { ...response, body: await collected(`${method} ${path}`, response) };
  }

  function collected(what: string, response: WireResponse): Promise<Buffer> {
    return readAll(plainBody(response), what, timing.silence, MAX_BODY);
  }

  return {
    server,
    request,
    async json(method, path, options) {
      const { status, headers, body } = await request(method, path, options);
      const text = body.toString('utf8');
      if (status >= 400) throw apiError(`${method} ${path}`, status, headers, text, now);
      try {
        return JSON.parse(text);
      } catch (cause) {
        throw new PointsmanError('E_API_MALFORMED', `the answer to ${method} ${path} is no JSON`, { cause });
      }
    },
    async stream(path, options = {}) {
      const response = await send('GET', path, options);
      if (response.status >= 400) {
        const body = await collected(`GET ${path}`, response);
        throw apiError(`GET ${path}`, response.status, response.headers, body.toString('utf8'), now);
      }
      return { headers: response.headers, body: plainBody(response) };
    },
    close() {
      channel.close();
    },
    [Symbol.dispose]() {
      channel.close();
    },
  };
}

/** The body without its compression; its errors pass through. */
function plainBody({ headers, body }: WireResponse): Readable {
  if (headers['content-encoding'] !== 'gzip') return body;
  return pipeline(body, createGunzip(), () => {});
}

function queryString(query: Readonly<Record<string, string | number | undefined>>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) parameters.set(name, String(value));
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

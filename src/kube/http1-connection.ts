// HTTP/1.1, for plain http and for servers that agree on nothing newer: one socket per watch, kept alive between requests.
import * as http from 'node:http';
import * as https from 'node:https';
import { isIP, type Socket } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import { PointsmanError } from '../base/errors.ts';
import type { Connection, TransportTiming, WireRequest, WireResponse } from './connection.ts';
import { unreachable } from './connection.ts';

export interface Http1Tls extends SecureContextOptions {
  readonly rejectUnauthorized: boolean;
  readonly servername: string;
  readonly checkServerIdentity: typeof import('node:tls').checkServerIdentity;
}

/** A pool of sockets to one server. `tls` for https. */
export function createHttp1Connection(
  server: URL,
  tls: Http1Tls | undefined,
  timing: TransportTiming,
  onClose: () => void,
): Connection {
  const keeping = { keepAlive: true, maxFreeSockets: 4 };
  const agent =
    tls === undefined
      ? new http.Agent(keeping)
      : new https.Agent({ ...keeping, ...tls, ALPNProtocols: ['http/1.1'], maxCachedSessions: 0 });
  const open = new Set<http.ClientRequest>();
  const pool: Pool = {
    began: (request) => open.add(request),
    ended(request) {
      open.delete(request);
      settle();
    },
  };
  const settle = (): void => {
    if (!usable && open.size === 0) destroy();
  };
  let usable = true;
  let proven = false;
  let retiring: NodeJS.Timeout | undefined;

  let destroyed = false;
  const destroy = (): void => {
    usable = false;
    clearTimeout(retiring);
    if (destroyed) return;
    destroyed = true;
    for (const request of open) request.destroy(unreachable(server, new Error('the connection was closed')));
    agent.destroy();
    onClose();
  };
  const retire = (graceMs: number): void => {
    usable = false;
    if (open.size === 0) destroy();
    else retiring ??= setTimeout(destroy, graceMs);
  };
  return {
    protocol: 'http/1.1',
    get usable() {
      return usable;
    },
    get proven() {
      return proven;
    },
    async exchange(request, signal) {
      signal?.throwIfAborted();
      const send = tls === undefined ? http.request : https.request;
      try {
        const response = await exchange(server, send, agent, pool, request, timing, signal);
        proven = true;
        return response;
      } catch (error) {
        // The next connection asks anew which protocol the server speaks. Watches that run may go on.
        if (signal?.aborted !== true) usable = false;
        settle();
        throw error;
      }
    },
    retire,
    destroy,
  };
}

/** The requests that are under way. */
interface Pool {
  began(request: http.ClientRequest): void;
  ended(request: http.ClientRequest): void;
}

function exchange(
  server: URL,
  send: typeof http.request,
  agent: http.Agent,
  pool: Pool,
  { method, path, headers, body }: WireRequest,
  timing: TransportTiming,
  signal: AbortSignal | undefined,
): Promise<WireResponse> {
  return new Promise((resolve, reject) => {
    const request = send({
      agent,
      host: hostOf(server),
      port: portOf(server),
      method,
      path,
      headers: headers as http.OutgoingHttpHeaders,
    });
    pool.began(request);
    const fail = (ms: number, what: string) =>
      setTimeout(() => {
        request.destroy(
          new PointsmanError(
            'E_API_UNREACHABLE',
            `the API server ${server.origin} ${what} in ${ms / 1000} s`,
          ),
        );
      }, ms);
    const late = fail(timing.head, `did not answer ${method} ${path}`);
    let unconnected: NodeJS.Timeout | undefined;
    const onAbort = (): void => {
      request.destroy(signal?.reason instanceof Error ? signal.reason : new Error('aborted'));
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    request.once('socket', (socket: Socket) => {
      // Without pings, TCP's own probes are what notices a peer that is gone.
      socket.setKeepAlive({
        enable: true,
        initialDelay: timing.ping,
        interval: Math.max(1000, timing.pong / 3),
        count: 3,
      });
      if (!socket.connecting) return;
      unconnected = fail(timing.connect, 'took no connection');
      socket.once('connect', () => clearTimeout(unconnected));
    });
    request.once('response', (response) => {
      clearTimeout(late);
      response.on('error', () => {});
      resolve({ status: response.statusCode ?? 0, headers: plainHeaders(response.headers), body: response });
    });
    request.on('error', (error) => reject(unreachable(server, error)));
    request.once('close', () => {
      pool.ended(request);
      clearTimeout(late);
      clearTimeout(unconnected);
      signal?.removeEventListener('abort', onAbort);
    });
    request.end(body);
  });
}

/** The host as sockets want it: an IPv6 address without its brackets. */
export function hostOf(server: URL): string {
  return server.hostname.replace(/^\[(.*)\]$/, '$1');
}

export function portOf(server: URL): number {
  if (server.port !== '') return Number(server.port);
  return server.protocol === 'https:' ? 443 : 80;
}

/** The name for TLS' server name indication: never an address (RFC 6066). */
export function indicatedName(name: string): string {
  return isIP(name) === 0 ? name : '';
}

function plainHeaders(headers: http.IncomingHttpHeaders): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
}

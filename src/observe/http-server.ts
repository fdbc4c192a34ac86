// The small servers for health and metrics.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import { text } from 'node:stream/consumers';
import { sleep } from '../base/backoff.ts';
import { PointsmanError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';

export interface HttpAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What routes may look at beside the path. */
export interface HttpRequest {
  readonly method: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  body(): Promise<string>;
}

/** Answers a path; undefined for one that is not there. */
export type HttpRoutes = (
  path: string,
  request: HttpRequest,
) => HttpAnswer | undefined | Promise<HttpAnswer | undefined>;

/** Certificate and key, as PEM. */
export interface TlsMaterial {
  readonly cert: string;
  readonly key: string;
}

export interface HttpServerOptions {
  /** What messages call it: `health server`. */
  readonly name: string;
  readonly address: string;
  readonly port: number;
  readonly routes: HttpRoutes;
  readonly log: Logger;
  /** A port that cannot be opened is an error, instead of being tried again. */
  readonly hardFail: boolean;
  readonly retryMs?: number;
  /** Serves HTTPS; asked again once a minute at most, when a client comes. Rejects when it cannot be had. */
  readonly tls?: (() => Promise<TlsMaterial>) | undefined;
}

export interface HttpServer extends AsyncDisposable {
  /** Resolves with the port when it is open; rejects with E_BIND if that is to be an error. */
  readonly opened: Promise<number>;
}

/** Upstream's (behaviour spec 6). */
const RETRY_MS = 5_000;
const NOT_FOUND: HttpAnswer = {
  status: 404,
  contentType: 'text/plain; charset=utf-8',
  body: '404 page not found\n',
};

/** Opens the port, again and again if need be, and serves until it is disposed of. */
export function startHttpServer(options: HttpServerOptions): HttpServer {
  const { name, address, port, routes, log, hardFail, retryMs = RETRY_MS } = options;
  const ending = new AbortController();
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const [path = '/', query = ''] = (request.url ?? '/').split('?', 2);
    const { method = 'GET', headers } = request;
    Promise.resolve({ method, headers, query: new URLSearchParams(query), body: () => text(request) })
      .then((asked) => routes(path, asked))
      .then((found = NOT_FOUND) => {
        response.writeHead(found.status, {
          'Content-Type': found.contentType,
          'X-Content-Type-Options': 'nosniff',
          'Content-Length': Buffer.byteLength(found.body),
          ...found.headers,
        });
        response.end(method === 'HEAD' ? undefined : found.body);
      })
      .catch((error: unknown) => {
        log.error(error, `The ${name} failed to answer`, { path });
        response.destroy();
      });
  };
  const { tls } = options;
  const server =
    tls === undefined ? createServer(answer) : createTlsServer({ minVersion: 'TLSv1.2' }, answer);
  const renew = tls === undefined ? undefined : renewal(server as TlsServer, tls);
  server.on('connection', () => {
    // Handshakes wait for nothing: who comes first after a renewal may see the old certificate.
    renew?.().catch((error: unknown) =>
      log.error(error, `The certificate of the ${name} cannot be used, the one before stays`),
    );
  });

  async function open(): Promise<number> {
    for (let tries = 1; ; tries += 1) {
      const failure =
        (await renew?.().then(() => undefined, asError)) ?? (await listen(server, address, port));
      if (failure === undefined) return portOf(server);
      const error = new PointsmanError('E_BIND', `the ${name} cannot listen on ${address} port ${port}`, {
        cause: failure,
        hint: hintFor(failure),
      });
      if (hardFail) throw error;
      if (tries === 1) log.error(error, `Trying again every ${retryMs / 1000} s`);
      if (!(await sleep(retryMs, ending.signal))) throw error;
    }
  }

  const opened = open();
  // Whoever wants to know of a failure awaits `opened`; nobody has to.
  opened.catch(() => {});
  return {
    opened,
    async [Symbol.asyncDispose]() {
      ending.abort();
      await opened.catch(() => {});
      if (!server.listening) return;
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** A certificate is renewed in its file while the process runs. */
const TLS_REFRESH_MS = 60_000;

/** Reads the certificate anew, once a minute at most. */
function renewal(server: TlsServer, material: () => Promise<TlsMaterial>): () => Promise<void> {
  let readAt = Number.NEGATIVE_INFINITY;
  return async () => {
    if (performance.now() - readAt < TLS_REFRESH_MS) return;
    const before = readAt;
    readAt = performance.now();
    try {
      server.setSecureContext(await material());
    } catch (error) {
      // Without any certificate yet it is tried again whenever asked.
      if (before === Number.NEGATIVE_INFINITY) readAt = before;
      throw error;
    }
  };
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

/** Go listens on both families when told 0.0.0.0, where there is IPv6. */
async function listen(server: Server, address: string, port: number): Promise<Error | undefined> {
  if (address !== '0.0.0.0') return listenOn(server, address, port);
  const failure = await listenOn(server, '::', port);
  const noIPv6 = failure !== undefined && ['EAFNOSUPPORT', 'EADDRNOTAVAIL'].includes(codeOf(failure));
  return noIPv6 ? listenOn(server, address, port) : failure;
}

function listenOn(server: Server, host: string, port: number): Promise<Error | undefined> {
  return new Promise((resolve) => {
    const settle = (failure: Error | undefined): void => {
      server.removeListener('error', settle);
      server.removeListener('listening', onListening);
      resolve(failure);
    };
    const onListening = (): void => settle(undefined);
    server.once('error', settle);
    server.once('listening', onListening);
    server.listen({ host, port });
  });
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}

function hintFor(failure: Error): string {
  switch (codeOf(failure)) {
    case 'EADDRINUSE':
      return 'another process has the port';
    case 'EADDRNOTAVAIL':
      return 'this host does not have the address';
    case 'EACCES':
      return 'ports below 1024 need CAP_NET_BIND_SERVICE';
    default:
      return failure.message;
  }
}

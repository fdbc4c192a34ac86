// The small servers for health and metrics.
import { createServer, type Server } from 'node:http';
import { sleep } from '../base/backoff.ts';
import { PointsmanError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';

export interface HttpAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** Answers a path; undefined for one that is not there. */
export type HttpRoutes = (path: string) => HttpAnswer | undefined | Promise<HttpAnswer | undefined>;

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
  const server = createServer((request, response) => {
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    Promise.resolve(path)
      .then(routes)
      .then((answer = NOT_FOUND) => {
        response.writeHead(answer.status, {
          'Content-Type': answer.contentType,
          'X-Content-Type-Options': 'nosniff',
          'Content-Length': Buffer.byteLength(answer.body),
        });
        response.end(answer.body);
      })
      .catch((error: unknown) => {
        log.error(error, `The ${name} failed to answer`, { path });
        response.destroy();
      });
  });

  async function open(): Promise<number> {
    for (let tries = 1; ; tries += 1) {
      const failure = await listen(server, address, port);
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

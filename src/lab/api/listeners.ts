// The server's sockets: HTTPS with HTTP/2 and HTTP/1.1 on any number of addresses or descriptors.
import { createSecureServer, type Http2SecureServer } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { PointsmanError } from '../../base/errors.ts';
import type { KeyAndCertificate } from './identity/certificates.ts';
import type { Handler } from './rest/handler.ts';
import type { RawResponse } from './rest/request.ts';

export interface Listening {
  readonly address: string;
  readonly port: number;
}

export interface Listeners extends AsyncDisposable {
  /** Opens a listener; port 0 takes a free one. */
  listen(address: string, port: number): Promise<Listening>;
  /** Serves on a TCP socket that is bound already, maybe in another network namespace. The descriptor is the server's. */
  listenFd(fd: number): Promise<Listening>;
  /** Closes all connections, not the listeners. */
  dropConnections(): void;
}

export interface ListenersOptions {
  /** PEM: whose client certificates count. */
  readonly authority: string;
  readonly pair: KeyAndCertificate;
  readonly handler: Handler;
}

/** Idle HTTP/1.1 connections are kept this long, as Go's clients expect of the real server. */
const KEEP_ALIVE_MS = 180_000;

/** What one HTTP/2 connection may hold unsent: several large lists at once. Node's own limit is 10. */
const MOST_SESSION_MEGABYTES = 1024;

export function createListeners({ authority, pair, handler }: ListenersOptions): Listeners {
  const servers = new Set<Http2SecureServer>();
  const sockets = new Set<Socket>();

  const open = (what: { host: string; port: number } | { fd: number }): Promise<Listening> => {
    const server = createSecureServer(
      {
        allowHTTP1: true,
        cert: pair.certificate,
        key: pair.key,
        ca: authority,
        requestCert: true,
        rejectUnauthorized: false,
        keepAliveTimeout: KEEP_ALIVE_MS,
        maxSessionMemory: MOST_SESSION_MEGABYTES,
      } as Parameters<typeof createSecureServer>[0],
      // The types of responses differ between the HTTP versions, what is used of them does not.
      (request, response) => handler(request, response as unknown as RawResponse),
    );
    const keep = (socket: Socket): void => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      // A client that resets its connection is its own affair.
      socket.on('error', () => undefined);
    };
    server.on('connection', keep);
    server.on('secureConnection', keep);
    server.on('sessionError', () => undefined);
    server.on('tlsClientError', () => undefined);
    return new Promise((resolve, reject) => {
      server.once('error', (cause) =>
        reject(
          new PointsmanError('E_BIND', `the lab's API server cannot listen: ${cause.message}`, {
            cause,
            facts: 'fd' in what ? { fd: what.fd } : { address: what.host, port: what.port },
          }),
        ),
      );
      server.listen(what, () => {
        servers.add(server);
        const { address, port } = server.address() as AddressInfo;
        resolve({ address, port });
      });
    });
  };
  const dropConnections = (): void => {
    for (const socket of [...sockets]) socket.destroy();
  };
  return {
    listen: (host, port) => open({ host, port }),
    listenFd: (fd) => open({ fd }),
    dropConnections,
    async [Symbol.asyncDispose]() {
      const closed = [...servers].map(
        (server) => new Promise<void>((resolve) => server.close(() => resolve())),
      );
      servers.clear();
      dropConnections();
      await Promise.all(closed);
    },
  };
}

// The wire side of the test's API server: one request and the means to answer it well or badly.
import * as http from 'node:http';
import * as http2 from 'node:http2';
import * as https from 'node:https';
import type { TLSSocket } from 'node:tls';
import type { KeyPair } from './certificates.ts';

export type Json = Readonly<Record<string, unknown>>;

export interface Refusal {
  readonly status: number;
  readonly reason: string;
  readonly message?: string;
  readonly details?: Json;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One request that the server got, and its means to answer. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly httpVersion: string;
  readonly isWatch: boolean;
  readonly isStreamedList: boolean;
  readonly clientName: string | undefined;
  /** The name that the client asked for in the TLS handshake. */
  readonly askedName: string | undefined;
  /** Answers with a Status, as the API does. */
  refuse(refusal: Refusal): void;
  /** Sends the head of a good answer. */
  open(headers?: Record<string, string>): void;
  write(bytes: string | Buffer): void;
  end(): void;
  /** Breaks the connection off. */
  destroy(): void;
  /** Answers as the API says. */
  serve(): void;
  /** The HTTP/2 session, of that protocol only. */
  readonly session: http2.Http2Session | undefined;
}

export interface ServerOptions {
  readonly protocol: 'http' | 'https' | 'h2';
  readonly pair?: KeyPair;
  /** Ask clients for certificates of this CA. */
  readonly clientAuthority?: string;
  /** Whether lists can be streamed; a server that cannot says so as the real one does. */
  readonly streams?: boolean;
  readonly gzip?: boolean;
}

/** A server of the wanted protocol, not yet listening. */
export function createListener(
  options: ServerOptions,
  handle: (
    request: http.IncomingMessage | http2.Http2ServerRequest,
    response: http.ServerResponse | http2.Http2ServerResponse,
  ) => void,
): http.Server | https.Server | http2.Http2SecureServer {
  const { pair, clientAuthority } = options;
  const tls = {
    ...(pair === undefined ? {} : { cert: pair.certificate, key: pair.key }),
    ...(clientAuthority === undefined
      ? {}
      : { requestCert: true, rejectUnauthorized: false, ca: clientAuthority }),
  };
  switch (options.protocol) {
    case 'http':
      return http.createServer(handle);
    case 'https':
      return https.createServer(tls, handle);
    case 'h2':
      return http2.createSecureServer(tls, handle);
  }
}

export function exchangeOf(
  request: http.IncomingMessage | http2.Http2ServerRequest,
  response: http.ServerResponse | http2.Http2ServerResponse,
  serve: (exchange: Exchange) => void,
  onClose: (exchange: Exchange) => void,
): Exchange {
  const url = new URL(request.url ?? '/', 'http://server');
  const { searchParams: query } = url;
  const h2 = 'stream' in response ? response : undefined;
  const peer =
    'getPeerCertificate' in request.socket ? (request.socket as TLSSocket).getPeerCertificate() : undefined;
  response.on('error', () => {});
  const exchange: Exchange = {
    method: request.method ?? '',
    path: url.pathname,
    query,
    headers: request.headers,
    httpVersion: request.httpVersion,
    isWatch: query.get('watch') === '1',
    isStreamedList: query.get('sendInitialEvents') === 'true',
    askedName:
      'servername' in request.socket && typeof request.socket.servername === 'string'
        ? request.socket.servername
        : undefined,
    clientName: peer?.subject === undefined ? undefined : String(peer.subject.CN),
    session: h2?.stream.session,
    refuse({ status, reason, message = reason, details, headers = {} }) {
      response.statusCode = status;
      for (const [name, value] of Object.entries({ 'content-type': 'application/json', ...headers }))
        response.setHeader(name, value);
      response.end(
        JSON.stringify({
          kind: 'Status',
          apiVersion: 'v1',
          status: 'Failure',
          message,
          reason,
          details,
          code: status,
        }),
      );
    },
    open(headers = { 'content-type': 'application/json' }) {
      response.statusCode = 200;
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      if ('flushHeaders' in response) response.flushHeaders();
      else response.writeHead(200);
    },
    write: (bytes) => void (response.write as (bytes: string | Buffer) => boolean)(bytes),
    end: () => void response.end(),
    destroy() {
      if (h2 === undefined) request.socket.destroy();
      else h2.stream.session?.destroy();
    },
    serve: () => serve(exchange),
  };
  response.on('close', () => onClose(exchange));
  return exchange;
}

// HTTP/2: all requests and watches over one connection that is pinged, so that a dead peer is noticed.
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import { Readable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { PointsmanError } from '../base/errors.ts';
import type { Connection, TransportTiming, WireRequest, WireResponse } from './connection.ts';
import { unreachable } from './connection.ts';

/** What a stream may send ahead of its reader. Large enough for an object of any size to keep flowing. */
const STREAM_WINDOW = 512 * 1024;
/** For all streams together: a slow reader of one must not hold up the others. */
const CONNECTION_WINDOW = 8 * STREAM_WINDOW;

/** Takes over a TLS socket on which `h2` was agreed. */
export function createHttp2Connection(
  server: URL,
  socket: TLSSocket,
  timing: TransportTiming,
  onClose: () => void,
): Connection {
  const session = connect(server.origin, {
    createConnection: () => socket,
    settings: { enablePush: false, initialWindowSize: STREAM_WINDOW },
  });
  let usable = true;
  let proven = false;
  let retiring: NodeJS.Timeout | undefined;

  session.on('connect', () => session.setLocalWindowSize(CONNECTION_WINDOW));
  session.on('goaway', () => {
    usable = false;
  });
  // Each stream reports the session's error itself; without a listener it would end the process.
  session.on('error', () => {
    usable = false;
  });
  const stopPings = pingRegularly(server, session, timing);
  session.on('close', () => {
    usable = false;
    clearTimeout(retiring);
    stopPings();
    onClose();
  });

  return {
    protocol: 'h2',
    get usable() {
      return usable && !session.closed && !session.destroyed;
    },
    get proven() {
      return proven;
    },
    async exchange(request, signal) {
      signal?.throwIfAborted();
      const response = await exchange(server, session, request, timing, signal);
      proven = true;
      return response;
    },
    retire(graceMs) {
      usable = false;
      retiring ??= setTimeout(() => session.destroy(), graceMs);
      session.close();
    },
    destroy() {
      usable = false;
      session.destroy();
    },
  };
}

/** Pings until the session ends; an unanswered ping ends it. Returns what stops the timers. */
function pingRegularly(server: URL, session: ClientHttp2Session, timing: TransportTiming): () => void {
  let next: NodeJS.Timeout | undefined;
  let overdue: NodeJS.Timeout | undefined;
  const ping = (): void => {
    overdue = setTimeout(() => {
      const error = unreachable(server, new Error(`no answer to a ping for ${timing.pong / 1000} s`));
      session.destroy(error);
    }, timing.pong);
    session.ping((error) => {
      clearTimeout(overdue);
      if (error === null && !session.destroyed) next = setTimeout(ping, timing.ping);
    });
  };
  next = setTimeout(ping, timing.ping);
  return () => {
    clearTimeout(next);
    clearTimeout(overdue);
  };
}

function exchange(
  server: URL,
  session: ClientHttp2Session,
  { method, path, headers, body }: WireRequest,
  timing: TransportTiming,
  signal: AbortSignal | undefined,
): Promise<WireResponse> {
  return new Promise((resolve, reject) => {
    let stream: ClientHttp2Stream;
    try {
      stream = session.request(
        { ...headers, ':method': method, ':path': path } as Record<string, string | string[]>,
        { endStream: body === undefined },
      );
    } catch (cause) {
      return reject(unreachable(server, cause));
    }
    const cancel = (error: unknown): void => {
      stream.close(constants.NGHTTP2_CANCEL);
      stream.destroy(error instanceof Error ? error : new Error(String(error)));
    };
    const onAbort = (): void => {
      cancel(signal?.reason);
      reject(signal?.reason);
    };
    const late = setTimeout(() => {
      cancel(
        new PointsmanError(
          'E_API_UNREACHABLE',
          `the API server ${server.origin} did not answer ${method} ${path} in ${timing.head / 1000} s`,
        ),
      );
    }, timing.head);
    signal?.addEventListener('abort', onAbort, { once: true });
    stream.once('response', (head) => {
      clearTimeout(late);
      resolve({ status: head[':status'] ?? 0, headers: plainHeaders(head), body: bodyOf(session, stream) });
    });
    // Stays after the head came: the reader of the body sees the error too, but may not have begun yet.
    stream.on('error', (error) => reject(unreachable(server, error)));
    stream.once('close', () => {
      clearTimeout(late);
      signal?.removeEventListener('abort', onAbort);
      reject(unreachable(server, new Error('the connection closed before an answer')));
    });
    if (body !== undefined) stream.end(body);
  });
}

/**
 * The body as an ordinary stream. An Http2Stream's own `closed` says that the peer is done, not that everything was
 * read, and makes node's iterators and pipelines report a premature close when reading begins late.
 */
function bodyOf(session: ClientHttp2Session, stream: ClientHttp2Stream): Readable {
  let whole = false;
  const body = new Readable({
    read() {
      stream.resume();
    },
    destroy(error, done) {
      if (!stream.closed) stream.close(constants.NGHTTP2_CANCEL);
      done(error);
    },
  });
  stream.on('data', (chunk: Buffer) => {
    if (!body.push(chunk)) stream.pause();
  });
  stream.pause();
  stream.once('end', () => {
    // A stream that is torn down with its session ends too.
    whole = stream.rstCode === constants.NGHTTP2_NO_ERROR && !session.destroyed;
    if (whole) body.push(null);
  });
  stream.on('error', (error) => body.destroy(error));
  stream.once('close', () => {
    if (!whole) body.destroy(new Error('the connection closed'));
  });
  body.on('error', () => {});
  return body;
}

function plainHeaders(head: Readonly<Record<string, unknown>>): Record<string, string> {
  const entries = Object.entries(head).filter(([name]) => !name.startsWith(':'));
  return Object.fromEntries(
    entries.map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : String(value)]),
  );
}

// A small API server for one resource that follows the API, until it is told not to.
import type * as http from 'node:http';
import type * as http2 from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import {
  createListener,
  type Exchange,
  exchangeOf,
  type Json,
  type Refusal,
  type ServerOptions,
} from './exchange.ts';

export interface MisbehavingServer {
  readonly port: number;
  readonly url: string;
  /** All requests so far, in order. */
  readonly requests: readonly Exchange[];
  /** The next request that matches is given to `act` instead of being served; each call holds for one request. */
  once(matches: (exchange: Exchange) => boolean, act: (exchange: Exchange) => void): void;
  /** As long as it is set, requests without it are refused with 401. */
  token: string | undefined;
  /** Called after each request was taken in. */
  onRequest: () => void;
  readonly version: number;
  put(name: string, more?: Json): void;
  remove(name: string): void;
  /** Sets versions back, as a restored backup does. */
  restore(version: number, names: readonly string[]): void;
  /** Sends a line as it is to all open watches. */
  shout(line: string): void;
  bookmark(): void;
  /** Ends all open watches in order. */
  endWatches(): void;
  /** Breaks all connections off. */
  breakConnections(): void;
  /** Forgets the history: watches from older versions get 410. */
  compact(): void;
  /** Keys of the objects it holds, sorted. */
  readonly names: readonly string[];
  readonly openWatches: number;
  /** Connections opened so far. */
  readonly connections: number;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

interface Change {
  readonly version: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: Json;
}

export async function startServer(options: ServerOptions): Promise<MisbehavingServer> {
  const objects = new Map<string, Json>();
  const watchers = new Set<Exchange>();
  const sockets = new Set<Socket>();
  const requests: Exchange[] = [];
  const faults: { matches: (exchange: Exchange) => boolean; act: (exchange: Exchange) => void }[] = [];
  let history: Change[] = [];
  let compacted = 0;
  let version = 100;
  let connections = 0;
  const state = { token: undefined as string | undefined, onRequest: () => {} };

  const line = (type: string, object: Json): string => `${JSON.stringify({ type, object })}\n`;
  const bookmarkOf = (at: number, more: Json = {}): Json => ({
    kind: 'Service',
    apiVersion: 'v1',
    metadata: { resourceVersion: String(at), ...more },
  });

  function change(type: Change['type'], object: Json): void {
    history.push({ version, type, object });
    for (const exchange of watchers) exchange.write(line(type, object));
  }

  function put(name: string, more: Json = {}): void {
    version += 1;
    const known = objects.has(name);
    const object: Json = {
      kind: 'Service',
      apiVersion: 'v1',
      ...more,
      metadata: { name, namespace: 'shop', resourceVersion: String(version) },
    };
    objects.set(name, object);
    change(known ? 'MODIFIED' : 'ADDED', object);
  }

  function remove(name: string): void {
    const object = objects.get(name);
    if (object === undefined) throw new Error(`no object ${name}`);
    version += 1;
    objects.delete(name);
    change('DELETED', { ...object, metadata: { name, namespace: 'shop', resourceVersion: String(version) } });
  }

  function serveList(exchange: Exchange): void {
    const { query } = exchange;
    const wanted = Number(query.get('resourceVersion') ?? 0);
    if (wanted > version) {
      exchange.refuse(tooLarge(wanted));
      return;
    }
    const token = query.get('continue');
    const [snapshot = version, from = 0] = token === null ? [] : token.split('-').map(Number);
    if (snapshot < compacted) {
      exchange.refuse({
        status: 410,
        reason: 'Expired',
        message: 'The provided continue parameter is too old',
      });
      return;
    }
    const limit = Number(query.get('limit') ?? 0) || objects.size;
    const all = [...objects.values()];
    const rest = all.length - from - limit;
    const body = JSON.stringify({
      kind: 'ServiceList',
      apiVersion: 'v1',
      metadata: {
        resourceVersion: String(snapshot),
        ...(rest > 0 ? { continue: `${snapshot}-${from + limit}`, remainingItemCount: rest } : {}),
      },
      items: all.slice(from, from + limit),
    });
    const compress = options.gzip === true && exchange.headers['accept-encoding'] === 'gzip';
    exchange.open({
      'content-type': 'application/json',
      ...(compress ? { 'content-encoding': 'gzip' } : {}),
    });
    exchange.write(compress ? gzipSync(body) : body);
    exchange.end();
  }

  function tooLarge(wanted: number): Refusal {
    return {
      status: 504,
      reason: 'Timeout',
      message: `Too large resource version: ${wanted}, current: ${version}`,
      details: { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }] },
    };
  }

  function watchRefusal({ query, isStreamedList }: Exchange): Refusal | undefined {
    const from = Number(query.get('resourceVersion') ?? 0);
    if (!isStreamedList) {
      if (query.has('resourceVersionMatch')) return { status: 422, reason: 'Invalid' };
      if (from >= compacted) return undefined;
      return { status: 410, reason: 'Expired', message: `too old resource version: ${from}` };
    }
    if (options.streams === false) {
      const message = 'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled';
      return { status: 422, reason: 'Invalid', message };
    }
    if (query.get('resourceVersionMatch') !== 'NotOlderThan') return { status: 422, reason: 'Invalid' };
    return from > version ? tooLarge(from) : undefined;
  }

  function serveWatch(exchange: Exchange): void {
    const refusal = watchRefusal(exchange);
    if (refusal !== undefined) {
      exchange.refuse(refusal);
      return;
    }
    exchange.open();
    if (exchange.isStreamedList) {
      for (const object of objects.values()) exchange.write(line('ADDED', object));
      const end = { annotations: { 'k8s.io/initial-events-end': 'true' } };
      exchange.write(line('BOOKMARK', bookmarkOf(version, end)));
    } else {
      const from = Number(exchange.query.get('resourceVersion') ?? 0);
      for (const old of history) if (old.version > from) exchange.write(line(old.type, old.object));
    }
    watchers.add(exchange);
  }

  function serve(exchange: Exchange): void {
    if (exchange.isWatch) serveWatch(exchange);
    else serveList(exchange);
  }

  function handle(
    request: http.IncomingMessage | http2.Http2ServerRequest,
    response: http.ServerResponse | http2.Http2ServerResponse,
  ): void {
    const exchange = exchangeOf(request, response, serve, (closed) => watchers.delete(closed));
    requests.push(exchange);
    request.resume();
    const index = faults.findIndex(({ matches }) => matches(exchange));
    if (state.token !== undefined && exchange.headers.authorization !== `Bearer ${state.token}`) {
      exchange.refuse({ status: 401, reason: 'Unauthorized' });
    } else if (index >= 0) faults.splice(index, 1)[0]?.act(exchange);
    else serve(exchange);
    state.onRequest();
  }

  const server = createListener(options, handle);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    connections += 1;
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const breakConnections = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const close = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    breakConnections();
    await closed;
  };

  return {
    port,
    url: `${options.protocol === 'http' ? 'http' : 'https'}://127.0.0.1:${port}`,
    requests,
    once: (matches, act) => void faults.push({ matches, act }),
    get token() {
      return state.token;
    },
    set token(value) {
      state.token = value;
    },
    get onRequest() {
      return state.onRequest;
    },
    set onRequest(value) {
      state.onRequest = value;
    },
    get version() {
      return version;
    },
    put,
    remove,
    restore(to, names) {
      version = to;
      compacted = 0;
      history = [];
      objects.clear();
      for (const name of names) put(name);
    },
    shout(text) {
      for (const exchange of watchers) exchange.write(`${text}\n`);
    },
    bookmark() {
      for (const exchange of watchers) exchange.write(line('BOOKMARK', bookmarkOf(version)));
    },
    endWatches() {
      for (const exchange of [...watchers]) exchange.end();
    },
    breakConnections,
    compact() {
      compacted = version;
      history = [];
    },
    get connections() {
      return connections;
    },
    get names() {
      return [...objects.keys()].map((name) => `shop/${name}`).sort();
    },
    get openWatches() {
      return watchers.size;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

// A small API server for the proxy's resources: lists, watches, streamed lists; and it takes events.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

export type Json = { readonly [key: string]: unknown };

const PATHS = {
  services: '/api/v1/services',
  endpointslices: '/apis/discovery.k8s.io/v1/endpointslices',
  nodes: '/api/v1/nodes',
  servicecidrs: '/apis/networking.k8s.io/v1/servicecidrs',
} as const;
const EVENTS = '/apis/events.k8s.io/v1/namespaces/';
export type Resource = keyof typeof PATHS;

export interface SmallApi extends AsyncDisposable {
  readonly port: number;
  /** Creates or replaces an object; gives it a resourceVersion. */
  put(resource: Resource, object: Json): void;
  remove(resource: Resource, name: string): void;
  /** Requests for this resource wait until it is let go. */
  hold(resource: Resource): { letGo(): void };
  /** Resolves when a watch of the resource is open. */
  watched(resource: Resource): Promise<void>;
  readonly openWatches: number;
  /** Events that were created, oldest first. */
  readonly events: readonly Json[];
  /** Resolves with the first event, past or to come, of a reason. */
  event(reason: string): Promise<Json>;
}

export interface SmallApiOptions {
  /** A listening descriptor, as in another network namespace; without, a port on loopback. */
  readonly fd?: number;
  /** Answered with 403. */
  readonly forbidden?: readonly Resource[];
}

export async function startSmallApi({ fd, forbidden = [] }: SmallApiOptions = {}): Promise<SmallApi> {
  const objects = new Map<Resource, Map<string, Json>>();
  const watches = new Map<Resource, Set<ServerResponse>>();
  const gates = new Map<Resource, Promise<void>>();
  const opened = new Map<Resource, PromiseWithResolvers<void>>();
  for (const resource of Object.keys(PATHS) as Resource[]) {
    objects.set(resource, new Map());
    watches.set(resource, new Set());
    opened.set(resource, Promise.withResolvers());
  }
  let version = 100;
  const events: Json[] = [];
  const wanted = new Map<string, PromiseWithResolvers<Json>>();

  const event = (type: string, object: Json): string => `${JSON.stringify({ type, object })}\n`;
  const tell = (resource: Resource, type: string, object: Json): void => {
    for (const response of watches.get(resource) ?? []) response.write(event(type, object));
  };
  const nameOf = (object: Json): string => {
    const { metadata } = object;
    return typeof metadata === 'object' && metadata !== null && 'name' in metadata
      ? String(metadata.name)
      : '';
  };
  const versioned = (object: Json): Json => {
    version += 1;
    const { metadata } = object;
    return { ...object, metadata: { ...(metadata as Json), resourceVersion: String(version) } };
  };

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://api');
    const resource = (Object.keys(PATHS) as Resource[]).find((name) => PATHS[name] === url.pathname);
    if (request.method === 'POST' && url.pathname.startsWith(EVENTS)) {
      const noted: Json = await json(request).then((body) => body as Json);
      events.push(noted);
      wanted.get(String(noted.reason))?.resolve(noted);
      response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(noted));
      return;
    }
    if (resource !== undefined && forbidden.includes(resource)) {
      response.writeHead(403, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ kind: 'Status', status: 'Failure', reason: 'Forbidden', code: 403 }));
      return;
    }
    if (resource === undefined) {
      response.writeHead(404, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ kind: 'Status', status: 'Failure', reason: 'NotFound', code: 404 }));
      return;
    }
    await gates.get(resource);
    const known = [...(objects.get(resource)?.values() ?? [])];
    response.writeHead(200, { 'content-type': 'application/json' });
    if (!url.searchParams.has('watch')) {
      response.end(
        JSON.stringify({ kind: 'List', metadata: { resourceVersion: String(version) }, items: known }),
      );
      return;
    }
    if (url.searchParams.has('sendInitialEvents')) {
      for (const object of known) response.write(event('ADDED', object));
      const annotations = { 'k8s.io/initial-events-end': 'true' };
      response.write(event('BOOKMARK', { metadata: { resourceVersion: String(version), annotations } }));
    }
    response.flushHeaders();
    watches.get(resource)?.add(response);
    response.on('close', () => watches.get(resource)?.delete(response));
    opened.get(resource)?.resolve();
  }

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  server.listen(fd === undefined ? { port: 0, host: '127.0.0.1' } : { fd });
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    put(resource, object) {
      const stored = versioned(object);
      const existed = objects.get(resource)?.has(nameOf(stored));
      objects.get(resource)?.set(nameOf(stored), stored);
      tell(resource, existed ? 'MODIFIED' : 'ADDED', stored);
    },
    remove(resource, name) {
      const object = objects.get(resource)?.get(name);
      if (object === undefined) throw new Error(`there is no ${name} in ${resource}`);
      objects.get(resource)?.delete(name);
      tell(resource, 'DELETED', versioned(object));
    },
    hold(resource) {
      const { promise, resolve } = Promise.withResolvers<void>();
      gates.set(resource, promise);
      return { letGo: () => resolve() };
    },
    watched: (resource) => opened.get(resource)?.promise ?? Promise.resolve(),
    events,
    event(reason) {
      const past = events.find((noted) => noted.reason === reason);
      if (past !== undefined) return Promise.resolve(past);
      const waiting = wanted.get(reason) ?? Promise.withResolvers<Json>();
      wanted.set(reason, waiting);
      return waiting.promise;
    },
    get openWatches() {
      return [...watches.values()].reduce((sum, set) => sum + set.size, 0);
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

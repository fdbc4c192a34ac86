// A watch over HTTP: one JSON object a line, bookmarks, a time-out, and the faults that concern watches.
import type { ApiObject } from '../api-object.ts';
import type { Fault } from '../faults.ts';
import type { JsonObject } from '../json.ts';
import type { Registry } from '../registry/context.ts';
import { parseVersion, type Selection } from '../registry/read.ts';
import { type WatchEvent, type WatchStart, watch } from '../registry/watch.ts';
import { apiVersionOf, type Resource } from '../resources/definition.ts';
import { badRequest, expired, type Failed, failure, tooLargeVersion } from '../status.ts';
import type { Encoder, IncludeObject } from './encode.ts';
import type { Form } from './media.ts';
import { count, includeObject, isTrue } from './parameters.ts';
import type { RawRequest, RawResponse } from './request.ts';
import { commonHeaders, dropConnection } from './respond.ts';

export interface WatchTimes {
  /** How often a watcher that asked for bookmarks gets one. */
  readonly bookmarkMs: number;
  /** How long a watch lasts that names no time. */
  readonly defaultTimeoutMs: number;
}

export interface WatchRequest {
  readonly registry: Registry;
  readonly encoder: Encoder;
  readonly resource: Resource;
  readonly selection: Selection;
  readonly query: URLSearchParams;
  readonly form: Form;
  readonly times: WatchTimes;
}

/** A client that reads slower than this much is behind for good. */
const MOST_UNREAD_BYTES = 64 * 1024 * 1024;

interface Start {
  readonly ok: true;
  readonly start: WatchStart;
  readonly bookmarks: boolean;
  /** Whether a bookmark tells the end of the initial state (WatchList, KEP-3157). */
  readonly marksEnd: boolean;
}

function startOf(query: URLSearchParams, current: number): Start | Failed {
  const bookmarks = isTrue(query.get('allowWatchBookmarks'));
  const text = query.get('resourceVersion') ?? '';
  const version = text === '' ? 0 : parseVersion(text);
  if (version === undefined) return badRequest(`invalid resource version: ${JSON.stringify(text)}`);
  const initial = query.get('sendInitialEvents');
  if (initial === null || initial === '') {
    if (query.get('resourceVersionMatch'))
      return forbiddenOption(
        'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
      );
    return { ok: true, start: version === 0 ? 'state' : version, bookmarks, marksEnd: false };
  }
  if (query.get('resourceVersionMatch') !== 'NotOlderThan')
    return forbiddenOption('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan');
  if (!isTrue(initial))
    return { ok: true, start: version === 0 ? 'now' : version, bookmarks, marksEnd: false };
  if (version > current) return tooLargeVersion(version, current);
  return { ok: true, start: 'state', bookmarks, marksEnd: bookmarks };
}

function forbiddenOption(why: string): Failed {
  const field = 'resourceVersionMatch';
  const message = `Forbidden: ${why}`;
  return failure(422, 'Invalid', `ListOptions.meta.k8s.io "" is invalid: ${field}: ${message}`, {
    details: {
      group: 'meta.k8s.io',
      kind: 'ListOptions',
      causes: [{ reason: 'FieldValueForbidden', message, field }],
    },
  });
}

/** Serves a watch until its time is over, the client leaves, or `signal` aborts; a refusal comes back instead. */
export function streamWatch(
  request: WatchRequest,
  raw: RawRequest,
  response: RawResponse,
  fault: Fault | undefined,
  signal: AbortSignal,
): Failed | undefined {
  const { registry, resource, selection, query, times } = request;
  const asked = startOf(query, registry.cluster.store.version);
  if (!asked.ok) return asked;
  let deliver = (_event: WatchEvent): void => undefined;
  const opened = watch(registry, resource, selection, asked.start, (event) => deliver(event));
  if (!opened.ok && opened.status.reason !== 'Expired') return opened;

  response.writeHead(200, { ...commonHeaders(), 'content-type': 'application/json' });
  response.flushHeaders();
  const lines = createLines(request, raw, response, fault);
  if (!opened.ok) {
    lines.write('ERROR', JSON.stringify(opened.status));
    response.end();
    return undefined;
  }
  deliver = (event) => lines.event(event);
  for (const event of opened.initial) lines.event(event);
  if (asked.marksEnd) lines.bookmark(opened.version, true);
  lines.initialIsOver();
  const { store } = registry.cluster;
  const seconds = count(query.get('timeoutSeconds'));
  const ms = seconds === undefined || seconds === 0 ? times.defaultTimeoutMs : seconds * 1000;
  const bookmarks = asked.bookmarks
    ? setInterval(() => lines.bookmark(store.version, false), times.bookmarkMs)
    : undefined;
  const timeout = setTimeout(() => {
    if (asked.bookmarks) lines.bookmark(store.version, false);
    finish();
  }, ms);
  const finish = (): void => {
    response.end();
    close();
  };
  const close = (): void => {
    opened[Symbol.dispose]();
    clearInterval(bookmarks);
    clearTimeout(timeout);
    signal.removeEventListener('abort', finish);
  };
  signal.addEventListener('abort', finish, { once: true });
  response.on('close', close);
  return undefined;
}

interface Lines {
  event(event: WatchEvent): void;
  bookmark(version: number, endsInitial: boolean): void;
  write(type: string, object: string): void;
  initialIsOver(): void;
}

function createLines(
  { encoder, resource, form, query }: WatchRequest,
  raw: RawRequest,
  response: RawResponse,
  fault: Fault | undefined,
): Lines {
  const include: IncludeObject = includeObject(query);
  let written = 0;
  let rows = 0;
  let muted = false;
  let live = false;

  const put = (text: string): void => {
    if (response.writableEnded || response.destroyed || muted) return;
    response.write(text);
    // The initial state comes in one go, however large; what counts is who cannot keep up afterwards.
    if (live && response.writableLength > MOST_UNREAD_BYTES) dropConnection(raw);
  };
  /** Whether the fault lets the next line pass. */
  const passes = (): boolean => {
    if (fault === undefined || !('afterEvents' in fault) || written < fault.afterEvents) return true;
    switch (fault.kind) {
      case 'mute':
        muted = true;
        return false;
      case 'cut':
        // What was written before the fault must still arrive.
        response.write('', () => dropConnection(raw));
        muted = true;
        return false;
      case 'end':
        response.end();
        return false;
      case 'expire':
        put(
          `${line('ERROR', JSON.stringify(expired('The resourceVersion for the provided watch is too old.').status))}`,
        );
        response.end();
        return false;
      case 'say':
        if (written === fault.afterEvents) put(fault.text);
        return true;
    }
  };
  const write = (type: string, object: string): void => {
    if (!passes()) return;
    const text = line(type, object);
    put(fault?.kind === 'rewrite' ? `${fault.rewrite(text.trimEnd())}\n` : text);
    written += 1;
    // A fault at the end of what there is must not wait for the next event.
    if (fault !== undefined && 'afterEvents' in fault && fault.kind !== 'say') passes();
  };
  const textOf = (object: ApiObject): string => {
    if (form !== 'table') return encoder.object(resource, object, form, include);
    rows += 1;
    return encoder.row(resource, object, include, rows === 1);
  };
  if (fault !== undefined && 'afterEvents' in fault && fault.afterEvents === 0 && fault.kind !== 'say')
    passes();
  return {
    write,
    initialIsOver: () => {
      live = true;
    },
    event: ({ type, object }) => write(type, textOf(object)),
    bookmark: (version, endsInitial) =>
      write('BOOKMARK', JSON.stringify(bookmarkOf(resource, form, version, endsInitial))),
  };
}

const line = (type: string, object: string): string => `{"type":"${type}","object":${object}}\n`;

function bookmarkOf(resource: Resource, form: Form, version: number, endsInitial: boolean): JsonObject {
  const metadata: JsonObject = {
    resourceVersion: String(version),
    ...(endsInitial ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
  };
  if (form === 'table')
    return {
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
      metadata,
      columnDefinitions: null,
      rows: [
        { cells: [], object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata } },
      ],
    };
  if (form === 'metadata') return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata };
  return { kind: resource.kind, apiVersion: apiVersionOf(resource), metadata, ...resource.blank };
}

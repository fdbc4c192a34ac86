// One line of a watch, taken apart.
import { PointsmanError } from '../base/errors.ts';

export type ApiObject = Readonly<Record<string, unknown>>;

export type WatchEvent =
  | { readonly kind: 'set'; readonly object: ApiObject }
  | { readonly kind: 'delete'; readonly object: ApiObject }
  /** `initialEventsEnd`: all objects of a streamed list have been sent. */
  | { readonly kind: 'bookmark'; readonly version: string; readonly initialEventsEnd: boolean }
  /** A Status object. */
  | { readonly kind: 'error'; readonly object: unknown }
  | { readonly kind: 'unknown'; readonly type: string };

/** KEP-3157: marks the bookmark that ends the initial events. */
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

/** Throws E_API_MALFORMED for what is no watch event. */
export function parseWatchEvent(line: Buffer): WatchEvent {
  const text = line.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new PointsmanError('E_API_MALFORMED', `a line of the watch is no JSON: ${excerpt(text)}`, {
      cause,
    });
  }
  if (!isObject(value) || typeof value.type !== 'string') {
    throw new PointsmanError('E_API_MALFORMED', `a line of the watch is no event: ${excerpt(text)}`);
  }
  const { type, object } = value as { readonly type: string; readonly object?: unknown };
  if (type === 'ERROR') return { kind: 'error', object };
  const kind = KINDS[type];
  if (kind === undefined) return { kind: 'unknown', type };
  if (!isObject(object))
    throw new PointsmanError('E_API_MALFORMED', `a ${type} event of the watch has no object`);
  if (kind !== 'bookmark') return { kind, object };
  const annotations = metadataOf(object).annotations;
  return {
    kind,
    version: versionOf(object),
    initialEventsEnd: isObject(annotations) && annotations[INITIAL_EVENTS_END] === 'true',
  };
}

const KINDS: Readonly<Record<string, 'set' | 'delete' | 'bookmark' | undefined>> = {
  ADDED: 'set',
  MODIFIED: 'set',
  DELETED: 'delete',
  BOOKMARK: 'bookmark',
};

/** `namespace/name`, or the name of an object without a namespace; undefined if it has no name. */
export function objectKey(object: ApiObject): string | undefined {
  const { namespace, name } = metadataOf(object);
  if (typeof name !== 'string' || name === '') return undefined;
  return typeof namespace === 'string' && namespace !== '' ? `${namespace}/${name}` : name;
}

/** metadata.resourceVersion, empty if there is none. */
export function versionOf(object: ApiObject): string {
  const { resourceVersion } = metadataOf(object);
  return typeof resourceVersion === 'string' ? resourceVersion : '';
}

/** The metadata of an object, list or bookmark. */
export function metadataOf(object: ApiObject): ApiObject {
  return isObject(object.metadata) ? object.metadata : {};
}

export function isObject(value: unknown): value is ApiObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function excerpt(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}...` : text);
}

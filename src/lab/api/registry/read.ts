// Reading: one object, lists in pages, and which objects a request selects.
import { type ApiObject, keyOf } from '../api-object.ts';
import { isObject, type JsonObject, parseJson } from '../json.ts';
import type { Resource } from '../resources/definition.ts';
import { type Answer, badRequest, done, expired, type Failed, notFound, tooLargeVersion } from '../status.ts';
import { fieldSelector, labelSelector, type Matcher, type SelectableFields } from '../store/selector.ts';
import { find, type Registry, shown, storageOf, type Target } from './context.ts';

export interface Selection {
  /** Undefined for all namespaces, and for cluster-wide resources. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

export interface ListOptions extends Selection {
  readonly limit?: number;
  readonly continue?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan';
}

export interface Listed {
  readonly ok: true;
  readonly items: readonly ApiObject[];
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

export type Selected = { readonly ok: true; readonly matches: Matcher } | Failed;

const COMMON_FIELDS: SelectableFields = {
  'metadata.name': ({ metadata }) => metadata.name ?? '',
  'metadata.namespace': ({ metadata }) => metadata.namespace ?? '',
};

/** What a selection matches, as a test of stored objects. */
export function select(resource: Resource, selection: Selection): Selected {
  const labels = labelSelector(selection.labelSelector);
  if (!labels.ok) return badRequest(labels.why);
  const fields = fieldSelector(selection.fieldSelector, { ...COMMON_FIELDS, ...resource.selectable });
  if (!fields.ok)
    return badRequest(
      `Unable to find ${JSON.stringify(`${resource.group === '' ? '' : `${resource.group}/`}${resource.version}, Resource=${resource.plural}`)} that match label selector ${JSON.stringify(selection.labelSelector ?? '')}, field selector ${JSON.stringify(selection.fieldSelector ?? '')}: ${fields.why}`,
    );
  const { namespace } = selection;
  return {
    ok: true,
    matches: (object) =>
      (namespace === undefined || object.metadata.namespace === namespace) &&
      labels.matches(object) &&
      fields.matches(object),
  };
}

export function get(registry: Registry, target: Target): Answer {
  const found = find(registry, target);
  return found === undefined ? notFound(target.resource, target.name) : done(shown(target.resource, found));
}

interface Token {
  readonly version: number;
  /** The key of the first object of the next page, or one before it. */
  readonly start: string;
}

function encodeToken({ version, start }: Token): string {
  const token = { v: 'meta.k8s.io/v1', rv: version, start: `/${start}` };
  return Buffer.from(JSON.stringify(token)).toString('base64url');
}

function decodeToken(text: string): Token | undefined {
  const token = parseJson(Buffer.from(text, 'base64url').toString('utf8'));
  if (!isObject(token) || typeof token.rv !== 'number' || typeof token.start !== 'string') return undefined;
  return token.start.startsWith('/') ? { version: token.rv, start: token.start.slice(1) } : undefined;
}

/** Sorts before every name that starts with the key and goes on. */
const AFTER = '\u0000';

interface View {
  /** The version whose state is listed; undefined for the newest. */
  readonly at: number | undefined;
  readonly start: string | undefined;
}

/** Lists objects in the order of their keys, a page at a time when there is a limit. */
export function list(registry: Registry, resource: Resource, options: ListOptions = {}): Listed | Failed {
  const selected = select(resource, options);
  if (!selected.ok) return selected;
  const { store } = registry.cluster;
  const plural = storageOf(registry, resource).plural;
  const view = viewOf(options, store.version);
  if (!('at' in view)) return view;
  const version = view.at ?? store.version;
  const entries = view.at === undefined ? store.entries(plural) : store.entriesAt(plural, view.at);
  if (entries === undefined) return gone(options, store.version, view.start);

  const limit = options.limit ?? 0;
  const items: ApiObject[] = [];
  let lastKey = '';
  let left = 0;
  for (const [key, object] of entries) {
    if (view.start !== undefined && key < view.start) continue;
    if (!selected.matches(object)) continue;
    if (limit > 0 && items.length === limit) {
      left += 1;
      continue;
    }
    items.push(shown(resource, object));
    lastKey = key;
  }
  const selective = (options.labelSelector ?? '') !== '' || (options.fieldSelector ?? '') !== '';
  return {
    ok: true,
    items,
    resourceVersion: String(version),
    ...(left === 0 ? {} : { continue: encodeToken({ version, start: lastKey + AFTER }) }),
    ...(left === 0 || selective ? {} : { remainingItemCount: left }),
  };
}

function viewOf(options: ListOptions, current: number): View | Failed {
  const { resourceVersion, resourceVersionMatch: match } = options;
  if (options.continue !== undefined && options.continue !== '') {
    if (resourceVersion !== undefined && resourceVersion !== '' && resourceVersion !== '0')
      return badRequest('specifying resource version is not allowed when using continue');
    const token = decodeToken(options.continue);
    if (token === undefined) return badRequest('continue key is not valid: it is no token of this server');
    return { at: token.version < 0 ? undefined : token.version, start: token.start };
  }
  if (resourceVersion === undefined || resourceVersion === '') {
    if (match !== undefined)
      return badRequest('resourceVersionMatch is forbidden unless resourceVersion is provided');
    return { at: undefined, start: undefined };
  }
  const version = parseVersion(resourceVersion);
  if (version === undefined)
    return badRequest(`invalid resource version: ${JSON.stringify(resourceVersion)}`);
  if (version > current) return tooLargeVersion(version, current);
  // Without a match, a version with a limit means just that version, as it has since before resourceVersionMatch.
  const exact = match === 'Exact' || (match === undefined && version > 0 && (options.limit ?? 0) > 0);
  return { at: exact ? version : undefined, start: undefined };
}

/** A resourceVersion as a number; undefined when it is none. */
export function parseVersion(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function gone(options: ListOptions, current: number, start: string | undefined): Failed {
  if (start === undefined)
    return expired(
      `The resourceVersion for the provided list is too old: ${options.resourceVersion ?? ''} (${current})`,
    );
  return expired(
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
    { continue: encodeToken({ version: -1, start }) },
  );
}

/** What a list says of itself, as `metadata`. */
export function listMetadata(listed: Listed): JsonObject {
  return {
    resourceVersion: listed.resourceVersion,
    ...(listed.continue === undefined ? {} : { continue: listed.continue }),
    ...(listed.remainingItemCount === undefined ? {} : { remainingItemCount: listed.remainingItemCount }),
  };
}

export function targetOf(resource: Resource, object: ApiObject): Target {
  const { namespace, name = '' } = object.metadata;
  return { resource, namespace: resource.namespaced ? namespace : undefined, name };
}

export const objectKey = (object: ApiObject): string =>
  keyOf(object.metadata.namespace, object.metadata.name ?? '');

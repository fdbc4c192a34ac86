// Watching: what happened since a version, and what happens from now on, of the objects that a selection matches.
import type { ApiObject } from '../api-object.ts';
import type { Resource } from '../resources/definition.ts';
import { expired, type Failed } from '../status.ts';
import type { Matcher } from '../store/selector.ts';
import type { StoreEvent } from '../store/store.ts';
import { type Registry, shown, storageOf } from './context.ts';
import { type Selection, select } from './read.ts';

export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: ApiObject;
}

/** Where a watch starts: with all objects as they are now, or after a version. */
export type WatchStart = 'state' | 'now' | number;

export interface Watch extends Disposable {
  readonly ok: true;
  /** What comes before anything that the listener is told. */
  readonly initial: readonly WatchEvent[];
  /** The version up to which `initial` tells. */
  readonly version: number;
}

/** Opens a watch; an Expired failure when the history does not reach back to the version. */
export function watch(
  registry: Registry,
  resource: Resource,
  selection: Selection,
  start: WatchStart,
  listener: (event: WatchEvent) => void,
): Watch | Failed {
  const selected = select(resource, selection);
  if (!selected.ok) return selected;
  const { store } = registry.cluster;
  const plural = storageOf(registry, resource).plural;
  const { version } = store;
  const initial: WatchEvent[] = [];
  if (start === 'state') {
    for (const [, object] of store.entries(plural))
      if (selected.matches(object)) initial.push({ type: 'ADDED', object: shown(resource, object) });
  } else if (start !== 'now') {
    const events = store.eventsSince(plural, start);
    if (events === undefined) return expired(`too old resource version: ${start} (${version})`);
    for (const event of events) initial.push(...seen(resource, event, selected.matches));
  }
  // Events up to the later of the two are told already, or not asked for.
  const known = Math.max(version, typeof start === 'number' ? start : 0);
  const subscription = store.subscribe(plural, (event) => {
    if (event.version > known) for (const one of seen(resource, event, selected.matches)) listener(one);
  });
  return { ok: true, initial, version, [Symbol.dispose]: () => subscription[Symbol.dispose]() };
}

/** An event as a watcher with a selection sees it: an object that comes to match is added, one that ceases is deleted. */
function seen(resource: Resource, event: StoreEvent, matches: Matcher): readonly WatchEvent[] {
  const did = event.previous !== undefined && matches(event.previous);
  const does = event.type !== 'DELETED' && matches(event.object);
  if (does) return [{ type: did ? 'MODIFIED' : 'ADDED', object: shown(resource, event.object) }];
  if (!did || event.previous === undefined) return [];
  // The last state that matched, with the version of the change.
  const { resourceVersion } = event.object.metadata;
  const last = resourceVersion === undefined ? event.previous : withVersion(event.previous, resourceVersion);
  return [{ type: 'DELETED', object: shown(resource, last) }];
}

function withVersion(object: ApiObject, resourceVersion: string): ApiObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion } };
}

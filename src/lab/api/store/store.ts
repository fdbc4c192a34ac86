// The objects of all resources under one counter of versions, with a bounded history of events (what etcd is to a real
// API server). It knows no rules of any resource.
import type { ApiObject } from '../api-object.ts';

export interface StoreEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly key: string;
  /** The object after the change; after a deletion its last state, with the version of the deletion. */
  readonly object: ApiObject;
  readonly previous: ApiObject | undefined;
  readonly version: number;
}

export type Listener = (event: StoreEvent) => void;
export type Entry = readonly [key: string, object: ApiObject];

export interface Store {
  /** The version of the last change anywhere. */
  readonly version: number;
  get(resource: string, key: string): ApiObject | undefined;
  /** All objects of a resource in the order of their keys. */
  entries(resource: string): readonly Entry[];
  /** The same as it was at a version; undefined when the history does not reach back so far. */
  entriesAt(resource: string, version: number): readonly Entry[] | undefined;
  /** Stores an object; it comes back with its new resourceVersion. */
  put(resource: string, key: string, object: ApiObject): ApiObject;
  /** Removes an object; it comes back as it last was, with the version of the deletion. */
  remove(resource: string, key: string): ApiObject | undefined;
  /** The events of a resource after a version; undefined when the history does not reach back so far. */
  eventsSince(resource: string, version: number): readonly StoreEvent[] | undefined;
  /** Calls back for each later event, in order, after the change is done. Events made by a listener queue up behind. */
  subscribe(resource: string, listener: Listener): Disposable;
  /** Forgets the history, as etcd's compaction does: older versions are gone from now on. */
  compact(): void;
}

interface Shelf {
  readonly objects: Map<string, ApiObject>;
  sortedKeys: readonly string[] | undefined;
  readonly history: StoreEvent[];
  /** Versions below this one are forgotten. */
  floor: number;
  readonly listeners: Set<Listener>;
}

export interface StoreOptions {
  /** How many events of one resource are kept. */
  readonly historyLimit: number;
}

export function createStore({ historyLimit }: StoreOptions): Store {
  const shelves = new Map<string, Shelf>();
  const undelivered: { readonly shelf: Shelf; readonly event: StoreEvent }[] = [];
  let version = 0;
  let delivering = false;

  const shelfOf = (resource: string): Shelf => {
    const known = shelves.get(resource);
    if (known) return known;
    const shelf: Shelf = {
      objects: new Map(),
      sortedKeys: undefined,
      history: [],
      floor: 0,
      listeners: new Set(),
    };
    shelves.set(resource, shelf);
    return shelf;
  };
  const stamped = (object: ApiObject): ApiObject => ({
    ...object,
    metadata: { ...object.metadata, resourceVersion: String(version) },
  });
  const record = (shelf: Shelf, event: StoreEvent): void => {
    shelf.history.push(event);
    if (shelf.history.length > historyLimit) {
      // A quarter at a time, so that dropping costs little per event.
      const dropped = shelf.history.splice(0, Math.ceil(historyLimit / 4));
      shelf.floor = dropped.at(-1)?.version ?? shelf.floor;
    }
    undelivered.push({ shelf, event });
    if (delivering) return;
    delivering = true;
    try {
      for (let next = undelivered.shift(); next; next = undelivered.shift())
        for (const listener of [...next.shelf.listeners])
          if (next.shelf.listeners.has(listener)) tell(listener, next.event);
    } finally {
      delivering = false;
    }
  };
  const entries = (shelf: Shelf): readonly Entry[] => {
    shelf.sortedKeys ??= [...shelf.objects.keys()].sort(byBytes);
    return entriesOf(shelf.objects, shelf.sortedKeys);
  };

  return {
    get version() {
      return version;
    },
    get: (resource, key) => shelfOf(resource).objects.get(key),
    entries: (resource) => entries(shelfOf(resource)),
    entriesAt(resource, at) {
      const shelf = shelfOf(resource);
      if (at < shelf.floor) return undefined;
      const later = shelf.history.filter((event) => event.version > at);
      if (later.length === 0) return entries(shelf);
      const objects = new Map(shelf.objects);
      for (const event of later.reverse()) {
        if (event.previous === undefined) objects.delete(event.key);
        else objects.set(event.key, event.previous);
      }
      return entriesOf(objects, [...objects.keys()].sort(byBytes));
    },
    put(resource, key, object) {
      const shelf = shelfOf(resource);
      const previous = shelf.objects.get(key);
      version += 1;
      const stored = stamped(object);
      shelf.objects.set(key, stored);
      if (previous === undefined) shelf.sortedKeys = undefined;
      const type = previous === undefined ? 'ADDED' : 'MODIFIED';
      record(shelf, { type, key, object: stored, previous, version });
      return stored;
    },
    remove(resource, key) {
      const shelf = shelfOf(resource);
      const previous = shelf.objects.get(key);
      if (previous === undefined) return undefined;
      version += 1;
      const last = stamped(previous);
      shelf.objects.delete(key);
      shelf.sortedKeys = undefined;
      record(shelf, { type: 'DELETED', key, object: last, previous, version });
      return last;
    },
    eventsSince(resource, since) {
      const shelf = shelfOf(resource);
      return since < shelf.floor ? undefined : shelf.history.filter((event) => event.version > since);
    },
    subscribe(resource, listener) {
      const { listeners } = shelfOf(resource);
      // One entry per subscription, also when two share a function.
      const own: Listener = (event) => listener(event);
      listeners.add(own);
      return { [Symbol.dispose]: () => void listeners.delete(own) };
    },
    compact() {
      for (const shelf of shelves.values()) {
        shelf.history.length = 0;
        shelf.floor = version;
      }
    },
  };
}

/** A listener that throws must not keep the others from hearing, nor fail the write: its error is uncaught, as it should. */
function tell(listener: Listener, event: StoreEvent): void {
  try {
    listener(event);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

/** etcd sorts keys by their bytes; names are ASCII, so code units are bytes. */
function byBytes(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

function entriesOf(objects: ReadonlyMap<string, ApiObject>, keys: readonly string[]): readonly Entry[] {
  const entries: Entry[] = [];
  for (const key of keys) {
    const object = objects.get(key);
    if (object !== undefined) entries.push([key, object]);
  }
  return entries;
}

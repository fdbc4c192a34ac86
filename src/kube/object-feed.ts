// Turns objects from lists and watches into changes for the owner: each once, never an older one after a newer.
import type { Logger } from '../base/log.ts';
import { createKnownObjects } from './known-objects.ts';
import { isOlder, keptVersion, type ResourceVersion } from './resource-version.ts';
import { type ApiObject, objectKey, versionOf } from './watch-event.ts';

export type Change<T> =
  | { readonly kind: 'set'; readonly key: string; readonly value: T }
  | { readonly kind: 'delete'; readonly key: string };

export interface FeedOptions<T> {
  /** What messages call the objects: `services`. */
  readonly name: string;
  /**
   * What the owner wants of an object. Undefined, or an exception, means that nothing of it can be used: it is logged,
   * counted, and treated as if it were not there. Must not keep references into the object.
   */
  readonly decode: (object: unknown) => T | undefined;
  /** The object's identity; `namespace/name` unless given. */
  readonly keyOf?: (object: ApiObject) => string | undefined;
  /** An exception of this ends the reflector. */
  readonly onChange: (change: Change<T>) => void;
  readonly log: Logger;
}

export interface ObjectFeed {
  /** Objects the owner knows of. */
  readonly objects: number;
  /** Objects that could not be used, as often as one came. */
  readonly skipped: number;
  /** Events dropped since something newer was known. */
  readonly stale: number;
  /** An object that exists. `anyVersion` lets one replace a newer: the server's state was set back. */
  set(object: ApiObject, rule: SetRule): void;
  /** An object that is gone. */
  remove(object: ApiObject): void;
  beginList(): void;
  /** Reports as deleted what the list did not have; returns how many. */
  endList(): number;
}

export type SetRule =
  /** Part of a list. */
  | { readonly kind: 'listed'; readonly anyVersion: boolean }
  /** An event after `position`: what is not newer than that has been seen. */
  | { readonly kind: 'event'; readonly position: ResourceVersion };

/** Log lines about single objects; beyond, each thousandth. */
const SAID_IN_FULL = 10;

export function createObjectFeed<T>(options: FeedOptions<T>): ObjectFeed {
  const { name, decode, keyOf = objectKey, onChange, log } = options;
  const known = createKnownObjects();
  let skipped = 0;
  let stale = 0;

  function skip(what: string, fields: Readonly<Record<string, unknown>>): void {
    skipped += 1;
    if (skipped <= SAID_IN_FULL || skipped % 1000 === 0) {
      log.warn(`An object of ${name} ${what}, going on without it`, { ...fields, skipped });
    }
  }

  function keyed(object: ApiObject): string | undefined {
    const key = keyOf(object);
    if (key === undefined) skip('has no name', {});
    return key;
  }

  function decoded(object: ApiObject, key: string): T | undefined {
    try {
      const value = decode(object);
      if (value === undefined) skip('cannot be used', { key });
      return value;
    } catch (error) {
      skip('cannot be decoded', { key, error: error instanceof Error ? error.message : String(error) });
      return undefined;
    }
  }

  return {
    get objects() {
      return known.size;
    },
    get skipped() {
      return skipped;
    },
    get stale() {
      return stale;
    },
    set(object, rule) {
      const key = keyed(object);
      if (key === undefined) return;
      const version = keptVersion(versionOf(object));
      const freshness = known.freshness(key, version);
      const seen = rule.kind === 'event' && freshness === 'new' && isOlder(version, rule.position);
      const older = freshness === 'older' && !(rule.kind === 'listed' && rule.anyVersion);
      if (seen || older) {
        stale += 1;
        known.mark(key);
        return;
      }
      // Without a version nothing can be said about sameness.
      if (freshness === 'same' && version !== '') return known.mark(key);
      const wasAnnounced = known.announced(key);
      const value = decoded(object, key);
      known.keep(key, version, value !== undefined);
      if (value !== undefined) onChange({ kind: 'set', key, value });
      else if (wasAnnounced) onChange({ kind: 'delete', key });
    },
    remove(object) {
      const key = keyed(object);
      if (key === undefined) return;
      if (known.freshness(key, keptVersion(versionOf(object))) === 'older') {
        stale += 1;
        return;
      }
      const wasAnnounced = known.announced(key);
      known.drop(key);
      if (wasAnnounced) onChange({ kind: 'delete', key });
    },
    beginList() {
      known.beginList();
    },
    endList() {
      const vanished = known.endList();
      for (const key of vanished) {
        const wasAnnounced = known.announced(key);
        known.drop(key);
        if (wasAnnounced) onChange({ kind: 'delete', key });
      }
      return vanished.length;
    },
  };
}

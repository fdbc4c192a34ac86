// What a reflector remembers of the objects it announced: their names and versions, nothing else.
import { isOlder, type ResourceVersion } from './resource-version.ts';

/** How a version that came relates to the one that is known. */
export type Freshness = 'new' | 'changed' | 'same' | 'older';

export interface KnownObjects {
  readonly size: number;
  /** Compares without remembering. */
  freshness(key: string, version: ResourceVersion): Freshness;
  /** Remembers, also as part of a list that is being taken. `announced` is false for an object that had to be skipped. */
  keep(key: string, version: ResourceVersion, announced: boolean): void;
  /** True if the owner was told of the object. */
  announced(key: string): boolean;
  /** Forgets; false if it was not known. */
  drop(key: string): boolean;
  /** Counts an object as part of the list that is being taken. */
  mark(key: string): void;
  /** Begins a list: what is not marked until its end has vanished. A list that was begun before is given up. */
  beginList(): void;
  /** Ends the list. The keys that have vanished are still known until they are dropped. */
  endList(): readonly string[];
}

export function createKnownObjects(): KnownObjects {
  const versions = new Map<string, ResourceVersion>();
  const skipped = new Set<string>();
  let listed: Set<string> | undefined;

  return {
    get size() {
      return versions.size - skipped.size;
    },
    freshness(key, version) {
      const known = versions.get(key);
      if (known === undefined) return 'new';
      if (known === version) return 'same';
      return isOlder(version, known) ? 'older' : 'changed';
    },
    keep(key, version, announced) {
      versions.set(key, version);
      if (announced) skipped.delete(key);
      else skipped.add(key);
      listed?.add(key);
    },
    announced(key) {
      return versions.has(key) && !skipped.has(key);
    },
    drop(key) {
      skipped.delete(key);
      listed?.delete(key);
      return versions.delete(key);
    },
    mark(key) {
      listed?.add(key);
    },
    beginList() {
      listed = new Set();
    },
    endList() {
      const seen = listed;
      listed = undefined;
      if (seen === undefined || seen.size === versions.size) return [];
      return [...versions.keys()].filter((key) => !seen.has(key));
    },
  };
}

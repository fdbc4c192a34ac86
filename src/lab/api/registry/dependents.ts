// Which objects name which others as their owners.
import type { ApiObject } from '../api-object.ts';

export interface Dependent {
  readonly plural: string;
  readonly key: string;
}

/** Owner's uid → its dependents, kept up with each write. */
export interface Dependents {
  of(uid: string): readonly Dependent[];
  /** Notes a change of an object's owners; undefined for an object that is not there before or after. */
  note(plural: string, key: string, before: ApiObject | undefined, after: ApiObject | undefined): void;
}

const ownersOf = (object: ApiObject | undefined): readonly string[] =>
  (object?.metadata.ownerReferences ?? []).map(({ uid }) => uid);

export function createDependents(): Dependents {
  const byOwner = new Map<string, Map<string, Dependent>>();
  return {
    of: (uid) => [...(byOwner.get(uid)?.values() ?? [])],
    note(plural, key, before, after) {
      const id = `${plural}/${key}`;
      for (const uid of ownersOf(before)) {
        const known = byOwner.get(uid);
        known?.delete(id);
        if (known?.size === 0) byOwner.delete(uid);
      }
      for (const uid of ownersOf(after)) {
        const known = byOwner.get(uid) ?? new Map<string, Dependent>();
        known.set(id, { plural, key });
        byOwner.set(uid, known);
      }
    },
  };
}

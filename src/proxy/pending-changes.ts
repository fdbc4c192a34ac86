// Changes of objects that no sync has committed yet: what the gauges tell, and the trigger times for the latency.
import type { Family } from '../model/address.ts';

/** When the endpoints of a slice changed, as its annotation tells. */
export interface Trigger {
  readonly family: Family;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** What waits: keys of objects, each once. */
export interface Pending {
  readonly services: ReadonlySet<string>;
  readonly slices: ReadonlySet<string>;
  readonly triggers: readonly Trigger[];
  /** Since when the oldest waits, by the clock; undefined when none does. */
  readonly since: number | undefined;
}

export interface PendingChanges {
  service(key: string): void;
  /** `trigger` is absent when the slice is gone, or was changed before this process began. */
  slice(key: string, trigger?: Trigger): void;
  /** Takes what waits, for one sync. */
  take(): Pending;
  /** The sync failed: it all waits again. */
  giveBack(pending: Pending): void;
  readonly counts: { readonly services: number; readonly slices: number };
}

/** `clock` counts milliseconds, and only grows. */
export function createPendingChanges(clock: () => number): PendingChanges {
  let since: number | undefined;
  let services = new Set<string>();
  let slices = new Set<string>();
  let triggers: Trigger[] = [];
  return {
    service(key) {
      since ??= clock();
      services.add(key);
    },
    slice(key, trigger) {
      since ??= clock();
      slices.add(key);
      if (trigger !== undefined) triggers.push(trigger);
    },
    take() {
      const taken: Pending = { services, slices, triggers, since };
      since = undefined;
      services = new Set();
      slices = new Set();
      triggers = [];
      return taken;
    },
    giveBack(pending) {
      since = pending.since ?? since;
      for (const key of pending.services) services.add(key);
      for (const key of pending.slices) slices.add(key);
      triggers = [...pending.triggers, ...triggers];
    },
    get counts() {
      return { services: services.size, slices: slices.size };
    },
  };
}

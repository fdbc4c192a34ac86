// What is set aside so that the rest can go on: objects that cannot be read, entries that the kernel refuses.
import { type Backoff, createBackoff } from '../base/backoff.ts';
import type { Logger } from '../base/log.ts';

/** `object`: a part or all of an object of the API cannot be used. `entry`: the kernel refuses a frontend. */
export type QuarantineKind = 'object' | 'entry';

export interface Quarantined {
  readonly kind: QuarantineKind;
  /** `services shop/web`, or a frontend's key. */
  readonly key: string;
  readonly reason: string;
  /** Milliseconds since 1970. */
  readonly since: number;
  /** How often it failed. */
  readonly tries: number;
}

export interface QuarantineOptions {
  readonly log: Logger;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Milliseconds that only grow. */
  readonly clock: () => number;
  readonly random?: () => number;
  /** Something is set aside, or for another reason than before. */
  readonly told?: (kind: QuarantineKind, key: string, reason: string) => void;
}

export interface Quarantine {
  /** Sets it aside, or renews the reason. Said once for each reason. */
  hold(kind: QuarantineKind, key: string, reason: string): void;
  /** It is well, or gone. */
  release(kind: QuarantineKind, key: string): void;
  /** Entries that are to be tried again now. */
  due(): readonly string[];
  /** When the next entry is to be tried again, by `clock`. */
  readonly nextDueAt: number | undefined;
  readonly counts: Readonly<Record<QuarantineKind, number>>;
  list(): readonly Quarantined[];
}

/** Log lines in full; beyond, each thousandth. */
const SAID_IN_FULL = 20;
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 300_000;

interface Held {
  reason: string;
  readonly since: number;
  tries: number;
  readonly backoff: Backoff;
  dueAt: number;
}

const MESSAGES: Readonly<Record<QuarantineKind, readonly [string, string]>> = {
  object: ['Parts of an object cannot be used, going on without them', 'An object is whole again, or gone'],
  entry: [
    'The kernel refuses a frontend, going on without it',
    'A frontend that the kernel refused is well again, or gone',
  ],
};

export function createQuarantine(options: QuarantineOptions): Quarantine {
  const { log, now, clock, random = Math.random, told } = options;
  const held = { object: new Map<string, Held>(), entry: new Map<string, Held>() };
  let said = 0;

  return {
    hold(kind, key, reason) {
      const known = held[kind].get(key);
      const item = known ?? {
        reason,
        since: now(),
        tries: 0,
        backoff: createBackoff({ firstMs: FIRST_RETRY_MS, maxMs: LONGEST_RETRY_MS, random }),
        dueAt: 0,
      };
      const news = known?.reason !== reason;
      item.reason = reason;
      item.tries += 1;
      item.dueAt = clock() + item.backoff.next();
      held[kind].set(key, item);
      if (!news) return;
      told?.(kind, key, reason);
      said += 1;
      if (said <= SAID_IN_FULL || said % 1000 === 0) log.warn(MESSAGES[kind][0], { [kind]: key, reason });
    },
    release(kind, key) {
      if (held[kind].delete(key)) log.info(MESSAGES[kind][1], { [kind]: key });
    },
    due() {
      const present = clock();
      return [...held.entry].filter(([, { dueAt }]) => dueAt <= present).map(([key]) => key);
    },
    get nextDueAt() {
      let soonest: number | undefined;
      for (const { dueAt } of held.entry.values()) soonest = Math.min(soonest ?? dueAt, dueAt);
      return soonest;
    },
    get counts() {
      return { object: held.object.size, entry: held.entry.size };
    },
    list() {
      return (['object', 'entry'] as const).flatMap((kind) =>
        [...held[kind]].map(([key, { reason, since, tries }]) => ({ kind, key, reason, since, tries })),
      );
    },
  };
}

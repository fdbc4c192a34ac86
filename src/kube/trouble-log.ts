// Says once that something went wrong, once that it is over, and nothing in between but a reminder now and then.
import type { LogFields, Logger } from '../base/log.ts';

/** Trouble of one kind that comes and goes is said this often within the time of a reminder, then only counted. */
const SAID_AT_MOST = 5;

export interface TroubleLogOptions {
  readonly log: Logger;
  /** Milliseconds. */
  readonly now: () => number;
  /** Milliseconds after which lasting trouble is said again. */
  readonly remindAfter: number;
}

export interface TroubleLog {
  readonly troubled: boolean;
  /** `kind` tells one trouble from another; the same kind again is only counted. */
  trouble(kind: string, message: string, fields?: LogFields): void;
  /** The trouble is over. Says so, with its duration, if the trouble was said. */
  over(message: string, fields?: LogFields): void;
}

interface Kind {
  /** When it was said, the last few times. */
  said: readonly number[];
  /** How often it came since. */
  unsaid: number;
}

export function createTroubleLog({ log, now, remindAfter }: TroubleLogOptions): TroubleLog {
  const kinds = new Map<string, Kind>();
  let since: number | undefined;
  /** Kinds said in the present trouble. */
  let saidNow = new Set<string>();

  return {
    get troubled() {
      return since !== undefined;
    },
    trouble(kind, message, fields) {
      const present = now();
      since ??= present;
      const known = kinds.get(kind) ?? { said: [], unsaid: 0 };
      kinds.set(kind, known);
      known.said = known.said.filter((at) => present - at < remindAfter);
      const repeats = saidNow.has(kind) && known.said.length > 0;
      if (repeats || known.said.length >= SAID_AT_MOST) {
        known.unsaid += 1;
        log.debug(2, message, fields);
        return;
      }
      log.warn(message, { ...fields, ...(known.unsaid === 0 ? {} : { timesSince: known.unsaid }) });
      known.said = [...known.said, present];
      known.unsaid = 0;
      saidNow.add(kind);
    },
    over(message, fields) {
      if (since === undefined) return;
      const all = { ...fields, afterSeconds: Math.round((now() - since) / 100) / 10 };
      if (saidNow.size > 0) log.info(message, all);
      else log.debug(2, message, all);
      since = undefined;
      saidNow = new Set();
    },
  };
}

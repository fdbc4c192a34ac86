// Turns the waits of a course into milliseconds.
import { createBackoff } from '../base/backoff.ts';
import type { Wait } from './course.ts';
import type { ReflectorTiming } from './reflector-timing.ts';

export interface Pacing {
  /** How long to wait now; the next wait of the same kind is longer. */
  milliseconds(wait: Wait): number;
  /** All went well for a while: waits are short again. */
  reset(): void;
}

export function createPacing(
  { firstWait, longestWait, shortWait }: Pick<ReflectorTiming, 'firstWait' | 'longestWait' | 'shortWait'>,
  random: () => number,
): Pacing {
  const long = createBackoff({ firstMs: firstWait, maxMs: longestWait, random });
  const short = createBackoff({ firstMs: shortWait / 8, maxMs: shortWait, random });
  return {
    milliseconds(wait) {
      if (wait === 'none') return 0;
      if (wait === 'short') return short.next();
      if (wait === 'long') return long.next();
      // All clients get the same Retry-After: they must not all come back at once.
      return Math.max(wait.atLeastMs * (1 + random() / 5), long.next());
    },
    reset() {
      long.reset();
      short.reset();
    },
  };
}

// Long work in short pieces, so that the event loop never waits for one.
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Milliseconds of work after which other work gets its turn. Several lists may be read at once. */
const SLICE_MS = 3;

export interface Slices {
  /** Handles each item, giving way to other work every few milliseconds. Throws what `handle` throws. */
  each<T>(items: Iterable<T>, handle: (item: T) => void): Promise<void>;
}

/**
 * Slices of one long job. They count across calls: a response comes in many small pieces, and those that are already
 * there follow each other without a turn of the event loop.
 */
export function createSlices(): Slices {
  let start = performance.now();
  return {
    async each(items, handle) {
      for (const item of items) {
        handle(item);
        if (performance.now() - start < SLICE_MS) continue;
        await nextTurn();
        start = performance.now();
      }
    },
  };
}

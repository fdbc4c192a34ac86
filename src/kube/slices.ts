// Long work in short pieces, so that the event loop never waits for one.
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Milliseconds of work after which other work gets its turn. */
const SLICE_MS = 5;

/** Handles each item, giving way to other work every few milliseconds. Throws what `handle` throws. */
export async function inSlices<T>(items: Iterable<T>, handle: (item: T) => void): Promise<void> {
  let start = performance.now();
  for (const item of items) {
    handle(item);
    if (performance.now() - start < SLICE_MS) continue;
    await nextTurn();
    start = performance.now();
  }
}

// Long work on the main thread, in slices: the event loop must never wait longer than a few milliseconds.

export interface Slicer {
  /** Undefined while the slice has time left; else a promise that resolves on the next turn of the event loop. */
  turn(): Promise<void> | undefined;
}

/** A slicer for one piece of work. Checks the clock at every 16th call only, so that `turn` costs next to nothing. */
export function createSlicer(budgetMs = 4, now: () => number = () => performance.now()): Slicer {
  let calls = 0;
  let until = now() + budgetMs;
  return {
    turn() {
      calls += 1;
      if ((calls & 15) !== 0 || now() < until) return undefined;
      return new Promise((resolve) => {
        setImmediate(() => {
          until = now() + budgetMs;
          resolve();
        });
      });
    },
  };
}

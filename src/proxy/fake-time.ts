// Time for tests: it stands still until it is moved.

export interface FakeTime {
  /** Milliseconds. */
  now(): number;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Moves time on, waking each sleeper at its time. Before and after, everything that can run has run. */
  advance(ms: number): Promise<void>;
}

export function createFakeTime(start = 0): FakeTime {
  let present = start;
  const sleepers = new Set<{ readonly at: number; readonly wake: () => void }>();

  return {
    now: () => present,
    sleep(ms, signal) {
      return new Promise((resolve) => {
        if (signal.aborted) return resolve();
        const sleeper = {
          at: present + ms,
          wake: () => {
            sleepers.delete(sleeper);
            resolve();
          },
        };
        sleepers.add(sleeper);
        signal.addEventListener('abort', sleeper.wake, { once: true });
      });
    },
    async advance(ms) {
      const end = present + ms;
      await idle();
      for (;;) {
        const due = [...sleepers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
        if (due === undefined) break;
        present = Math.max(present, due.at);
        due.wake();
        await idle();
      }
      present = end;
    },
  };
}

/** Lets promises that are settled, and what follows from them, run. */
async function idle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}

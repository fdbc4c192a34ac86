// Keys whose objects need a look: each once, however often it was named, on the event loop's next turn.

export interface WorkQueue extends Disposable {
  add(key: string): void;
}

/** `work` is told when the key was first named since its last look, in ms since 1970. */
export function createWorkQueue(
  work: (key: string, since: number) => void,
  now: () => number = Date.now,
): WorkQueue {
  const since = new Map<string, number>();
  let turn: NodeJS.Immediate | undefined;
  const run = (): void => {
    turn = undefined;
    const batch = [...since];
    since.clear();
    for (const [key, at] of batch) work(key, at);
  };
  return {
    add(key) {
      if (!since.has(key)) since.set(key, now());
      turn ??= setImmediate(run);
    },
    [Symbol.dispose]() {
      clearImmediate(turn);
      since.clear();
    },
  };
}

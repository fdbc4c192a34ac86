// Keeps a kernel thread alive: one that dies is started again, and commands wait for it meanwhile.
import { createBackoff, sleep } from '../base/backoff.ts';
import { oneLine, PointsmanError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { ThreadHandle } from './thread-handle.ts';

export interface SupervisorOptions {
  readonly log: Logger;
  start(): Promise<ThreadHandle>;
  /** Prepares a thread that takes a dead one's place, before it gets any command. */
  revive(thread: ThreadHandle): Promise<void>;
  /** A new thread took the place of one that died. */
  onRestart(because: string): void;
}

export interface Supervisor {
  /**
   * The running thread; while a new one starts, a promise of it. Rejects with E_KERNEL_THREAD if it cannot be started
   * now (further attempts follow) and after `close`.
   */
  thread(): Promise<ThreadHandle>;
  close(): Promise<void>;
}

/** A thread that lived so long was healthy: the next one starts without a longer wait than the first. */
const HEALTHY_MS = 60_000;

/** Starts the first thread; rejects with the reason if that fails. */
export async function superviseThread(options: SupervisorOptions): Promise<Supervisor> {
  const { log, start, revive, onRestart } = options;
  const backoff = createBackoff({ firstMs: 50, maxMs: 5000 });
  const closing = new AbortController();
  const first = await start();
  let present: Promise<ThreadHandle> = Promise.resolve(first);

  const watching = watch(first);

  /** Waits for the end of the thread and replaces it, until the end was wanted. */
  async function watch(thread: ThreadHandle): Promise<void> {
    let current = thread;
    for (;;) {
      const since = performance.now();
      const because = await current.end;
      if (because === undefined) return;
      if (performance.now() - since > HEALTHY_MS) backoff.reset();
      log.warn('the kernel thread died and is started again', { because });
      const next = await replace();
      if (next === undefined) return;
      current = next;
      // Not within this loop, which a throwing owner must not break.
      queueMicrotask(() => onRestart(because));
    }
  }

  /** Tries until a thread serves; undefined when closed meanwhile. */
  async function replace(): Promise<ThreadHandle | undefined> {
    for (;;) {
      present = attempt();
      try {
        return await present;
      } catch (error) {
        if (closing.signal.aborted) return undefined;
        log.error(error, 'the kernel thread cannot be started');
      }
    }
  }

  async function attempt(): Promise<ThreadHandle> {
    if (!(await sleep(backoff.next(), closing.signal))) throw closed();
    try {
      const thread = await start();
      await revive(thread);
      return thread;
    } catch (error) {
      throw new PointsmanError('E_KERNEL_THREAD', `the kernel thread cannot be started: ${oneLine(error)}`, {
        cause: error,
      });
    }
  }

  return {
    thread: () => (closing.signal.aborted ? Promise.reject(closed()) : present),
    async close() {
      const last = present;
      closing.abort();
      await last.then(
        (thread) => thread.stop(),
        () => undefined,
      );
      await watching;
    },
  };
}

const closed = (): PointsmanError => new PointsmanError('E_KERNEL_THREAD', 'the kernel client is closed');

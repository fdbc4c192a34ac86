// Brings the kernel in step with the cluster, one sync at a time, and believes only what the kernel acknowledged.
import type { Backend, CommitReport } from '../backends/backend.ts';
import { createBackoff } from '../base/backoff.ts';
import type { Logger } from '../base/log.ts';
import { FAMILIES, type Family, familyOf } from '../model/address.ts';
import type { FrontendKey } from '../model/service-port.ts';
import type { ReconcileCause } from '../observe/own-metrics.ts';
import type { TableChange } from '../plan/forwarding-table.ts';
import type { ClusterState } from './cluster-state.ts';
import { type Doubt, nextStep } from './next-step.ts';
import type { Pending, PendingChanges } from './pending-changes.ts';
import type { Quarantine } from './quarantine.ts';

/** Seconds of each make up the latency of a change, after the API server told of it. */
export type SyncStage = 'wait' | 'plan' | 'commit';

/** A sync that ended well. */
export interface SyncReport {
  /** Why everything was compared; undefined when only a change was committed. */
  readonly reconciled: ReconcileCause | undefined;
  /** Those that the sync touched. */
  readonly families: readonly Family[];
  readonly seconds: number;
  /** Of the time the oldest change waited, and what planning and the data path took of the sync. */
  readonly stages: Readonly<Record<SyncStage, number>>;
  readonly messages: number;
  readonly kernelMs: number;
  /** What is in the kernel now, but for refused entries. */
  readonly committed: Pending;
}

/** Who is told of what happens. */
export interface SyncObserver {
  /** A sync is wanted. */
  queued(): void;
  done(report: SyncReport): void;
  failed(): void;
}

export interface SyncTiming {
  readonly minSyncMs: number;
  /** Longest wait after failures. */
  readonly longestRetryMs: number;
  /** How often everything is compared for want of another reason. */
  readonly auditMs: number;
}

export interface SyncLoopOptions {
  readonly backend: Backend;
  readonly state: Pick<ClusterState, 'take' | 'putBack' | 'table' | 'dirty'>;
  readonly pending: PendingChanges;
  readonly quarantine: Quarantine;
  readonly observer: SyncObserver;
  readonly timing: SyncTiming;
  readonly log: Logger;
  /** Milliseconds that only grow. */
  readonly clock: () => number;
  /** Waits at most so long, less when the signal aborts. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<unknown>;
  /** Lets events that came together be handled together. */
  readonly settle?: () => Promise<void>;
  readonly random?: () => number;
}

export interface SyncLoop {
  /** Objects were listed: from now on the kernel is written. */
  open(): void;
  /** Something changed in the cluster's state. */
  changed(): void;
  /** Syncs until the signal aborts; a sync under way is finished first. */
  run(signal: AbortSignal): Promise<void>;
}

const FIRST_RETRY_MS = 500;
/** Timers hold no more than 24 days; a loop that wakes for nothing costs nothing. */
const LONGEST_SLEEP_MS = 3_600_000;

export function createSyncLoop(options: SyncLoopOptions): SyncLoop {
  const { backend, state, pending, quarantine, observer, timing, log, clock, sleep } = options;
  const settle = options.settle ?? nextTurn;
  const backoff = createBackoff({
    firstMs: Math.min(FIRST_RETRY_MS, timing.longestRetryMs),
    maxMs: timing.longestRetryMs,
    ...(options.random === undefined ? {} : { random: options.random }),
  });
  let open = false;
  let doubt: Doubt | undefined = { cause: 'start', because: 'the proxy starts' };
  /** Someone said that something changed, which ends with a sync even if it came to nothing. */
  let wanted = false;
  let notBefore = 0;
  let auditAt = clock() + timing.auditMs;
  let waiting: AbortController | undefined;

  const wake = (): void => waiting?.abort();
  backend.onForeignChange((because) => {
    // A failure or the start is the better reason: it is known what it was.
    doubt ??= { cause: 'foreign-change', because };
    observer.queued();
    wake();
  });

  async function wait(until: number | undefined, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    waiting = new AbortController();
    const ms = until === undefined ? LONGEST_SLEEP_MS : Math.max(0, until - clock());
    await sleep(Math.min(ms, LONGEST_SLEEP_MS), waiting.signal);
    const woken = waiting.signal.aborted;
    waiting = undefined;
    if (woken) await settle();
  }

  /** Compares everything with the kernel. */
  async function reconcile({ cause, because }: Doubt): Promise<void> {
    log.debug(2, `Syncing ${backend.mode} rules`, { fullSync: true, because });
    doubt = undefined;
    const start = clock();
    const change = await takeChange();
    const times = { start, planned: clock() };
    const taken = pending.take();
    const table = state.table;
    const report = await attempt(() => backend.reconcile(table), change, taken);
    if (report === undefined) return;
    auditAt = clock() + timing.auditMs;
    for (const { kind, key } of quarantine.list()) {
      if (kind === 'entry' && !report.refused.has(key)) quarantine.release('entry', key);
    }
    log.info('Compared everything with the kernel', {
      because,
      entries: table.entries.size,
      messages: report.messages,
    });
    succeeded(report, times, backend.families, taken, cause);
    // The first sync runs outside of the rate limit (behaviour spec 2).
    if (cause === 'start') notBefore = 0;
  }

  /** Commits what changed. */
  async function commit(): Promise<void> {
    const start = clock();
    const change = await takeChange();
    await send(change, { start, planned: clock() });
  }

  async function takeChange(): Promise<TableChange> {
    wanted = false;
    const { change } = await state.take();
    return change;
  }

  /** Tries refused entries again, as they are wanted now. */
  async function retry(): Promise<void> {
    const { entries } = state.table;
    const keys = quarantine.due();
    const start = clock();
    await send({ entries: new Map(keys.map((key) => [key, entries.get(key)])) }, { start, planned: start });
  }

  async function send(change: TableChange, times: Times): Promise<void> {
    const taken = pending.take();
    const { entries, settings } = change;
    if (entries.size === 0 && settings === undefined) {
      succeeded({ refused: new Map(), messages: 0, kernelMs: 0 }, times, [], taken);
      return;
    }
    log.debug(2, `Syncing ${backend.mode} rules`, { fullSync: false, entries: entries.size });
    const report = await attempt(() => backend.commit(change), change, taken);
    if (report === undefined) return;
    for (const key of entries.keys()) {
      if (!report.refused.has(key)) quarantine.release('entry', key);
    }
    const families = settings === undefined ? familiesOf(entries.keys()) : backend.families;
    succeeded(report, times, families, taken);
  }

  /** The report of a commit that the kernel took; undefined, after giving everything back, if it did not. */
  async function attempt(
    call: () => Promise<CommitReport>,
    change: TableChange,
    taken: Pending,
  ): Promise<CommitReport | undefined> {
    const giveBack = (error: unknown): undefined => {
      state.putBack(change);
      pending.giveBack(taken);
      failed(error);
    };
    try {
      const report = await call();
      return report.failed === undefined ? report : giveBack(report.failed);
    } catch (error) {
      return giveBack(error);
    }
  }

  function succeeded(
    { refused, messages, kernelMs }: CommitReport,
    { start, planned }: Times,
    families: readonly Family[],
    committed: Pending,
    reconciled?: ReconcileCause,
  ): void {
    for (const [key, error] of refused) quarantine.hold('entry', key, error.message);
    backoff.reset();
    notBefore = clock() + timing.minSyncMs;
    const ended = clock();
    const ms = ended - start;
    const stages = {
      wait: Math.max(0, start - (committed.since ?? start)) / 1000,
      plan: (planned - start) / 1000,
      commit: (ended - planned) / 1000,
    };
    log.debug(2, 'SyncProxyRules complete', { elapsed: `${ms.toFixed(3)}ms`, messages });
    observer.done({ reconciled, families, seconds: ms / 1000, stages, messages, kernelMs, committed });
  }

  function failed(error: unknown): void {
    const delay = backoff.next();
    doubt = { cause: 'failure', because: 'the last sync failed' };
    notBefore = clock() + Math.max(delay, timing.minSyncMs);
    log.error(error, 'Sync failed', { retryingIn: `${notBefore - clock()}ms` });
    observer.failed();
  }

  return {
    open() {
      if (open) return;
      open = true;
      observer.queued();
      wake();
    },
    changed() {
      wanted = true;
      observer.queued();
      wake();
    },
    async run(signal) {
      signal.addEventListener('abort', wake, { once: true });
      while (!signal.aborted) {
        const dirty = wanted || state.dirty;
        const situation = { open, doubt, dirty, notBefore, retryAt: quarantine.nextDueAt, auditAt };
        const step = nextStep(situation, clock());
        try {
          if (step.kind === 'wait') await wait(step.until, signal);
          else if (step.kind === 'reconcile') await reconcile(step.doubt);
          else if (step.kind === 'commit') await commit();
          else await retry();
        } catch (error) {
          // A bug in planning must not end the proxy: what is in the kernel goes on, and all is compared anew.
          failed(error);
        }
      }
      signal.removeEventListener('abort', wake);
    },
  };
}

/** By the clock: when a sync began, and when it was planned. */
interface Times {
  readonly start: number;
  readonly planned: number;
}

/** The end of this turn of the event loop, when all that the network brought with it was handled. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

function familiesOf(keys: Iterable<FrontendKey>): readonly Family[] {
  const families = new Set<Family>();
  for (const key of keys) {
    const [first = '', second] = key.split('/', 2);
    families.add(first === 'nodeport' ? (second === 'IPv6' ? 'IPv6' : 'IPv4') : familyOf(first));
    if (families.size === FAMILIES.length) break;
  }
  return [...families];
}

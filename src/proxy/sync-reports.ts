// What a sync means for metrics and health.
import type { Health } from '../observe/health.ts';
import type { Metrics } from '../observe/metrics.ts';
import type { PendingChanges } from './pending-changes.ts';
import type { SyncObserver } from './sync-loop.ts';

export interface SyncReportsOptions {
  readonly metrics: Pick<Metrics, 'upstream' | 'own'>;
  readonly health: Pick<Health, 'queued' | 'updated'>;
  readonly pending: Pick<PendingChanges, 'counts'>;
  /** Whether something changed since the sync that is reported began. */
  readonly dirty: () => boolean;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export function createSyncReports(options: SyncReportsOptions): SyncObserver {
  const { metrics, health, pending, dirty, now } = options;
  const { upstream, own } = metrics;
  return {
    queued() {
      health.queued();
      upstream.syncQueued(now() / 1000);
    },
    done({ reconciled, families, seconds, stages, messages, kernelMs, committed }) {
      const at = now();
      health.updated();
      if (dirty()) health.queued();
      upstream.syncDone({ families, full: reconciled !== undefined, seconds, at: at / 1000 });
      for (const trigger of committed.triggers)
        upstream.programmed(trigger.family, Math.max(0, at - trigger.at) / 1000);
      upstream.pending(pending.counts);
      own.committed({ messages, kernelMs, stages });
      if (reconciled !== undefined) own.reconciled(reconciled);
    },
    failed() {
      upstream.syncFailed();
      upstream.pending(pending.counts);
    },
  };
}

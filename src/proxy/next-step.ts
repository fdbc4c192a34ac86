// What the sync loop does next: pure, so that its rules can be read and tested in one place.
import type { ReconcileCause } from '../observe/own-metrics.ts';

/** Why the kernel's state has to be read back and compared. */
export interface Doubt {
  readonly cause: ReconcileCause;
  readonly because: string;
}

/** Times are milliseconds of a clock that only grows. */
export interface Situation {
  /** Both Services and EndpointSlices were listed: before, nothing is written (behaviour spec 2). */
  readonly open: boolean;
  readonly doubt: Doubt | undefined;
  /** Something changed that is not committed. */
  readonly dirty: boolean;
  /** No sync before this: minSyncPeriod after the last one, or the backoff of a failure. */
  readonly notBefore: number;
  /** When an entry that the kernel refused is to be tried again. */
  readonly retryAt: number | undefined;
  /** When everything is compared again, for want of another reason. */
  readonly auditAt: number;
}

export type Step =
  /** Until then, or until something happens. */
  | { readonly kind: 'wait'; readonly until: number | undefined }
  | { readonly kind: 'reconcile'; readonly doubt: Doubt }
  | { readonly kind: 'commit' }
  /** Tries refused entries again, and nothing else. */
  | { readonly kind: 'retry' };

export function nextStep(situation: Situation, now: number): Step {
  const { open, doubt, dirty, notBefore, retryAt, auditAt } = situation;
  if (!open) return { kind: 'wait', until: undefined };
  const mayRun = now >= notBefore;
  if (doubt !== undefined) return mayRun ? { kind: 'reconcile', doubt } : { kind: 'wait', until: notBefore };
  if (dirty) return mayRun ? { kind: 'commit' } : { kind: 'wait', until: notBefore };
  const nextAt = Math.max(notBefore, Math.min(retryAt ?? auditAt, auditAt));
  if (now < nextAt) return { kind: 'wait', until: nextAt };
  if (retryAt !== undefined && now >= retryAt) return { kind: 'retry' };
  return { kind: 'reconcile', doubt: { cause: 'audit', because: 'it was time for an audit' } };
}

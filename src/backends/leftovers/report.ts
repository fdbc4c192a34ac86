// What a clean-up did, as data and as lines for people.
import { oneLine, type PointsmanError } from '../../base/errors.ts';

/** Something of a kube-proxy, or that may be, which is still there, on purpose. */
export interface LeftOver {
  readonly what: string;
  readonly because: string;
}

export interface Failure {
  /** What was being done: `remove rules of the iptables mode (iptables-legacy, IPv4)`. */
  readonly what: string;
  readonly error: PointsmanError;
}

export interface CleanupReport {
  /** In words: `12 chains and 14 rules of table nat (iptables-legacy, IPv4)`. */
  readonly removed: readonly string[];
  readonly left: readonly LeftOver[];
  readonly failures: readonly Failure[];
}

/** The report's parts while they are made. */
export interface ReportInWork {
  readonly removed: string[];
  readonly left: LeftOver[];
  readonly failures: Failure[];
}

/** What kube-proxy ends with when something could not be removed (behaviour spec 1.1). */
export const TEARDOWN_FAILED = 'encountered an error while tearing down rules';

export interface CleanupDescription {
  readonly lines: readonly string[];
  /** Of the process: 0, or 1 when something failed. */
  readonly exitCode: 0 | 1;
}

/** A line for each thing removed, left and failed; with a failure the last line is kube-proxy's own phrase. */
export function describeCleanup({ removed, left, failures }: CleanupReport): CleanupDescription {
  const nothing = removed.length + left.length + failures.length === 0;
  return {
    lines: [
      ...removed.map((what) => `removed ${what}`),
      ...left.map(({ what, because }) => `left ${what}: ${because}`),
      ...failures.map(({ what, error }) => `cannot ${what}: ${oneLine(error)}`),
      ...(nothing ? ['nothing was left of a kube-proxy'] : []),
      ...(failures.length > 0 ? [TEARDOWN_FAILED] : []),
    ],
    exitCode: failures.length > 0 ? 1 : 0,
  };
}

/** `1 chain`, `2 chains`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

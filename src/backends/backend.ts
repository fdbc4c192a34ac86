// The one interface of all data paths.
import type { PointsmanError } from '../base/errors.ts';
import type { Family } from '../model/address.ts';
import type { FrontendKey } from '../model/service-port.ts';
import type { ForwardingTable, TableChange } from '../plan/forwarding-table.ts';

export type Mode = 'nftables' | 'iptables' | 'ipvs' | 'ebpf';

/** What became of a commit. Entries that are in neither list are in the kernel. */
export interface CommitReport {
  /** Entries that the kernel refused on their own, while the rest was committed. To be tried again with backoff. */
  readonly refused: ReadonlyMap<FrontendKey, PointsmanError>;
  /**
   * Set when nothing can be said of the whole commit (the kernel did not answer, refused even single entries of
   * everything, or the thread died): the books are as before and the caller must `reconcile`.
   */
  readonly failed?: PointsmanError;
  /** Netlink messages, or lines of a restore, sent to the kernel; 0 when nothing differed. */
  readonly messages: number;
  /** Time spent in the kernel, in ms. */
  readonly kernelMs: number;
}

/** One data path. It believes only what the kernel acknowledged. Calls never overlap: the caller awaits each. */
export interface Backend extends AsyncDisposable {
  readonly mode: Mode;
  readonly families: readonly Family[];
  /** Asks the kernel for all that this mode needs. Throws E_KERNEL_FEATURE or E_PERMISSION, naming what is missing. */
  probe(): Promise<void>;
  /** Reads back what the kernel holds, and commits only the difference to `table`. At start, and when in doubt. */
  reconcile(table: ForwardingTable): Promise<CommitReport>;
  /** Commits one change on top of what was committed before. */
  commit(change: TableChange): Promise<CommitReport>;
  /** Removes everything that this mode ever made. Returns what was removed, a line each. */
  cleanup(): Promise<readonly string[]>;
  /** Calls back when someone else changed our objects, or events were lost: time to reconcile. */
  onForeignChange(callback: (because: string) => void): void;
}

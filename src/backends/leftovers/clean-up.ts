// Removes what kube-proxies of any mode, and Pointsman, left in the kernel: behind `--cleanup`, and at the start of a mode.
import { existsSync, readFileSync } from 'node:fs';
import type { Logger } from '../../base/log.ts';
import { createDirectKernel } from '../../kernel/direct.ts';
import { createKoffiSys } from '../../kernel/sys/koffi.ts';
import type { Sys } from '../../kernel/sys/sys.ts';
import type { Mode } from '../backend.ts';
import { removeIptablesLeftovers } from './iptables-leftovers.ts';
import { createLeftoverPrograms, type LeftoverPrograms } from './iptables-programs.ts';
import { removeIpvsLeftovers } from './ipvs-leftovers.ts';
import { removeNftLeftovers } from './nft-leftovers.ts';
import type { CleanupReport, ReportInWork } from './report.ts';

export interface CleanUpOptions {
  /**
   * `all` for `--cleanup`. With `keep`, what the mode that is about to run does not use itself: nftables and ebpf remove
   * the rest, iptables and ipvs, which share chains, only what is nftables' (behaviour spec 1.1 step 5).
   */
  readonly what: 'all' | { readonly keep: Mode };
  readonly log: Logger;
  /** Where programs are looked for, as in PATH. */
  readonly path: string;
  readonly sys?: Sys;
  /** Instead of those on `path`. */
  readonly programs?: LeftoverPrograms;
}

/**
 * Works in the process's own network namespace and blocks it while the kernel works. A failure of one part is reported
 * and stops no other. Sysctls are not restored. Needs root, and no API server.
 */
export async function cleanUpLeftovers(options: CleanUpOptions): Promise<CleanupReport> {
  const { what, log, path, sys = createKoffiSys(), programs = createLeftoverPrograms(path) } = options;
  const kernel = createDirectKernel(sys);
  const keep = what === 'all' ? undefined : what.keep;
  const report: ReportInWork = { removed: [], left: [], failures: [] };
  const sharesChains = keep === 'iptables' || keep === 'ipvs';
  if (!sharesChains) await removeIptablesLeftovers({ kernel, programs, readProc }, report);
  removeNftLeftovers(kernel, keep !== 'nftables', report);
  // After the rules that name its sets.
  if (!sharesChains) removeIpvsLeftovers({ kernel, exists: existsSync }, report);
  for (const removed of report.removed) log.info('Removed a leftover', { removed });
  for (const { what: left, because } of report.left) log.warn('Left a leftover in place', { left, because });
  for (const { what: failed, error } of report.failures)
    log.error(error, 'Could not remove a leftover', { failed });
  return report;
}

/** Synchronous, for the thread pool's view of /proc/net may be that of another namespace. */
function readProc(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

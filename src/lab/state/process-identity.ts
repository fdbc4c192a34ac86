// Which process is meant: a process id is used again after the process has ended, its start time with it is not.
import { readFileSync } from 'node:fs';
import { createBackoff, sleep } from '../../base/backoff.ts';

export interface ProcessIdentity {
  readonly pid: number;
  /** When it started, in clock ticks since the machine did (/proc/PID/stat, field 22). */
  readonly startedAt: number;
}

/** The field `starttime` and the state of a /proc/PID/stat; the command's name before them may hold anything. */
export function parseStat(stat: string): { readonly state: string; readonly startedAt: number } | undefined {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const startedAt = Number(fields[19]);
  const state = fields[0];
  return state === undefined || !Number.isSafeInteger(startedAt) ? undefined : { state, startedAt };
}

/** The identity of a process that runs now; undefined when there is none, or nothing but its exit code is left. */
export function identify(pid: number): ProcessIdentity | undefined {
  try {
    const found = parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    if (found === undefined || found.state === 'Z' || found.state === 'X') return undefined;
    return { pid, startedAt: found.startedAt };
  } catch {
    return undefined;
  }
}

export function isRunning({ pid, startedAt }: ProcessIdentity): boolean {
  return identify(pid)?.startedAt === startedAt;
}

/** Sends a signal unless the process has ended. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): void {
  if (!isRunning(identity)) return;
  try {
    process.kill(identity.pid, signal);
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'ESRCH') throw error;
  }
}

/** Waits until a process that need not be our child has ended; false when it has not in that time. */
export async function waitForEnd(identity: ProcessIdentity, withinMs: number): Promise<boolean> {
  const backoff = createBackoff({ firstMs: 5, maxMs: 50 });
  const until = performance.now() + withinMs;
  while (isRunning(identity)) {
    if (performance.now() >= until) return false;
    await sleep(backoff.next());
  }
  return true;
}

/** Asks processes to end, and makes those end that have not in that time. */
export async function endProcesses(identities: readonly ProcessIdentity[], withinMs: number): Promise<void> {
  for (const identity of identities) signalProcess(identity, 'SIGTERM');
  await Promise.all(
    identities.map(async (identity) => {
      if (await waitForEnd(identity, withinMs)) return;
      signalProcess(identity, 'SIGKILL');
      await waitForEnd(identity, withinMs);
    }),
  );
}

// Ending a lab from outside, whether it runs, hangs or has crashed: its processes, its namespaces, its folder.
import { rmSync } from 'node:fs';
import { PointsmanError } from '../../base/errors.ts';
import { listNamespaces } from '../network/construction.ts';
import { processesOf, removeLeftovers } from '../network/leftovers.ts';
import { namespacesOf } from '../network/names.ts';
import type { LabState } from './lab-state.ts';
import {
  endProcesses,
  identify,
  isRunning,
  type ProcessIdentity,
  signalProcess,
  waitForEnd,
} from './process-identity.ts';
import { labNames, readState, removeFolder, type StateFolder } from './state-folder.ts';

/** How long a lab may take to end in order: its Pods' servers, its Pointsmans, its namespaces. */
const ORDERLY_MS = 15_000;
/** How long a process that was left over may take. */
const LEFTOVER_MS = 2_000;

export interface TakenDown {
  /** Whether there was anything. */
  readonly found: boolean;
  /** Whether the lab itself still ran. */
  readonly ran: boolean;
  readonly processes: number;
  readonly namespaces: number;
}

/** The state of a lab that runs (or starts just now); undefined for none and for the remains of one. */
export function runningLab(folder: StateFolder): LabState | undefined {
  const state = readableState(folder);
  return state !== undefined && isRunning(state.process) ? state : undefined;
}

/** Ends the lab if it runs, and removes whatever is there of it. */
export async function takeDown(name: string, folder: StateFolder, root?: string): Promise<TakenDown> {
  const state = readableState(folder);
  const known = labNames(root).includes(name) || namespacesOf(name, listNamespaces()).length > 0;
  const ran = state !== undefined && isRunning(state.process);
  if (ran) {
    if (state.process.pid === process.pid)
      throw new PointsmanError(
        'E_LAB',
        `the lab ${name} is part of this process, which cannot take it down so`,
      );
    signalProcess(state.process, 'SIGTERM');
    // The log of a lab that does not end in order is kept, as is that of a crashed one.
    if (await waitForEnd(state.process, ORDERLY_MS)) rmSync(folder.log, { force: true });
    else signalProcess(state.process, 'SIGKILL');
    await waitForEnd(state.process, LEFTOVER_MS);
  }
  const remains = [...remainingProcesses(name, state)];
  await endProcesses(remains, LEFTOVER_MS);
  const namespaces = await removeLeftovers(name);
  removeFolder(folder);
  return { found: known, ran, processes: remains.length, namespaces: namespaces.length };
}

/** Processes that the lab's state names or that run in its namespaces. */
function remainingProcesses(name: string, state: LabState | undefined): Iterable<ProcessIdentity> {
  const found = new Map<number, ProcessIdentity>();
  for (const { pointsman } of state?.nodes ?? []) {
    const identity = pointsman?.process;
    if (identity && isRunning(identity)) found.set(identity.pid, identity);
  }
  for (const pid of processesOf(name)) {
    const identity = identify(pid);
    if (identity !== undefined) found.set(pid, identity);
  }
  return found.values();
}

/** A damaged state is as good as none here: what there is shows in the namespaces. */
function readableState(folder: StateFolder): LabState | undefined {
  try {
    return readState(folder);
  } catch {
    return undefined;
  }
}

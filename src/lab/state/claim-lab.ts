// Taking a lab's name: refused while another lab has it, free again after a crash.
import { existsSync } from 'node:fs';
import { PointsmanError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { listNamespaces } from '../network/construction.ts';
import { namespacesOf } from '../network/names.ts';
import type { LabState } from './lab-state.ts';
import { identify } from './process-identity.ts';
import { claimFolder, type StateFolder } from './state-folder.ts';
import { runningLab, takeDown } from './take-down.ts';

export interface Claim {
  readonly name: string;
  readonly folder: StateFolder;
  readonly stateRoot: string | undefined;
  readonly now: number;
  readonly log: Logger;
}

/** Takes the name for this process and removes what a crashed lab of the name left. Throws E_LAB when one runs. */
export async function claimLab({ name, folder, stateRoot, now, log }: Claim): Promise<LabState> {
  const own = identify(process.pid);
  if (own === undefined) throw new PointsmanError('E_LAB', 'a lab needs /proc, to know its own process');
  const state: LabState = {
    version: 1,
    name,
    phase: 'starting',
    process: own,
    startedAt: new Date(now).toISOString(),
    server: '',
    kubeconfig: folder.kubeconfig,
    nodes: [],
  };
  refuseRunning(name, folder);
  if (existsSync(folder.path) || namespacesOf(name, listNamespaces()).length > 0) {
    const { processes, namespaces } = await takeDown(name, folder, stateRoot);
    log.info('removed the remains of a lab that ended without tidying up', { name, processes, namespaces });
  }
  if (!claimFolder(folder, state)) {
    refuseRunning(name, folder);
    throw new PointsmanError('E_LAB', `cannot take the folder ${folder.path}`, { hint: 'try again' });
  }
  return state;
}

/** Throws E_LAB when a lab of this name runs. */
export function refuseRunning(name: string, folder: StateFolder): void {
  const running = runningLab(folder);
  if (running === undefined) return;
  throw new PointsmanError('E_LAB', `the lab ${name} is up already, as process ${running.process.pid}`, {
    hint: `take it down with \`pointsman lab down --name ${name}\`, or give the new one another --name`,
  });
}

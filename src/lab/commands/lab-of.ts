// The lab that a command is about.
import { PointsmanError } from '../../base/errors.ts';
import { checkPrefix } from '../network/names.ts';
import type { LabState } from '../state/lab-state.ts';
import { isRunning } from '../state/process-identity.ts';
import { DEFAULT_LAB, labNames, readState, type StateFolder, stateFolder } from '../state/state-folder.ts';
import type { LabChoice } from './io.ts';

export interface ChosenLab {
  readonly name: string;
  readonly folder: StateFolder;
}

export function chosenLab({ name = DEFAULT_LAB, stateRoot }: LabChoice): ChosenLab {
  checkPrefix(name);
  return { name, folder: stateFolder(name, stateRoot) };
}

/** How a command names the lab: nothing for the default one. */
export const nameFlag = (name: string): string => (name === DEFAULT_LAB ? '' : ` --name ${name}`);

/** The state of the chosen lab. Throws E_LAB when it does not run, with what to do. */
export function labOf(choice: LabChoice): ChosenLab & { readonly state: LabState } {
  const chosen = chosenLab(choice);
  const state = readState(chosen.folder);
  if (state === undefined) {
    const others = labNames(choice.stateRoot);
    throw new PointsmanError('E_LAB', `no lab ${chosen.name} is up`, {
      hint:
        others.length === 0
          ? '`pointsman lab up` builds one'
          : `there are ${others.join(', ')}: choose with --name`,
    });
  }
  if (!isRunning(state.process))
    throw new PointsmanError(
      'E_LAB',
      `the lab ${chosen.name} has crashed: its process ${state.process.pid} is gone`,
      {
        hint: `see ${chosen.folder.log}; \`pointsman lab up${nameFlag(chosen.name)}\` builds it anew`,
      },
    );
  return { ...chosen, state };
}

// `pointsman lab down`: ends a lab, or removes what a crashed one left.
import { labNames } from '../state/state-folder.ts';
import { takeDown } from '../state/take-down.ts';
import type { LabChoice, LabIo } from './io.ts';
import { chosenLab } from './lab-of.ts';

export interface LabDownOptions extends LabChoice {
  /** All labs of the machine instead of one. */
  readonly all?: boolean;
}

/** Resolves with 0, also when there is nothing to take down. */
export async function labDown(options: LabDownOptions, io: LabIo): Promise<number> {
  const { all = false, ...choice } = options;
  const names = all ? labNames(choice.stateRoot) : [chosenLab(choice).name];
  if (names.length === 0) io.out('No lab is up.');
  for (const name of names) {
    const { folder } = chosenLab({ ...choice, name });
    const { found, ran, processes, namespaces } = await takeDown(name, folder, choice.stateRoot);
    if (!found) io.out(`No lab ${name} is up.`);
    else if (ran) io.out(`Lab ${name} is down.`);
    else
      io.out(
        `Lab ${name} had crashed; removed its ${count(processes, 'process', 'es')}, ${count(namespaces, 'namespace')} and folder.`,
      );
  }
  return 0;
}

const count = (number: number, word: string, plural = 's'): string =>
  `${number} ${word}${number === 1 ? '' : plural}`;

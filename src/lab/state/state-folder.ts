// A lab's folder below /run: gone after a restart of the machine, as are the namespaces.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { PointsmanError } from '../../base/errors.ts';
import { decodeLabState, encodeLabState, type LabState } from './lab-state.ts';

/** Where the folders of all labs are. */
export const STATE_ROOT = '/run/pointsman-lab';
export const DEFAULT_LAB = 'pointsman';

/** The lab's name is the prefix of its namespaces; see `checkPrefix` of the network for what it may be. */
export interface StateFolder {
  readonly path: string;
  /** The administrator's, for kubectl on the machine. */
  readonly kubeconfig: string;
  /** The lab process's own output; beside the folder, since it is there before and may be wanted after. */
  readonly log: string;
  /** The kubeconfig of a node's Pointsman. */
  nodeKubeconfig(node: string): string;
  pointsmanLog(node: string): string;
}

export function stateFolder(name: string, root: string = STATE_ROOT): StateFolder {
  const path = join(root, name);
  return {
    path,
    kubeconfig: join(path, 'kubeconfig'),
    log: join(root, `${name}.log`),
    nodeKubeconfig: (node) => join(path, `${node}.kubeconfig`),
    pointsmanLog: (node) => join(path, `${node}.pointsman.log`),
  };
}

/**
 * Makes the folder with a first state in it, both at once, so that of two labs of one name that start together one is
 * refused. False when it is there already: a lab runs, starts, or has crashed. Throws E_PERMISSION when this user may
 * not.
 */
export function claimFolder(folder: StateFolder, state: LabState): boolean {
  const draft = join(dirname(folder.path), `.${basename(folder.path)}.${process.pid}`);
  try {
    mkdirSync(draft, { recursive: true, mode: 0o700 });
    writePrivate(stateFile(draft), encodeLabState(state));
    renameSync(draft, folder.path);
    return true;
  } catch (cause) {
    rmSync(draft, { recursive: true, force: true });
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    if (code === 'EEXIST' || code === 'ENOTEMPTY') return false;
    throw new PointsmanError(
      'E_PERMISSION',
      `cannot make the folder ${folder.path}: ${String(code ?? cause)}`,
      {
        hint: 'a lab needs root',
        cause,
      },
    );
  }
}

export function removeFolder(folder: StateFolder): void {
  rmSync(folder.path, { recursive: true, force: true });
}

const stateFile = (path: string): string => join(path, 'state.json');

/** Replaces the state at once: a reader sees the old or the new one. */
export function writeState(folder: StateFolder, state: LabState): void {
  writePrivate(`${stateFile(folder.path)}.new`, encodeLabState(state));
  renameSync(`${stateFile(folder.path)}.new`, stateFile(folder.path));
}

/** Undefined when there is no such lab, or it has not come so far. Throws E_LAB when the file is damaged. */
export function readState(folder: StateFolder): LabState | undefined {
  return existsSync(stateFile(folder.path))
    ? decodeLabState(readFileSync(stateFile(folder.path), 'utf8'))
    : undefined;
}

/** Writes a file that only its owner may read: kubeconfigs hold keys. */
export function writePrivate(path: string, text: string): void {
  writeFileSync(path, text, { mode: 0o600 });
}

/** The names of all labs that have a folder. */
export function labNames(root: string = STATE_ROOT): readonly string[] {
  return existsSync(root)
    ? readdirSync(root)
        .filter((name) => !name.includes('.'))
        .sort()
    : [];
}

// The iptables programs of one variant, under whichever of their names they are on PATH.
import { delimiter, join } from 'node:path';
import type { Family } from '../../model/address.ts';
import { isExecutable, MORE_FOLDERS, type Ran, runProgram, type Variant } from '../iptables/programs.ts';

/** The two programs that a removal needs, as paths. */
export interface Pair {
  readonly save: string;
  readonly restore: string;
}

export interface LeftoverPrograms {
  /** Undefined when the variant is not on PATH. */
  find(family: Family, variant: Variant): Promise<Pair | undefined>;
  run(file: string, args: readonly string[], input?: string): Promise<Ran>;
}

/** `path` as in PATH; `more` are folders that are looked through after it. */
export function createLeftoverPrograms(
  path: string,
  more: readonly string[] = MORE_FOLDERS,
): LeftoverPrograms {
  const folders = [...new Set([...path.split(delimiter).filter((folder) => folder !== ''), ...more])];
  const fileOf = (name: string): string | undefined =>
    folders.map((folder) => join(folder, name)).find(isExecutable);
  const pairOf = (name: string): Pair | undefined => {
    const [save, restore] = [fileOf(`${name}-save`), fileOf(`${name}-restore`)];
    return save === undefined || restore === undefined ? undefined : { save, restore };
  };
  return {
    async find(family, variant) {
      const name = family === 'IPv4' ? 'iptables' : 'ip6tables';
      const exact = pairOf(`${name}-${variant}`);
      if (exact !== undefined) return exact;
      const plain = pairOf(name);
      if (plain === undefined) return undefined;
      // `iptables-save v1.8.9 (nf_tables)`; programs from before the two variants name none and are legacy.
      const { out } = await runProgram(plain.save, ['--version'], '');
      return (out.includes('nf_tables') ? 'nft' : 'legacy') === variant ? plain : undefined;
    },
    run: (file, args, input = '') => runProgram(file, args, input),
  };
}

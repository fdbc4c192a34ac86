// Runs the iptables programs, in the process's own network namespace or another one.
import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { PointsmanError } from '../../base/errors.ts';
import type { Family } from '../../model/address.ts';

/** Two kernel interfaces have the same programs: `legacy` is ip_tables', `nft` is nf_tables'. */
export type Variant = 'legacy' | 'nft';
export type Program = 'save' | 'restore' | 'check';

export interface Ran {
  /** 127 when the program could not be started. */
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface Programs {
  /** `input` goes to its standard input. */
  run(
    family: Family,
    variant: Variant,
    program: Program,
    args: readonly string[],
    input?: string,
  ): Promise<Ran>;
  /** Whether the programs of a variant are on PATH. */
  has(variant: Variant): boolean;
}

const NAMES: Readonly<Record<Program, string>> = { save: '-save', restore: '-restore', check: '' };
/** Not on every PATH of a daemon. */
export const MORE_FOLDERS: readonly string[] = ['/usr/sbin', '/sbin', '/usr/local/sbin'];

/** `namespace` is the path of a network namespace; without it the process's own. */
export function createPrograms(path: string, namespace?: string): Programs {
  const folders = [...new Set([...path.split(delimiter).filter((folder) => folder !== ''), ...MORE_FOLDERS])];
  const found = new Map<string, string | undefined>();
  const find = (name: string): string | undefined => {
    if (!found.has(name))
      found.set(
        name,
        folders.map((folder) => join(folder, name)).find((file) => isExecutable(file)),
      );
    return found.get(name);
  };
  const nameOf = (family: Family, variant: Variant, program: Program): string =>
    `${family === 'IPv4' ? 'iptables' : 'ip6tables'}-${variant}${NAMES[program]}`;
  return {
    has: (variant) => find(nameOf('IPv4', variant, 'restore')) !== undefined,
    async run(family, variant, program, args, input) {
      const name = nameOf(family, variant, program);
      const file = find(name);
      if (file === undefined) return { code: 127, out: '', err: `${name} is not on PATH` };
      const [command = file, ...rest] =
        namespace === undefined ? [file, ...args] : ['nsenter', `--net=${namespace}`, file, ...args];
      return runProgram(command, rest, input ?? '');
    },
  };
}

/** Runs one program to its end; `input` goes to its standard input. */
export async function runProgram(command: string, args: readonly string[], input: string): Promise<Ran> {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  const ended = new Promise<number>((resolve) => {
    child.on('error', () => resolve(127));
    child.on('close', (code) => resolve(code ?? 128));
  });
  // A program that ends before it read all says so by its exit code.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const [code, out, err] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  return { code, out, err };
}

export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Seconds to wait for the lock that all iptables programs share. */
export const LOCK_WAIT: readonly string[] = ['-w', '5'];
/** Exit code of a lock that was not had, and of a kernel that is busy: it says nothing about the rules. */
export const RESOURCE_PROBLEM = 4;

export function programError(what: string, { code, err }: Ran): PointsmanError {
  const said = err.trim().split('\n').slice(0, 3).join('; ');
  return new PointsmanError(
    code === 127 ? 'E_KERNEL_FEATURE' : 'E_SYSCALL',
    `${what}: ${said === '' ? `exit code ${code}` : said}`,
    {
      hint:
        code === 127
          ? 'install the package iptables'
          : code === RESOURCE_PROBLEM
            ? 'another program holds the xtables lock'
            : 'see what iptables says',
      facts: { exitCode: code },
    },
  );
}

/** The number of the line that a restore stumbled over; undefined when it names none. */
export function failedLine({ err }: Ran): number | undefined {
  const match = /line:? (\d+)(?: failed)?/i.exec(err);
  return match?.[1] === undefined ? undefined : Number(match[1]);
}

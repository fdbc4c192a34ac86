// Network namespaces for tests, removed at the end of their scope and, after a crash, by the next run.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { namedNamespace } from '../../src/kernel/netns.ts';

export interface TestNamespace extends Disposable {
  readonly name: string;
  readonly path: string;
  /** Runs a command inside and gives its output; throws if it fails. */
  run(...command: readonly string[]): string;
  /** The same, with something on its standard input. */
  pipe(input: string, ...command: readonly string[]): string;
}

let made = 0;

/** A fresh namespace `pt-<pid>-<n>` with loopback up. */
export function createTestNamespace(): TestNamespace {
  removeLeftovers();
  made += 1;
  const name = `pt-${process.pid}-${made}`;
  execFileSync('ip', ['netns', 'add', name]);
  const run = (...command: readonly string[]): string =>
    execFileSync('ip', ['netns', 'exec', name, ...command], { encoding: 'utf8', maxBuffer: 1 << 28 });
  run('ip', 'link', 'set', 'lo', 'up');
  return {
    name,
    path: namedNamespace(name),
    run,
    pipe: (input, ...command) =>
      execFileSync('ip', ['netns', 'exec', name, ...command], { encoding: 'utf8', input }),
    [Symbol.dispose]() {
      spawnSync('ip', ['netns', 'del', name]);
    },
  };
}

/** Deletes what test processes left behind that are no more. */
function removeLeftovers(): void {
  if (!existsSync('/run/netns')) return;
  for (const name of readdirSync('/run/netns')) {
    const pid = /^pt-(\d+)-\d+$/.exec(name)?.[1];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) spawnSync('ip', ['netns', 'del', name]);
  }
}

// A network namespace for a benchmark, gone at the end of its scope.
import { execFileSync, spawnSync } from 'node:child_process';
import { namedNamespace } from '../src/kernel/netns.ts';

export interface BenchNamespace extends Disposable {
  readonly path: string;
}

export function createBenchNamespace(): BenchNamespace {
  const name = `pt-bench-${process.pid}`;
  spawnSync('ip', ['netns', 'del', name], { stdio: 'ignore' });
  execFileSync('ip', ['netns', 'add', name]);
  return {
    path: namedNamespace(name),
    [Symbol.dispose]() {
      spawnSync('ip', ['netns', 'del', name]);
    },
  };
}

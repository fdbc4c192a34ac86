// Starts a clean-up inside a test's namespace.
import { fileURLToPath } from 'node:url';
import type { TestNamespace } from '../kernel/test-namespace.ts';

export interface CleanUpResult {
  readonly lines: readonly string[];
  readonly exitCode: number;
}

const SCRIPT = fileURLToPath(new URL('clean-up.ts', import.meta.url));

/** `programs: false` hides the iptables programs. */
export function cleanUp(
  namespace: TestNamespace,
  { keep = 'all', programs = true }: { readonly keep?: string; readonly programs?: boolean } = {},
): CleanUpResult {
  const out = namespace.run(
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    SCRIPT,
    keep,
    ...(programs ? [] : ['no-programs']),
  );
  return JSON.parse(out);
}

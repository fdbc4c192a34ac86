// The stock kubectl against a lab.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { PointsmanError } from '../../base/errors.ts';

export interface KubectlResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface KubectlOptions {
  /** What it reads from its standard input. */
  readonly input?: string;
  readonly signal?: AbortSignal;
}

/** Runs the stock kubectl of 1.32 or newer: the one on PATH, else one that the set-up fetched. */
export const KUBECTL: readonly string[] = [
  'sh',
  fileURLToPath(new URL('../../../tools/kubectl.sh', import.meta.url)),
];

/** Its environment: no other cluster than the lab's is within reach. */
export function kubectlEnvironment(kubeconfig: string): NodeJS.ProcessEnv {
  return { ...process.env, KUBECONFIG: kubeconfig };
}

/** Runs kubectl and gives what it printed. Its exit code is a value; throws E_LAB when it cannot be run. */
export async function runKubectl(
  kubeconfig: string,
  args: readonly string[],
  { input = '', signal }: KubectlOptions = {},
): Promise<KubectlResult> {
  const [program = 'sh', ...first] = KUBECTL;
  const child = spawn(program, [...first, ...args], {
    env: kubectlEnvironment(kubeconfig),
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(signal && { signal }),
  });
  // It may end before it has read everything.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  try {
    const [[code], stdout, stderr] = await Promise.all([
      once(child, 'close'),
      text(child.stdout),
      text(child.stderr),
    ]);
    return { code: typeof code === 'number' ? code : 1, stdout, stderr };
  } catch (cause) {
    throw new PointsmanError('E_LAB', `cannot run kubectl ${args.join(' ')}`, { cause });
  }
}

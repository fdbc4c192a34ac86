// The process of a lab in the background, as `lab up` starts it. It reports to its parent until the lab is up, and ends
// at SIGTERM.
import { PointsmanError } from '../../base/errors.ts';
import { createLab, type LabOptions } from '../lab.ts';
import { createLineLog } from '../state/line-log.ts';

/** What a lab in the background is built from: data only. */
export type LabPlan = Pick<LabOptions, 'name' | 'nodes' | 'pointsman' | 'stateRoot'>;

export type LabReport =
  | { readonly kind: 'ready' }
  | {
      readonly kind: 'failed';
      readonly code: string;
      readonly message: string;
      readonly hint: string | undefined;
    };

const log = createLineLog({
  write: (line) => void process.stdout.write(`${line}\n`),
  now: Date.now,
  verbosity: 1,
});
const ending = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => ending.abort());

/** The parent may be gone, or not listen any more. */
function report(message: LabReport): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}

try {
  // The argument is what lab-up.ts has put there.
  const plan = JSON.parse(process.argv[2] ?? '{}') as LabPlan;
  await using lab = await createLab({ ...plan, log, signal: ending.signal });
  log.info('the lab is up', { name: lab.name, nodes: lab.nodes.length });
  report({ kind: 'ready' });
  if (!ending.signal.aborted)
    await new Promise<void>((resolve) =>
      ending.signal.addEventListener('abort', () => resolve(), { once: true }),
    );
  log.info('the lab goes down', { name: lab.name });
} catch (error) {
  log.error(error, 'the lab has failed');
  const known = error instanceof PointsmanError ? error : undefined;
  const message = error instanceof Error ? error.message : String(error);
  report({ kind: 'failed', code: known?.code ?? 'E_LAB', message, hint: known?.hint });
  process.exitCode = 1;
}
if (process.connected) process.disconnect?.();

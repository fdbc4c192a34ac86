// Running `ip -batch`: many changes in one process, without holding up the lab's other work.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { PointsmanError } from '../../base/errors.ts';

export interface IpBatch {
  /** Where to run the lines; without it they may only speak of namespaces and of devices with `netns`. */
  readonly namespace?: string;
  readonly lines: readonly string[];
  /** Go on after a line that fails, and do not complain. */
  readonly force?: boolean;
}

/**
 * Runs the lines in one process. Throws E_LAB, with the line that failed and what the kernel said, or E_PERMISSION.
 */
export async function ipBatch({ namespace, lines, force = false }: IpBatch): Promise<void> {
  if (lines.length === 0) return;
  const parameters = [...(namespace === undefined ? [] : ['-n', namespace]), ...(force ? ['-force'] : [])];
  const child = spawn('ip', [...parameters, '-batch', '-'], { stdio: ['pipe', 'ignore', 'pipe'] });
  // When ip ends early, with an error of its own, the rest of the lines has no reader.
  child.stdin.on('error', () => {});
  child.stdin.end(`${lines.join('\n')}\n`);
  let code: unknown;
  let complaint: string;
  try {
    [[code], complaint] = await Promise.all([once(child, 'close'), text(child.stderr)]);
  } catch (cause) {
    throw new PointsmanError('E_LAB', `cannot run ip: ${cause instanceof Error ? cause.message : cause}`, {
      hint: 'install iproute2',
      cause,
    });
  }
  if (code === 0 || force) return;
  throw failure(namespace, lines, complaint);
}

function failure(namespace: string | undefined, lines: readonly string[], complaint: string): PointsmanError {
  const number = Number(/Command failed -:(\d+)/.exec(complaint)?.[1]);
  const line = lines[number - 1] ?? lines[0] ?? '';
  const said = complaint.replace(/\s*Command failed -:\d+\s*/, '').trim();
  const place = namespace === undefined ? '' : ` in namespace ${namespace}`;
  const denied = /Operation not permitted|Permission denied/.test(said);
  return new PointsmanError(denied ? 'E_PERMISSION' : 'E_LAB', `ip ${line}${place}: ${said}`, {
    ...(denied && { hint: 'a lab needs root, with CAP_NET_ADMIN and CAP_SYS_ADMIN' }),
    facts: { namespace, line },
  });
}

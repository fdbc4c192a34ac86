// What the lab's commands see of the terminal that they run at.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { PointsmanError } from '../../base/errors.ts';

export interface LabIo {
  /** Prints a line of results. */
  out(line: string): void;
  /** Prints a line of progress or complaint. */
  err(line: string): void;
  /** Aborted when the user gives up. */
  readonly signal?: AbortSignal;
  /** The process's own terminal: commands run in the lab get it as it is. Else their lines go to `out` and `err`. */
  readonly inherit?: boolean;
}

/** Names a lab, and where its folder is. */
export interface LabChoice {
  /** `pointsman` unless said otherwise. */
  readonly name?: string;
  readonly stateRoot?: string;
}

/** Runs a program and resolves with its exit code; 128 and the signal's number when a signal ended it, as shells say. */
export async function runAttached(
  command: readonly [string, ...string[]],
  env: NodeJS.ProcessEnv,
  io: LabIo,
): Promise<number> {
  const [program, ...args] = command;
  const stdio = io.inherit === true ? 'inherit' : 'pipe';
  const child: ChildProcess = spawn(program, args, { env, stdio });
  const stop = (): void => void child.kill('SIGTERM');
  io.signal?.addEventListener('abort', stop, { once: true });
  // At a terminal Ctrl-C reaches both; what it means is the program's to say.
  const ignore = (): void => {};
  if (io.inherit === true) process.on('SIGINT', ignore);
  child.stdin?.end();
  try {
    const [[code, signal]] = await Promise.all([
      once(child, 'close'),
      eachLine(child.stdout, io.out),
      eachLine(child.stderr, io.err),
    ]);
    return typeof signal === 'string'
      ? 128 + (constants.signals[signal as NodeJS.Signals] ?? 0)
      : Number(code);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new PointsmanError('E_LAB', `cannot run ${program}: ${why}`, { cause });
  } finally {
    io.signal?.removeEventListener('abort', stop);
    process.off('SIGINT', ignore);
  }
}

async function eachLine(stream: Readable | null, print: (line: string) => void): Promise<void> {
  if (stream === null) return;
  for await (const line of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }))
    print(line);
}

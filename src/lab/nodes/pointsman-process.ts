// A Pointsman as a process in a node's namespace, with its log.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createBackoff, sleep } from '../../base/backoff.ts';
import { PointsmanError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { identify, type ProcessIdentity } from '../state/process-identity.ts';
import type { Health } from './health-probe.ts';

export interface PointsmanProcessOptions {
  readonly node: string;
  /** Name of the network namespace, for `ip netns exec`. */
  readonly namespace: string;
  /** Program and first arguments; `bin/pointsman` of this repository unless said otherwise. */
  readonly program?: readonly string[];
  readonly flags: readonly string[];
  /** What it prints is appended to this file. */
  readonly logFile: string;
  readonly log: Logger;
  readonly probe: () => Promise<Health>;
  /** Told when a process has started and when it has ended. */
  readonly onChange?: () => void;
}

/** How a process ended: its exit code, or the signal. */
export type Ending = number | NodeJS.Signals;

/** Throws E_LAB when the program cannot be run or does not become healthy. Disposing ends the process. */
export interface PointsmanProcess extends AsyncDisposable {
  readonly node: string;
  readonly logFile: string;
  /** The flags that it is started with. */
  readonly flags: readonly string[];
  /** The present process; undefined while none runs. */
  readonly identity: ProcessIdentity | undefined;
  /** Starts it; with other flags when given. */
  start(flags?: readonly string[]): Promise<void>;
  /** Resolves when /healthz is fine: when its first commit is done. */
  healthy(signal?: AbortSignal): Promise<void>;
  /** Sends a signal and resolves when the process has ended; undefined when none runs. */
  kill(signal: NodeJS.Signals): Promise<Ending | undefined>;
  /** SIGTERM, then SIGKILL when it takes too long. */
  stop(): Promise<Ending | undefined>;
}

const PROGRAM = fileURLToPath(new URL('../../../bin/pointsman', import.meta.url));
const ORDERLY_MS = 5000;
/** How long a Pointsman may need to become healthy on a busy machine. */
const HEALTHY_MS = 30_000;
const TAIL_LINES = 5;

interface Running {
  readonly child: ChildProcess;
  readonly identity: ProcessIdentity;
  readonly ended: Promise<Ending>;
}

export function createPointsmanProcess(options: PointsmanProcessOptions): PointsmanProcess {
  const { node, namespace, logFile, log, program = [PROGRAM], onChange = () => {} } = options;
  let flags = options.flags;
  let running: Running | undefined;
  let lastEnding: Ending | undefined;
  /** Ends that we have asked for are no news. */
  const asked = new WeakSet<ChildProcess>();

  const start = async (newFlags: readonly string[] = flags): Promise<void> => {
    if (running !== undefined)
      throw new PointsmanError('E_LAB', `the Pointsman of ${node} runs already`, { hint: 'stop it first' });
    flags = newFlags;
    const fd = openSync(logFile, 'a', 0o600);
    // In a group of its own: Ctrl-C at a terminal is for the lab, which then ends it in order.
    const child = spawn('ip', ['netns', 'exec', namespace, ...program, ...flags], {
      stdio: ['ignore', fd, fd],
      detached: true,
    });
    closeSync(fd);
    try {
      await once(child, 'spawn');
    } catch (cause) {
      throw new PointsmanError('E_LAB', `cannot run the Pointsman of ${node}`, {
        hint: 'install iproute2',
        cause,
      });
    }
    const ended = new Promise<Ending>((resolve) => {
      child.once('exit', (code, signal) => {
        const ending = signal ?? code ?? 0;
        running = undefined;
        lastEnding = ending;
        if (asked.has(child)) log.debug(1, 'a Pointsman has ended', { node, ending });
        else log.warn('a Pointsman has ended by itself', { node, ending, log: logFile });
        onChange();
        resolve(ending);
      });
    });
    const identity = child.pid === undefined ? undefined : identify(child.pid);
    // One that has ended already is told by its exit event.
    if (identity === undefined) return void (await ended);
    running = { child, identity, ended };
    log.debug(1, 'a Pointsman has started', { node, pid: identity.pid });
    onChange();
  };

  const kill = async (signal: NodeJS.Signals): Promise<Ending | undefined> => {
    const present = running;
    if (present === undefined) return undefined;
    asked.add(present.child);
    present.child.kill(signal);
    return present.ended;
  };

  const stop = async (): Promise<Ending | undefined> => {
    const present = running;
    if (present === undefined) return undefined;
    const orderly = new AbortController();
    const late = sleep(ORDERLY_MS, orderly.signal).then((over) => {
      if (!over) return;
      log.warn('a Pointsman does not end when told to, and is made to', { node });
      present.child.kill('SIGKILL');
    });
    const ending = await kill('SIGTERM');
    orderly.abort();
    await late;
    return ending;
  };

  return {
    node,
    logFile,
    get flags() {
      return flags;
    },
    get identity() {
      return running?.identity;
    },
    start,
    async healthy(signal) {
      const backoff = createBackoff({ firstMs: 10, maxMs: 100 });
      const until = performance.now() + HEALTHY_MS;
      for (;;) {
        if (running === undefined) throw notHealthy(`it has ended (${lastEnding ?? 'it never ran'})`);
        const health = await options.probe();
        if (health.kind === 'healthy') return;
        if (signal?.aborted) throw notHealthy('the wait was given up');
        if (performance.now() > until) throw notHealthy(health.because);
        await sleep(backoff.next(), signal);
      }
    },
    kill,
    stop,
    [Symbol.asyncDispose]: async () => void (await stop()),
  };

  function notHealthy(because: string): PointsmanError {
    const tail = lastLines(logFile);
    return new PointsmanError(
      'E_LAB',
      `the Pointsman of ${node} is not healthy: ${because}${tail && `: ${tail}`}`,
      {
        // A lab that cannot start takes its folder along, and the log with it: then its end is all there is.
        ...(tail === '' && { hint: `see ${logFile}` }),
        facts: { node },
      },
    );
  }
}

function lastLines(file: string): string {
  try {
    return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-TAIL_LINES).join(' | ');
  } catch {
    return '';
  }
}

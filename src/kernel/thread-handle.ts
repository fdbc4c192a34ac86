// One life of the kernel thread, seen from the main thread: start, commands, stop, and what is left after a death.
import { closeSync, writeSync } from 'node:fs';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import { sleep } from '../base/backoff.ts';
import { oneLine, PointsmanError } from '../base/errors.ts';
import type { ControlBlock } from './control-block.ts';
import { datagramsOf, type Pack } from './netlink/arena.ts';
import {
  errorFromMessage,
  type FromThread,
  type ThreadAnswer,
  type ThreadCommand,
  type ThreadStart,
  type ToThread,
} from './thread-messages.ts';

/** Makes the worker; tests keep it to kill it. */
export type CreateWorker = (script: URL, options: WorkerOptions) => Worker;

export interface ThreadOptions {
  readonly control: ControlBlock;
  readonly namespace?: string;
  readonly createWorker?: CreateWorker;
  onEvents(subscription: number, datagrams: readonly Uint8Array[]): void;
  onLost(subscription: number): void;
}

export interface ThreadHandle {
  /** Runs a command. Rejects with what the thread says, and with E_KERNEL_THREAD if it dies before it answers. */
  run(command: ThreadCommand, transfer?: readonly ArrayBuffer[]): Promise<ThreadAnswer>;
  /** Resolves when the thread has ended: with the reason, or undefined if it was told to stop. */
  readonly end: Promise<string | undefined>;
  /** Lets the commands under way finish, then ends the thread and closes its descriptors. */
  stop(): Promise<void>;
}

/** A thread that does not stop in this time, though asked, is terminated. */
const STOP_MS = 2000;
const ONE = new Uint8Array(new BigUint64Array([1n]).buffer);

const defaultWorker: CreateWorker = (script, options) => new Worker(script, options);

/** Starts the thread and waits until it serves. Rejects with the reason if it cannot. */
export function startThread(options: ThreadOptions): Promise<ThreadHandle> {
  const { control, namespace, createWorker = defaultWorker } = options;
  const start: ThreadStart = { control: control.memory, ...(namespace !== undefined && { namespace }) };
  // Without the parent's arguments: loaders and coverage hooks do asynchronous work that this thread has no loop for.
  // By a name of package.json, since in the image thread and program are bundles in other places.
  const worker = createWorker(new URL(import.meta.resolve('#kernel-thread')), {
    workerData: start,
    name: 'kernel',
    execArgv: [],
  });
  const pending = new Map<
    number,
    { resolve(answer: ThreadAnswer): void; reject(error: PointsmanError): void }
  >();
  const started = Promise.withResolvers<ThreadHandle>();
  const end = Promise.withResolvers<string | undefined>();
  let nextId = 1;
  let wakeFd: number | undefined;
  let failure: PointsmanError | undefined;
  let stopping = false;
  let ended = false;

  const post = (message: ToThread, transfer: readonly ArrayBuffer[] = []): void => {
    worker.postMessage(message, [...transfer]);
    // An eventfd takes this without blocking; the descriptor stays open until 'exit'.
    if (wakeFd !== undefined && !ended) writeSync(wakeFd, ONE);
  };
  // process.exit() waits for the thread, which would otherwise sit out its poll.
  const onProcessExit = (): void => post({ kind: 'stop' });
  process.once('exit', onProcessExit);

  const deliver = (subscription: number, pack: Pack): void => {
    try {
      options.onEvents(subscription, datagramsOf(pack));
    } finally {
      control.changeBacklog(-1);
    }
  };

  const settle = (id: number, act: (waiting: NonNullable<ReturnType<typeof pending.get>>) => void): void => {
    const waiting = pending.get(id);
    pending.delete(id);
    if (waiting !== undefined) act(waiting);
  };

  worker.on('message', (message: FromThread) => {
    switch (message.kind) {
      case 'ready':
        wakeFd = message.wakeFd;
        return started.resolve(handle);
      case 'unready':
        failure = errorFromMessage(message.error);
        return;
      case 'answer':
        return settle(message.id, ({ resolve }) => resolve(message.answer));
      case 'error':
        return settle(message.id, ({ reject }) => reject(errorFromMessage(message.error)));
      case 'events':
        return deliver(message.subscription, message.pack);
      case 'lost':
        return options.onLost(message.subscription);
    }
  });
  worker.once('error', (error) => {
    failure ??= new PointsmanError('E_KERNEL_THREAD', `the kernel thread failed: ${oneLine(error)}`, {
      cause: error,
    });
  });
  worker.once('exit', (code) => {
    ended = true;
    process.off('exit', onProcessExit);
    for (const fd of control.takeDescriptors()) closeSync(fd);
    control.clearBacklog();
    const why = failure ?? new PointsmanError('E_KERNEL_THREAD', `the kernel thread ended with code ${code}`);
    // First of all, so that whoever hears of a broken command finds the thread known to be dead.
    end.resolve(stopping ? undefined : oneLine(why));
    const broken = new PointsmanError('E_KERNEL_THREAD', `the kernel thread died: ${oneLine(why)}`, {
      cause: why,
    });
    for (const { reject } of pending.values()) reject(broken);
    pending.clear();
    started.reject(why);
  });

  const handle: ThreadHandle = {
    end: end.promise,
    run(command, transfer = []) {
      if (ended) return Promise.reject(new PointsmanError('E_KERNEL_THREAD', 'the kernel thread has ended'));
      const id = nextId;
      nextId += 1;
      const answer = new Promise<ThreadAnswer>((resolve, reject) => pending.set(id, { resolve, reject }));
      post({ kind: 'command', id, command }, transfer);
      return answer;
    },
    async stop() {
      if (ended) return;
      stopping = true;
      post({ kind: 'stop' });
      const patience = new AbortController();
      const inTime = end.promise.then(() => patience.abort());
      if (await sleep(STOP_MS, patience.signal)) {
        const terminated = worker.terminate();
        post({ kind: 'stop' });
        await terminated;
      }
      await inTime;
    },
  };
  return started.promise;
}

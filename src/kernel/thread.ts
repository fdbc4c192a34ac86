// The kernel thread: a worker that owns the netlink sockets and does all that may block in the kernel. It waits in
// poll(2) on an eventfd and the event sockets, and never returns to its event loop until it is told to stop.
import { performance } from 'node:perf_hooks';
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { PointsmanError } from '../base/errors.ts';
import { type ControlBlock, createControlBlock } from './control-block.ts';
import { createKernelSockets, type KernelSockets, notingSys } from './kernel-sockets.ts';
import { type Arena, createArena, type Pack } from './netlink/arena.ts';
import type { NetlinkChannel } from './netlink/channel.ts';
import { readBatch } from './netlink/nfnetlink.ts';
import { ask, type Dump, startDump } from './netlink/query.ts';
import { runTransaction } from './netlink/transaction.ts';
import { EFD_CLOEXEC, EFD_NONBLOCK } from './sys/constants.ts';
import { EINTR, unwrap } from './sys/errno.ts';
import { createKoffiSys } from './sys/koffi.ts';
import { createPollSet } from './sys/poll-set.ts';
import type { Sys } from './sys/sys.ts';
import {
  errorToMessage,
  type FromThread,
  type ThreadAnswer,
  type ThreadCommand,
  type ThreadStart,
  type ToThread,
} from './thread-messages.ts';

/** A wait is never endless: terminate() takes effect only between two calls. */
const LONGEST_WAIT_MS = 500;
/** So many commands are run before events and dumps get their turn. */
const COMMANDS_PER_TURN = 32;
/** A dump lets other commands through after so many bytes, and is given up if nothing comes for so long. */
const DUMP_STEP = 64 * 1024;
const STARVED_DUMP_MS = 5000;
/** Events go on their way after so many bytes. */
const EVENT_STEP = 256 * 1024;
/** So many messages with events may wait for the main thread; further events wait in the socket, and may overflow it. */
const EVENT_BACKLOG = 256;

interface Subscription {
  readonly id: number;
  readonly channel: NetlinkChannel;
  readonly arena: Arena;
}

interface WaitingDump {
  readonly id: number;
  readonly command: Extract<ThreadCommand, { readonly kind: 'dump' }>;
}

interface RunningDump {
  readonly channel: NetlinkChannel;
  readonly dump: Dump;
}

/** Serves the port until it says stop. */
function serve(sys: Sys, control: ControlBlock, sockets: KernelSockets, port: MessagePort): void {
  const subscriptions = new Map<number, Subscription>();
  /** The first one is running or next; one at a time, since its first objects are read when it is started. */
  const dumps: WaitingDump[] = [];
  let running: RunningDump | undefined;
  let stopping = false;
  /** Whether the port may hold commands that no wake-up will announce. */
  let commandsLeft = false;

  const wakeFd = unwrap(sys.eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), 'make an eventfd');
  const wakeCount = new Uint8Array(8);
  const post = (message: FromThread, transfer: readonly ArrayBuffer[] = []): void =>
    port.postMessage(message, [...transfer]);
  post({ kind: 'ready', wakeFd });

  while (!stopping || dumps.length > 0) {
    const readable = wait();
    for (const subscription of readable) deliverEvents(subscription);
    if (dumps[0]?.command.exclusive !== true) runCommands();
    advanceDump();
  }

  /** Waits for work; answers the subscriptions with events. */
  function wait(): Subscription[] {
    const listening = control.backlog < EVENT_BACKLOG ? [...subscriptions.values()] : [];
    const set = createPollSet([wakeFd, ...listening.map(({ channel }) => channel.fd)]);
    const ready = sys.poll(set.bytes, commandsLeft || dumps.length > 0 ? 0 : LONGEST_WAIT_MS);
    if (ready !== -EINTR) unwrap(ready, 'wait for the kernel');
    if (ready <= 0) return [];
    if (set.isReadable(wakeFd)) {
      sys.read(wakeFd, wakeCount);
      commandsLeft = true;
    }
    return listening.filter(({ channel }) => set.isReadable(channel.fd));
  }

  function runCommands(): void {
    for (let run = 0; run < COMMANDS_PER_TURN; run += 1) {
      const received = receiveMessageOnPort(port) as { readonly message: ToThread } | undefined;
      commandsLeft = received !== undefined;
      if (received === undefined) return;
      const { message } = received;
      if (message.kind === 'stop') {
        stopping = true;
        return;
      }
      answering(message.id, () => runCommand(message.id, message.command));
    }
  }

  /** Posts the error of work that fails as promised. Any other error ends the thread: its state is in doubt. */
  function answering(id: number, work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!(error instanceof PointsmanError)) throw error;
      post({ kind: 'error', id, error: errorToMessage(error) });
    }
  }

  function runCommand(id: number, command: ThreadCommand): void {
    const answer = (value: ThreadAnswer, transfer: readonly ArrayBuffer[] = []): void =>
      post({ kind: 'answer', id, answer: value }, transfer);
    switch (command.kind) {
      case 'transact': {
        const outcome = transact(command.batch);
        answer(outcome, outcome.kind === 'refused' ? [memoryOf(outcome.batch)] : []);
        return;
      }
      case 'request': {
        const channel = sockets.open(command.protocol);
        try {
          const answers = ask(channel, command.request);
          control.count('requests');
          answer({ kind: 'answers', ...answers }, answers.pack.chunks);
        } finally {
          channel.close();
        }
        return;
      }
      case 'dump':
        dumps.push({ id, command });
        return;
      case 'subscribe': {
        const channel = sockets.open(command.protocol, command.groups);
        subscriptions.set(command.subscription, { id: command.subscription, channel, arena: createArena() });
        answer({ kind: 'done' });
        return;
      }
      case 'unsubscribe':
        subscriptions.get(command.subscription)?.channel.close();
        subscriptions.delete(command.subscription);
        answer({ kind: 'done' });
    }
  }

  function transact(bytes: Uint8Array): ThreadAnswer {
    const batch = readBatch(bytes);
    const { channel, signal } = sockets.transactions();
    const start = performance.now();
    const outcome = runTransaction(channel, bytes, batch, signal);
    const kernelMs = performance.now() - start;
    control.count('transactions');
    control.count('messages', batch.messages);
    control.count('bytes', bytes.length);
    if (outcome.kind === 'committed') return { ...outcome, kernelMs, portId: channel.portId };
    return outcome.kind === 'refused' ? { ...outcome, batch: bytes } : outcome;
  }

  /** Starts the oldest dump or carries it on, and answers when it is complete. */
  function advanceDump(): void {
    const [next] = dumps;
    if (next === undefined) return;
    let over = true;
    answering(next.id, () => {
      running ??= beginDump(next.command);
      over = carryOn(next.id, running);
    });
    if (!over) return;
    dumps.shift();
    running?.channel.close();
    running = undefined;
  }

  function beginDump({ protocol, request }: WaitingDump['command']): RunningDump {
    const channel = sockets.open(protocol);
    try {
      const dump = startDump(channel, request);
      control.count('dumps');
      return { channel, dump };
    } catch (error) {
      channel.close();
      throw error;
    }
  }

  /** Whether the dump is complete, and answered. */
  function carryOn(id: number, { channel, dump }: RunningDump): boolean {
    const progress = dump.advance(DUMP_STEP);
    if (progress === 'complete') {
      const answers = dump.take();
      post({ kind: 'answer', id, answer: { kind: 'answers', ...answers } }, answers.pack.chunks);
      return true;
    }
    // Dumps are made inside recv, so this is rare: the kernel had no memory.
    if (progress === 'starved' && sys.poll(createPollSet([channel.fd]).bytes, STARVED_DUMP_MS) === 0) {
      throw new PointsmanError('E_NETLINK_LOST', `a netlink dump broke off for ${STARVED_DUMP_MS} ms`);
    }
    return false;
  }

  function deliverEvents({ id, channel, arena }: Subscription): void {
    const send = (): void => {
      if (arena.length === 0) return;
      const pack: Pack = arena.take();
      control.count('events', pack.places.length);
      control.changeBacklog(1);
      post({ kind: 'events', subscription: id, pack }, pack.chunks);
    };
    while (arena.length < EVENT_STEP) {
      const received = channel.receive(arena.space());
      if (received.kind === 'empty') break;
      if (received.kind === 'datagram') {
        arena.keep(received.length);
        continue;
      }
      send();
      control.count('overflows');
      post({ kind: 'lost', subscription: id });
    }
    send();
  }
}

const memoryOf = (bytes: Uint8Array): ArrayBuffer => bytes.buffer as ArrayBuffer;

if (parentPort !== null) {
  const { control: memory, namespace } = workerData as ThreadStart;
  const control = createControlBlock(memory);
  try {
    const sys = notingSys(createKoffiSys(), control);
    serve(sys, control, createKernelSockets(sys, namespace), parentPort);
  } catch (error) {
    if (!(error instanceof PointsmanError)) throw error;
    parentPort.postMessage({ kind: 'unready', error: errorToMessage(error) } satisfies FromThread);
  }
}

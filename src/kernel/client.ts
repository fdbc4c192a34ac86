// The kernel as the rest of the program sees it: transactions, dumps, requests and events, all asynchronous.
import { createBackoff, sleep } from '../base/backoff.ts';
import { PointsmanError } from '../base/errors.ts';
import { type Logger, silentLogger } from '../base/log.ts';
import { createControlBlock, type KernelCounters } from './control-block.ts';
import { datagramsOf } from './netlink/arena.ts';
import type { NetlinkFailure } from './netlink/error.ts';
import { decodeGeneration, encodeGetGeneration, messageWithSequence } from './netlink/nfnetlink.ts';
import type { Consistency } from './netlink/query.ts';
import { createNetlinkWriter } from './netlink/writer.ts';
import { preparePool } from './netns.ts';
import { type CreateWorker, startThread } from './thread-handle.ts';
import type { KernelProtocol, ThreadAnswer, ThreadCommand } from './thread-messages.ts';
import { superviseThread } from './thread-supervisor.ts';

export type { KernelCounters } from './control-block.ts';
export type { KernelProtocol } from './thread-messages.ts';

/** A refused message of a batch. */
export interface BatchFailure extends NetlinkFailure {
  /** The refused message itself, for `attributePath`; absent if no message has that sequence number. */
  readonly message?: Uint8Array;
}

/** What became of a transaction. */
export type TransactOutcome =
  | {
      readonly kind: 'committed';
      /**
       * The ruleset's generation after the commit, to be named in the next batch as a lock against other writers. It
       * is exactly this commit's if the batch named the one before; otherwise another writer's may be included.
       */
      readonly generation?: number;
      /** How long the kernel worked. */
      readonly kernelMs: number;
    }
  /** Nothing was applied. A stale generation is one failure, ERESTART, on the batch's first message. */
  | { readonly kind: 'refused'; readonly failures: readonly BatchFailure[] }
  /** It was applied wholly or not at all: read the state back. */
  | { readonly kind: 'unknown'; readonly because: string };

export interface SubscribeOptions {
  readonly protocol: KernelProtocol;
  /** Numbers of multicast groups, such as NFNLGRP_NFTABLES or RTNLGRP_LINK. */
  readonly groups: readonly number[];
  /** One datagram with one or more messages. */
  onEvent(datagram: Uint8Array): void;
  /** An unknown number of events is missing, by an overflow or a restart of the thread: resync from a dump. */
  onLost(): void;
}

export interface Subscription {
  /** Leaves the groups; nothing is delivered after this resolves. */
  close(): Promise<void>;
}

/** Access to the kernel's netlink of one network namespace. Close it, or the process does not end. */
export interface KernelClient extends AsyncDisposable {
  /**
   * Commits one complete nf_tables batch: BATCH_BEGIN to BATCH_END, with NLM_F_ACK on the END only and a distinct
   * sequence number on each message. Batches are committed one after the other, in the order of the calls.
   *
   * The memory is transferred: `batch` is empty afterwards, unless it is a part of a larger ArrayBuffer, which is
   * copied instead. Rejects, with nothing applied, with E_MALFORMED (no such batch), E_PERMISSION (no CAP_NET_ADMIN),
   * E_KERNEL_FEATURE (no nf_tables), E_NETLINK (the kernel did not take the datagram), E_KERNEL_THREAD (the thread is
   * not running).
   */
  transact(batch: Uint8Array): Promise<TransactOutcome>;
  /**
   * Sends a dump request (NLM_F_REQUEST | NLM_F_DUMP) and gives the datagrams of the answer, NLMSG_DONE included. If
   * objects change meanwhile, it is done again, up to DUMP_ATTEMPTS times. It sees all transactions called before, and
   * no half of a later one of ours. Dumps of set elements do not tell whose commit came in between: if others commit
   * during three of them, the third counts.
   * Rejects with E_NETLINK (refused; `facts.errnoName`, or changing all the time), E_NETLINK_LOST, and as `transact`.
   */
  dump(protocol: KernelProtocol, request: Uint8Array): Promise<Uint8Array[]>;
  /** Sends a request for a single object and gives the datagrams of the answer. Rejects as `dump` does. */
  request(protocol: KernelProtocol, request: Uint8Array): Promise<Uint8Array[]>;
  /** The ruleset's present generation: it changes with every commit of anybody. Cheap; subscribing slows commits. */
  generation(): Promise<number>;
  /** Joins multicast groups; when it resolves, events are received. It outlives restarts of the thread. */
  subscribe(options: SubscribeOptions): Promise<Subscription>;
  /** nlmsg_pid of events that our transactions cause; known after the first commit, other after a restart. */
  readonly portId: number | undefined;
  /** What was sent so far: totals that only grow. */
  counters(): KernelCounters;
  /** Lets what was called before finish, then stops the thread. */
  close(): Promise<void>;
}

export interface KernelClientOptions {
  /** Path of the network namespace to work in (/run/netns/NAME); without, the process's own. */
  readonly namespace?: string;
  readonly log?: Logger;
  /** The thread died and was started again; transactions under way were answered `unknown`. Resync from a dump. */
  readonly onRestart?: (because: string) => void;
  readonly createWorker?: CreateWorker;
}

export const DUMP_ATTEMPTS = 8;
/** From this attempt on, our own transactions wait for the dump. */
const EXCLUSIVE_FROM = 2;
/** From this one on, commits of others meanwhile are put up with: most are of other tables, events tell of ours. */
const FOREIGN_COMMITS_FROM = 3;

/**
 * Starts the kernel thread. Rejects with E_KERNEL_THREAD if it cannot start, E_PERMISSION or E_SYSCALL if the
 * namespace cannot be entered. Whether nf_tables can be used shows at its first use.
 */
export async function createKernelClient(options: KernelClientOptions = {}): Promise<KernelClient> {
  const { namespace, log = silentLogger, onRestart = () => {}, createWorker } = options;
  const control = createControlBlock();
  /** `joined`: to be joined again by a new thread. */
  const subscriptions = new Map<number, { readonly options: SubscribeOptions; joined: boolean }>();
  let nextSubscription = 1;
  let portId: number | undefined;

  // The thread enters the namespace; libuv's pool must not be born there.
  if (namespace !== undefined) await preparePool();
  const supervisor = await superviseThread({
    log,
    onRestart,
    start: () =>
      startThread({
        control,
        ...(namespace !== undefined && { namespace }),
        ...(createWorker !== undefined && { createWorker }),
        onEvents(id, datagrams) {
          for (const datagram of datagrams) subscriptions.get(id)?.options.onEvent(datagram);
        },
        onLost: (id) => subscriptions.get(id)?.options.onLost(),
      }),
    async revive(thread) {
      for (const [id, { options: wanted, joined }] of subscriptions) {
        if (!joined) continue;
        await thread.run(subscribeCommand(id, wanted));
        queueMicrotask(() => wanted.onLost());
      }
    },
  });

  const run = async (
    command: ThreadCommand,
    transfer: readonly ArrayBuffer[] = [],
  ): Promise<ThreadAnswer> => {
    const thread = await supervisor.thread();
    return thread.run(command, transfer);
  };

  const request = async (protocol: KernelProtocol, bytes: Uint8Array): Promise<Uint8Array[]> =>
    answersOf(await run({ kind: 'request', protocol, request: bytes })).datagrams;

  return {
    async transact(batch) {
      const thread = await supervisor.thread();
      const memory = transferable(batch);
      const answer = await thread
        .run({ kind: 'transact', batch: memory }, [memory.buffer])
        .catch((error: unknown): ThreadAnswer => {
          // Sent, but never answered: the thread is dead.
          if (!(error instanceof PointsmanError) || error.code !== 'E_KERNEL_THREAD') throw error;
          return { kind: 'unknown', because: error.message };
        });
      switch (answer.kind) {
        case 'committed': {
          portId = answer.portId;
          const { generation, kernelMs } = answer;
          return { kind: 'committed', kernelMs, ...(generation !== undefined && { generation }) };
        }
        case 'refused':
          return {
            kind: 'refused',
            failures: answer.failures.map((failure) => explain(failure, answer.batch)),
          };
        case 'unknown':
          return answer;
        default:
          throw unexpected(answer);
      }
    },

    async dump(protocol, bytes) {
      const backoff = createBackoff({ firstMs: 2, maxMs: 100 });
      for (let attempt = 1; attempt <= DUMP_ATTEMPTS; attempt += 1) {
        const exclusive = attempt >= EXCLUSIVE_FROM;
        const { datagrams, consistency } = answersOf(
          await run({ kind: 'dump', protocol, request: bytes, exclusive }),
        );
        const alone = consistency === 'generations' && attempt >= FOREIGN_COMMITS_FROM;
        if (consistency === 'consistent' || alone) return datagrams;
        log.debug(4, 'a dump was interrupted by changes and is done again', { protocol, attempt });
        await sleep(backoff.next());
      }
      throw new PointsmanError('E_NETLINK', `objects changed during each of ${DUMP_ATTEMPTS} dumps of them`, {
        hint: 'find out which other program changes them all the time',
        facts: { protocol },
      });
    },

    request,

    async generation() {
      const writer = createNetlinkWriter(64);
      encodeGetGeneration(writer, 1);
      for (const datagram of await request('nftables', writer.finish())) {
        const generation = decodeGeneration(datagram);
        if (generation !== undefined) return generation;
      }
      throw new PointsmanError('E_MALFORMED', 'the kernel did not tell the generation of its ruleset');
    },

    async subscribe(wanted) {
      const id = nextSubscription;
      nextSubscription += 1;
      const subscription = { options: wanted, joined: false };
      subscriptions.set(id, subscription);
      try {
        await run(subscribeCommand(id, wanted));
        subscription.joined = true;
      } catch (error) {
        subscriptions.delete(id);
        throw error;
      }
      return {
        async close() {
          if (subscriptions.delete(id)) await run({ kind: 'unsubscribe', subscription: id });
        },
      };
    },

    get portId() {
      return portId;
    },
    counters: () => control.counters(),
    close: () => supervisor.close(),
    [Symbol.asyncDispose]: () => supervisor.close(),
  };
}

const subscribeCommand = (subscription: number, { protocol, groups }: SubscribeOptions): ThreadCommand => ({
  kind: 'subscribe',
  subscription,
  protocol,
  groups,
});

/** The bytes in memory of their own, which can be given to another thread. */
function transferable(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer } = bytes;
  const whole = buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength;
  return whole ? new Uint8Array(buffer) : new Uint8Array(bytes);
}

function explain(failure: NetlinkFailure, batch: Uint8Array): BatchFailure {
  const message = messageWithSequence(batch, failure.sequence);
  return message === undefined ? failure : { ...failure, message };
}

function answersOf(answer: ThreadAnswer): {
  readonly datagrams: Uint8Array[];
  readonly consistency: Consistency;
} {
  if (answer.kind !== 'answers') throw unexpected(answer);
  return { datagrams: datagramsOf(answer.pack), consistency: answer.consistency };
}

const unexpected = ({ kind }: ThreadAnswer): PointsmanError =>
  new PointsmanError('E_KERNEL_THREAD', `the kernel thread gave an answer of another kind: ${kind}`);

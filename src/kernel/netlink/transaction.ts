// One nf_tables transaction: a batch in one datagram, and what became of it.
import { PointsmanError } from '../../base/errors.ts';
import { EOPNOTSUPP, EPERM } from '../sys/errno.ts';
import type { NetlinkChannel } from './channel.ts';
import { NLMSG_ERROR } from './constants.ts';
import { decodeAnswer, type NetlinkAnswer, type NetlinkFailure } from './error.ts';
import {
  type Batch,
  beginBatch,
  decodeGeneration,
  encodeGetGeneration,
  endBatch,
  NFNL_MSG_BATCH_END,
} from './nfnetlink.ts';
import { messagesOf } from './reader.ts';
import { createNetlinkWriter } from './writer.ts';

/** What became of a batch. */
export type BatchOutcome =
  | {
      readonly kind: 'committed';
      /**
       * The ruleset's generation right after this commit. If the batch named the generation that it builds on, it is
       * exactly this commit's; otherwise another process may have committed in between.
       */
      readonly generation?: number;
    }
  /** Nothing was applied. */
  | { readonly kind: 'refused'; readonly failures: readonly NetlinkFailure[] }
  /** The kernel may have applied it or not: read the state back. */
  | { readonly kind: 'unknown'; readonly because: string };

/** How a kernel tells of a commit; see `probeSubsystem`. */
export interface CommitSignal {
  /** Whether NLM_F_ACK on BATCH_END is answered (Linux 6.10 and newer). */
  readonly endIsAcked: boolean;
}

const PROBE_SEQUENCE = 1;
const GENERATION_SEQUENCE = 0x7fff_ffff;

/**
 * Asks the kernel with an empty batch, which changes nothing and keeps the generation, whether a netfilter subsystem
 * is there, whether this process may use it, and how it tells of a commit.
 *
 * Before Linux 6.10 the flags of BATCH_END were ignored. There `runTransaction` takes silence for success, after a
 * further request was answered: the kernel reports every failure of a complete batch, of its commit too (on
 * BATCH_BEGIN), before sendto returns, and a report that got lost shows as an overflow.
 */
export function probeSubsystem(channel: NetlinkChannel, subsystem: number, name: string): CommitSignal {
  const writer = createNetlinkWriter(64);
  beginBatch(writer, subsystem, PROBE_SEQUENCE);
  endBatch(writer, subsystem, PROBE_SEQUENCE + 1);
  channel.send(writer.finish());
  const { answers } = collect(channel);
  const refusal = answers.find(({ errno }) => errno !== 0);
  if (refusal?.errno === EPERM) {
    throw new PointsmanError('E_PERMISSION', `cannot use ${name}: EPERM (operation not permitted)`, {
      hint: 'run as root or with the capability CAP_NET_ADMIN',
      facts: { errno: EPERM, errnoName: 'EPERM' },
    });
  }
  if (refusal?.errno === EOPNOTSUPP) {
    throw new PointsmanError('E_KERNEL_FEATURE', `the kernel has no ${name}`, {
      hint: 'use a kernel that has it built in or as a module that can be loaded',
    });
  }
  if (refusal) {
    throw new PointsmanError('E_NETLINK', `cannot use ${name}: ${refusal.errnoName}`, {
      facts: { errno: refusal.errno, errnoName: refusal.errnoName },
    });
  }
  return { endIsAcked: answers.some(({ answeredType }) => answeredType === NFNL_MSG_BATCH_END) };
}

/**
 * Sends `bytes`, the batch that `batch` describes, and collects the answers. Throws E_NETLINK if the kernel did not
 * take the datagram at all.
 */
export function runTransaction(
  channel: NetlinkChannel,
  bytes: Uint8Array,
  batch: Batch,
  signal: CommitSignal,
): BatchOutcome {
  // Nothing is left over from before, unless an error interrupted it.
  channel.drain(() => {});
  channel.send(bytes);
  const { answers, overflow } = collect(channel);
  const failures = answers.filter(({ errno }) => errno !== 0);
  if (failures.length > 0) return { kind: 'refused', failures: failures.map(withoutType) };
  // An ack of any other message says only that it was well formed: those of an aborted batch are acked too.
  const acked = answers.some(
    ({ answeredType, sequence }) => answeredType === NFNL_MSG_BATCH_END && sequence === batch.endSequence,
  );
  if (!acked && overflow) {
    return { kind: 'unknown', because: 'the socket could not hold the answers to the batch (ENOBUFS)' };
  }
  if (!acked && signal.endIsAcked) {
    return { kind: 'unknown', because: 'the kernel neither refused the batch nor acknowledged its end' };
  }
  const generation = askGeneration(channel);
  if (!acked && generation === undefined) {
    return { kind: 'unknown', because: 'the kernel did not answer after the batch' };
  }
  const own = ownGeneration(generation, batch.generation);
  return { kind: 'committed', ...(own !== undefined && { generation: own }) };
}

/** Whose commit a generation is: one more than the batch asked for is ours, more is another writer's. */
function ownGeneration(present: number | undefined, base: number | undefined): number | undefined {
  if (present === undefined || base === undefined || present === base) return present;
  // The kernel skips 0 when the number wraps.
  return (base + 1) >>> 0 || 1;
}

function askGeneration(channel: NetlinkChannel): number | undefined {
  const writer = createNetlinkWriter(64);
  encodeGetGeneration(writer, GENERATION_SEQUENCE);
  channel.send(writer.finish());
  let generation: number | undefined;
  channel.drain((datagram) => {
    generation = decodeGeneration(datagram) ?? generation;
  });
  return generation;
}

/** Receives the acks and errors that are queued. */
function collect(channel: NetlinkChannel): {
  readonly answers: readonly NetlinkAnswer[];
  readonly overflow: boolean;
} {
  const answers: NetlinkAnswer[] = [];
  const overflow = channel.drain((datagram) => {
    for (const message of messagesOf(datagram)) {
      if (message.type === NLMSG_ERROR) answers.push(decodeAnswer(message));
    }
  });
  return { answers, overflow };
}

const withoutType = ({ answeredType: _, ...failure }: NetlinkAnswer): NetlinkFailure => failure;

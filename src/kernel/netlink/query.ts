// Questions to the kernel: dumps, which are received piece by piece, and single requests.
import { PointsmanError } from '../../base/errors.ts';
import { EPERM, systemError } from '../sys/errno.ts';
import { createArena, type Pack } from './arena.ts';
import type { NetlinkChannel } from './channel.ts';
import { NLM_F_DUMP_INTR, NLMSG_DONE, NLMSG_ERROR } from './constants.ts';
import { decodeAnswer, decodeDone, describeFailure, type NetlinkFailure } from './error.ts';
import { NFNL_SUBSYS_NFTABLES } from './nfnetlink.ts';
import { messagesOf, type NetlinkMessage } from './reader.ts';

/**
 * Whether a dump shows one state. `inconsistent`: objects changed while they were dumped (NLM_F_DUMP_INTR), or some
 * were lost. `generations`: some ruleset was committed meanwhile, of this table or another one; the kernel does not set
 * NLM_F_DUMP_INTR on dumps of set elements, but the low half of the generation stands in each of its messages.
 */
export type Consistency = 'consistent' | 'generations' | 'inconsistent';

/** The answer to a question: whole datagrams, NLMSG_DONE included. */
export interface Answers {
  readonly pack: Pack;
  readonly consistency: Consistency;
}

/** A dump under way. */
export interface Dump {
  /**
   * Receives about `bytes` more. `starved`: nothing is queued now, wait for the socket. Throws E_NETLINK if the kernel
   * refuses or breaks off.
   */
  advance(bytes: number): 'going' | 'starved' | 'complete';
  /** When complete: gives the result away. */
  take(): Answers;
}

/** Sends a dump request on a channel of its own, so that nothing else can be queued there. */
export function startDump(channel: NetlinkChannel, request: Uint8Array): Dump {
  const arena = createArena();
  let consistency: Consistency = 'consistent';
  let generation: number | undefined;
  channel.send(request);
  return {
    advance(bytes) {
      const enough = arena.length + bytes;
      while (arena.length < enough) {
        const received = channel.receive(arena.space());
        if (received.kind === 'empty') return 'starved';
        if (received.kind === 'overflow') {
          consistency = 'inconsistent';
          return 'complete';
        }
        for (const message of messagesOf(arena.keep(received.length))) {
          if (message.flags & NLM_F_DUMP_INTR) consistency = 'inconsistent';
          const present = generationOf(message);
          if (present !== undefined) {
            generation ??= present;
            if (present !== generation && consistency === 'consistent') consistency = 'generations';
          }
          throwFailure(message);
          if (message.type === NLMSG_DONE) return 'complete';
        }
      }
      return 'going';
    },
    take: () => ({ pack: arena.take(), consistency }),
  };
}

/** Sends a request that is no dump, on a channel of its own, and takes its answer. Throws E_NETLINK on a refusal. */
export function ask(channel: NetlinkChannel, request: Uint8Array): Answers {
  const arena = createArena();
  channel.send(request);
  for (;;) {
    const received = channel.receive(arena.space());
    if (received.kind === 'empty') return { pack: arena.take(), consistency: 'consistent' };
    if (received.kind === 'overflow') {
      throw new PointsmanError('E_NETLINK_LOST', 'the answer to a netlink request was lost');
    }
    for (const message of messagesOf(arena.keep(received.length))) throwFailure(message);
  }
}

/** The low half of the generation that an nf_tables object was read from (nfgenmsg.res_id). */
function generationOf({ type, payload }: NetlinkMessage): number | undefined {
  return type >> 8 === NFNL_SUBSYS_NFTABLES && payload.length >= 4 ? payload.readUInt16BE(2) : undefined;
}

function throwFailure(message: NetlinkMessage): void {
  const failure = failureIn(message);
  if (failure === undefined || failure.errno === 0) return;
  const { errno, errnoName, offset, text } = failure;
  if (errno === EPERM) throw systemError(errno, 'ask the kernel by netlink');
  throw new PointsmanError('E_NETLINK', `the kernel refused a netlink request: ${describeFailure(failure)}`, {
    facts: { errno, errnoName, offset, text },
  });
}

function failureIn(message: NetlinkMessage): NetlinkFailure | undefined {
  if (message.type === NLMSG_DONE) return decodeDone(message);
  return message.type === NLMSG_ERROR ? decodeAnswer(message) : undefined;
}

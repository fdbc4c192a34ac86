// Netlink on the calling thread, for the few questions and changes of a program that does one thing and ends: starting
// the kernel thread would take longer than its work. What runs for long uses `client.ts`.
import { PointsmanError } from '../base/errors.ts';
import { datagramsOf } from './netlink/arena.ts';
import { type NetlinkChannel, openChannel } from './netlink/channel.ts';
import { NFNL_SUBSYS_NFTABLES, readBatch } from './netlink/nfnetlink.ts';
import { ask, startDump } from './netlink/query.ts';
import { type BatchOutcome, probeSubsystem, runTransaction } from './netlink/transaction.ts';
import { NETLINK_GENERIC, NETLINK_NETFILTER, NETLINK_ROUTE } from './sys/constants.ts';
import type { Sys } from './sys/sys.ts';

export type DirectProtocol = 'netfilter' | 'route' | 'generic';

const PROTOCOL_NUMBERS: Readonly<Record<DirectProtocol, number>> = {
  netfilter: NETLINK_NETFILTER,
  route: NETLINK_ROUTE,
  generic: NETLINK_GENERIC,
};

/** The netlink of the calling thread's network namespace. Every call blocks, and opens and closes its own socket. */
export interface DirectKernel {
  /** The datagrams of a dump of one state. Throws E_NETLINK when refused, E_PERMISSION, E_NETLINK_LOST. */
  dump(protocol: DirectProtocol, request: Uint8Array): readonly Uint8Array[];
  /** One request and the datagrams of its answer. Throws as `dump` does. */
  request(protocol: DirectProtocol, request: Uint8Array): readonly Uint8Array[];
  /** Commits one batch of nf_tables. Throws E_KERNEL_FEATURE without nf_tables, E_PERMISSION. */
  transact(batch: Uint8Array): BatchOutcome;
}

const DUMP_ATTEMPTS = 8;
const RECEIVE_BUFFER = 8 * 1024 * 1024;
const ENOUGH = 1 << 30;

export function createDirectKernel(sys: Sys): DirectKernel {
  const on = <T>(protocol: DirectProtocol, work: (channel: NetlinkChannel) => T): T => {
    const channel = openChannel(sys, {
      protocol: PROTOCOL_NUMBERS[protocol],
      ...(protocol === 'netfilter' && { receiveBuffer: RECEIVE_BUFFER }),
    });
    try {
      return work(channel);
    } finally {
      channel.close();
    }
  };
  return {
    dump(protocol, request) {
      for (let attempt = 1; attempt <= DUMP_ATTEMPTS; attempt += 1) {
        const { pack, consistency } = on(protocol, (channel) => {
          const dump = startDump(channel, request);
          // The kernel makes the next piece while one is received, so nothing is ever waited for.
          if (dump.advance(ENOUGH) !== 'complete')
            throw new PointsmanError('E_NETLINK_LOST', 'the kernel did not end its answer to a dump request');
          return dump.take();
        });
        if (consistency !== 'inconsistent') return datagramsOf(pack);
      }
      throw new PointsmanError('E_NETLINK', `objects changed during each of ${DUMP_ATTEMPTS} dumps of them`, {
        hint: 'find out which other program changes them all the time',
        facts: { protocol },
      });
    },
    request: (protocol, request) => on(protocol, (channel) => datagramsOf(ask(channel, request).pack)),
    transact: (batch) =>
      on('netfilter', (channel) =>
        runTransaction(
          channel,
          batch,
          readBatch(batch),
          probeSubsystem(channel, NFNL_SUBSYS_NFTABLES, 'nf_tables'),
        ),
      ),
  };
}

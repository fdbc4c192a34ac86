// The netlink sockets of the kernel thread: where they are opened and what is known of them.
import { PointsmanError } from '../base/errors.ts';
import type { ControlBlock } from './control-block.ts';
import { type ChannelOptions, type NetlinkChannel, openChannel } from './netlink/channel.ts';
import { NFNL_SUBSYS_NFTABLES } from './netlink/nfnetlink.ts';
import { type CommitSignal, probeSubsystem } from './netlink/transaction.ts';
import { inNetns } from './netns.ts';
import { NETLINK_NETFILTER, NETLINK_ROUTE } from './sys/constants.ts';
import type { Sys } from './sys/sys.ts';
import type { KernelProtocol } from './thread-messages.ts';

/** Bursts of events, and the errors of all messages of a large batch, must fit. It is a limit, not memory in use. */
const RECEIVE_BUFFER = 8 * 1024 * 1024;

const PROTOCOL_NUMBERS: Readonly<Record<KernelProtocol, number>> = {
  nftables: NETLINK_NETFILTER,
  route: NETLINK_ROUTE,
};

export interface KernelSockets {
  /** The socket for nf_tables transactions, opened and probed at its first use. */
  transactions(): { readonly channel: NetlinkChannel; readonly signal: CommitSignal };
  /**
   * A socket of its own for one dump, one request, or a subscription, so that their datagrams never mix. Throws
   * E_PERMISSION or E_KERNEL_FEATURE if nf_tables cannot be used.
   */
  open(protocol: KernelProtocol, groups?: readonly number[]): NetlinkChannel;
}

/** `sys` should note what it opens, see `notingSys`. Throws at once if the namespace cannot be entered. */
export function createKernelSockets(sys: Sys, namespace: string | undefined): KernelSockets {
  let transactions: { readonly channel: NetlinkChannel; readonly signal: CommitSignal } | undefined;

  const openHere = (options: ChannelOptions): NetlinkChannel =>
    namespace === undefined
      ? openChannel(sys, options)
      : inNetns(sys, namespace, () => openChannel(sys, options));

  const openTransactions = (): { readonly channel: NetlinkChannel; readonly signal: CommitSignal } => {
    if (transactions !== undefined) return transactions;
    const channel = openHere({ protocol: NETLINK_NETFILTER, receiveBuffer: RECEIVE_BUFFER });
    try {
      transactions = { channel, signal: probeSubsystem(channel, NFNL_SUBSYS_NFTABLES, 'nf_tables') };
      return transactions;
    } catch (error) {
      channel.close();
      throw error;
    }
  };

  if (namespace !== undefined) inNetns(sys, namespace, () => undefined);
  return {
    transactions: openTransactions,
    open(protocol, groups = []) {
      // Without the probe, a missing subsystem would show as EINVAL.
      if (protocol === 'nftables') openTransactions();
      return openHere({
        protocol: PROTOCOL_NUMBERS[protocol],
        groups,
        ...(groups.length > 0 && { receiveBuffer: RECEIVE_BUFFER }),
      });
    },
  };
}

/** A Sys that notes the descriptors it opens in the control block until it closes them. */
export function notingSys(sys: Sys, control: ControlBlock): Sys {
  const noted = (fd: number): number => {
    if (fd < 0 || control.note(fd)) return fd;
    sys.close(fd);
    throw new PointsmanError('E_SYSCALL', 'the kernel thread has too many descriptors open');
  };
  return {
    ...sys,
    socket: (family, type, protocol) => noted(sys.socket(family, type, protocol)),
    eventfd: (initial, flags) => noted(sys.eventfd(initial, flags)),
    open: (path, flags) => noted(sys.open(path, flags)),
    close(fd) {
      control.forget(fd);
      return sys.close(fd);
    },
  };
}

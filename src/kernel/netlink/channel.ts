// A netlink socket to the kernel, on the thread that calls it. Never blocks but in sendto, while the kernel works.
import { PointsmanError } from '../../base/errors.ts';
import {
  AF_NETLINK,
  MSG_DONTWAIT,
  MSG_TRUNC,
  NETLINK_ADD_MEMBERSHIP,
  NETLINK_CAP_ACK,
  NETLINK_EXT_ACK,
  SO_RCVBUF,
  SO_RCVBUFFORCE,
  SO_SNDBUF,
  SO_SNDBUFFORCE,
  SOCK_CLOEXEC,
  SOCK_RAW,
  SOL_NETLINK,
  SOL_SOCKET,
} from '../sys/constants.ts';
import { EAGAIN, EINTR, EMSGSIZE, ENOBUFS, EPROTONOSUPPORT, systemError, unwrap } from '../sys/errno.ts';
import { netlinkAddress, netlinkPortId } from '../sys/sockaddr.ts';
import type { Sys } from '../sys/sys.ts';

export interface ChannelOptions {
  /** NETLINK_ROUTE, NETLINK_NETFILTER… */
  readonly protocol: number;
  /** Multicast groups to join, by number (not the bit mask of bind). */
  readonly groups?: readonly number[];
  /** Bytes of the receive buffer, beyond net.core.rmem_max if the process may; the kernel's default otherwise. */
  readonly receiveBuffer?: number;
  /** False leaves the send buffer at the kernel's default, and a larger datagram fails with EMSGSIZE. */
  readonly growSendBuffer?: boolean;
}

/** What one receive found. `overflow`: the kernel dropped an unknown number of messages (ENOBUFS). */
export type Received =
  | { readonly kind: 'datagram'; readonly length: number }
  | { readonly kind: 'empty' }
  | { readonly kind: 'overflow' };

export interface NetlinkChannel {
  readonly fd: number;
  /** The port id that the kernel gave to this socket: nlmsg_pid of events that it caused. */
  readonly portId: number;
  /**
   * Sends one datagram to the kernel, which works on it before this returns: answers to anything but a dump are queued
   * by then. Throws E_NETLINK if the kernel did not take it; then nothing of it was done.
   */
  send(datagram: Uint8Array): void;
  /** Takes the next datagram, without waiting. A datagram that does not fit throws E_NETLINK_LOST. */
  receive(into: Uint8Array): Received;
  /**
   * Takes all datagrams that are queued, without waiting; each is valid only during its call. Answers whether some
   * were lost (ENOBUFS).
   */
  drain(onDatagram: (datagram: Uint8Array) => void): boolean;
  close(): void;
}

/** Room for the answers to a transaction or a request: one message each, an nf_tables object at most. */
const SCRATCH = 64 * 1024;
/** The kernel takes this off the send buffer's size (netlink_sendmsg). */
const SEND_RESERVE = 32;

/** Opens a socket in the calling thread's network namespace. Throws E_KERNEL_FEATURE if the protocol is missing. */
export function openChannel(sys: Sys, options: ChannelOptions): NetlinkChannel {
  const { protocol, groups = [], receiveBuffer, growSendBuffer = true } = options;
  const fd = sys.socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
  if (fd === -EPROTONOSUPPORT) {
    throw new PointsmanError('E_KERNEL_FEATURE', `the kernel has no netlink protocol ${protocol}`, {
      hint: protocol === 12 ? 'load the module nfnetlink' : 'use a kernel built with it',
    });
  }
  unwrap(fd, 'open a netlink socket', { protocol });
  try {
    return prepare();
  } catch (error) {
    sys.close(fd);
    throw error;
  }

  function prepare(): NetlinkChannel {
    const address = netlinkAddress();
    unwrap(sys.bind(fd, address), 'bind a netlink socket', { protocol });
    // Random for all but a process's first netlink socket, so ask.
    unwrap(sys.getsockname(fd, address), 'ask for a netlink port id');
    // Without the cap, every error would carry the whole refused message back.
    for (const option of [NETLINK_CAP_ACK, NETLINK_EXT_ACK]) {
      unwrap(sys.setsockopt(fd, SOL_NETLINK, option, int32(1)), 'set a netlink option', { option });
    }
    for (const group of groups) {
      const joined = sys.setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, int32(group));
      unwrap(joined, `join netlink group ${group}`, { protocol, group }, 'E_KERNEL_FEATURE');
    }
    if (receiveBuffer !== undefined) setBuffer(SO_RCVBUFFORCE, SO_RCVBUF, receiveBuffer);
    const limit = int32(0);
    unwrap(sys.getsockopt(fd, SOL_SOCKET, SO_SNDBUF, limit), 'ask for a send buffer size');
    return channel(netlinkPortId(address), new Int32Array(limit.buffer));
  }

  function setBuffer(forced: number, plain: number, bytes: number): void {
    if (sys.setsockopt(fd, SOL_SOCKET, forced, int32(bytes)) >= 0) return;
    // Without CAP_NET_ADMIN only up to net.core.{r,w}mem_max.
    unwrap(sys.setsockopt(fd, SOL_SOCKET, plain, int32(bytes)), 'set a netlink buffer size', { bytes });
  }

  function receive(into: Uint8Array): Received {
    for (;;) {
      const length = sys.recv(fd, into, MSG_DONTWAIT | MSG_TRUNC);
      if (length > into.length) {
        throw new PointsmanError('E_NETLINK_LOST', `a netlink datagram of ${length} bytes did not fit`, {
          facts: { length, space: into.length },
        });
      }
      if (length >= 0) return { kind: 'datagram', length };
      if (length === -EAGAIN) return { kind: 'empty' };
      if (length === -ENOBUFS) return { kind: 'overflow' };
      if (length !== -EINTR) throw systemError(-length, 'receive from netlink', {}, 'E_NETLINK_LOST');
    }
  }

  function channel(portId: number, sendBuffer: Int32Array<ArrayBuffer>): NetlinkChannel {
    let scratch: Uint8Array | undefined;
    return {
      fd,
      portId,
      send(datagram) {
        if (growSendBuffer && datagram.length > (sendBuffer[0] ?? 0) - SEND_RESERVE) {
          setBuffer(SO_SNDBUFFORCE, SO_SNDBUF, datagram.length + SEND_RESERVE);
          const size = new Uint8Array(sendBuffer.buffer);
          unwrap(sys.getsockopt(fd, SOL_SOCKET, SO_SNDBUF, size), 'ask for a send buffer size');
        }
        const sent = sys.sendto(fd, datagram, 0);
        if (sent >= 0) return;
        const error = systemError(-sent, 'send a netlink request', { bytes: datagram.length }, 'E_NETLINK');
        if (sent !== -EMSGSIZE) throw error;
        throw new PointsmanError('E_NETLINK', `a netlink request of ${datagram.length} bytes is too long`, {
          hint: 'raise net.core.wmem_max, or give the process CAP_NET_ADMIN',
          facts: error.facts,
        });
      },
      receive,
      drain(onDatagram) {
        scratch ??= new Uint8Array(SCRATCH);
        let lost = false;
        for (;;) {
          const received = receive(scratch);
          if (received.kind === 'empty') return lost;
          if (received.kind === 'overflow') lost = true;
          else onDatagram(scratch.subarray(0, received.length));
        }
      },
      close() {
        sys.close(fd);
      },
    };
  }
}

const int32 = (value: number): Uint8Array<ArrayBuffer> => new Uint8Array(new Int32Array([value]).buffer);

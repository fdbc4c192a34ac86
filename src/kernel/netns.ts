// Work inside another network namespace from the same process: sockets stay for life in the namespace they were made
// in, whichever thread uses them, so one process can serve many namespaces.
import { stat } from 'node:fs/promises';
import { PointsmanError } from '../base/errors.ts';
import {
  AF_INET6,
  CLONE_NEWNET,
  IPPROTO_IPV6,
  IPV6_V6ONLY,
  O_CLOEXEC,
  O_RDONLY,
  SO_REUSEADDR,
  SOCK_CLOEXEC,
  SOCK_DGRAM,
  SOCK_NONBLOCK,
  SOCK_STREAM,
  SOL_SOCKET,
} from './sys/constants.ts';
import { unwrap } from './sys/errno.ts';
import { familyOf, internetAddress } from './sys/sockaddr.ts';
import type { Sys } from './sys/sys.ts';

/** The calling thread's namespace; /proc/self would be the main thread's, whoever asks. */
export const OWN_NAMESPACE = '/proc/thread-self/ns/net';

/** Where `ip netns add NAME` keeps a namespace. */
export const namedNamespace = (name: string): string => `/run/netns/${name}`;

/**
 * Starts libuv's thread pool in the namespace that the process is in. Await it once before the first `inNetns`: pool
 * threads that are born inside stay there for good, and later `fs.promises` calls would read that namespace's
 * /proc/net and /proc/sys/net. The pool makes all its threads at its first use.
 */
export async function preparePool(): Promise<void> {
  await stat('/');
}

/** A function that is over when it returns: one that gives a promise would go on in the wrong namespace. */
export type SynchronousFunction<T> = T extends PromiseLike<unknown> ? never : () => T;

/**
 * Runs `work` with the calling thread in the network namespace at `path` (/run/netns/NAME, /proc/PID/ns/net), then
 * moves the thread back. `work` must be synchronous and may not start anything asynchronous, a Worker neither.
 * Synchronous fs on /proc/sys/net, sockets, and children spawned inside belong to that namespace.
 *
 * Throws E_PERMISSION without CAP_SYS_ADMIN, E_SYSCALL for a path that is no network namespace, and whatever `work`
 * throws. Aborts the process if the thread cannot go back: to continue would act on the wrong network.
 */
export function inNetns<T>(sys: Sys, path: string, work: SynchronousFunction<T>): T {
  const flags = O_RDONLY | O_CLOEXEC;
  const home = unwrap(sys.open(OWN_NAMESPACE, flags), 'open the own network namespace');
  try {
    const target = unwrap(sys.open(path, flags), `open the network namespace ${path}`, { path });
    try {
      unwrap(sys.setns(target, CLONE_NEWNET), `enter the network namespace ${path}`, { path });
    } finally {
      sys.close(target);
    }
    let result: T;
    try {
      result = work();
    } finally {
      if (sys.setns(home, CLONE_NEWNET) < 0) process.abort();
    }
    if (result instanceof Promise) {
      throw new PointsmanError('E_SYSCALL', `work in the network namespace ${path} must be synchronous`);
    }
    return result;
  } finally {
    sys.close(home);
  }
}

/** Where a socket shall be. Without `namespace` it is in the calling thread's own. */
export interface SocketPlace {
  readonly namespace?: string;
  /** A local IPv4 or IPv6 address; IPv6 sockets are IPv6-only, so that `::` and `0.0.0.0` can share a port. */
  readonly address: string;
  /** 0 lets the kernel choose. */
  readonly port: number;
}

/**
 * A listening TCP socket, as a descriptor for Node:
 *
 *     const server = net.createServer(onConnection);          // or http.createServer(onRequest)
 *     server.listen({ fd: listenerIn(sys, { namespace, address: '10.0.0.2', port: 80 }) });
 *
 * From `listen` on the server owns the descriptor and closes it; accepted sockets are in the listener's namespace.
 * `protocol` is for another stream protocol than TCP: IPPROTO_SCTP (132), where the kernel has it.
 */
export function listenerIn(
  sys: Sys,
  place: SocketPlace & { readonly backlog?: number; readonly protocol?: number },
): number {
  return socketAt(sys, SOCK_STREAM, place, (fd) => {
    unwrap(sys.setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, int32(1)), 'set SO_REUSEADDR');
    bindTo(sys, fd, place);
    unwrap(sys.listen(fd, place.backlog ?? 511), `listen on ${place.address} port ${place.port}`);
  });
}

/**
 * A bound UDP socket, as a descriptor for Node:
 *
 *     const socket = dgram.createSocket('udp4');               // 'udp6' for an IPv6 address
 *     socket.bind({ fd: udpSocketIn(sys, { namespace, address: '10.0.0.2', port: 53 }) });
 *
 * It can send at once: 'listening' is emitted inside `bind`, so awaiting it afterwards would wait for ever. For a client
 * use port 0 and the unspecified address. From `bind` on the socket owns the descriptor.
 */
export function udpSocketIn(sys: Sys, place: SocketPlace): number {
  return socketAt(sys, SOCK_DGRAM, place, (fd) => bindTo(sys, fd, place));
}

/**
 * A TCP socket that is not yet connected, as a descriptor for a client in Node:
 *
 *     const socket = new net.Socket({ fd: tcpSocketIn(sys, { namespace, family: 4 }), readable: true, writable: true });
 *     socket.connect({ host: '10.96.0.10', port: 80 });        // in the same turn of the event loop
 *
 * `connect`, `ready`, `timeout` and errors (`connect ECONNREFUSED …`) come as for any socket. Give an address, not a
 * name: names are resolved in the process's own namespace. With `readable: false` nothing is ever read, not even the
 * end. For HTTP: `http.request({ createConnection: () => socket, … })`. The socket owns the descriptor.
 *
 * (A descriptor on which connect(2) was already called works as well, but then Node emits no 'connect', and a refusal
 * appears as an error of the first read or write; so there is no function for that.)
 */
export function tcpSocketIn(
  sys: Sys,
  place: {
    readonly namespace?: string;
    readonly family: 4 | 6;
    readonly from?: { readonly address: string; readonly port: number };
    /** As for `listenerIn`. */
    readonly protocol?: number;
  },
): number {
  const { namespace, family, from, protocol = 0 } = place;
  const address = from?.address ?? (family === 4 ? '0.0.0.0' : '::');
  return socketAt(
    sys,
    SOCK_STREAM,
    { ...(namespace !== undefined && { namespace }), address, protocol },
    (fd) => {
      if (from !== undefined) bindTo(sys, fd, from);
    },
  );
}

/** Opens a socket of the address's family in the namespace and prepares it; closes it again if that fails. */
function socketAt(
  sys: Sys,
  type: number,
  place: { readonly namespace?: string; readonly address: string; readonly protocol?: number },
  prepare: (fd: number) => void,
): number {
  const family = familyOf(place.address);
  const open = (): number => {
    const fd = unwrap(
      sys.socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, place.protocol ?? 0),
      'open a socket',
    );
    try {
      if (family === AF_INET6)
        unwrap(sys.setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, int32(1)), 'set IPV6_V6ONLY');
      prepare(fd);
      return fd;
    } catch (error) {
      sys.close(fd);
      throw error;
    }
  };
  return place.namespace === undefined ? open() : inNetns(sys, place.namespace, open);
}

function bindTo(
  sys: Sys,
  fd: number,
  { address, port }: { readonly address: string; readonly port: number },
): void {
  unwrap(sys.bind(fd, internetAddress(address, port)), `bind to ${address} port ${port}`, { address, port });
}

const int32 = (value: number): Uint8Array => new Uint8Array(new Int32Array([value]).buffer);

// A Sys whose netlink sockets lead to a function instead of a kernel, for tests of what a real kernel cannot be made to
// do: be old, lose messages at a chosen point, answer nonsense.
import { EAGAIN } from '../sys/errno.ts';
import type { Sys } from '../sys/sys.ts';

/** What one recv gives: a datagram, or a negative errno. */
export type FakeReceived = Uint8Array | number;

export interface FakeNetlink {
  readonly sys: Sys;
  /** Copies of all datagrams sent. */
  readonly sent: readonly Uint8Array[];
  /** Descriptors that are open. */
  readonly open: ReadonlySet<number>;
}

/** `answer` is called with each datagram sent, and gives what is then to be received. */
export function createFakeNetlink(answer: (datagram: Uint8Array) => readonly FakeReceived[]): FakeNetlink {
  const sent: Uint8Array[] = [];
  const open = new Set<number>();
  const queue: FakeReceived[] = [];
  let nextFd = 1000;
  const opened = (): number => {
    nextFd += 1;
    open.add(nextFd);
    return nextFd;
  };
  const fine = (): number => 0;
  const sys: Sys = {
    socket: opened,
    bind: fine,
    connect: fine,
    listen: fine,
    setsockopt: fine,
    getsockopt(_fd, _level, _name, value) {
      // A send buffer as large as it gets, so that nothing has to grow.
      value.set(new Uint8Array(new Int32Array([0x7fff_ffff]).buffer));
      return 4;
    },
    getsockname: (_fd, address) => address.length,
    sendto(_fd, bytes) {
      sent.push(Uint8Array.from(bytes));
      queue.push(...answer(bytes));
      return bytes.length;
    },
    recv(_fd, into) {
      const next = queue.shift();
      if (next === undefined) return -EAGAIN;
      if (typeof next === 'number') return next;
      into.set(next.subarray(0, into.length));
      return next.length;
    },
    poll: fine,
    eventfd: opened,
    read: fine,
    write: fine,
    open: opened,
    fcntl: fine,
    setns: fine,
    close(fd) {
      open.delete(fd);
      return 0;
    },
  };
  return { sys, sent, open };
}

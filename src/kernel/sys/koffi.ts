// The Sys interface over libc through koffi. Only synchronous calls: koffi's `.async` does not keep buffers alive, its
// callbacks and `koffi.node.poll` can abort the process when a worker ends.
import koffi from 'koffi';
import type { Sys } from './sys.ts';

/** A libc function that answers -1 and sets errno, turned into one that answers the negative errno. */
type LibcFunction = (...parameters: readonly (number | string | Uint8Array | null)[]) => number;

/** Opens libc. The functions may be called on any thread; each thread makes its own Sys. */
export function createKoffiSys(): Sys {
  // The process itself is linked to its libc, whether glibc or musl; no file name to guess.
  const libc = koffi.load(null);
  const bound = (name: string, result: string, parameters: string[]): LibcFunction => {
    const native = libc.func(name, result, parameters) as unknown as LibcFunction;
    return (...values) => {
      const answer = native(...values);
      // errno at once: another call on this thread may overwrite it. Longs may come as BigInt.
      return Number(answer) === -1 ? -koffi.errno() : Number(answer);
    };
  };

  const socket = bound('socket', 'int', ['int', 'int', 'int']);
  const bind = bound('bind', 'int', ['int', 'void *', 'uint32_t']);
  const connect = bound('connect', 'int', ['int', 'void *', 'uint32_t']);
  const listen = bound('listen', 'int', ['int', 'int']);
  const setsockopt = bound('setsockopt', 'int', ['int', 'int', 'int', 'void *', 'uint32_t']);
  const getsockopt = bound('getsockopt', 'int', ['int', 'int', 'int', 'void *', 'void *']);
  const getsockname = bound('getsockname', 'int', ['int', 'void *', 'void *']);
  const sendto = bound('sendto', 'long', ['int', 'void *', 'size_t', 'int', 'void *', 'uint32_t']);
  const recv = bound('recv', 'long', ['int', 'void *', 'size_t', 'int']);
  const poll = bound('poll', 'int', ['void *', 'unsigned long', 'int']);
  const eventfd = bound('eventfd', 'int', ['uint32_t', 'int']);
  const read = bound('read', 'long', ['int', 'void *', 'size_t']);
  const write = bound('write', 'long', ['int', 'void *', 'size_t']);
  // Variadic in libc, declared with fixed integer arguments: the same registers on x86-64 and Linux arm64.
  const open = bound('open', 'int', ['str', 'int', 'int']);
  const fcntl = bound('fcntl', 'int', ['int', 'int', 'int']);
  const setns = bound('setns', 'int', ['int', 'int']);
  const close = bound('close', 'int', ['int']);

  /** The value-result length of getsockopt and getsockname. */
  const length = new Uint32Array(1);
  const lengthBytes = new Uint8Array(length.buffer);
  const withLength = (size: number, call: () => number): number => {
    length[0] = size;
    const answer = call();
    return answer < 0 ? answer : (length[0] ?? 0);
  };

  return {
    socket: (family, type, protocol) => socket(family, type, protocol),
    bind: (fd, address) => bind(fd, address, address.length),
    connect: (fd, address) => connect(fd, address, address.length),
    listen: (fd, backlog) => listen(fd, backlog),
    setsockopt: (fd, level, name, value) => setsockopt(fd, level, name, value, value.length),
    getsockopt: (fd, level, name, value) =>
      withLength(value.length, () => getsockopt(fd, level, name, value, lengthBytes)),
    getsockname: (fd, address) => withLength(address.length, () => getsockname(fd, address, lengthBytes)),
    sendto: (fd, bytes, flags, address) =>
      sendto(fd, bytes, bytes.length, flags, address ?? null, address?.length ?? 0),
    recv: (fd, into, flags) => recv(fd, into, into.length, flags),
    poll: (set, timeoutMs) => poll(set, set.length / POLLFD_SIZE, timeoutMs),
    eventfd: (initial, flags) => eventfd(initial, flags),
    read: (fd, into) => read(fd, into, into.length),
    write: (fd, bytes) => write(fd, bytes, bytes.length),
    open: (path, flags) => open(path, flags, 0),
    fcntl: (fd, command, argument) => fcntl(fd, command, argument),
    setns: (fd, type) => setns(fd, type),
    close: (fd) => close(fd),
  };
}

const POLLFD_SIZE = 8;

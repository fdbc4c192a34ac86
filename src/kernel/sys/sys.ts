// The system calls that the kernel room needs, as an interface: koffi.ts is its real implementation.

/**
 * Linux system calls on plain buffers. Every call is synchronous and answers like the kernel does: a result of zero
 * or more, or a negative errno (`-EAGAIN` is -11); `unwrap` turns that into an error. Nothing is retained: a buffer
 * may be reused as soon as the call has returned. File descriptors are opened close-on-exec by the callers' flags.
 */
export interface Sys {
  /** A new descriptor. */
  socket(family: number, type: number, protocol: number): number;
  bind(fd: number, address: Uint8Array): number;
  connect(fd: number, address: Uint8Array): number;
  listen(fd: number, backlog: number): number;
  setsockopt(fd: number, level: number, name: number, value: Uint8Array): number;
  /** Fills `value`; answers the length that the kernel wrote. */
  getsockopt(fd: number, level: number, name: number, value: Uint8Array): number;
  /** Fills `address` with the socket's own; answers its length. */
  getsockname(fd: number, address: Uint8Array): number;
  /** sendto(2); without an address to where the socket is connected, for netlink to the kernel. */
  sendto(fd: number, bytes: Uint8Array, flags: number, address?: Uint8Array): number;
  /** The number of bytes received; with MSG_TRUNC in `flags` the datagram's true length, even if it did not fit. */
  recv(fd: number, into: Uint8Array, flags: number): number;
  /**
   * Waits until a descriptor of `set` (an array of `struct pollfd`, see poll-set.ts) is ready, at most `timeoutMs`;
   * answers how many are.
   */
  poll(set: Uint8Array, timeoutMs: number): number;
  eventfd(initial: number, flags: number): number;
  read(fd: number, into: Uint8Array): number;
  write(fd: number, bytes: Uint8Array): number;
  open(path: string, flags: number): number;
  /** fcntl(2) with an integer argument. */
  fcntl(fd: number, command: number, argument: number): number;
  /** Moves the calling thread into the namespace that `fd` refers to. Use `inNetns` instead. */
  setns(fd: number, type: number): number;
  close(fd: number): number;
}

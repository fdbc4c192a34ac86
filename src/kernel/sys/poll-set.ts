// An array of `struct pollfd` for Sys.poll.
import { endianness } from 'node:os';
import { POLLERR, POLLHUP, POLLIN, POLLNVAL } from './constants.ts';

const LITTLE = endianness() === 'LE';
const POLLFD_SIZE = 8;
const READABLE = POLLIN | POLLERR | POLLHUP | POLLNVAL;

/** Descriptors to wait on for reading. */
export interface PollSet {
  /** What Sys.poll takes. */
  readonly bytes: Buffer;
  /** After the poll: whether the descriptor can be read, an error counts as such. */
  isReadable(fd: number): boolean;
}

export function createPollSet(fds: readonly number[]): PollSet {
  const bytes = Buffer.alloc(fds.length * POLLFD_SIZE);
  for (const [index, fd] of fds.entries()) {
    const at = index * POLLFD_SIZE;
    if (LITTLE) {
      bytes.writeInt32LE(fd, at);
      bytes.writeInt16LE(POLLIN, at + 4);
    } else {
      bytes.writeInt32BE(fd, at);
      bytes.writeInt16BE(POLLIN, at + 4);
    }
  }
  return {
    bytes,
    isReadable(fd) {
      const at = fds.indexOf(fd) * POLLFD_SIZE + 6;
      if (at < 6) return false;
      const events = LITTLE ? bytes.readInt16LE(at) : bytes.readInt16BE(at);
      return (events & READABLE) !== 0;
    },
  };
}

// Memory shared by the main thread and the kernel thread: what must be known of a thread that is dead.

/** Counters of what was sent to the kernel and came from it, over all lives of the thread. */
export interface KernelCounters {
  /** Batches sent, with their messages (BEGIN and END included) and bytes: zero if nothing was to be changed. */
  readonly transactions: number;
  readonly messages: number;
  readonly bytes: number;
  readonly dumps: number;
  readonly requests: number;
  /** Datagrams of multicast events, and how often some were lost. */
  readonly events: number;
  readonly overflows: number;
}

const COUNTERS = ['transactions', 'messages', 'bytes', 'dumps', 'requests', 'events', 'overflows'] as const;
const DESCRIPTORS = 128;
const BACKLOG_SLOT = DESCRIPTORS;

/** The two sides' view of the shared memory; each side makes its own from the same buffer. */
export interface ControlBlock {
  readonly memory: SharedArrayBuffer;
  count(counter: keyof KernelCounters, by?: number): void;
  counters(): KernelCounters;
  /**
   * Notes a descriptor that the thread opened, so that its survivor can close it; false if there is no room. Between
   * opening and noting a thread can be killed: that leaks one descriptor, while the reverse order could close one that
   * is somebody else's by then.
   */
  note(fd: number): boolean;
  /** Forgets a descriptor, before it is closed. */
  forget(fd: number): void;
  /** All noted descriptors, which are forgotten thereby. */
  takeDescriptors(): readonly number[];
  /** Event messages that the thread has posted and the main thread has not handled; answers the new number. */
  changeBacklog(by: number): number;
  readonly backlog: number;
  clearBacklog(): void;
}

const DESCRIPTOR_BYTES = (DESCRIPTORS + 2) * Int32Array.BYTES_PER_ELEMENT;

export function createControlBlock(
  memory: SharedArrayBuffer = new SharedArrayBuffer(
    DESCRIPTOR_BYTES + COUNTERS.length * BigInt64Array.BYTES_PER_ELEMENT,
  ),
): ControlBlock {
  // Slots hold a descriptor plus one, as zero means free.
  const slots = new Int32Array(memory, 0, DESCRIPTORS + 1);
  const totals = new BigInt64Array(memory, DESCRIPTOR_BYTES);
  const replaceSlot = (from: number, to: number): boolean => {
    for (let slot = 0; slot < DESCRIPTORS; slot += 1) {
      if (Atomics.compareExchange(slots, slot, from, to) === from) return true;
    }
    return false;
  };
  return {
    memory,
    count(counter, by = 1) {
      Atomics.add(totals, COUNTERS.indexOf(counter), BigInt(by));
    },
    counters() {
      const value = (index: number): number => Number(Atomics.load(totals, index));
      const entries = COUNTERS.map((counter, index) => [counter, value(index)] as const);
      return Object.fromEntries(entries) as unknown as KernelCounters;
    },
    note: (fd) => replaceSlot(0, fd + 1),
    forget(fd) {
      replaceSlot(fd + 1, 0);
    },
    takeDescriptors() {
      const fds: number[] = [];
      for (let slot = 0; slot < DESCRIPTORS; slot += 1) {
        const noted = Atomics.exchange(slots, slot, 0);
        if (noted !== 0) fds.push(noted - 1);
      }
      return fds;
    },
    changeBacklog: (by) => Atomics.add(slots, BACKLOG_SLOT, by) + by,
    get backlog() {
      return Atomics.load(slots, BACKLOG_SLOT);
    },
    clearBacklog() {
      Atomics.store(slots, BACKLOG_SLOT, 0);
    },
  };
}

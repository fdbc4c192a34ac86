// Memory into which datagrams are received and in which they travel to another thread, without a copy in between.

/** Large enough for what the kernel puts into one datagram: dumps use up to 32 KB, single answers and events less. */
const SPACE = 64 * 1024;
const FIRST_CHUNK = 128 * 1024;
const LARGEST_CHUNK = 1024 * 1024;
/** Up to here a copy is cheaper than giving the chunk away. */
const SMALL = 16 * 1024;

/** Datagrams as memory to transfer and where each one lies: `[chunk, offset, length]`. */
export interface Pack {
  readonly chunks: readonly ArrayBuffer[];
  readonly places: readonly (readonly [number, number, number])[];
}

export interface Arena {
  /** Where the next datagram may be received. */
  space(): Uint8Array;
  /** Keeps the first `length` bytes of what `space` gave last. */
  keep(length: number): Uint8Array;
  /** Bytes kept since the last `take`. */
  readonly length: number;
  /** Gives away all that was kept, memory included unless it is little; the arena starts anew. */
  take(): Pack;
}

export function createArena(): Arena {
  let chunks: ArrayBuffer[] = [];
  let places: (readonly [number, number, number])[] = [];
  let chunk = new ArrayBuffer(0);
  let used = 0;
  let kept = 0;
  return {
    space() {
      if (chunk.byteLength - used < SPACE) {
        const size = chunks.length === 0 ? FIRST_CHUNK : Math.min(chunk.byteLength * 2, LARGEST_CHUNK);
        chunk = new ArrayBuffer(size);
        chunks.push(chunk);
        used = 0;
      }
      return new Uint8Array(chunk, used);
    },
    keep(length) {
      const datagram = new Uint8Array(chunk, used, length);
      places.push([chunks.length - 1, used, length]);
      // The next one starts aligned for the kernel's and typed arrays' 4-byte fields.
      used += (length + 3) & ~3;
      kept += length;
      return datagram;
    },
    get length() {
      return kept;
    },
    take() {
      const small = chunks.length === 1 && used <= SMALL;
      const pack = { chunks: small ? [chunk.slice(0, used)] : chunks, places };
      chunks = small ? [chunk] : [];
      if (!small) chunk = new ArrayBuffer(0);
      places = [];
      used = 0;
      kept = 0;
      return pack;
    },
  };
}

/** The datagrams of a pack, as views into its memory. */
export function datagramsOf({ chunks, places }: Pack): Uint8Array[] {
  const datagrams: Uint8Array[] = [];
  for (const [index, offset, length] of places) {
    const chunk = chunks[index];
    if (chunk !== undefined) datagrams.push(new Uint8Array(chunk, offset, length));
  }
  return datagrams;
}

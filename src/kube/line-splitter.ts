// Splits a watch's bytes into lines, one event each, without joining what does not belong together.
import { PointsmanError } from '../base/errors.ts';

const NEWLINE = 0x0a;

/** Bytes. Far above what etcd lets an object be (1.5 MiB), so that only a server gone mad reaches it. */
export const MAX_LINE: number = 32 << 20;

export interface LineSplitter {
  /** The lines that this chunk completes. Views or copies, good until the chunk's memory is reused. Throws E_API_MALFORMED. */
  push(chunk: Buffer): Generator<Buffer, void>;
  /** What came after the last newline, undefined if nothing. */
  rest(): Buffer | undefined;
}

export function createLineSplitter(limit: number = MAX_LINE): LineSplitter {
  let begun: Buffer[] = [];
  let begunBytes = 0;

  return {
    *push(chunk) {
      let from = 0;
      for (;;) {
        const end = chunk.indexOf(NEWLINE, from);
        if (end === -1) break;
        const last = chunk.subarray(from, end);
        from = end + 1;
        const line = begunBytes === 0 ? last : Buffer.concat([...begun, last]);
        begun = [];
        begunBytes = 0;
        if (line.length > 0) yield line;
      }
      if (from === chunk.length) return;
      begun.push(chunk.subarray(from));
      begunBytes += chunk.length - from;
      if (begunBytes > limit) {
        throw new PointsmanError('E_API_MALFORMED', `a line of the watch is longer than ${limit} bytes`);
      }
    },
    rest() {
      return begunBytes === 0 ? undefined : Buffer.concat(begun);
    },
  };
}

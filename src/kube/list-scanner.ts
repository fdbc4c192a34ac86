// Takes a list answer apart while it arrives: each item is parsed alone, so that a page of 500 never blocks the loop.
import { PointsmanError } from '../base/errors.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
/** Depth inside the top object, and inside its `items` array. */
const TOP = 1;
const ITEMS = 2;

export interface ListScanner {
  /** The items that this chunk completes, as JSON text. */
  push(chunk: Buffer): readonly Buffer[];
  /** The answer without its items. Throws E_API_MALFORMED if it ended early or is no JSON object. */
  end(): Readonly<Record<string, unknown>>;
}

/** 1 for the bytes that matter outside of strings. */
const STRUCTURAL: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) =>
  [QUOTE, OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET].includes(byte) ? 1 : 0,
);

// Every byte of a list passes through one of these two: measured, loops this small are several times as fast as one for all.

/** Where the next byte that matters is; the length if there is none. */
function nextStructural(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && STRUCTURAL[bytes[at] ?? 0] === 0) at += 1;
  return at;
}

/** Where the string ends that `from` lies in; from the length on if it goes on in the next piece, its first byte escaped if beyond. */
function stringEnd(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length) {
    const byte = bytes[at];
    if (byte === QUOTE) return at;
    at += byte === BACKSLASH ? 2 : 1;
  }
  return at;
}

/** Scans one answer: an object with, somewhere in it, `"items": [{…}, …]`. */
export function createListScanner(): ListScanner {
  let depth = 0;
  let inString = false;
  let escaped = false;
  /** The last string at depth 1, as far as it could still be `items`: a key, if a bracket follows. */
  let word = '';
  let inItems = false;
  let itemBegun = false;
  let item: Buffer[] = [];
  const envelope: Buffer[] = [];

  /** Passes the rest of a string; returns where to go on. */
  function passString(chunk: Buffer, from: number): number {
    const end = stringEnd(chunk, from + (escaped ? 1 : 0));
    if (depth === TOP && word.length < 8) word += chunk.toString('latin1', from, Math.min(end, from + 8));
    inString = end >= chunk.length;
    escaped = end > chunk.length;
    return end + 1;
  }

  return {
    push(chunk) {
      const found: Buffer[] = [];
      let from = 0;
      let at = inString ? passString(chunk, 0) : 0;
      for (;;) {
        at = nextStructural(chunk, at);
        if (at >= chunk.length) break;
        const byte = chunk[at];
        at += 1;
        if (byte === QUOTE) {
          if (depth === TOP) word = '';
          inString = true;
          at = passString(chunk, at);
        } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
          if (depth === TOP && byte === OPEN_BRACKET && word === 'items') inItems = true;
          else if (depth === ITEMS && inItems && byte === OPEN_BRACE) {
            if (at - 1 > from) envelope.push(chunk.subarray(from, at - 1));
            from = at - 1;
            itemBegun = true;
          }
          depth += 1;
        } else {
          depth -= 1;
          if (depth === ITEMS && itemBegun) {
            const last = chunk.subarray(from, at);
            from = at;
            found.push(item.length === 0 ? last : Buffer.concat([...item, last]));
            item = [];
            itemBegun = false;
          } else if (depth === TOP) inItems = false;
        }
      }
      if (from < chunk.length) (itemBegun ? item : envelope).push(chunk.subarray(from));
      return found;
    },
    end() {
      if (itemBegun || depth !== 0) throw new PointsmanError('E_API_MALFORMED', 'the list ended early');
      // Between the items only commas are left: `[,,,]`.
      const text = Buffer.concat(envelope)
        .toString('utf8')
        .replaceAll(/\[[\s,]*\]/g, '[]');
      let value: unknown;
      try {
        value = JSON.parse(text);
      } catch (cause) {
        throw new PointsmanError('E_API_MALFORMED', 'the list is no JSON', { cause });
      }
      if (typeof value !== 'object' || value === null || Array.isArray(value)) {
        throw new PointsmanError('E_API_MALFORMED', 'the list is no JSON object');
      }
      return value as Readonly<Record<string, unknown>>;
    },
  };
}

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
  push(chunk: Buffer): Generator<Buffer, void>;
  /** The answer without its items. Throws E_API_MALFORMED if it ended early or is no JSON object. */
  end(): Readonly<Record<string, unknown>>;
}

/** Scans one answer: an object with, somewhere in it, `"items": [{…}, …]`. */
export function createListScanner(): ListScanner {
  let depth = 0;
  let inString = false;
  let escaped = false;
  /** The last string seen at depth 1, as far as it could still be `items`. */
  let word = '';
  let inItems = false;
  let itemBegun = false;
  let item: Buffer[] = [];
  const envelope: Buffer[] = [];

  return {
    *push(chunk) {
      let from = 0;
      for (let at = 0; at < chunk.length; at += 1) {
        const byte = chunk[at];
        if (inString) {
          if (escaped) escaped = false;
          else if (byte === BACKSLASH) escaped = true;
          else if (byte === QUOTE) inString = false;
          else if (depth === TOP && word.length < 8) word += String.fromCharCode(byte ?? 0);
          continue;
        }
        if (byte === QUOTE) {
          inString = true;
          if (depth === TOP) word = '';
        } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
          if (depth === TOP && byte === OPEN_BRACKET && word === 'items') inItems = true;
          else if (depth === ITEMS && inItems && byte === OPEN_BRACE) {
            if (at > from) envelope.push(chunk.subarray(from, at));
            from = at;
            itemBegun = true;
          }
          depth += 1;
        } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
          depth -= 1;
          if (depth === ITEMS && itemBegun) {
            const last = chunk.subarray(from, at + 1);
            from = at + 1;
            const whole = item.length === 0 ? last : Buffer.concat([...item, last]);
            item = [];
            itemBegun = false;
            yield whole;
          } else if (depth === TOP) inItems = false;
        }
      }
      if (from < chunk.length) (itemBegun ? item : envelope).push(chunk.subarray(from));
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

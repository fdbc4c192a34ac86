// One watch request from its head to its end. How it ended is a value: ending is what watches do.
import { PointsmanError } from '../base/errors.ts';
import { createLineSplitter } from './line-splitter.ts';
import { isSilence, readChunks } from './read-chunks.ts';
import { createSlices } from './slices.ts';
import type { RequestOptions, Transport } from './transport.ts';
import { parseWatchEvent, type WatchEvent } from './watch-event.ts';

export interface WatchOptions {
  readonly transport: Transport;
  readonly path: string;
  readonly query: NonNullable<RequestOptions['query']>;
  /** Milliseconds without a byte that are too many; asked before each wait. */
  readonly silence: () => number;
  /** Milliseconds after which the server should have ended the watch long ago. */
  readonly overdue: number;
  readonly signal: AbortSignal;
  readonly onOpen: () => void;
  /** Called for each piece that comes, also if it completes no event. */
  readonly onContact: () => void;
  /** May throw a PointsmanError to end the watch as failed. */
  readonly onEvent: (event: WatchEvent) => void;
}

/** `opened` tells a watch that broke from one that was refused. */
export type WatchEnd =
  | { readonly kind: 'ended' }
  | { readonly kind: 'overdue' }
  | { readonly kind: 'aborted' }
  | { readonly kind: 'silent'; readonly error: PointsmanError; readonly opened: true }
  | { readonly kind: 'failed'; readonly error: PointsmanError; readonly opened: boolean };

/** Runs one watch. Throws only what `onEvent` throws and is no PointsmanError. */
export async function runWatch(options: WatchOptions): Promise<WatchEnd> {
  const { transport, path, query, signal, onEvent } = options;
  let opened = false;
  let overdue: NodeJS.Timeout | undefined;
  let isOverdue = false;
  try {
    const { body } = await transport.stream(path, { query, signal, unbounded: true });
    opened = true;
    options.onOpen();
    overdue = setTimeout(() => {
      isOverdue = true;
      body.destroy(new Error('overdue'));
    }, options.overdue);
    const lines = createLineSplitter();
    const slices = createSlices();
    await readChunks(body, `watch of ${path}`, options.silence, (chunk) => {
      options.onContact();
      return slices.each(lines.push(chunk), (line) => onEvent(parseWatchEvent(line)));
    });
    finish(lines.rest(), onEvent);
    return { kind: 'ended' };
  } catch (error) {
    if (signal.aborted) return { kind: 'aborted' };
    if (isOverdue) return { kind: 'overdue' };
    if (!(error instanceof PointsmanError)) throw error;
    return opened && isSilence(error) ? { kind: 'silent', error, opened } : { kind: 'failed', error, opened };
  } finally {
    clearTimeout(overdue);
  }
}

/** An event may end without a newline. Half of one is no loss: the server sends it again after the resume. */
function finish(rest: Buffer | undefined, onEvent: (event: WatchEvent) => void): void {
  if (rest === undefined) return;
  let event: WatchEvent;
  try {
    event = parseWatchEvent(rest);
  } catch {
    return;
  }
  onEvent(event);
}

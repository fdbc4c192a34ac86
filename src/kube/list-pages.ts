// A list in pages, its objects handed over one by one while the bytes arrive.
import { PointsmanError } from '../base/errors.ts';
import { createListScanner } from './list-scanner.ts';
import { readChunks } from './read-chunks.ts';
import { createSlices } from './slices.ts';
import type { RequestOptions, Transport } from './transport.ts';
import { type ApiObject, isObject, metadataOf } from './watch-event.ts';

/** Objects a page, as upstream's client asks. */
export const PAGE_SIZE = 500;

export interface ListOptions {
  readonly transport: Transport;
  readonly path: string;
  /** Selectors. */
  readonly query: NonNullable<RequestOptions['query']>;
  /** The list must not be older than this version. Undefined: the newest there is. */
  readonly notOlderThan: string | undefined;
  /** Objects a page; undefined for all at once. */
  readonly pageSize: number | undefined;
  readonly silenceMs: number;
  readonly signal: AbortSignal;
  readonly onContact: () => void;
  /** The objects of built-in resources have no kind and apiVersion here. */
  readonly onObject: (object: ApiObject) => void;
}

/** Reads all pages; returns the list's version. Throws as `Transport.stream` does, and E_API_MALFORMED. */
export async function listPages(options: ListOptions): Promise<string> {
  const { transport, path, query, notOlderThan, pageSize, silenceMs, signal, onContact, onObject } = options;
  const slices = createSlices();
  let next = '';
  let version: string | undefined;
  do {
    // The API forbids resourceVersion beside a continue token, which holds the first page's version.
    const place =
      next !== ''
        ? { continue: next }
        : notOlderThan === undefined
          ? {}
          : { resourceVersion: notOlderThan, resourceVersionMatch: 'NotOlderThan' };
    const { body } = await transport.stream(path, {
      query: { ...query, limit: pageSize, ...place },
      signal,
      compressed: true,
      unbounded: next !== '',
    });
    onContact();
    const scanner = createListScanner();
    await readChunks(
      body,
      `list of ${path}`,
      () => silenceMs,
      (chunk) => {
        onContact();
        return slices.each(scanner.push(chunk), (item) => onObject(parseItem(item, path)));
      },
    );
    const { resourceVersion, continue: token } = metadataOf(scanner.end());
    if (typeof resourceVersion !== 'string' || resourceVersion === '') {
      throw new PointsmanError('E_API_MALFORMED', `the list of ${path} has no resourceVersion`);
    }
    version ??= resourceVersion;
    next = typeof token === 'string' ? token : '';
  } while (next !== '');
  return version;
}

function parseItem(item: Buffer, path: string): ApiObject {
  let value: unknown;
  try {
    value = JSON.parse(item.toString('utf8'));
  } catch (cause) {
    throw new PointsmanError('E_API_MALFORMED', `an object in the list of ${path} is no JSON`, { cause });
  }
  if (!isObject(value))
    throw new PointsmanError('E_API_MALFORMED', `an object in the list of ${path} is none`);
  return value;
}

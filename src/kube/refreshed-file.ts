// Files that other programs rotate under us: tokens, certificates, CA bundles.
import { readFile } from 'node:fs/promises';
import { PointsmanError } from '../base/errors.ts';

/** How long what was read from a file may be used; kubelets rotate projected tokens well before they expire. */
export const REREAD_AFTER_MS = 60_000;

/** A text that may change over time. */
export interface RefreshedText {
  /** The present text. Throws E_KUBECONFIG if it was never read; later failures keep the last good text. */
  read(): Promise<string>;
  /** Makes the next `read` look again at once. */
  expire(): void;
}

export interface RefreshedFileOptions {
  readonly path: string;
  /** What names the file in messages: `kubeconfig /etc/kube.conf: users[0].user.tokenFile`. */
  readonly what: string;
  /** Throws if the content cannot be used; the message of the error ends the sentence. */
  readonly check?: (text: string) => void;
  /** Milliseconds. */
  readonly now?: () => number;
}

/** A text that never changes. */
export function constantText(text: string): RefreshedText {
  return { read: () => Promise.resolve(text), expire() {} };
}

/** The trimmed content of a file, read again after a minute. */
export function createRefreshedFile({
  path,
  what,
  check,
  now = Date.now,
}: RefreshedFileOptions): RefreshedText {
  let held: { readonly text: string; readonly until: number } | undefined;
  let reading: Promise<string> | undefined;

  async function load(): Promise<string> {
    try {
      const text = (await readFile(path, 'utf8')).trim();
      if (text === '') throw new Error('the file is empty');
      check?.(text);
      held = { text, until: now() + REREAD_AFTER_MS };
    } catch (cause) {
      // A rotation may be caught half-way: what worked a minute ago is better than nothing.
      if (held !== undefined) return held.text;
      throw new PointsmanError('E_KUBECONFIG', `${what}: ${path} cannot be used: ${reasonOf(cause)}`, {
        cause,
      });
    }
    return held.text;
  }

  return {
    read() {
      if (held !== undefined && now() < held.until) return Promise.resolve(held.text);
      reading ??= load().finally(() => {
        reading = undefined;
      });
      return reading;
    },
    expire() {
      if (held !== undefined) held = { ...held, until: 0 };
    },
  };
}

/** What an operator needs to know of a failed file access, without the path that the message has already. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  switch ('code' in cause ? cause.code : undefined) {
    case 'ENOENT':
      return 'no such file';
    case 'EACCES':
      return 'no permission to read it';
    case 'EISDIR':
      return 'it is a folder';
    default:
      return cause.message;
  }
}

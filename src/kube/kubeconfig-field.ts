// A place in a kubeconfig file: messages name it, and relative paths start at its file.
import { dirname, resolve } from 'node:path';
import { PointsmanError } from '../base/errors.ts';
import { constantText, createRefreshedFile, type RefreshedText } from './refreshed-file.ts';

export interface Field {
  readonly file: string;
  /** A field path: `users[0].user`. */
  readonly field: string;
}

/** An entry of a file with its place. */
export interface Placed<T> extends Field {
  readonly entry: T;
}

/** The field below a field. */
export function below({ file, field }: Field, key: string): Field {
  return { file, field: `${field}.${key}` };
}

/** E_KUBECONFIG: `kubeconfig FILE: FIELD problem`. */
export function fieldError(
  { file, field }: Field,
  problem: string,
  options: { readonly hint?: string; readonly cause?: unknown } = {},
): PointsmanError {
  return new PointsmanError('E_KUBECONFIG', `kubeconfig ${file}: ${field} ${problem}`, options);
}

/** A path of the file, which starts at the folder the file is in. */
export function pathIn({ file }: Field, path: string): string {
  return resolve(dirname(file), path);
}

export interface TextPair {
  /** The value of the `-data` field: base64. */
  readonly data: string | null | undefined;
  /** The value of the field that names a file. */
  readonly path: string | null | undefined;
  /** The name of the latter field. */
  readonly key: string;
  /** Throws what is wrong with the text, as the end of a sentence. */
  readonly check: (text: string) => void;
  readonly now?: (() => number) | undefined;
}

/** A text given either in the file or as a path; the data win, as in clientcmd. Throws E_KUBECONFIG on bad data. */
export function textOf(parent: Field, { data, path, key, check, now }: TextPair): RefreshedText | undefined {
  if (data) {
    const where = below(parent, `${key}-data`);
    const text = decodedBase64(data, where);
    try {
      check(text);
    } catch (cause) {
      throw fieldError(where, `cannot be used: ${cause instanceof Error ? cause.message : cause}`, { cause });
    }
    return constantText(text);
  }
  if (!path) return undefined;
  return createRefreshedFile({
    path: pathIn(parent, path),
    what: `kubeconfig ${parent.file}: ${parent.field}.${key}`,
    check,
    ...(now === undefined ? {} : { now }),
  });
}

function decodedBase64(data: string, where: Field): string {
  const compact = data.replaceAll(/\s/g, '');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(compact)) throw fieldError(where, 'is no base64 text');
  return Buffer.from(compact, 'base64').toString('utf8');
}

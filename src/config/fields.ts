// The kinds of fields of a configuration file: what may stand there, what stands there when nothing does.
import { type DurationMs, durationText, parseDuration } from './duration.ts';
import type { Read, VerbosityPattern } from './flag-kinds.ts';

/** One field: reads what the file has and writes it back. */
export interface Field<T> {
  readonly kind: 'field';
  readonly standard: T;
  read(json: unknown): Read<T>;
  write(value: T): unknown;
}

/** Fields by name, in the order in which they are read. */
export interface Section {
  readonly [name: string]: Field<never> | Section;
}

/** The table of a configuration's fields: a field, or a section of fields, for each. */
export type FieldsOf<T> = {
  readonly [K in keyof T]: Field<T[K]> | (T[K] extends readonly unknown[] ? never : FieldsOf<T[K]>);
};

const read = <T>(value: T): Read<T> => ({ kind: 'read', value });
const wrong = (because: string): Read<never> => ({ kind: 'wrong', because });

/**
 * A field of one type. Upstream's file cannot tell a zero from nothing in most fields: `zeroIsUnset` names those
 * where zero, or the empty string, stands for the default (behaviour spec 1.3).
 */
function field<T>(
  standard: T,
  readJson: (json: unknown) => Read<T>,
  write: (value: T) => unknown = (value) => value,
  zero?: T,
): Field<T> {
  return {
    kind: 'field',
    standard,
    read(json) {
      if (json === null || json === undefined) return read(standard);
      const result = readJson(json);
      return result.kind === 'read' && zero !== undefined && result.value === zero ? read(standard) : result;
    },
    write,
  };
}

/** The empty string stands for the default. */
export const text = (standard = ''): Field<string> =>
  field(
    standard,
    (json) => (typeof json === 'string' ? read(json) : wrong('must be a string')),
    undefined,
    '',
  );

export const flag = (standard: boolean): Field<boolean> =>
  field(standard, (json) => (typeof json === 'boolean' ? read(json) : wrong('must be true or false')));

/** A whole number of 32 bits. */
export const whole = (standard: number, zero?: 'zeroIsUnset'): Field<number> =>
  field(
    standard,
    (json) =>
      Number.isInteger(json) && Math.abs(Number(json)) <= 0x7fff_ffff
        ? read(Number(json))
        : wrong('must be a whole number'),
    undefined,
    zero === undefined ? undefined : 0,
  );

/** Zero stands for the default. */
export const decimal = (standard: number): Field<number> =>
  field(
    standard,
    (json) => (typeof json === 'number' && Number.isFinite(json) ? read(json) : wrong('must be a number')),
    undefined,
    0,
  );

/** As Go writes durations; a bare number counts nanoseconds, as in Go. */
export const duration = (standardMs: DurationMs, zero?: 'zeroIsUnset'): Field<DurationMs> =>
  field(
    standardMs,
    (json) => {
      if (typeof json === 'number') return read(json / 1e6);
      const parsed = typeof json === 'string' ? parseDuration(json) : undefined;
      return parsed === undefined ? wrong('must be a duration such as 30s, 1m30s or 500ms') : read(parsed);
    },
    durationText,
    zero === undefined ? undefined : 0,
  );

export const texts = (): Field<readonly string[]> =>
  field<readonly string[]>([], (json) =>
    Array.isArray(json) && json.every((item) => typeof item === 'string')
      ? read(json)
      : wrong('must be a list of strings'),
  );

/** Bytes, as Kubernetes writes quantities: `0`, `4Ki`. Kept as text. */
export const quantity = (): Field<string> =>
  field('0', (json) =>
    (typeof json === 'string' && /^\d+(\.\d+)?(k|M|G|Ki|Mi|Gi)?$/.test(json)) ||
    (typeof json === 'number' && json >= 0)
      ? read(String(json))
      : wrong('must be a quantity such as 0 or 64Ki'),
  );

export type Gates = Readonly<Record<string, boolean>>;

export const gates = (): Field<Gates> =>
  field<Gates>({}, (json) => {
    if (!isRecord(json)) return wrong('must be a map of names to true or false');
    const entries: [string, boolean][] = [];
    for (const [name, value] of Object.entries(json)) {
      if (typeof value !== 'boolean') return wrong(`${name} must be true or false`);
      entries.push([name, value]);
    }
    return read(Object.fromEntries(entries));
  });

export const patterns = (): Field<readonly VerbosityPattern[]> =>
  field<readonly VerbosityPattern[]>(
    [],
    (json) => {
      if (!Array.isArray(json)) return wrong('must be a list of filePattern and verbosity');
      const found: VerbosityPattern[] = [];
      for (const item of json) {
        if (!isRecord(item) || typeof item.filePattern !== 'string' || !Number.isInteger(item.verbosity))
          return wrong('must be a list of filePattern and verbosity');
        found.push({ pattern: item.filePattern, verbosity: Number(item.verbosity) });
      }
      return read(found);
    },
    (value) => value.map(({ pattern, verbosity }) => ({ filePattern: pattern, verbosity })),
  );

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

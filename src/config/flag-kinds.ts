// How the values of flags are written, as in Go programs, so that a DaemonSet's arguments need no change.

import { parseAddress } from '../model/address.ts';
import { type DurationMs, parseDuration } from './duration.ts';
import { parseHostPort } from './socket-address.ts';

export type Read<T> =
  | { readonly kind: 'read'; readonly value: T }
  | { readonly kind: 'wrong'; readonly because: string };

/** One way to write a value. */
export interface FlagKind<T> {
  /** What help calls the value: `duration`. */
  readonly type: string;
  /** The value of a flag that is given without one; kinds without this need a value. */
  readonly bare?: string;
  read(text: string): Read<T>;
}

const value = <T>(it: T): Read<T> => ({ kind: 'read', value: it });
const wrong = (because: string): Read<never> => ({ kind: 'wrong', because });

export const textKind: FlagKind<string> = { type: 'string', read: value };

const TRUE: readonly string[] = ['1', 't', 'T', 'true', 'TRUE', 'True'];
const FALSE: readonly string[] = ['0', 'f', 'F', 'false', 'FALSE', 'False'];

export const booleanKind: FlagKind<boolean> = {
  type: 'bool',
  bare: 'true',
  read(text) {
    if (TRUE.includes(text)) return value(true);
    return FALSE.includes(text) ? value(false) : wrong('is neither true nor false');
  },
};

/** A signed 32-bit integer. */
export const integerKind: FlagKind<number> = {
  type: 'int',
  read(text) {
    if (!/^[+-]?\d+$/.test(text)) return wrong('is no whole number');
    const number = Number(text);
    return Math.abs(number) <= 0x7fff_ffff ? value(number) : wrong('is out of range');
  },
};

export const floatKind: FlagKind<number> = {
  type: 'float',
  read(text) {
    const number = Number(text);
    return text.trim() !== '' && Number.isFinite(number) ? value(number) : wrong('is no number');
  },
};

export const durationKind: FlagKind<DurationMs> = {
  type: 'duration',
  read(text) {
    const duration = parseDuration(text);
    return duration === undefined ? wrong('is no duration such as 30s, 1m30s or 500ms') : value(duration);
  },
};

/** An address with or without port. Empty counts as not given, as upstream (behaviour spec 1.2). */
export const addressKind: FlagKind<string | undefined> = {
  type: 'ip or ip:port',
  read(text) {
    if (text === '') return value(undefined);
    if (parseAddress(text) !== undefined) return value(text);
    const parsed = parseHostPort(text);
    if (parsed === undefined) return wrong('is neither IP nor IP:port');
    if (parseAddress(parsed.host) === undefined) return wrong(`has no IP address before the port`);
    return parsed.port === undefined ? wrong('has no port from 1 to 65535 after the address') : value(text);
  },
};

/** How much one part of the program says: `pattern=N`, where the pattern may hold `*` and `?`. */
export interface VerbosityPattern {
  readonly pattern: string;
  readonly verbosity: number;
}

export const verbosityPatternsKind: FlagKind<readonly VerbosityPattern[]> = {
  type: 'pattern=N,...',
  read(text) {
    const patterns: VerbosityPattern[] = [];
    for (const item of text.split(',').filter((part) => part.trim() !== '')) {
      const match = /^\s*([^=\s]+)=(\d{1,9})\s*$/.exec(item);
      if (match?.[1] === undefined) return wrong(`"${item.trim()}" is not of the form pattern=N`);
      patterns.push({ pattern: match[1], verbosity: Number(match[2]) });
    }
    return value(patterns);
  },
};

/** Texts with commas between; white space around them does not count. */
export const listKind = (type: string): FlagKind<readonly string[]> => ({
  type,
  read: (text) =>
    value(
      text
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== ''),
    ),
});

/** `Name=true,Other=false`. */
export const gatesKind: FlagKind<Readonly<Record<string, boolean>>> = {
  type: 'name=bool,...',
  read(text) {
    const gates: [string, boolean][] = [];
    for (const item of text.split(',').filter((part) => part.trim() !== '')) {
      const match = /^\s*([^=\s]+)\s*=\s*(\S+)\s*$/.exec(item);
      if (match?.[1] === undefined) return wrong(`missing bool value for ${item.trim()}`);
      const read = booleanKind.read(match[2] ?? '');
      if (read.kind === 'wrong')
        return wrong(`invalid value of ${match[1]}: ${match[2]}, it is neither true nor false`);
      gates.push([match[1], read.value]);
    }
    return value(Object.fromEntries(gates));
  },
};

/** An IP address, kept as text. */
export const ipKind: FlagKind<string> = {
  type: 'ip',
  read: (text) => (parseAddress(text) === undefined ? wrong('is no IP address') : value(text)),
};

/** Bytes as Kubernetes writes them: `0`, `64Ki`. */
export const quantityKind: FlagKind<string> = {
  type: 'quantity',
  read: (text) =>
    /^\d+(\.\d+)?(k|M|G|Ki|Mi|Gi)?$/.test(text) ? value(text) : wrong('is no quantity such as 0 or 64Ki'),
};

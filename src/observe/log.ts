// The log: pino, with klog's text lines or upstream's JSON keys, one line an event.
import { type DestinationStream, destination, pino } from 'pino';
import { type Facts, oneLine, PointsmanError } from '../base/errors.ts';
import type { LogFields, Logger } from '../base/log.ts';
import { type KlogSeverity, klogLine } from './klog-text.ts';

export interface LogOptions {
  readonly format: 'text' | 'json';
  readonly verbosity: number;
  /** Verbosities of rooms by name, first match counts; `*` and `?` in patterns. */
  readonly vmodule?: readonly { readonly pattern: string; readonly verbosity: number }[];
  readonly pid: number;
  readonly now: () => Date;
  /** Gets whole lines, with their newline. */
  readonly write: (line: string) => void;
}

/** Loggers for the rooms of the program, into one stream. */
export interface Log {
  /** `name` stands where upstream names the file. */
  room(name: string): Logger;
  /** How much is said; rooms that vmodule names keep theirs. */
  verbosity: number;
}

/** A writer of lines to standard error that survives a reader that is slow or gone. */
export function standardError(): (line: string) => void {
  const stderr = destination({ fd: 2, sync: true });
  // Nobody reads: there is no one to tell, and traffic matters more than its log.
  stderr.on('error', () => {});
  return (line) => {
    stderr.write(line);
  };
}

export function createLog(options: LogOptions): Log {
  const { vmodule = [] } = options;
  let standard = options.verbosity;
  const emit = options.format === 'json' ? jsonEmitter(options) : textEmitter(options);
  return {
    room(name) {
      const own = vmodule.find(({ pattern }) => matches(pattern, name))?.verbosity;
      return {
        error(error, message, fields) {
          emit({ severity: 'error', room: name, message, fields: { ...errorFields(error), ...fields } });
        },
        warn(message, fields = {}) {
          emit({ severity: 'warning', room: name, message, fields });
        },
        info(message, fields = {}) {
          emit({ severity: 'info', room: name, message, fields, verbosity: 0 });
        },
        debug(wanted, message, fields = {}) {
          if (wanted <= (own ?? standard))
            emit({ severity: 'info', room: name, message, fields, verbosity: wanted });
        },
      };
    },
    get verbosity() {
      return standard;
    },
    set verbosity(next) {
      standard = next;
    },
  };
}

interface Event {
  readonly severity: KlogSeverity;
  readonly room: string;
  readonly message: string;
  readonly fields: LogFields;
  /** Only of what is said or not by verbosity. */
  readonly verbosity?: number;
}

const PINO_LEVELS = { error: 'error', warning: 'warn', info: 'info' } as const;

/**
 * What pino's stream sees with `pino.metadata` set: the event itself, so that a text line needs no parsing of JSON.
 * https://github.com/pinojs/pino/blob/main/docs/api.md#metadata
 */
interface MetadataStream extends DestinationStream {
  /** Set by pino before each write. */
  lastObj: { readonly event: Event } | undefined;
}

function textEmitter({ pid, now, write }: LogOptions): (event: Event) => void {
  const stream: MetadataStream & { readonly [key: symbol]: boolean } = {
    [Symbol.for('pino.metadata')]: true,
    lastObj: undefined,
    write() {
      if (this.lastObj !== undefined) write(klogLine({ ...this.lastObj.event, pid, at: now() }));
    },
  };
  const log = pino({ base: null, timestamp: false, serializers: { event: () => undefined } }, stream);
  return (event) => log[PINO_LEVELS[event.severity]]({ event });
}

function jsonEmitter({ now, write }: LogOptions): (event: Event) => void {
  const log = pino(
    {
      base: null,
      messageKey: 'msg',
      // Milliseconds since 1970, as component-base writes them.
      timestamp: () => `,"ts":${now().getTime()}`,
      formatters: { level: (label) => ({ severity: label === 'warn' ? 'warning' : label }) },
    },
    { write },
  );
  return ({ severity, room, message, fields, verbosity }) => {
    const v = verbosity === undefined ? {} : { v: verbosity };
    log[PINO_LEVELS[severity]]({ caller: room, ...v, ...fields }, message);
  };
}

/** What a line says of an error: its own line, its facts, and for a bug where it is. */
function errorFields(error: unknown): LogFields {
  const fields: Record<string, unknown> = { err: oneLine(error) };
  if (error instanceof PointsmanError) {
    const facts: Facts = error.facts;
    Object.assign(fields, { code: error.code }, facts);
    if (error.cause instanceof Error && !error.message.includes(error.cause.message))
      fields.cause = oneLine(error.cause);
  } else if (error instanceof Error) fields.stack = error.stack;
  return fields;
}

function matches(pattern: string, name: string): boolean {
  const expression = pattern
    .replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${expression}$`).test(name);
}

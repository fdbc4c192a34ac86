// What a room needs of a log. The daemon passes in the real one; tests pass a list or nothing.

export type LogFields = Readonly<Record<string, unknown>>;

/** Structured logging, one line an event. Levels follow klog: `debug(n, …)` shows when `--v` is at least n. */
export interface Logger {
  error(error: unknown, message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  debug(verbosity: number, message: string, fields?: LogFields): void;
}

/** A logger that says nothing. */
export const silentLogger: Logger = { error() {}, warn() {}, info() {}, debug() {} };

// The lab's own log: one line an event, for people.
import { oneLine } from '../../base/errors.ts';
import type { LogFields, Logger } from '../../base/log.ts';

/** `verbosity` is how chatty `debug` may be. */
export function createLineLog(options: {
  readonly write: (line: string) => void;
  readonly now: () => number;
  readonly verbosity?: number;
}): Logger {
  const say = (level: string, message: string, fields: LogFields = {}): void => {
    const rest = Object.entries(fields).map(([name, value]) => ` ${name}=${JSON.stringify(value)}`);
    options.write(`${new Date(options.now()).toISOString()} ${level} ${message}${rest.join('')}`);
  };
  return {
    error: (error, message, fields) => say('error', `${message}: ${oneLine(error)}`, fields),
    warn: (message, fields) => say('warn ', message, fields),
    info: (message, fields) => say('info ', message, fields),
    debug(verbosity, message, fields) {
      if (verbosity <= (options.verbosity ?? 0)) say('debug', message, fields);
    },
  };
}

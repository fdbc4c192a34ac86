// What a command sees of the process it runs in.
import { oneLine, PointsmanError } from '../base/errors.ts';

export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Results. */
  out(text: string): void;
  /** Errors and progress. */
  err(text: string): void;
  /** These are the process's own streams, which programs that a command runs may have as they are. */
  readonly own: boolean;
}

/** How commands end (docs/cli.md). */
export const EXIT_FINE = 0;
export const EXIT_ERROR = 1;
export const EXIT_USAGE = 2;

/** One line `pointsman: what failed: why (what to do)`; with details what it came from. */
export function printError(terminal: Terminal, error: unknown, details: boolean): void {
  terminal.err(`pointsman: ${oneLine(error)}\n`);
  if (!details) return;
  if (error instanceof PointsmanError) {
    terminal.err(`  code: ${error.code}\n`);
    for (const [name, value] of Object.entries(error.facts))
      if (value !== undefined) terminal.err(`  ${name}: ${value}\n`);
  } else if (error instanceof Error && error.stack !== undefined) {
    terminal.err(`  ${error.stack.replaceAll('\n', '\n  ')}\n`);
  }
  for (let cause = causeOf(error); cause !== undefined; cause = causeOf(cause))
    terminal.err(`  caused by: ${oneLine(cause)}\n`);
}

function causeOf(error: unknown): unknown {
  return error instanceof Error ? error.cause : undefined;
}

// Ends work in order when the process is told to end.
import { EXIT_ERROR } from './terminal.ts';

/** Aborts at the first of these signals; a second one ends the process at once. */
export function endOnSignals(
  signals: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT'],
): { readonly signal: AbortSignal } & Disposable {
  const ending = new AbortController();
  const onSignal = (): void => {
    if (ending.signal.aborted) process.exit(EXIT_ERROR);
    ending.abort();
  };
  for (const signal of signals) process.on(signal, onSignal);
  return {
    signal: ending.signal,
    [Symbol.dispose]() {
      for (const signal of signals) process.off(signal, onSignal);
    },
  };
}

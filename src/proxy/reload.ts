// Runs the proxy on a configuration file that may change: a good one is taken by an orderly restart within the process,
// which commits nothing that is the same; a bad one is refused, and the one before stays in force.
import { oneLine } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { ProxyConfig } from '../config/proxy-config.ts';

/** What became of a configuration file. */
export interface ConfigFileState {
  readonly path: string;
  /** When the one in force was read, ms since 1970. */
  readonly loadedAt: number;
  /** Why the file as it is now is not in force; undefined when it is. */
  readonly refused: { readonly at: number; readonly because: string } | undefined;
  /** Changed files that were taken, and that were refused. */
  readonly applied: number;
  readonly refusals: number;
}

export interface ReloadOptions {
  readonly path: string;
  /** The configuration that the file held when the process began. */
  readonly first: ProxyConfig;
  /** Reads the file anew. Rejects when it cannot be used. */
  readonly load: () => Promise<ProxyConfig>;
  /** Calls back when the file may have changed, until the signal aborts. */
  readonly watch: (changed: () => Promise<void>, signal: AbortSignal) => Promise<void>;
  /** Runs the proxy until the signal aborts; calls `started` once the configuration has proved to work. */
  readonly run: (
    config: ProxyConfig,
    file: () => ConfigFileState,
    started: () => void,
    signal: AbortSignal,
  ) => Promise<void>;
  readonly log: Logger;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/** Resolves when the signal aborts. Rejects with what ended the proxy while its configuration was in force. */
export async function runReloading(options: ReloadOptions): Promise<void> {
  const { path, first, load, watch, run, log, now, signal } = options;
  let good = first;
  let running = first;
  let refusedText: string | undefined;
  let state: ConfigFileState = { path, loadedAt: now(), refused: undefined, applied: 0, refusals: 0 };
  let restart = new AbortController();

  const refuse = (error: unknown): void => {
    state = { ...state, refused: { at: now(), because: oneLine(error) }, refusals: state.refusals + 1 };
    log.error(error, 'The configuration file is refused, the one before stays in force', { path });
  };
  const changed = async (): Promise<void> => {
    let next: ProxyConfig;
    try {
      next = await load();
    } catch (error) {
      // Said once: a file is looked at after every event in its folder.
      if (state.refused?.because !== oneLine(error)) refuse(error);
      return;
    }
    const text = textOf(next);
    if (text === textOf(running)) state = { ...state, refused: undefined };
    else if (text !== refusedText) {
      running = next;
      log.info('The configuration file changed, starting anew with it', { path });
      restart.abort();
    }
  };

  const ending = new AbortController();
  const watching = watch(changed, AbortSignal.any([signal, ending.signal]));
  watching.catch((error) => log.error(error, 'The configuration file is not watched any more', { path }));
  try {
    while (!signal.aborted) {
      const config = running;
      restart = new AbortController();
      let started = false;
      try {
        await run(
          config,
          () => state,
          () => {
            started = true;
            if (config === good) return;
            good = config;
            refusedText = undefined;
            state = { ...state, loadedAt: now(), refused: undefined, applied: state.applied + 1 };
          },
          AbortSignal.any([signal, restart.signal]),
        );
      } catch (error) {
        if (started || config === good) throw error;
        refuse(error);
        refusedText = textOf(config);
        // A still newer file may have come meanwhile.
        if (running === config) running = good;
      }
    }
  } finally {
    ending.abort();
    await watching.catch(() => {});
  }
}

function textOf(config: ProxyConfig): string {
  return JSON.stringify(config);
}

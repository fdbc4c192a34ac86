// Tells when the configuration file may have changed. A ConfigMap volume changes by a link being exchanged in the
// file's folder, so the folder is watched.
import { watch } from 'node:fs';
import { dirname } from 'node:path';
import { sleep } from '../base/backoff.ts';
import type { Logger } from '../base/log.ts';

/** Events come in flocks: an editor writes, renames and sets times. */
const SETTLE_MS = 200;
const RETRY_MS = 5_000;

/** Calls back after events in the file's folder, until the signal aborts; `changed` is never called twice at once. */
export async function watchConfigFile(
  path: string,
  changed: () => Promise<void>,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  let told = false;
  while (!signal.aborted) {
    try {
      await watchOnce(dirname(path), changed, signal);
    } catch (error) {
      if (!told) log.error(error, 'Cannot watch the configuration file, trying again', { path });
      told = true;
    }
    if (await sleep(RETRY_MS, signal)) await changed();
  }
}

/** Resolves when the signal aborts; rejects when the folder cannot be watched any more. */
async function watchOnce(folder: string, changed: () => Promise<void>, signal: AbortSignal): Promise<void> {
  const failed = Promise.withResolvers<never>();
  let wake = Promise.withResolvers<void>();
  const watcher = watch(folder, { persistent: false }, () => wake.resolve());
  watcher.on('error', failed.reject);
  signal.addEventListener('abort', () => wake.resolve(), { once: true });
  try {
    for (;;) {
      await Promise.race([wake.promise, failed.promise]);
      wake = Promise.withResolvers<void>();
      if (!(await sleep(SETTLE_MS, signal))) return;
      await changed();
    }
  } finally {
    watcher.close();
  }
}

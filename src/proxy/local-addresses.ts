// The addresses of this machine's interfaces, as they come and go. Only where node ports are chosen by CIDR.
import { createBackoff, sleep } from '../base/backoff.ts';
import type { Logger } from '../base/log.ts';
import type { Address } from '../model/address.ts';

/** The kernel's list of addresses. */
export interface AddressSource {
  list(): Promise<readonly Address[]>;
  /** Calls back after addresses came or went, or may have. */
  watch(onChange: () => void): Promise<{ close(): Promise<void> }>;
}

export interface LocalAddressesOptions {
  readonly source: AddressSource;
  readonly changed: (addresses: readonly Address[]) => void;
  readonly log: Logger;
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

export interface LocalAddresses {
  /** Resolves when they were listed once. */
  readonly listed: Promise<void>;
  /** Follows them until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

const IDLE_MS = 3_600_000;

export function createLocalAddresses(options: LocalAddressesOptions): LocalAddresses {
  const { source, changed, log, sleep: pause = sleep } = options;
  const { promise: listed, resolve } = Promise.withResolvers<void>();
  const backoff = createBackoff({ firstMs: 200, maxMs: 30_000 });
  let stale = true;
  let wake = (): void => {};
  let seen: string | undefined;

  async function look(): Promise<void> {
    stale = false;
    const addresses = [...new Set(await source.list())].sort();
    resolve();
    const text = addresses.join(' ');
    if (text === seen) return;
    if (seen !== undefined) log.info('Addresses of this machine changed', { addresses });
    seen = text;
    changed(addresses);
  }

  return {
    listed,
    async run(signal) {
      let watch: { close(): Promise<void> } | undefined;
      try {
        while (!signal.aborted) {
          let waitMs = IDLE_MS;
          try {
            // Watched before it is listed, so that nothing is missed between the two.
            watch ??= await source.watch(() => {
              stale = true;
              wake();
            });
            if (stale) await look();
            backoff.reset();
          } catch (error) {
            stale = true;
            waitMs = backoff.next();
            log.error(error, 'Cannot list the addresses of this machine, trying again');
          }
          // What changed while the list was under way is listed at once.
          if (stale && waitMs === IDLE_MS) continue;
          const waking = new AbortController();
          wake = () => waking.abort();
          await pause(waitMs, AbortSignal.any([signal, waking.signal]));
        }
      } finally {
        await watch?.close().catch(() => {});
      }
    },
  };
}

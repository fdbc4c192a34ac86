// Retry and backoff: the only place where they exist.

export interface BackoffOptions {
  readonly firstMs: number;
  readonly maxMs: number;
  /** Each delay is this many times the one before. */
  readonly factor?: number;
  /** A source of numbers in [0, 1), for jitter. */
  readonly random?: () => number;
}

/** Growing delays with jitter. */
export interface Backoff {
  /** The next delay in ms: between half of and the whole present step, then the step grows. */
  next(): number;
  /** How many delays were handed out since the last reset. */
  readonly attempts: number;
  reset(): void;
}

export function createBackoff({ firstMs, maxMs, factor = 2, random = Math.random }: BackoffOptions): Backoff {
  let step = firstMs;
  let attempts = 0;
  return {
    next() {
      const delay = step / 2 + (random() * step) / 2;
      step = Math.min(step * factor, maxMs);
      attempts += 1;
      return Math.round(delay);
    },
    get attempts() {
      return attempts;
    },
    reset() {
      step = firstMs;
      attempts = 0;
    },
  };
}

/** Waits; resolves early, with false, when the signal aborts. */
export function sleep(ms: number, signal?: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve(false);
    const onAbort = (): void => {
      clearTimeout(timer);
      resolve(false);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve(true);
    }, ms);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

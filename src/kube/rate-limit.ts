// The bound on what one client asks of the API server: a token bucket.
import { sleep } from '../base/backoff.ts';

export interface RateLimitOptions {
  /** Requests a second in the long run; 0 is no bound. */
  readonly qps: number;
  /** Requests at once after a rest. */
  readonly burst: number;
  /** Milliseconds that only grow. */
  readonly now?: () => number;
  readonly sleep?: typeof sleep;
}

export interface RateLimit {
  /** Waits for its turn, in order of the calls. False if the signal aborted before. */
  wait(signal?: AbortSignal): Promise<boolean>;
  /** Takes a turn if there is one at once. */
  take(): boolean;
}

export function createRateLimit(options: RateLimitOptions): RateLimit {
  const { qps, burst, now = () => performance.now(), sleep: pause = sleep } = options;
  const capacity = Math.max(1, burst);
  let tokens = capacity;
  let at = now();

  const refill = (): void => {
    const present = now();
    tokens = Math.min(capacity, tokens + ((present - at) / 1000) * qps);
    at = present;
  };
  return {
    async wait(signal) {
      if (signal?.aborted === true) return false;
      if (qps <= 0) return true;
      refill();
      // A turn is taken at once even if it lies ahead: that keeps the order.
      tokens -= 1;
      if (tokens >= 0) return true;
      const waited = await pause((-tokens / qps) * 1000, signal);
      if (!waited) tokens += 1;
      return waited;
    },
    take() {
      if (qps <= 0) return true;
      refill();
      if (tokens < 1) return false;
      tokens -= 1;
      return true;
    },
  };
}

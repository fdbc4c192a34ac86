// The times of list and watch.

/** Milliseconds, all of them. */
export interface ReflectorTiming {
  /** A watch asks the server to end it after a random time between this and twice this. */
  readonly watch: number;
  /** How long after that time our own watchdog ends it. */
  readonly overdue: number;
  /** A watch in which nothing came for this long is silent. */
  readonly silence: number;
  /** A list, streamed or not, in which nothing came for this long is silent. */
  readonly listSilence: number;
  /** A watch that lasted this long was healthy: the next begins at once and backoff begins anew. */
  readonly healthy: number;
  /** First and longest wait after failures. */
  readonly firstWait: number;
  readonly longestWait: number;
  /** Longest wait while the server works, though oddly. */
  readonly shortWait: number;
  /** How often a resource is asked for that the server does not have. */
  readonly absent: number;
  /** How long the log stays quiet about trouble that was said. */
  readonly remind: number;
}

/**
 * The API server sends a bookmark each minute, or up to 75 s with its jitter: after 150 s two are missing. So a watch
 * that is dead while its connection answers pings is replaced within three minutes, and its state checked by a new list
 * within six. Watch and waits are those of upstream's client.
 */
export const REFLECTOR_TIMING: ReflectorTiming = {
  watch: 300_000,
  overdue: 30_000,
  silence: 150_000,
  listSilence: 30_000,
  healthy: 5_000,
  firstWait: 500,
  longestWait: 30_000,
  shortWait: 1_000,
  absent: 300_000,
  remind: 300_000,
};

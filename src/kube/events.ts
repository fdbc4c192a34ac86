// Tells the cluster what happened here: Event objects, never in the way of other work, never in a storm.
import { createBackoff, sleep } from '../base/backoff.ts';
import type { Logger } from '../base/log.ts';
import { apiStatusOf } from './api-status.ts';
import {
  type EventNote,
  type EventSource,
  eventName,
  eventNamespace,
  eventObject,
  seriesKey,
  seriesPatch,
} from './event-series.ts';
import { createRateLimit } from './rate-limit.ts';
import type { Transport } from './transport.ts';

/** Milliseconds, but for the counts. */
export interface EventLimits {
  /** How often a repeated event is told again: its count grows meanwhile. */
  readonly seriesEvery: number;
  /** An event that did not come for so long begins a new series. */
  readonly seriesEnds: number;
  /** Events, told or not, of which books are kept. More are dropped. */
  readonly kept: number;
  /** Requests at once, and a second in the long run. */
  readonly burst: number;
  readonly qps: number;
  /** How often one event is tried while the server cannot be reached. */
  readonly attempts: number;
}

/** Six minutes are upstream's; its burst for one object is 25 too. */
export const EVENT_LIMITS: EventLimits = {
  seriesEvery: 60_000,
  seriesEnds: 360_000,
  kept: 256,
  burst: 25,
  qps: 0.2,
  attempts: 8,
};

/** How long to sleep when nothing is noted; `record` wakes. */
const IDLE_MS = 3_600_000;

export interface EventRecorderOptions {
  readonly transport: Pick<Transport, 'json'>;
  readonly source: EventSource;
  readonly log: Logger;
  readonly limits?: Partial<EventLimits>;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  readonly random?: () => number;
  readonly sleep?: typeof sleep;
}

export interface EventRecorder {
  /** Notes an event and returns at once. Never throws. */
  record(note: EventNote): void;
  /** Tells noted events until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** After `run` ended: tells what is still untold, once each, for the last words of a process. */
  flush(signal: AbortSignal): Promise<void>;
  /** Events that were dropped: too many, or refused by the server. */
  readonly dropped: number;
}

interface Series {
  readonly note: EventNote;
  readonly firstAt: number;
  /** metadata.name; a new one when the server forgot the event. */
  name: string;
  count: number;
  lastAt: number;
  /** The count the server knows; 0 before the event was created. */
  told: number;
  /** Not told again before this. */
  notBefore: number;
  failures: number;
}

export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  const { transport, source, log, now = Date.now, random = Math.random, sleep: pause = sleep } = options;
  const limits = { ...EVENT_LIMITS, ...options.limits };
  const rate = createRateLimit({ qps: limits.qps, burst: limits.burst, now, sleep: pause });
  const books = new Map<string, Series>();
  let serial = 0;
  let dropped = 0;
  let pausedUntil = 0;
  let wake: (() => void) | undefined;
  const backoff = createBackoff({ firstMs: 1000, maxMs: 60_000, random });

  function drop(note: EventNote, because: string, error?: unknown): void {
    dropped += 1;
    if (dropped > 5 && dropped % 100 !== 0) return;
    const fields = { reason: note.reason, regarding: note.regarding.name, because, dropped };
    log.warn(
      'An event could not be told',
      error instanceof Error ? { ...fields, error: error.message } : fields,
    );
  }

  function forgetOld(time: number): void {
    for (const [key, series] of books) {
      if (series.told === series.count && time - series.lastAt >= limits.seriesEnds) books.delete(key);
    }
  }

  function record(note: EventNote): void {
    const time = now();
    const key = seriesKey(note);
    const known = books.get(key);
    if (known !== undefined && time - known.lastAt < limits.seriesEnds) {
      known.count += 1;
      known.lastAt = time;
    } else {
      forgetOld(time);
      if (!books.has(key) && books.size >= limits.kept) {
        drop(note, 'too many different events');
        return;
      }
      serial += 1;
      const name = eventName(note, time, serial);
      books.set(key, {
        note,
        firstAt: time,
        name,
        count: 1,
        lastAt: time,
        told: 0,
        notBefore: 0,
        failures: 0,
      });
    }
    wake?.();
  }

  /** The series that may be told, the longest waiting first; otherwise how long to wait for one. */
  function nextDue(time: number): Series | number {
    let soonest = IDLE_MS;
    for (const series of books.values()) {
      if (series.told === series.count) continue;
      const wait = Math.max(series.notBefore, pausedUntil) - time;
      if (wait <= 0) return series;
      soonest = Math.min(soonest, wait);
    }
    return soonest;
  }

  async function tell(series: Series, signal: AbortSignal): Promise<void> {
    const { note, name, count, lastAt, firstAt } = series;
    const path = `/apis/events.k8s.io/v1/namespaces/${encodeURIComponent(eventNamespace(note))}/events`;
    const repeated = count > 1 ? seriesPatch(count, lastAt) : {};
    try {
      if (series.told === 0) {
        await transport.json('POST', path, {
          body: { ...eventObject(note, name, firstAt, source), ...repeated },
          signal,
        });
      } else {
        await transport.json('PATCH', `${path}/${encodeURIComponent(name)}`, {
          body: repeated,
          contentType: 'application/merge-patch+json',
          signal,
        });
      }
      series.told = count;
      backoff.reset();
    } catch (error) {
      if (!signal.aborted) failed(series, count, error);
    }
    series.failures = series.told === count ? 0 : series.failures + 1;
    series.notBefore = series.told === 0 ? 0 : now() + limits.seriesEvery;
  }

  function failed(series: Series, count: number, error: unknown): void {
    const answer = apiStatusOf(error);
    if (answer?.status === 409 && series.told === 0) {
      // An attempt whose answer was lost has created it.
      series.told = 1;
    } else if (answer?.status === 404 && series.told > 0) {
      // Events live for an hour: this one is to be created anew.
      serial += 1;
      series.name = eventName(series.note, now(), serial);
      series.told = 0;
    } else if (answer !== undefined && answer.status >= 400 && answer.status < 500 && answer.status !== 429) {
      series.told = count;
      drop(series.note, 'the server refused it', error);
    } else if (series.failures + 1 >= limits.attempts) {
      series.told = count;
      drop(series.note, 'the server could not be told in time', error);
    } else {
      pausedUntil = now() + Math.max(answer?.retryAfterMs ?? 0, backoff.next());
    }
  }

  return {
    record,
    async run(signal) {
      while (!signal.aborted) {
        const due = nextDue(now());
        if (typeof due === 'number') {
          const waker = new AbortController();
          wake = () => waker.abort();
          await pause(due, AbortSignal.any([signal, waker.signal]));
        } else if (await rate.wait(signal)) await tell(due, signal);
      }
    },
    async flush(signal) {
      for (const series of [...books.values()]) {
        if (series.told !== series.count && rate.take() && !signal.aborted) await tell(series, signal);
      }
    },
    get dropped() {
      return dropped;
    },
  };
}

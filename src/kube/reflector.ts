// Keeps an owner in step with one resource of the API server, whatever the server and the network do.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
import { sleep } from '../base/backoff.ts';
import type { Logger } from '../base/log.ts';
import { apiStatusOf } from './api-status.ts';
import { type AttemptContext, attemptList, attemptWatch, type Progress } from './attempt.ts';
import { type Attempt, type Course, firstCourse, nextTurn } from './course.ts';
import { type Change, createObjectFeed } from './object-feed.ts';
import { createPacing } from './pacing.ts';
import { REFLECTOR_TIMING, type ReflectorTiming } from './reflector-timing.ts';
import type { Transport } from './transport.ts';
import { createTroubleLog } from './trouble-log.ts';
import type { ApiObject } from './watch-event.ts';

export interface ReflectorOptions<T> {
  readonly transport: Transport;
  /** What the log calls the objects: `services`. */
  readonly name: string;
  /** `/api/v1/services`. */
  readonly path: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** A resource that old servers lack: its absence, or a role without it, counts as an empty list. */
  readonly optional?: boolean;
  /** See `FeedOptions.decode`: undefined or an exception means that the object cannot be used. */
  readonly decode: (object: unknown) => T | undefined;
  readonly keyOf?: (object: ApiObject) => string | undefined;
  /** Told of every change, in order. An exception of it ends `run` with that exception. */
  readonly onChange: (change: Change<T>) => void;
  /** Called once, after the changes that make up the first complete list. */
  readonly onSynced: () => void;
  readonly log: Logger;
  readonly timing?: Partial<ReflectorTiming>;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** Numbers in [0, 1), for jitter. */
  readonly random?: () => number;
}

/** Times are milliseconds since the epoch; undefined if there was none yet. */
export interface ReflectorStatus {
  /** Whether a complete list was delivered once. */
  readonly synced: boolean;
  /** The version up to which the owner is in step. */
  readonly resourceVersion: string | undefined;
  /** When an object last changed. */
  readonly lastEventAt: number | undefined;
  /** When the server last sent anything about this resource. The age of what we know is counted from here. */
  readonly lastContactAt: number | undefined;
  /** Whether a watch is open and in step. */
  readonly connected: boolean;
  /** Lists and watches begun after the first. */
  readonly restarts: number;
  /** What went wrong last, kept until the watch is in step again. */
  readonly lastError: string | undefined;
  readonly objects: number;
  /** How often an object came that could not be used. */
  readonly skipped: number;
  /** How often something came that is older than what was known; it was dropped. */
  readonly stale: number;
}

export interface Reflector {
  /** Lists and watches until the signal aborts; then resolves. Rejects only with an exception of `onChange` or `onSynced`. */
  run(signal: AbortSignal): Promise<void>;
  status(): ReflectorStatus;
}

export function createReflector<T>(options: ReflectorOptions<T>): Reflector {
  const {
    transport,
    name,
    path,
    labelSelector,
    fieldSelector,
    log,
    now = Date.now,
    random = Math.random,
  } = options;
  const timing = { ...REFLECTOR_TIMING, ...options.timing };
  const troubles = createTroubleLog({ log, now: () => performance.now(), remindAfter: timing.remind });
  const progress: Progress = { synced: false, connected: false, bookmarks: false };
  const unknownTypes = new Set<string>();
  let ownerFault: { readonly error: unknown } | undefined;
  let attempts = 0;
  let lastError: string | undefined;

  /** An exception of the owner ends the reflector; it must not pass for an error of the server's. */
  function tell(call: () => void): void {
    try {
      call();
    } catch (error) {
      ownerFault = { error };
      throw error;
    }
  }

  const feed = createObjectFeed<T>({
    ...options,
    onChange(change) {
      progress.lastEventAt = now();
      tell(() => options.onChange(change));
    },
  });

  function settle(): void {
    if (progress.synced) return;
    progress.synced = true;
    tell(options.onSynced);
  }

  const context: AttemptContext = {
    transport,
    name,
    path,
    selectors: { labelSelector, fieldSelector },
    feed,
    progress,
    timing,
    random,
    onContact() {
      progress.lastContactAt = now();
    },
    onListed(version, how, vanished, milliseconds) {
      const fields = { objects: feed.objects, resourceVersion: version, how, milliseconds };
      if (progress.synced) log.info(`Listed ${name} anew`, { ...fields, vanished });
      else log.info(`Listed ${name}`, fields);
      settle();
    },
    onInStep() {
      lastError = undefined;
      troubles.over(`Watch of ${name} is in step again`, {
        objects: feed.objects,
        resourceVersion: progress.position,
      });
    },
    onUnknownEvent(type) {
      if (unknownTypes.has(type)) return;
      unknownTypes.add(type);
      log.warn(`Watch of ${name}: events of the unknown type ${type} are passed over`);
    },
  };

  /** A resource that may be missing counts as empty while it is. */
  function isMissing(course: Course, { end }: Attempt): boolean {
    if (options.optional !== true || course.step.kind !== 'list' || end.kind !== 'failed') return false;
    const status = apiStatusOf(end.error)?.status;
    return status === 404 || status === 403;
  }

  async function run(signal: AbortSignal): Promise<void> {
    const pacing = createPacing(timing, random);
    let course = firstCourse();
    while (!signal.aborted) {
      attempts += 1;
      const { step } = course;
      const byPages = step.kind === 'list' && step.how !== 'stream';
      const attempt = await (byPages
        ? attemptList(context, step, signal)
        : attemptWatch(context, step, signal));
      progress.connected = false;
      if (ownerFault !== undefined) throw ownerFault.error;
      if (attempt === 'aborted') return;
      if (attempt.healthy) pacing.reset();
      if (isMissing(course, attempt)) {
        lastError = attempt.end.kind === 'failed' ? attempt.end.error.message : undefined;
        troubles.trouble('missing', `Watch of ${name}: ${lastError}, going on without`);
        feed.beginList();
        feed.endList();
        settle();
        await sleep(timing.absent, signal);
        continue;
      }
      const turn = nextTurn(course, attempt);
      course = turn.course;
      if (turn.trouble !== undefined) {
        lastError = turn.trouble.message;
        troubles.trouble(turn.trouble.kind, `Watch of ${name}: ${turn.trouble.message}`);
      } else log.debug(3, `Watch of ${name} goes on`, { step: course.step.kind });
      const pause = pacing.milliseconds(turn.wait);
      if (pause > 0) await sleep(pause, signal);
    }
  }

  return {
    run,
    status() {
      return {
        synced: progress.synced,
        resourceVersion: progress.position,
        lastEventAt: progress.lastEventAt,
        lastContactAt: progress.lastContactAt,
        connected: progress.connected,
        restarts: Math.max(0, attempts - 1),
        lastError,
        objects: feed.objects,
        skipped: feed.skipped,
        stale: feed.stale,
      };
    },
  };
}

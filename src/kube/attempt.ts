// One list or one watch of a reflector, from its request to its end.
import { PointsmanError } from '../base/errors.ts';
import { eventError } from './api-status.ts';
import { type Attempt, BACKWARDS, type ListMethod, type Step } from './course.ts';
import { listPages, PAGE_SIZE } from './list-pages.ts';
import type { ObjectFeed } from './object-feed.ts';
import type { ReflectorTiming } from './reflector-timing.ts';
import { isOlder, keptVersion } from './resource-version.ts';
import type { Transport } from './transport.ts';
import { type ApiObject, versionOf, type WatchEvent } from './watch-event.ts';
import { runWatch } from './watch-stream.ts';

/** Where a reflector stands. Attempts move it on, the reflector's status tells it. */
export interface Progress {
  synced: boolean;
  connected: boolean;
  /** Whether the server was seen to send bookmarks beside the one that ends a list. */
  bookmarks: boolean;
  position?: string;
  lastEventAt?: number;
  lastContactAt?: number;
}

export interface AttemptContext {
  readonly transport: Transport;
  readonly name: string;
  readonly path: string;
  readonly selectors: Readonly<Record<'labelSelector' | 'fieldSelector', string | undefined>>;
  readonly feed: ObjectFeed;
  readonly progress: Progress;
  readonly timing: ReflectorTiming;
  readonly random: () => number;
  readonly onContact: () => void;
  readonly onListed: (version: string, how: ListMethod, vanished: number, milliseconds: number) => void;
  /** Something came, or the watch lasted: trouble is over. */
  readonly onInStep: () => void;
  readonly onUnknownEvent: (type: string) => void;
}

type ListStep = Extract<Step, { kind: 'list' }>;

/** Lists by pages. Throws only exceptions of the owner. */
export async function attemptList(
  context: AttemptContext,
  step: ListStep,
  signal: AbortSignal,
): Promise<Attempt | 'aborted'> {
  const { transport, path, selectors, feed, timing, onContact } = context;
  const start = performance.now();
  const outcome = { progressed: false, healthy: false, bookmarks: context.progress.bookmarks };
  const anyVersion = step.notOlderThan === undefined;
  feed.beginList();
  try {
    const version = await listPages({
      transport,
      path,
      query: selectors,
      notOlderThan: step.notOlderThan,
      pageSize: step.how === 'whole' ? undefined : PAGE_SIZE,
      silenceMs: timing.listSilence,
      signal,
      onContact,
      onObject: (object) => feed.set(object, { kind: 'listed', anyVersion }),
    });
    completeList(context, step, version, start);
    return { ...outcome, position: version, end: { kind: 'listed' } };
  } catch (error) {
    if (signal.aborted) return 'aborted';
    if (!(error instanceof PointsmanError)) throw error;
    return { ...outcome, position: undefined, end: { kind: 'failed', error, opened: false } };
  }
}

/** Watches from a version, or streams a list and goes on to watch. Throws only exceptions of the owner. */
export async function attemptWatch(
  context: AttemptContext,
  step: Step,
  signal: AbortSignal,
): Promise<Attempt | 'aborted'> {
  const { transport, name, path, selectors, feed, progress, timing, random, onContact } = context;
  const seconds = Math.max(1, Math.round((timing.watch * (1 + random())) / 1000));
  const start = performance.now();
  let openedAt: number | undefined;
  let calm: NodeJS.Timeout | undefined;
  let position = step.kind === 'watch' ? step.from : undefined;
  let progressed = false;
  if (step.kind === 'list') feed.beginList();

  const moveOn = (version: string): void => {
    progressed = true;
    if (version !== '' && position !== undefined && !isOlder(keptVersion(version), keptVersion(position))) {
      position = version;
      progress.position = version;
    }
    context.onInStep();
  };

  function onObject(object: ApiObject, gone: boolean): void {
    if (gone) feed.remove(object);
    else if (position !== undefined) feed.set(object, { kind: 'event', position: keptVersion(position) });
    else
      feed.set(object, {
        kind: 'listed',
        anyVersion: step.kind === 'list' && step.notOlderThan === undefined,
      });
    if (position !== undefined) moveOn(versionOf(object));
  }

  function onBookmark(version: string, initialEventsEnd: boolean): void {
    if (position !== undefined) {
      if (isOlder(keptVersion(version), keptVersion(position))) throw backwards(version, position);
      progress.bookmarks = true;
      moveOn(version);
    } else if (initialEventsEnd && step.kind === 'list') {
      completeList(context, step, version, start);
      position = version;
      progress.connected = true;
    }
  }

  function onEvent(event: WatchEvent): void {
    switch (event.kind) {
      case 'set':
      case 'delete':
        onObject(event.object, event.kind === 'delete');
        return;
      case 'bookmark':
        onBookmark(event.version, event.initialEventsEnd);
        return;
      case 'error':
        throw eventError(name, event.object);
      case 'unknown':
        context.onUnknownEvent(event.type);
        return;
    }
  }

  const end = await runWatch({
    transport,
    path,
    query: {
      ...selectors,
      watch: 1,
      allowWatchBookmarks: 'true',
      timeoutSeconds: seconds,
      ...(step.kind === 'watch'
        ? { resourceVersion: step.from }
        : {
            sendInitialEvents: 'true',
            resourceVersionMatch: 'NotOlderThan',
            resourceVersion: step.notOlderThan,
          }),
    },
    silence: () => (position === undefined ? timing.listSilence : timing.silence),
    overdue: seconds * 1000 + timing.overdue,
    signal,
    onOpen() {
      openedAt = performance.now();
      onContact();
      if (step.kind === 'watch') progress.connected = true;
      calm = setTimeout(() => {
        if (position !== undefined) context.onInStep();
      }, timing.healthy);
    },
    onContact,
    onEvent,
  }).finally(() => clearTimeout(calm));

  if (end.kind === 'aborted') return 'aborted';
  const lasted = openedAt === undefined ? 0 : performance.now() - openedAt;
  return {
    position,
    progressed,
    healthy: lasted >= timing.healthy,
    bookmarks: progress.bookmarks,
    end: end.kind === 'ended' ? { kind: 'ended', early: lasted < seconds * 900 } : end,
  };
}

function completeList(context: AttemptContext, step: ListStep, version: string, start: number): void {
  const { notOlderThan, how } = step;
  if (notOlderThan !== undefined && isOlder(keptVersion(version), keptVersion(notOlderThan))) {
    throw backwards(version, notOlderThan);
  }
  const vanished = context.feed.endList();
  context.progress.position = version;
  context.onListed(version, how, vanished, Math.round(performance.now() - start));
}

function backwards(version: string, than: string): PointsmanError {
  return new PointsmanError('E_API_MALFORMED', `the server is at version ${version}, we were at ${than}`, {
    facts: { code: BACKWARDS },
  });
}

// What a reflector does after a list or watch ended: resume, list anew, how, and after which wait. Pure.
import type { PointsmanError } from '../base/errors.ts';
import { apiStatusOf } from './api-status.ts';
import { type FailureKind, failureKind } from './failure-kind.ts';

export type Step =
  | { readonly kind: 'watch'; readonly from: string }
  /** `notOlderThan` undefined: the newest state counts, even if it is older than what we saw. */
  | { readonly kind: 'list'; readonly how: ListMethod; readonly notOlderThan: string | undefined };

/** `stream`: by sendInitialEvents (KEP-3157). `pages`: 500 at a time. `whole`: in one answer, which cannot expire half-way. */
export type ListMethod = 'stream' | 'pages' | 'whole';

export interface Course {
  readonly step: Step;
  /** Whether the server streams lists, as far as we know. */
  readonly streams: 'untried' | 'yes' | 'no';
  /** Watches in a row in which nothing came at all. */
  readonly silences: number;
  /** Watches in a row that the server opened and broke before anything came. */
  readonly faults: number;
}

/** How one attempt went. `position` is the version up to which we are in step, undefined if a list was not completed. */
export interface Attempt {
  readonly position: string | undefined;
  /** Whether events or bookmarks came beyond the list. */
  readonly progressed: boolean;
  /** Whether it went on for long enough that starting anew at once is no storm. */
  readonly healthy: boolean;
  /** Whether this server was seen to send bookmarks: only then does silence mean anything. */
  readonly bookmarks: boolean;
  readonly end: AttemptEnd;
}

export type AttemptEnd =
  | { readonly kind: 'listed' }
  | { readonly kind: 'overdue' }
  /** `early`: long before the time that was asked for. */
  | { readonly kind: 'ended'; readonly early: boolean }
  | { readonly kind: 'silent'; readonly error: PointsmanError }
  | { readonly kind: 'failed'; readonly error: PointsmanError; readonly opened: boolean };

export type Wait =
  | 'none'
  /** Backoff that stays about a second: the server works, though oddly. */
  | 'short'
  /** Backoff that grows to half a minute. */
  | 'long'
  /** Long backoff, but at least this. */
  | { readonly atLeastMs: number };

export interface Turn {
  readonly course: Course;
  readonly wait: Wait;
  /** What went wrong, for the log; undefined if all is as it should be. */
  readonly trouble?: { readonly kind: string; readonly message: string };
}

/** Facts' code of the error for a server whose state is older than what it said before. */
export const BACKWARDS = 'BACKWARDS';

export function firstCourse(): Course {
  return { step: listStep('untried', undefined), streams: 'untried', silences: 0, faults: 0 };
}

export function nextTurn(course: Course, attempt: Attempt): Turn {
  const { end } = attempt;
  if (end.kind === 'failed') return afterFailure(course, attempt, end.error, end.opened);
  const streamed = course.step.kind === 'list' && course.step.how === 'stream';
  if (attempt.position === undefined) {
    // A server that does not know sendInitialEvents ignores it and never says that the list is complete.
    const message = 'the streamed list was not completed, listing by pages';
    return { course: again(course, { how: 'pages' }), wait: 'short', trouble: { kind: 'list', message } };
  }
  const known: Course = { ...course, streams: learned(course, streamed) };
  switch (end.kind) {
    case 'listed':
      return { course: resumed(known, attempt), wait: 'none' };
    case 'ended': {
      const turn: Turn = { course: resumed(known, attempt), wait: restartWait(attempt) };
      if (!end.early) return turn;
      return { ...turn, trouble: { kind: 'ended', message: 'the server ended the watch early, resuming' } };
    }
    case 'overdue': {
      const message = 'the server did not end the watch when it should have, resuming on a new one';
      return { course: resumed(known, attempt), wait: 'none', trouble: { kind: 'overdue', message } };
    }
    case 'silent':
      return afterSilence(known, attempt, end.error);
  }
}

/** Bookmarks come about each minute. A server that stopped sending them has lost us, or its state jumped back. */
function afterSilence(course: Course, attempt: Attempt, error: PointsmanError): Turn {
  if (!attempt.bookmarks) return { course: resumed(course, attempt), wait: 'short' };
  const silences = attempt.progressed ? 1 : course.silences + 1;
  const resume = resumed(course, attempt);
  if (silences < 2) {
    const message = `${error.message}, resuming on a new watch`;
    return { course: { ...resume, silences }, wait: 'none', trouble: { kind: 'silent', message } };
  }
  const message = `${error.message} again, listing anew`;
  return {
    course: relist(resume, attempt.position),
    wait: 'short',
    trouble: { kind: 'silent again', message },
  };
}

function afterFailure(course: Course, attempt: Attempt, error: PointsmanError, opened: boolean): Turn {
  const kind = error.facts.code === BACKWARDS ? 'backwards' : failureKind(error);
  const wait = failureWait(attempt, error);
  const said = (message: string): { readonly kind: string; readonly message: string } => ({ kind, message });

  if (kind === 'ahead' || kind === 'backwards') {
    const message = `${error.message}: the state of the server is older than ours, taking it as it is`;
    return { course: relist(course, undefined), wait, trouble: said(message) };
  }
  if (attempt.position === undefined) return afterFailedList(course, kind, error, wait);

  const resume = resumed(course, attempt);
  if (kind === 'expired' || kind === 'unsupported' || kind === 'absent') {
    return {
      course: relist(resume, attempt.position),
      wait,
      trouble: said(`${error.message}, listing anew`),
    };
  }
  const faults =
    !opened || kind === 'unreachable' ? course.faults : attempt.progressed ? 1 : course.faults + 1;
  if (faults >= 3) {
    const message = `${error.message}, three times at the same place, listing anew`;
    return { course: relist(resume, attempt.position), wait, trouble: { kind: `${kind} again`, message } };
  }
  return { course: { ...resume, faults }, wait, trouble: said(`${error.message}, resuming`) };
}

function afterFailedList(course: Course, kind: FailureKind, error: PointsmanError, wait: Wait): Turn {
  const { step } = course;
  const how = step.kind === 'list' ? step.how : 'pages';
  if (how === 'stream' && kind === 'unsupported') {
    return { course: again({ ...course, streams: 'no' }, { how: 'pages' }), wait: 'none' };
  }
  if (kind === 'expired') {
    const message = `${error.message}, listing anew in one piece`;
    const changed = { how: how === 'stream' ? how : ('whole' as const), notOlderThan: undefined };
    return { course: again(course, changed), wait, trouble: { kind, message } };
  }
  // A stream that is garbled on its way may come through as a list, and the other way round.
  const garbled = kind === 'garbled' && course.streams !== 'no';
  const other = how === 'stream' ? ('pages' as const) : ('stream' as const);
  const message = `${error.message}, trying again`;
  return { course: garbled ? again(course, { how: other }) : course, wait, trouble: { kind, message } };
}

function failureWait(attempt: Attempt, error: PointsmanError): Wait {
  const asked = apiStatusOf(error)?.retryAfterMs;
  if (asked !== undefined) return { atLeastMs: Math.min(asked, 300_000) };
  return attempt.healthy || attempt.progressed ? 'short' : 'long';
}

function restartWait({ healthy, progressed }: Attempt): Wait {
  if (healthy) return 'none';
  return progressed ? 'short' : 'long';
}

/** Pages that succeed where a stream was not completed tell that this server does not stream. */
function learned(course: Course, streamed: boolean): Course['streams'] {
  if (streamed) return 'yes';
  return course.streams === 'untried' && course.step.kind === 'list' ? 'no' : course.streams;
}

function resumed(course: Course, { position, progressed }: Attempt): Course {
  const counts = progressed ? { silences: 0, faults: 0 } : {};
  return position === undefined ? course : { ...course, ...counts, step: { kind: 'watch', from: position } };
}

function relist(course: Course, notOlderThan: string | undefined): Course {
  return { ...course, silences: 0, faults: 0, step: listStep(course.streams, notOlderThan) };
}

function listStep(streams: Course['streams'], notOlderThan: string | undefined): Step {
  return { kind: 'list', how: streams === 'no' ? 'pages' : 'stream', notOlderThan };
}

function again(
  course: Course,
  change: { readonly how: ListMethod; readonly notOlderThan?: undefined },
): Course {
  const { step } = course;
  const notOlderThan = step.kind === 'list' && !('notOlderThan' in change) ? step.notOlderThan : undefined;
  return { ...course, step: { kind: 'list', how: change.how, notOlderThan } };
}

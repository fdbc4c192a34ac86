import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PointsmanError } from '../base/errors.ts';
import { apiError } from './api-status.ts';
import {
  type Attempt,
  type AttemptEnd,
  BACKWARDS,
  type Course,
  firstCourse,
  nextTurn,
  type Turn,
} from './course.ts';

const failed = (error: PointsmanError, opened = false): AttemptEnd => ({ kind: 'failed', error, opened });
const status = (code: number, reason = '', retryAfter?: string): PointsmanError =>
  apiError(
    'GET /x',
    code,
    { 'retry-after': retryAfter },
    JSON.stringify({ kind: 'Status', reason }),
    () => 0,
  );
const unreachable = new PointsmanError('E_API_UNREACHABLE', 'gone');
const malformed = new PointsmanError('E_API_MALFORMED', 'odd');

const watching: Course = { step: { kind: 'watch', from: '7' }, streams: 'yes', silences: 0, faults: 0 };
const listing = (how: 'stream' | 'pages' | 'whole', streams: Course['streams'] = 'untried'): Course => ({
  step: { kind: 'list', how, notOlderThan: '5' },
  streams,
  silences: 0,
  faults: 0,
});

function attempt(end: AttemptEnd, more: Partial<Attempt> = {}): Attempt {
  return { position: '9', progressed: true, healthy: true, bookmarks: true, end, ...more };
}
const ofList = (end: AttemptEnd): Attempt =>
  attempt(end, { position: undefined, progressed: false, healthy: false });

/** What a turn comes to, in short. */
function short({ course, wait, trouble }: Turn): string {
  const { step } = course;
  const what = step.kind === 'watch' ? `watch ${step.from}` : `${step.how} ${step.notOlderThan ?? 'newest'}`;
  const pause = typeof wait === 'object' ? wait.atLeastMs : wait;
  return `${what}, ${pause}, ${trouble?.kind ?? 'fine'}`;
}

for (const [what, course, end, wanted] of [
  ['a watch that ran its time', watching, attempt({ kind: 'ended', early: false }), 'watch 9, none, fine'],
  [
    'a watch that ended early',
    watching,
    attempt({ kind: 'ended', early: true }, { healthy: false }),
    'watch 9, short, ended',
  ],
  [
    'one that ended at once with nothing',
    watching,
    attempt({ kind: 'ended', early: true }, { healthy: false, progressed: false }),
    'watch 9, long, ended',
  ],
  ['an overdue watch', watching, attempt({ kind: 'overdue' }), 'watch 9, none, overdue'],
  ['a watch that broke', watching, attempt(failed(unreachable, true)), 'watch 9, short, unreachable'],
  [
    'a server that is away',
    watching,
    attempt(failed(unreachable), { healthy: false, progressed: false }),
    'watch 9, long, unreachable',
  ],
  ['an expired version', watching, attempt(failed(status(410, 'Expired'))), 'stream 9, short, expired'],
  [
    'a version ahead of the server',
    watching,
    attempt(failed(status(504, 'ResourceVersionTooLarge'))),
    'watch 9, short, busy',
  ],
  ['Retry-After', watching, attempt(failed(status(429, '', '9'))), 'watch 9, 9000, busy'],
  ['an absurd Retry-After', watching, attempt(failed(status(503, '', '86400'))), 'watch 9, 300000, busy'],
  ['credentials that are refused', watching, attempt(failed(status(401))), 'watch 9, short, denied'],
  ['silence', watching, attempt({ kind: 'silent', error: unreachable }), 'watch 9, none, silent'],
  [
    'silence after silence',
    { ...watching, silences: 1 },
    attempt({ kind: 'silent', error: unreachable }, { progressed: false }),
    'stream 9, short, silent again',
  ],
  [
    'silence without bookmarks',
    watching,
    attempt({ kind: 'silent', error: unreachable }, { bookmarks: false }),
    'watch 9, short, fine',
  ],
  [
    'a third fault at one place',
    { ...watching, faults: 2 },
    attempt(failed(malformed, true), { progressed: false }),
    'stream 9, short, garbled again',
  ],
  [
    'a fault after progress',
    { ...watching, faults: 2 },
    attempt(failed(malformed, true)),
    'watch 9, short, garbled',
  ],
  [
    'many refusals',
    { ...watching, faults: 2 },
    attempt(failed(status(500)), { progressed: false }),
    'watch 9, short, busy',
  ],
  [
    'a server that went back',
    watching,
    attempt(failed(new PointsmanError('E_API_MALFORMED', 'x', { facts: { code: BACKWARDS } }))),
    'stream newest, short, backwards',
  ],
  [
    'the end of a page list',
    listing('pages', 'no'),
    attempt({ kind: 'listed' }, { healthy: false, progressed: false }),
    'watch 9, none, fine',
  ],
  [
    'a stream that is not known',
    listing('stream'),
    ofList(failed(status(422, 'Invalid'))),
    'pages 5, none, fine',
  ],
  [
    'a stream without its end',
    listing('stream'),
    ofList({ kind: 'silent', error: unreachable }),
    'pages 5, short, list',
  ],
  [
    'a stream that ended early',
    listing('stream'),
    ofList({ kind: 'ended', early: true }),
    'pages 5, short, list',
  ],
  ['a list that was refused', listing('stream'), ofList(failed(status(500))), 'stream 5, long, busy'],
  ['a garbled stream', listing('stream'), ofList(failed(malformed, true)), 'pages 5, long, garbled'],
  ['a garbled page', listing('pages'), ofList(failed(malformed)), 'stream 5, long, garbled'],
  [
    'a garbled page of a server that cannot stream',
    listing('pages', 'no'),
    ofList(failed(malformed)),
    'pages 5, long, garbled',
  ],
  [
    'an expired continue token',
    listing('pages', 'no'),
    ofList(failed(status(410, 'Expired'))),
    'whole newest, long, expired',
  ],
] as const) {
  test(`after ${what}: ${wanted}`, () => {
    assert.equal(short(nextTurn(course, end)), wanted);
  });
}

test('the first thing is a streamed list of the newest state', () => {
  assert.deepEqual(firstCourse().step, { kind: 'list', how: 'stream', notOlderThan: undefined });
});

test('a server that streamed once is asked to stream again, one that listed pages after a failed stream is not', () => {
  const streamed = nextTurn(listing('stream'), attempt({ kind: 'ended', early: false })).course;
  assert.equal(streamed.streams, 'yes');
  const paged = nextTurn(listing('pages'), attempt({ kind: 'listed' })).course;
  assert.equal(paged.streams, 'no');
  assert.equal(short(nextTurn(paged, attempt(failed(status(410))))), 'pages 9, short, expired');
});

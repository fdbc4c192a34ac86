import assert from 'node:assert/strict';
import { test } from 'node:test';
import { oneLine, PointsmanError } from '../base/errors.ts';
import { apiError, apiStatusOf, eventError, parseRetryAfter } from './api-status.ts';
import { type FailureKind, failureKind } from './failure-kind.ts';

const NOW = Date.parse('2026-12-01T00:00:00Z');

for (const [value, wanted] of [
  [undefined, undefined],
  ['1', 1000],
  [' 30 ', 30_000],
  ['Tue, 01 Dec 2026 00:00:05 GMT', 5000],
  ['Mon, 30 Nov 2026 00:00:00 GMT', 0],
  ['soon', undefined],
] as const) {
  test(`Retry-After ${value} is ${wanted} ms`, () => assert.equal(parseRetryAfter(value, NOW), wanted));
}

const answer = (status: number, body: unknown): PointsmanError =>
  apiError(
    'GET /api/v1/services',
    status,
    {},
    typeof body === 'string' ? body : JSON.stringify(body),
    () => NOW,
  );

test('a Status is told with its reason and message, a 403 with what to do', () => {
  const error = answer(403, { kind: 'Status', reason: 'Forbidden', message: 'services is forbidden' });
  assert.equal(
    oneLine(error),
    'the API server answered GET /api/v1/services with 403 Forbidden: services is forbidden ' +
      '(grant the role system:node-proxier, or one that allows this, to the user)',
  );
});

test('an answer of something in between is told in one line', () => {
  const error = answer(502, '<html>\n<h1>Bad Gateway</h1>\n</html>');
  assert.match(error.message, /with 502: <html> <h1>Bad Gateway<\/h1> <\/html>$/);
  assert.equal(apiStatusOf(error)?.reason, '');
});

test('retryAfterSeconds of the details counts where the header is missing', () => {
  const error = answer(429, { kind: 'Status', details: { retryAfterSeconds: 3 } });
  assert.equal(apiStatusOf(error)?.retryAfterMs, 3000);
});

const kinds: readonly (readonly [FailureKind, PointsmanError])[] = [
  ['expired', answer(410, { kind: 'Status', reason: 'Expired' })],
  ['expired', answer(410, '')],
  ['expired', eventError('services', { kind: 'Status', code: 410, reason: 'Gone' })],
  [
    'ahead',
    answer(504, {
      kind: 'Status',
      reason: 'Timeout',
      details: { causes: [{ reason: 'ResourceVersionTooLarge' }] },
    }),
  ],
  ['ahead', answer(504, { kind: 'Status', message: 'Too large resource version: 9, current: 2' })],
  ['unsupported', answer(422, { kind: 'Status', reason: 'Invalid' })],
  ['unsupported', answer(400, { kind: 'Status', reason: 'BadRequest' })],
  ['absent', answer(404, '404 page not found')],
  ['denied', answer(401, '')],
  ['denied', answer(403, '')],
  ['busy', answer(429, '')],
  ['busy', answer(504, '')],
  ['busy', eventError('services', { kind: 'Status', code: 500, reason: 'InternalError' })],
  ['busy', eventError('services', null)],
  ['garbled', new PointsmanError('E_API_MALFORMED', 'x')],
  ['unreachable', new PointsmanError('E_API_UNREACHABLE', 'x')],
  ['credentials', new PointsmanError('E_CREDENTIAL_PLUGIN', 'x')],
];
for (const [kind, error] of kinds) {
  test(`"${error.message}" is ${kind}`, () => assert.equal(failureKind(error), kind));
}

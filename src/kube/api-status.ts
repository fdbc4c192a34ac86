// Error answers: a Status object of the API, or whatever a proxy in between said.
import { type Facts, PointsmanError } from '../base/errors.ts';

/** What an E_API error carries in its facts. */
export interface ApiStatus {
  readonly status: number;
  /** The API's own word: `Expired`, `Forbidden`, `Invalid`, …; empty if there was none. */
  readonly reason: string;
  /** What the server asked for with Retry-After. */
  readonly retryAfterMs: number | undefined;
  /** Reasons of details.causes, comma-separated: `ResourceVersionTooLarge`. */
  readonly causes: string;
}

const HINTS: Readonly<Record<number, string>> = {
  401: 'the API server does not accept these credentials',
  403: 'grant the role system:node-proxier, or one that allows this, to the user',
};

/** E_API for an answer of 400 or above. `what` is the request: `GET /api/v1/services`. */
export function apiError(
  what: string,
  status: number,
  headers: Readonly<Record<string, string | undefined>>,
  body: string,
  now: () => number,
): PointsmanError {
  const retryAfterMs = parseRetryAfter(headers['retry-after'], now());
  return statusError(`the API server answered ${what} with ${status}`, parseJson(body), {
    status,
    retryAfterMs,
    text: body,
  });
}

/** E_API for the Status object of a watch's ERROR event. */
export function eventError(what: string, object: unknown): PointsmanError {
  const { code } = record(object);
  const start = `the API server ended the watch of ${what}${typeof code === 'number' ? ` with ${code}` : ''}`;
  return statusError(start, object, { text: '' });
}

/** The facts of an E_API error, undefined for other errors. */
export function apiStatusOf(error: unknown): ApiStatus | undefined {
  if (!(error instanceof PointsmanError) || error.code !== 'E_API') return undefined;
  const { status, reason, retryAfterMs, causes } = error.facts;
  return {
    status: typeof status === 'number' ? status : 0,
    reason: typeof reason === 'string' ? reason : '',
    retryAfterMs: typeof retryAfterMs === 'number' ? retryAfterMs : undefined,
    causes: typeof causes === 'string' ? causes : '',
  };
}

/** Milliseconds of a Retry-After header: seconds or a date. */
export function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,6}$/.test(value.trim())) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

interface Known {
  readonly status?: number;
  readonly retryAfterMs?: number | undefined;
  readonly text: string;
}

function statusError(start: string, object: unknown, known: Known): PointsmanError {
  const answer = record(object);
  const isStatus = answer.kind === 'Status';
  const details = record(answer.details);
  const causes = Array.isArray(details.causes)
    ? details.causes.map((cause) => text(record(cause).reason))
    : [];
  const inDetails = details.retryAfterSeconds;
  const reason = isStatus ? text(answer.reason) : '';
  const message = isStatus ? text(answer.message) : known.text.replaceAll(/\s+/g, ' ').trim().slice(0, 200);
  const code = answer.code;
  const status = known.status ?? (typeof code === 'number' ? code : 0);
  const facts: Facts & Partial<ApiStatus> = {
    status,
    reason,
    causes: causes.filter((cause) => cause !== '').join(','),
    retryAfterMs:
      known.retryAfterMs ?? (typeof inDetails === 'number' && inDetails > 0 ? inDetails * 1000 : undefined),
  };
  const hint = HINTS[status];
  const parts = [`${start}${reason === '' ? '' : ` ${reason}`}`, message].filter((part) => part !== '');
  return new PointsmanError('E_API', parts.join(': '), { facts, ...(hint === undefined ? {} : { hint }) });
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

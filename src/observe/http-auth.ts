// Who may read the metrics port: whoever the API server knows by the bearer token and allows the path
// (TokenReview and SubjectAccessReview, as components of Kubernetes delegate it).
import { createHash } from 'node:crypto';
import type { Logger } from '../base/log.ts';
import type { HttpAnswer, HttpRequest, HttpRoutes } from './http-server.ts';

/** The API server, as `Transport` is it. */
export interface ReviewApi {
  json(method: string, path: string, options?: { readonly body?: unknown }): Promise<unknown>;
}

export interface AuthOptions {
  readonly api: ReviewApi;
  readonly log: Logger;
  /** Milliseconds that only grow. */
  readonly clock: () => number;
}

interface Verdict {
  readonly answer: HttpAnswer | undefined;
  readonly until: number;
}

const ALLOWED_MS = 60_000;
const DENIED_MS = 10_000;
/** Strangers may try many tokens. */
const KEPT = 256;
const PLAIN = 'text/plain; charset=utf-8';

/** Lets through to `routes` who may; `open` are paths that anyone may have, as probes do. */
export function guardedRoutes(
  { api, log, clock }: AuthOptions,
  open: readonly string[],
  routes: HttpRoutes,
): HttpRoutes {
  const verdicts = new Map<string, Verdict>();
  return async (path, request) => {
    if (open.includes(path)) return routes(path, request);
    const token = bearerOf(request);
    if (token === undefined)
      return { ...refusal(401, 'a bearer token is needed'), headers: { 'WWW-Authenticate': 'Bearer' } };
    const verb = request.method.toLowerCase();
    const key = createHash('sha256').update(`${verb} ${path} ${token}`).digest('base64');
    const known = verdicts.get(key);
    if (known === undefined || known.until < clock()) {
      const answer = await review(api, log, token, verb, path);
      if (verdicts.size >= KEPT) verdicts.clear();
      // An API server that is away says nothing about the token: it is asked again at once.
      if (answer?.status !== 503)
        verdicts.set(key, { answer, until: clock() + (answer === undefined ? ALLOWED_MS : DENIED_MS) });
      if (answer !== undefined) return answer;
    } else if (known.answer !== undefined) return known.answer;
    return routes(path, request);
  };
}

function bearerOf({ headers }: HttpRequest): string | undefined {
  const match = /^Bearer +(\S+)$/i.exec(String(headers.authorization ?? ''));
  return match?.[1];
}

const refusal = (status: number, because: string): HttpAnswer => ({
  status,
  contentType: PLAIN,
  body: `${because}\n`,
});

/** Undefined when it is allowed. */
async function review(
  api: ReviewApi,
  log: Logger,
  token: string,
  verb: string,
  path: string,
): Promise<HttpAnswer | undefined> {
  try {
    const known = statusOf(
      await api.json('POST', '/apis/authentication.k8s.io/v1/tokenreviews', {
        body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } },
      }),
    );
    if (known.authenticated !== true) return refusal(401, 'the bearer token is not known to the cluster');
    const user = typeof known.user === 'object' && known.user !== null ? known.user : {};
    const { username, groups, uid, extra } = user as Readonly<Record<string, unknown>>;
    const allowed = statusOf(
      await api.json('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
        body: {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SubjectAccessReview',
          spec: { user: username, groups, uid, extra, nonResourceAttributes: { path, verb } },
        },
      }),
    );
    if (allowed.allowed === true) return undefined;
    return refusal(403, `user ${JSON.stringify(username ?? '')} may not ${verb} ${path}`);
  } catch (error) {
    log.error(error, 'The API server cannot say who may read the metrics port', { path });
    return refusal(503, 'the API server cannot be asked who may read this');
  }
}

function statusOf(object: unknown): Readonly<Record<string, unknown>> {
  if (typeof object !== 'object' || object === null || !('status' in object)) return {};
  const { status } = object;
  return typeof status === 'object' && status !== null ? (status as Readonly<Record<string, unknown>>) : {};
}

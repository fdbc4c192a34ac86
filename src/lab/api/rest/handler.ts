// One request from its first byte to its last: faults, who asks, what is asked for, the answer.
import type { TLSSocket } from 'node:tls';
import { sleep } from '../../../base/backoff.ts';
import type { Logger } from '../../../base/log.ts';
import type { AskedRequest, Fault, Faults } from '../faults.ts';
import { ANONYMOUS, bearerToken, type Tokens, type User, userOfCertificate } from '../identity/users.ts';
import type { Registry } from '../registry/context.ts';
import type { Resource } from '../resources/definition.ts';
import { reviewSchema } from '../schema/requests.ts';
import { failure, methodNotAllowed, noSuchPath, notAcceptable, unauthorized } from '../status.ts';
import { readBody } from './body.ts';
import { createDiscovery } from './discovery.ts';
import type { Encoder } from './encode.ts';
import { acceptedForm } from './media.ts';
import { createOpenApi } from './openapi.ts';
import { isTrue, selectionOf } from './parameters.ts';
import {
  type ApiRequest,
  apiRequest,
  jsonReply,
  type RawRequest,
  type RawResponse,
  type Reply,
} from './request.ts';
import { answerResource } from './resource-requests.ts';
import { dropConnection, respond } from './respond.ts';
import { REVIEWS, reviewed } from './reviews.ts';
import { createRouter, type Route } from './routes.ts';
import { streamWatch, type WatchTimes } from './watch-stream.ts';

export interface HandlerOptions {
  readonly registry: Registry;
  readonly resources: readonly Resource[];
  readonly encoder: Encoder;
  readonly tokens: Tokens;
  readonly faults: Faults;
  readonly times: WatchTimes;
  readonly log: Logger;
  readonly onRequest: (request: AskedRequest) => void;
  /** Ends watches and delays when the server closes. */
  readonly signal: AbortSignal;
}

export type Handler = (raw: RawRequest, response: RawResponse) => void;

const VERSION = {
  major: '1',
  minor: '36',
  gitVersion: 'v1.36.0',
  gitCommit: '',
  gitTreeState: '',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: '',
  platform: `linux/${process.arch === 'x64' ? 'amd64' : process.arch}`,
};
const PUBLIC = ['/healthz', '/livez', '/readyz', '/version'];

function userOf(raw: RawRequest, tokens: Tokens): User | undefined {
  const token = bearerToken(raw.headers.authorization);
  if (token !== undefined) return tokens.userOf(token);
  const socket = raw.socket as TLSSocket;
  return socket.authorized ? userOfCertificate(socket.getPeerCertificate()) : undefined;
}

export function createHandler(options: HandlerOptions): Handler {
  const { registry, resources, encoder, tokens, faults, log, signal } = options;
  const router = createRouter(resources);
  const discovery = createDiscovery(resources);
  const openApi = createOpenApi(resources);

  const answerOther = async (request: ApiRequest): Promise<Reply> => {
    const { path } = request;
    const found = discovery.reply(request) ?? openApi.reply(request);
    if (found) return found;
    if (path === '/version') return jsonReply(200, VERSION);
    if (PUBLIC.some((known) => path === known || path.startsWith(`${known}/`)))
      return { code: 200, body: { text: 'ok' }, contentType: 'text/plain; charset=utf-8' };
    const review = REVIEWS.find(({ group, plural }) => path === `/apis/${group}/v1/${plural}`);
    if (review === undefined) return jsonReply(404, noSuchPath().status);
    if (request.method !== 'POST') return jsonReply(405, methodNotAllowed().status);
    const body = await readBody(request, {
      kind: review.kind,
      schema: reviewSchema(review.group, review.kind),
    });
    return body.ok
      ? jsonReply(201, reviewed(review, body.value, request.user, tokens))
      : jsonReply(body.status.code ?? 400, body.status);
  };

  const answerWatch = (
    request: ApiRequest,
    route: Route,
    raw: RawRequest,
    response: RawResponse,
    fault: Fault | undefined,
  ): Reply | undefined => {
    const form = acceptedForm(request.header('accept'), false);
    if (form === undefined) return jsonReply(406, notAcceptable().status);
    const query = new URLSearchParams(request.query);
    if (route.name !== undefined) query.set('fieldSelector', `metadata.name=${route.name}`);
    const refused = streamWatch(
      {
        registry,
        encoder,
        resource: route.resource,
        selection: selectionOf(query, route.namespace),
        query,
        form,
        times: options.times,
      },
      raw,
      response,
      fault,
      signal,
    );
    return refused === undefined ? undefined : jsonReply(refused.status.code ?? 400, refused.status);
  };

  const handle = async (raw: RawRequest, response: RawResponse): Promise<void> => {
    const user = userOf(raw, tokens);
    const request = apiRequest(raw, user ?? ANONYMOUS);
    const route = router.route(request.path);
    const isWatch =
      route !== undefined &&
      request.method === 'GET' &&
      (route.watch || (isTrue(request.query.get('watch')) && route.name === undefined));
    const asked: AskedRequest = {
      method: request.method,
      path: request.path,
      query: request.query,
      resource: route?.resource.plural,
      isWatch,
      user: request.user.name,
    };
    options.onRequest(asked);
    log.debug(6, 'lab API request', { method: asked.method, path: raw.url, user: asked.user });

    const struck = faults.strike(asked);
    for (const fault of struck) if (fault.kind === 'delay') await sleep(fault.ms, signal);
    const fault = struck.find(({ kind }) => kind !== 'delay');
    if (fault?.kind === 'drop') return dropConnection(raw);
    if (fault?.kind === 'hang') return;
    if (fault?.kind === 'fail') return respond(raw, response, failing(fault), undefined);

    const answer = async (): Promise<Reply | undefined> => {
      if (user === undefined && !PUBLIC.some((path) => request.path.startsWith(path)))
        return jsonReply(401, unauthorized().status);
      if (route === undefined) return answerOther(request);
      if (!isWatch || fault?.kind === 'garbage' || fault?.kind === 'truncate')
        return answerResource({ registry, encoder, tokens }, request, route);
      return answerWatch(request, route, raw, response, fault);
    };
    const reply = await answer();
    if (reply !== undefined) respond(raw, response, reply, fault);
  };

  return (raw, response) => {
    handle(raw, response).catch((error: unknown) => {
      // A client that goes away in the middle of its body is no fault of the server.
      if (raw.destroyed && !response.headersSent) return;
      log.error(error, 'lab API request failed', { path: raw.url });
      const { status } = failure(500, 'InternalError', `Internal error occurred: ${String(error)}`);
      if (!response.headersSent) respond(raw, response, jsonReply(500, status), undefined);
    });
  };
}

function failing(fault: Extract<Fault, { kind: 'fail' }>): Reply {
  const words: Readonly<Record<number, readonly [reason: string, message: string]>> = {
    410: ['Expired', 'The resourceVersion for the provided list is too old.'],
    429: ['TooManyRequests', 'Too many requests, please try again later.'],
    500: ['InternalError', 'Internal error occurred: injected by the test'],
    503: ['ServiceUnavailable', 'the server is currently unable to handle the request'],
  };
  const [reason, message] = words[fault.code] ?? ['Unknown', 'unknown'];
  const { retryAfterSeconds } = fault;
  const { status } = failure(
    fault.code,
    reason,
    message,
    retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } },
  );
  const headers =
    retryAfterSeconds === undefined ? {} : { headers: { 'retry-after': String(retryAfterSeconds) } };
  return jsonReply(fault.code, status, headers);
}

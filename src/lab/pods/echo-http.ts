// The Pods' HTTP server.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { sleep } from '../../base/backoff.ts';
import { answerInWords, type EchoAnswer, encodeEchoAnswer, secondsOf, sleepWish } from './echo-answer.ts';

export interface EchoHttpOptions {
  readonly pod: string;
  readonly node: string;
  /** What the Pod was asked last; true until then. */
  readonly isReady: () => boolean;
  /** Aborted when the server closes: nobody waits any longer. */
  readonly signal: AbortSignal;
  /** The Pod was asked to fail its readiness, or to be ready again. */
  readonly onReadiness: (ready: boolean) => void;
}

const DEFAULT_TICK_SECONDS = 1;

/**
 * Answers any request with who answered:
 *
 *     GET /?sleep=2             after two seconds
 *     GET /stream?every=0.5     a line each half second until the client leaves; `count=10` ends after ten
 *     POST /unready, /ready     takes the Pod out of service, and back
 *     GET /healthz              200, or 503 after `/unready` until `/ready`
 *
 * With `Accept: text/plain`, or `text` among the parameters, in words instead of JSON.
 */
export function echoHttpHandler(
  options: EchoHttpOptions,
): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    // Only a response that failed on its way to a client that left can reject.
    answer(options, request, response).catch(() => response.destroy());
  };
}

async function answer(
  { pod, node, isReady, signal, onReadiness }: EchoHttpOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  request.resume();
  const { socket } = request;
  const who: EchoAnswer = {
    pod,
    node,
    server: { address: socket.localAddress ?? '', port: socket.localPort ?? 0 },
    client: { address: socket.remoteAddress ?? '', port: socket.remotePort ?? 0 },
  };
  const [path = '/', query = ''] = (request.url ?? '/').split('?', 2);
  const wishes = new URLSearchParams(query);
  const inWords = wishes.has('text') || request.headers.accept?.startsWith('text/plain') === true;
  const line = inWords ? answerInWords(who) : encodeEchoAnswer(who);
  response.setHeader('content-type', inWords ? 'text/plain; charset=utf-8' : 'application/json');
  if (path === '/ready' || path === '/unready') {
    if (request.method !== 'POST') {
      response.writeHead(405, { allow: 'POST' }).end();
      return;
    }
    onReadiness(path === '/ready');
  }
  if (path === '/healthz' && !isReady()) response.statusCode = 503;
  if (path === '/stream') return stream(response, line, wishes, signal);
  const wait = sleepWish(wishes);
  if (wait > 0) await pause(wait, response, signal);
  response.setHeader('content-length', Buffer.byteLength(line));
  response.end(line);
}

async function stream(
  response: ServerResponse,
  line: string,
  wishes: URLSearchParams,
  signal: AbortSignal,
): Promise<void> {
  const everyMs = 1000 * secondsOf(wishes.get('every'), DEFAULT_TICK_SECONDS);
  const count = Number(wishes.get('count') ?? Number.POSITIVE_INFINITY);
  for (let tick = 0; tick < count && !response.destroyed && !signal.aborted; tick += 1) {
    if (tick > 0) await pause(Math.max(everyMs, 1), response, signal);
    response.write(line);
  }
  response.end();
}

/** Waits, but not for a client that has left. */
async function pause(ms: number, response: ServerResponse, signal: AbortSignal): Promise<void> {
  const left = new AbortController();
  const leave = (): void => left.abort();
  response.once('close', leave);
  try {
    await sleep(ms, AbortSignal.any([signal, left.signal]));
  } finally {
    response.off('close', leave);
  }
}

// Writes answers: headers, gzip for large ones, and the faults that concern an answer's bytes.
import { gzipSync } from 'node:zlib';
import type { Fault } from '../faults.ts';
import type { RawRequest, RawResponse, Reply } from './request.ts';

/** Larger answers are compressed for clients that can read it, as the real server does. */
const GZIP_FROM_BYTES = 128 * 1024;

/** Closes the whole connection, not only the request. */
export function dropConnection(raw: RawRequest): void {
  const session = raw.httpVersionMajor >= 2 ? raw.stream.session : undefined;
  if (session) session.destroy();
  else raw.socket.destroy();
}

export function commonHeaders(): Readonly<Record<string, string>> {
  return { 'audit-id': crypto.randomUUID(), 'cache-control': 'no-cache, private' };
}

/** The value of a Warning header (RFC 7234). */
export function warningHeader(text: string): string {
  return `299 - "${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

function textOf(reply: Reply, raw: RawRequest): string {
  if ('text' in reply.body) return reply.body.text;
  if ('bytes' in reply.body) return '';
  // People who look with curl get it spread out.
  const pretty = /^(curl|Wget)\//.test(raw.headers['user-agent'] ?? '');
  return JSON.stringify(reply.body.json, undefined, pretty ? 2 : undefined);
}

/** Sends an answer in one piece. */
export function respond(
  raw: RawRequest,
  response: RawResponse,
  reply: Reply,
  fault: Fault | undefined,
): void {
  if (response.writableEnded || response.destroyed) return;
  let text = textOf(reply, raw);
  if (fault?.kind === 'garbage') text = fault.text ?? '{"kind":"Service","metadata":{"na';
  if (fault?.kind === 'rewrite') text = fault.rewrite(text);
  const plain = 'bytes' in reply.body ? Buffer.from(reply.body.bytes) : Buffer.from(text, 'utf8');
  const packed =
    plain.length >= GZIP_FROM_BYTES && /\bgzip\b/.test(String(raw.headers['accept-encoding'] ?? ''));
  const bytes = packed ? gzipSync(plain, { level: 1 }) : plain;
  response.writeHead(fault?.kind === 'garbage' ? 200 : reply.code, {
    ...commonHeaders(),
    // What is said of a body that is not sent would replace what a cache knows of it.
    ...(reply.code === 304 ? {} : { 'content-type': reply.contentType ?? 'application/json' }),
    ...(packed ? { 'content-encoding': 'gzip', vary: 'Accept-Encoding' } : {}),
    ...(reply.code === 304 ? {} : { 'content-length': String(bytes.length) }),
    ...(reply.warnings === undefined || reply.warnings.length === 0
      ? {}
      : { warning: reply.warnings.map(warningHeader).join(', ') }),
    ...reply.headers,
  });
  if (fault?.kind === 'truncate' && raw.method !== 'HEAD') {
    response.write(bytes.subarray(0, fault.bytes), () => dropConnection(raw));
    return;
  }
  response.end(raw.method === 'HEAD' || reply.code === 304 ? undefined : bytes);
}

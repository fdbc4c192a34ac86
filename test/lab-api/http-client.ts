// HTTPS by hand, for what kubectl does not show: HTTP/1.1 with the admin's client certificate.
import type { IncomingHttpHeaders, IncomingMessage, RequestOptions } from 'node:http';
import { Agent, request } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { parse } from 'yaml';
import type { Rig } from './rig.ts';

type Json = ReturnType<typeof JSON.parse>;

export interface HttpAnswer {
  readonly code: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body, when it is JSON. */
  readonly json: Json;
}

export interface HttpClient {
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<HttpAnswer>;
  send(method: string, path: string, body: string | Buffer, type?: string): Promise<HttpAnswer>;
  /** The lines of a watch up to the one that `last` accepts, or to the end. */
  watch(
    path: string,
    last: (line: Json) => boolean,
    headers?: Readonly<Record<string, string>>,
  ): Promise<readonly Json[]>;
  close(): void;
}

export function createHttpClient(rig: Rig, options: { readonly anonymous?: boolean } = {}): HttpClient {
  const config = parse(rig.server.kubeconfig(rig.url));
  const user = config.users[0].user;
  const pem = (text: string): string => Buffer.from(text, 'base64').toString();
  const agent = new Agent({
    keepAlive: false,
    ca: rig.server.authority,
    ...(options.anonymous
      ? {}
      : { cert: pem(user['client-certificate-data']), key: pem(user['client-key-data']) }),
  });
  const start = (path: string, more: RequestOptions, body?: string | Buffer): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const asked = request(`${rig.url}${path}`, { agent, ...more }, resolve);
      asked.once('error', reject);
      asked.end(body);
    });
  const whole = async (message: IncomingMessage): Promise<HttpAnswer> => {
    const bytes = await buffer(message);
    const text = (message.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString();
    let json: Json;
    try {
      json = JSON.parse(text);
    } catch {
      json = undefined;
    }
    return { code: message.statusCode ?? 0, headers: message.headers, text, json };
  };
  return {
    get: async (path, headers = {}) => whole(await start(path, { headers })),
    send: async (method, path, body, type = 'application/json') =>
      whole(
        await start(
          path,
          { method, headers: { 'content-type': type, 'content-length': Buffer.byteLength(body) } },
          body,
        ),
      ),
    async watch(path, last, headers = {}) {
      const message = await start(path, { headers });
      const lines: Json[] = [];
      let left = '';
      for await (const chunk of message) {
        const parts = (left + String(chunk)).split('\n');
        left = parts.pop() ?? '';
        for (const part of parts) {
          lines.push(JSON.parse(part));
          if (last(lines.at(-1))) return lines;
        }
      }
      return lines;
    },
    close: () => agent.destroy(),
  };
}

// The real program in a process of its own, inside a test's network namespace.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { tcpSocketIn } from '../../src/kernel/netns.ts';
import type { Sys } from '../../src/kernel/sys/sys.ts';
import type { TestNamespace } from '../kernel/test-namespace.ts';

export const PROGRAM: string = fileURLToPath(new URL('../../bin/pointsman', import.meta.url));

/** How a process ended. */
export interface End {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

export interface Program extends AsyncDisposable {
  readonly child: ChildProcess;
  /** Resolves with the first line on stderr, past or to come, that matches. */
  said(pattern: RegExp): Promise<string>;
  /** Resolves with the first line on stderr to come that matches. */
  next(pattern: RegExp): Promise<string>;
  readonly ended: Promise<End>;
}

/** Starts a command in a namespace; it is killed at the end of the scope. */
export function start(namespace: Pick<TestNamespace, 'name'>, ...command: readonly string[]): Program {
  const child = spawn('ip', ['netns', 'exec', namespace.name, ...command], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: '/nonexistent' },
  });
  const lines: string[] = [];
  const waiting = new Set<{ readonly pattern: RegExp; readonly found: (line: string) => void }>();
  let out = '';
  let err = '';
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    for (const line of parts) {
      lines.push(line);
      for (const each of waiting) if (each.pattern.test(line)) each.found(line);
    }
  });
  const ended = once(child, 'close').then(([code, signal]): End => ({ code, signal, out, err }));
  const next = (pattern: RegExp): Promise<string> => {
    const { promise, resolve } = Promise.withResolvers<string>();
    waiting.add({ pattern, found: resolve });
    const early = ended.then((end): string => {
      throw new Error(`the program ended with ${end.code} before it said ${pattern}:\n${end.err}`);
    });
    return Promise.race([promise, early]);
  };
  return {
    child,
    next,
    said(pattern) {
      const past = lines.find((line) => pattern.test(line));
      return past === undefined ? next(pattern) : Promise.resolve(past);
    },
    ended,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** A GET from inside a namespace. */
export async function get(sys: Sys, namespace: Pick<TestNamespace, 'path'>, url: string): Promise<Answer> {
  const { hostname, port, pathname } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const outgoing = request({
    path: pathname,
    headers: { host: 'node', connection: 'close' },
    createConnection: () => {
      const fd = tcpSocketIn(sys, { namespace: namespace.path, family: host.includes(':') ? 6 : 4 });
      return new Socket({ fd, readable: true, writable: true }).connect({ host, port: Number(port) });
    },
  });
  outgoing.end();
  const [response] = await once(outgoing, 'response');
  let body = '';
  for await (const chunk of response.setEncoding('utf8')) body += chunk;
  return { status: response.statusCode, headers: response.headers, body };
}

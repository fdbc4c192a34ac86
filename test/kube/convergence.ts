// The frame of the tests of list and watch: a server, a reflector, and at the end the proof that they are in step.
import assert from 'node:assert/strict';
import type { Exchange } from './exchange.ts';
import { type Watched, type WatchSetup, watchServices } from './harness.ts';
import { type MisbehavingServer, startServer } from './misbehaving-server.ts';

export const isList = (exchange: Exchange): boolean => !exchange.isWatch;
export const isWatch = (exchange: Exchange): boolean => exchange.isWatch && !exchange.isStreamedList;
export const isStream = (exchange: Exchange): boolean => exchange.isStreamedList;
export const any = (): boolean => true;

export type Start = (setup?: Omit<WatchSetup, 'server'>) => Watched;

/** Runs with a server of three objects, and checks at the end that the owner can still follow it. */
export async function withServer(
  options: { readonly streams?: boolean; readonly gzip?: boolean },
  body: (server: MisbehavingServer, start: Start) => Promise<void>,
): Promise<void> {
  await using server = await startServer({ protocol: 'http', ...options });
  for (const name of ['a', 'b', 'c']) server.put(name);
  let watched: Watched | undefined;
  try {
    await body(server, (setup = {}) => {
      watched = watchServices({ server, ...setup });
      return watched;
    });
    assert.ok(watched !== undefined);
    await follows(server, watched);
  } finally {
    await watched?.stop();
  }
}

/** The proof of convergence: a change, an addition and a deletion made now arrive, and nothing else is left over. */
async function follows(server: MisbehavingServer, watched: Watched): Promise<void> {
  server.put('last', { spec: { value: server.version } });
  server.put('gone');
  await watched.until('the addition', () => watched.objects.has('shop/gone'));
  server.remove('gone');
  await watched.until('the deletion', () => !watched.objects.has('shop/gone'));
  assert.deepEqual(keys(watched), server.names);
  assert.equal(watched.status().objects, watched.objects.size);
}

export function keys(watched: Watched): string[] {
  return [...watched.objects.keys()].sort();
}

export const ABC: readonly string[] = ['shop/a', 'shop/b', 'shop/c'];

export async function synced(watched: Watched): Promise<void> {
  await watched.until('the first list', () => watched.status().synced);
}

export function said(watched: Watched, pattern: RegExp): void {
  assert.ok(
    watched.lines.some((line) => pattern.test(line)),
    `no log line matches ${pattern}:\n${watched.lines.join('\n')}`,
  );
}

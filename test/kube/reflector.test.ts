// List and watch against an API server that misbehaves: each time the owner ends in step, and the log says what happened.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Exchange } from './exchange.ts';
import { type Watched, type WatchSetup, watchServices } from './harness.ts';
import { type MisbehavingServer, startServer } from './misbehaving-server.ts';

const isList = (exchange: Exchange): boolean => !exchange.isWatch;
const isWatch = (exchange: Exchange): boolean => exchange.isWatch && !exchange.isStreamedList;
const isStream = (exchange: Exchange): boolean => exchange.isStreamedList;
const any = (): boolean => true;

type Start = (setup?: Omit<WatchSetup, 'server'>) => Watched;

/** Runs with a server of three objects, and checks at the end that the owner can still follow it. */
async function withServer(
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
  assert.ok(watched.objects.has('shop/last'));
  assert.equal(watched.status().objects, watched.objects.size);
}

function keys(watched: Watched): string[] {
  return [...watched.objects.keys()].sort();
}

const ABC = ['shop/a', 'shop/b', 'shop/c'];

async function synced(watched: Watched): Promise<void> {
  await watched.until('the first list', () => watched.status().synced);
}

function said(watched: Watched, pattern: RegExp): void {
  assert.ok(
    watched.lines.some((line) => pattern.test(line)),
    `no log line matches ${pattern}:\n${watched.lines.join('\n')}`,
  );
}

test('a streamed list delivers every object, then each change', () =>
  withServer({}, async (server, start) => {
    const watched = start();
    await synced(watched);
    assert.deepEqual(keys(watched), ABC);
    const [first] = server.requests;
    assert.equal(first?.query.get('allowWatchBookmarks'), 'true');
    assert.equal(first?.query.get('resourceVersionMatch'), 'NotOlderThan');
    said(watched, /^Listed services .*"how":"stream"/);
    server.put('b', { spec: { value: 7 } });
    await watched.until('the change', () => watched.objects.get('shop/b') === 7);
    assert.equal(server.requests.length, 1);
  }));

test('a server that cannot stream lists is asked for pages, and not asked to stream again', () =>
  withServer({ streams: false }, async (server, start) => {
    const watched = start();
    await synced(watched);
    assert.deepEqual(keys(watched), ABC);
    said(watched, /^Listed services .*"how":"pages"/);
    await watched.until('the watch', () => server.openWatches === 1);
    server.once(isWatch, (exchange) => exchange.refuse({ status: 410, reason: 'Expired' }));
    server.endWatches();
    await watched.until('a second list', () => server.requests.filter(isList).length === 2);
    assert.equal(server.requests.filter(isStream).length, 1);
  }));

test('a list of 1200 objects is read in pages of 500, also compressed', () =>
  withServer({ streams: false, gzip: true }, async (server, start) => {
    for (let index = 0; index < 1197; index += 1) server.put(`s${index}`);
    const watched = start();
    await synced(watched);
    assert.equal(watched.objects.size, 1200);
    const lists = server.requests.filter(isList);
    assert.deepEqual(
      lists.map(({ query }) => query.get('limit')),
      ['500', '500', '500'],
    );
    assert.deepEqual(
      lists.map(({ query }) => query.has('resourceVersionMatch') && query.has('continue')),
      [false, false, false],
    );
  }));

test('an expired continue token begins the list anew, in one piece', () =>
  withServer({ streams: false }, async (server, start) => {
    for (let index = 0; index < 700; index += 1) server.put(`s${index}`);
    server.once(
      (exchange) => exchange.query.has('continue'),
      (exchange) => {
        server.remove('s3');
        server.compact();
        exchange.serve();
      },
    );
    const watched = start();
    await synced(watched);
    assert.equal(watched.objects.has('shop/s3'), false);
    assert.equal(watched.objects.size, 702);
    said(watched, /410 Expired.*listing anew in one piece/);
  }));

test('a dropped watch is resumed from where it was, without telling anything twice', () =>
  withServer({}, async (server, start) => {
    const watched = start();
    await synced(watched);
    server.breakConnections();
    server.put('b', { spec: { value: 1 } });
    await watched.until('the change', () => watched.objects.get('shop/b') === 1);
    assert.deepEqual(
      watched.changes.map(({ key }) => key),
      ['shop/a', 'shop/b', 'shop/c', 'shop/b'],
    );
    said(watched, /Watch of services: .*resuming/);
    await watched.until('the all-clear', () => watched.lines.some((line) => /is in step again/.test(line)));
    assert.equal(server.requests.at(-1)?.query.get('resourceVersion'), '103');
  }));

test('a watch that the server ends early is resumed, and said', () =>
  withServer({}, async (server, start) => {
    const watched = start();
    await synced(watched);
    server.endWatches();
    await watched.until('the next watch', () => server.requests.filter(isWatch).length === 1);
    said(watched, /ended the watch early/);
  }));

for (const [where, fail] of [
  [
    'as an answer',
    (exchange: Exchange) =>
      exchange.refuse({ status: 410, reason: 'Expired', message: 'too old resource version' }),
  ],
  [
    'as an event',
    (exchange: Exchange) => {
      exchange.open();
      const object = {
        kind: 'Status',
        status: 'Failure',
        code: 410,
        reason: 'Expired',
        message: 'too old resource version',
      };
      exchange.write(`${JSON.stringify({ type: 'ERROR', object })}\n`);
      exchange.end();
    },
  ],
] as const) {
  test(`410 Gone ${where}: what was deleted meanwhile is reported, what is unchanged is not`, () =>
    withServer({}, async (server, start) => {
      const watched = start();
      await synced(watched);
      server.once(isWatch, (exchange) => {
        server.remove('a');
        server.put('d');
        server.compact();
        fail(exchange);
      });
      server.endWatches();
      await watched.until('the difference', () => watched.changes.length === 5);
      assert.deepEqual(
        watched.changes.slice(3).map(({ kind, key }) => `${kind} ${key}`),
        ['set shop/d', 'delete shop/a'],
      );
      said(watched, /410 Expired.*too old resource version.*listing anew/);
      said(watched, /^Listed services anew .*"vanished":1/);
    }));
}

for (const { status, reason, headers } of [
  { status: 429, reason: 'TooManyRequests', headers: { 'retry-after': '1' } },
  { status: 500, reason: 'InternalError', headers: {} },
  { status: 503, reason: 'ServiceUnavailable', headers: {} },
  { status: 403, reason: 'Forbidden', headers: {} },
]) {
  test(`${status} for list and watch: it tries again until it is served, and says why`, () =>
    withServer({}, async (server, start) => {
      server.once(any, (exchange) => exchange.refuse({ status, reason, headers, message: 'not now' }));
      server.once(any, (exchange) => exchange.refuse({ status, reason, headers, message: 'not now' }));
      const before = performance.now();
      const watched = start();
      await synced(watched);
      assert.deepEqual(keys(watched), ABC);
      said(watched, new RegExp(`${status} ${reason}: not now`));
      assert.equal(watched.lines.filter((line) => line.includes('not now')).length, 1, 'said once');
      if ('retry-after' in headers) assert.ok(performance.now() - before >= 2000, 'Retry-After was not kept');
    }));
}

test('garbage in the stream: the watch is resumed and nothing is lost', () =>
  withServer({}, async (server, start) => {
    const watched = start();
    await synced(watched);
    server.shout('{"type":"MODIFIED","object":{"metad');
    server.put('b', { spec: { value: 2 } });
    await watched.until('the change', () => watched.objects.get('shop/b') === 2);
    said(watched, /no JSON.*resuming/);
  }));

test('garbage at the same place again and again leads to a new list', () =>
  withServer({}, async (server, start) => {
    const watched = start();
    await synced(watched);
    for (let times = 0; times < 3; times += 1) {
      server.once(isWatch, (exchange) => {
        exchange.open();
        exchange.write('<html>\n');
        exchange.end();
      });
    }
    server.endWatches();
    await watched.until('a second list', () =>
      watched.lines.some((line) => /^Listed services anew/.test(line)),
    );
    said(watched, /three times at the same place, listing anew/);
  }));

test('a list that is garbled as a stream is taken by pages', () =>
  withServer({}, async (server, start) => {
    server.once(isStream, (exchange) => {
      exchange.open();
      exchange.write(
        '{"type":"ADDED","object":{"metadata":{"name":"z","namespace":"shop","resourceVersion":"1"}}}\n',
      );
      exchange.write('!!!\n');
      exchange.end();
    });
    const watched = start();
    await synced(watched);
    assert.deepEqual(keys(watched), ABC);
    said(watched, /^Listed services .*"how":"pages"/);
  }));

test('a server that ignores sendInitialEvents is asked for pages', () =>
  withServer({}, async (server, start) => {
    server.once(isStream, (exchange) => exchange.open());
    const watched = start({ timing: { listSilence: 50 } });
    await synced(watched);
    assert.deepEqual(keys(watched), ABC);
    said(watched, /not completed, listing by pages/);
  }));

for (const [what, text] of [
  [
    'is cut off',
    '{"kind":"ServiceList","metadata":{"resourceVersion":"103"},"items":[{"metadata":{"name":"a"',
  ],
  ['is no JSON', 'Bad gateway, sorry'],
  ['has no version', '{"kind":"ServiceList","metadata":{},"items":[]}'],
] as const) {
  test(`a list that ${what} is asked for again`, () =>
    withServer({ streams: false }, async (server, start) => {
      server.once(isList, (exchange) => {
        exchange.open();
        exchange.write(text);
        exchange.end();
      });
      const watched = start();
      await synced(watched);
      assert.deepEqual(keys(watched), ABC);
      said(watched, /list.*trying again/);
    }));
}

test('half an event at the end is sent again after the resume', () =>
  withServer({}, async (server, start) => {
    const watched = start();
    await synced(watched);
    server.once(isWatch, (exchange) => {
      exchange.open();
      exchange.write('{"type":"MODIFIED","object":{"metadata":{"name":"b","namespace":"shop","resourceVer');
      exchange.end();
    });
    server.endWatches();
    server.put('b', { spec: { value: 3 } });
    await watched.until('the change', () => watched.objects.get('shop/b') === 3);
  }));

test('an event without its newline at the end counts', () =>
  withServer({}, async (server, start) => {
    const watched = start();
    await synced(watched);
    server.once(isWatch, (exchange) => {
      exchange.open();
      const metadata = { name: 'e', namespace: 'shop', resourceVersion: '104' };
      exchange.write(JSON.stringify({ type: 'ADDED', object: { metadata } }));
      exchange.end();
    });
    server.endWatches();
    await watched.until('the addition', () => watched.objects.has('shop/e'));
    assert.equal(watched.status().resourceVersion, '104');
    server.put('e');
  }));

test('a server that hangs before it answers is asked again', () =>
  withServer({}, async (server, start) => {
    server.once(isStream, () => {});
    const watched = start({ transportTiming: { head: 100 } });
    await synced(watched);
    assert.deepEqual(keys(watched), ABC);
    said(watched, /did not answer GET .* in 0.1 s, trying again/);
  }));

test('a server that drops every watch after one event is still followed, and the log stays short', () =>
  withServer({}, async (server, start) => {
    const watched = start();
    await synced(watched);
    for (let index = 0; index < 20; index += 1) {
      server.put('a', { spec: { value: index } });
      await watched.until(`change ${index}`, () => watched.objects.get('shop/a') === index);
      server.endWatches();
    }
    assert.ok(watched.lines.length <= 11, watched.lines.join('\n'));
  }));

test('an object of 1 MB, unknown fields and duplicate keys pass', () =>
  withServer({}, async (server, start) => {
    const watched = start();
    await synced(watched);
    server.put('big', { spec: { value: 'x'.repeat(1 << 20), novel: [{ deep: {} }] }, strange: null });
    await watched.until('the big object', () => String(watched.objects.get('shop/big')).length === 1 << 20);
    server.shout(
      '{"type":"ADDED","type":"ADDED","object":{"spec":{"value":1},"metadata":{"name":"x","name":"twice","namespace":"shop","resourceVersion":"104"},"spec":{"value":2}}}',
    );
    await watched.until('the object with duplicate keys', () => watched.objects.get('shop/twice') === 2);
    server.shout('{"type":"PATCHED","object":{}}');
    server.shout('{"type":"PATCHED","object":{}}');
    server.put('twice', { spec: { value: 4 } });
    await watched.until('the last change', () => watched.objects.get('shop/twice') === 4);
    assert.equal(watched.lines.filter((line) => line.includes('unknown type PATCHED')).length, 1);
  }));

test('an object that cannot be decoded is skipped, said and counted; a good one that turns bad counts as gone', () =>
  withServer({}, async (server, start) => {
    server.put('bad', { spec: { value: 'throw' } });
    const watched = start({
      options: {
        decode(object) {
          const { spec } = object as { readonly spec?: { readonly value?: unknown } };
          if (spec?.value === 'throw') throw new Error('cannot read this');
          return spec?.value === 'nothing' ? undefined : { value: spec?.value };
        },
      },
    });
    await synced(watched);
    assert.deepEqual(keys(watched), ABC);
    said(watched, /An object of services cannot be decoded.*"key":"shop\/bad".*cannot read this/);
    server.put('a', { spec: { value: 'nothing' } });
    await watched.until('the deletion', () => !watched.objects.has('shop/a'));
    assert.equal(watched.status().skipped, 2);
    server.put('bad', { spec: { value: 1 } });
    await watched.until('the correction', () => watched.objects.get('shop/bad') === 1);
  }));

test('a silent watch is replaced, and a second silent one by a new list', () =>
  withServer({}, async (server, start) => {
    const watched = start({ timing: { silence: 200 } });
    await synced(watched);
    server.bookmark();
    await watched.until('the bookmark', () => watched.status().lastContactAt !== undefined);
    server.once(isWatch, (exchange) => {
      exchange.open();
      server.remove('a');
    });
    await watched.until('the new list', () =>
      watched.lines.some((line) => /^Listed services anew/.test(line)),
    );
    said(watched, /nothing came for 0.2 s, resuming on a new watch/);
    said(watched, /nothing came for 0.2 s again, listing anew/);
    assert.equal(watched.objects.has('shop/a'), false);
  }));

test('silence of a server that never sends bookmarks is no trouble, but the watch is replaced', () =>
  withServer({}, async (server, start) => {
    const watched = start({ timing: { silence: 30 } });
    await synced(watched);
    const lines = watched.lines.length;
    await watched.until('three more watches', () => server.requests.filter(isWatch).length >= 3);
    assert.equal(watched.lines.length, lines);
  }));

test('a watch that the server does not end in time is replaced', () =>
  withServer({}, async (server, start) => {
    const watched = start({ timing: { watch: 1000, overdue: -500 } });
    await synced(watched);
    assert.match(server.requests[0]?.query.get('timeoutSeconds') ?? '', /^[12]$/);
    await watched.until('the next watch', () => server.requests.filter(isWatch).length === 1);
    said(watched, /did not end the watch when it should have/);
  }));

test('older and repeated events do not set anything back', () =>
  withServer({}, async (server, start) => {
    const watched = start();
    await synced(watched);
    server.put('b', { spec: { value: 5 } });
    server.put('d');
    server.remove('d');
    await watched.until('the deletion', () => watched.changes.at(-1)?.kind === 'delete');
    const event = (type: string, name: string, version: number): string =>
      JSON.stringify({
        type,
        object: { metadata: { name, namespace: 'shop', resourceVersion: String(version) } },
      });
    server.shout(event('MODIFIED', 'b', 102));
    server.shout(event('DELETED', 'b', 103));
    server.shout(event('ADDED', 'd', 105));
    server.shout(event('MODIFIED', 'b', 104));
    server.put('e');
    await watched.until('the addition', () => watched.objects.has('shop/e'));
    assert.equal(watched.objects.get('shop/b'), 5);
    assert.equal(watched.objects.has('shop/d'), false);
    assert.equal(watched.status().stale, 3);
    assert.equal(watched.status().resourceVersion, '107');
  }));

for (const streams of [true, false]) {
  test(`a server restored from a backup is followed, ${streams ? 'streaming' : 'by pages'}`, () =>
    withServer({ streams }, async (server, start) => {
      const watched = start({ timing: { silence: 200 } });
      await synced(watched);
      await watched.until('the watch', () => server.openWatches === 1);
      server.bookmark();
      server.put('f');
      await watched.until('the addition', () => watched.objects.has('shop/f'));
      server.restore(10, ['a', 'g']);
      server.breakConnections();
      await watched.until('the old state', () => keys(watched).join() === 'shop/a,shop/g');
      said(watched, /state of the server is older than ours/);
      assert.equal(watched.status().resourceVersion, '12');
    }));
}

test('a bookmark below our version leads to a new list', () =>
  withServer({}, async (server, start) => {
    const watched = start();
    await synced(watched);
    server.restore(10, ['g']);
    server.bookmark();
    await watched.until('the old state', () => keys(watched).join() === 'shop/g');
    said(watched, /the server is at version 11, we were at 103/);
  }));

test('a resource that the server lacks counts as empty if it is optional, and appears later', () =>
  withServer({}, async (server, start) => {
    server.once(any, (exchange) => exchange.refuse({ status: 404, reason: 'NotFound' }));
    const watched = start({ options: { optional: true }, timing: { absent: 1500 } });
    await synced(watched);
    assert.equal(watched.objects.size, 0);
    said(watched, /404 NotFound.*going on without/);
    await watched.until('the objects', () => keys(watched).join() === ABC.join());
  }));

test('a server that cannot be reached is waited for, and said once', async () => {
  await using server = await startServer({ protocol: 'http' });
  const port = server.port;
  await server.close();
  const watched = watchServices({ server, url: `http://127.0.0.1:${port}` });
  await watched.until('trouble', () => watched.lines.length > 0);
  await watched.until('more attempts', () => watched.status().restarts >= 3);
  assert.equal(watched.lines.length, 1);
  said(watched, /cannot be reached: connect ECONNREFUSED/);
  assert.equal(watched.status().synced, false);
  assert.match(watched.status().lastError ?? '', /ECONNREFUSED/);
  await watched.stop();
});

test('an exception of the owner ends the reflector with that exception', async () => {
  await using server = await startServer({ protocol: 'http' });
  server.put('a');
  const watched = watchServices({
    server,
    options: {
      onChange() {
        throw new RangeError('owner');
      },
    },
  });
  await assert.rejects(watched.ended, RangeError);
  watched.transport.close();
});

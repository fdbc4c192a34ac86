// Lists from an API server that misbehaves: each time the owner ends in step, and the log says what happened.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ABC, any, isList, isStream, isWatch, keys, said, synced, withServer } from './convergence.ts';
import { watchServices } from './harness.ts';
import { startServer } from './misbehaving-server.ts';

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

test('a list of 1200 objects is read in pages of 500, compressed, and counts once against the rate bound', () =>
  withServer({ streams: false, gzip: true }, async (server, start) => {
    for (let index = 0; index < 1197; index += 1) server.put(`s${index}`);
    const watched = start({ rate: { qps: 0.001, burst: 1 } });
    await synced(watched);
    assert.equal(watched.objects.size, 1200);
    const lists = server.requests.filter(isList);
    assert.ok(lists.every(({ headers }) => headers['accept-encoding'] === 'gzip'));
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

test('a server that hangs before it answers is asked again', () =>
  withServer({}, async (server, start) => {
    server.once(isStream, () => {});
    const watched = start({ transportTiming: { head: 100 } });
    await synced(watched);
    assert.deepEqual(keys(watched), ABC);
    said(watched, /did not answer GET .* in 0.1 s, trying again/);
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
    server.put('a');
    await watched.until(
      'the corrections',
      () => watched.objects.has('shop/a') && watched.objects.has('shop/bad'),
    );
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
  await using watched = watchServices({ server, url: `http://127.0.0.1:${port}` });
  await watched.until('trouble', () => watched.lines.length > 0);
  await watched.until('more attempts', () => watched.status().restarts >= 3);
  assert.equal(watched.lines.length, 1);
  said(watched, /cannot be reached: connect ECONNREFUSED/);
  assert.equal(watched.status().synced, false);
  assert.match(watched.status().lastError ?? '', /ECONNREFUSED/);
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

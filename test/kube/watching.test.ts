// Watches of an API server that misbehaves: each time the owner ends in step, and the log says what happened.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isWatch, keys, said, synced, withServer } from './convergence.ts';
import type { Exchange } from './exchange.ts';

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

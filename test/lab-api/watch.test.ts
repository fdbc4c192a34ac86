import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { createHttpClient, type HttpClient } from './http-client.ts';
import { createRig, type Rig } from './rig.ts';

type Json = ReturnType<typeof JSON.parse>;

const SERVICES = '/api/v1/namespaces/shop/services';
const MAP = '/api/v1/namespaces/shop/configmaps';

describe('a watch over HTTPS', () => {
  let rig: Rig;
  let http: HttpClient;
  const make = (name: string, labels: Record<string, string> = {}): void => {
    rig.server.api.create('configmaps', { metadata: { name, namespace: 'shop', labels } });
  };
  const version = async (): Promise<string> => (await http.get(MAP)).json.metadata.resourceVersion;
  const said = (lines: readonly Json[]): string[] =>
    lines.map(({ type, object }) => `${type} ${object.metadata?.name ?? object.code ?? ''}`.trimEnd());
  before(async () => {
    rig = await createRig({ historyLimit: 40, bookmarkMs: 50 });
    http = createHttpClient(rig);
  });
  beforeEach(() => {
    const { api } = rig.server;
    rig.server.faults.clear();
    api.delete({ resource: 'namespaces', name: 'shop' });
    api.create('namespaces', { metadata: { name: 'shop' } });
  });
  after(async () => {
    http.close();
    await rig[Symbol.asyncDispose]();
  });

  test('resumes after a version without a gap or a repetition', async () => {
    make('a');
    const since = await version();
    make('b');
    make('c');
    const lines = await http.watch(
      `${MAP}?watch=1&resourceVersion=${since}`,
      ({ object }) => object.metadata.name === 'c',
    );
    assert.deepEqual(said(lines), ['ADDED b', 'ADDED c']);
  });

  test('starts with the state when it names no version', async () => {
    make('b');
    make('a');
    const lines = await http.watch(`${MAP}?watch=1`, ({ object }) => object.metadata.name === 'b');
    assert.deepEqual(said(lines), ['ADDED a', 'ADDED b']);
  });

  test('tells the end of the initial state, and keeps the client up to date by bookmarks', async () => {
    make('a');
    const lines = await http.watch(
      `${MAP}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
      ({ type, object }) => type === 'BOOKMARK' && object.metadata.annotations === undefined,
    );
    assert.deepEqual(said(lines), ['ADDED a', 'BOOKMARK', 'BOOKMARK']);
    assert.deepEqual(lines[1].object.metadata.annotations, { 'k8s.io/initial-events-end': 'true' });
    const refused = await http.get(`${MAP}?watch=1&sendInitialEvents=true`);
    assert.equal(refused.code, 422);
    assert.match(
      refused.json.message,
      /sendInitialEvents requires setting resourceVersionMatch to NotOlderThan/,
    );
  });

  test('says that objects come into a selection and leave it', async () => {
    make('a');
    const since = await version();
    const relabel = (team: string | null): void => {
      rig.server.api.patch({ resource: 'configmaps', namespace: 'shop', name: 'a' }, 'merge', {
        metadata: { labels: { team } },
      });
    };
    relabel('x');
    rig.server.api.patch({ resource: 'configmaps', namespace: 'shop', name: 'a' }, 'merge', {
      data: { k: 'v' },
    });
    relabel(null);
    const lines = await http.watch(
      `${MAP}?watch=1&resourceVersion=${since}&labelSelector=team%3Dx`,
      ({ type }) => type === 'DELETED',
    );
    assert.deepEqual(said(lines), ['ADDED a', 'MODIFIED a', 'DELETED a']);
    assert.ok(
      Number(lines[2].object.metadata.resourceVersion) > Number(lines[1].object.metadata.resourceVersion),
    );
  });

  test('is told 410 when the history is gone, by overflow or by compaction', async () => {
    make('a');
    const since = await version();
    for (let at = 0; at < 60; at += 1) make(`b${at}`);
    const ended = (line: Json): boolean => line.type === 'ERROR';
    const overflown = await http.watch(`${MAP}?watch=1&resourceVersion=${since}`, ended);
    assert.equal(overflown[0].object.reason, 'Expired');
    assert.equal(overflown[0].object.code, 410);
    assert.match(overflown[0].object.message, /^too old resource version: \d+ \(\d+\)$/);
    const later = await version();
    make('c');
    rig.server.compact();
    assert.deepEqual(said(await http.watch(`${MAP}?watch=1&resourceVersion=${later}`, ended)), ['ERROR 410']);
  });

  test('ends when its time is over', async () => {
    const lines = await http.watch(`${MAP}?watch=1&timeoutSeconds=1`, () => false);
    assert.deepEqual(lines, []);
  });

  test('comes as rows of a table, the columns with the first', async () => {
    make('a');
    make('b');
    const lines = await http.watch(`${MAP}?watch=1`, ({ object }) => object.rows[0].cells[0] === 'b', {
      accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
    });
    assert.equal(lines[0].object.columnDefinitions.length, 3);
    assert.equal(lines[1].object.columnDefinitions, null);
  });

  test('can be cut, muted, ended, expired or spoilt on purpose', async () => {
    make('a');
    make('b');
    const watching = { match: ({ isWatch }: { isWatch: boolean }) => isWatch, times: 1 };
    const { faults } = rig.server;
    faults.add({ ...watching, fault: { kind: 'end', afterEvents: 1 } });
    assert.deepEqual(said(await http.watch(`${MAP}?watch=1`, () => false)), ['ADDED a']);
    faults.add({ ...watching, fault: { kind: 'expire', afterEvents: 1 } });
    assert.deepEqual(said(await http.watch(`${MAP}?watch=1`, () => false)), ['ADDED a', 'ERROR 410']);
    faults.add({ ...watching, fault: { kind: 'cut', afterEvents: 1 } });
    const cut = await http.watch(`${MAP}?watch=1`, () => false).catch(String);
    assert.ok(typeof cut === 'string' ? /aborted|ECONNRESET/.test(cut) : said(cut).join() === 'ADDED a');
    faults.add({
      ...watching,
      fault: { kind: 'rewrite', rewrite: (line) => line.replace('ADDED', 'STRANGE') },
    });
    assert.deepEqual(said(await http.watch(`${MAP}?watch=1`, () => true)), ['STRANGE a']);
    faults.add({ ...watching, fault: { kind: 'say', afterEvents: 1, text: '{"broken\n' } });
    await assert.rejects(
      http.watch(`${MAP}?watch=1`, () => false),
      SyntaxError,
    );
    faults.add({ ...watching, fault: { kind: 'mute', afterEvents: 1 } });
    const muted: Json[] = [];
    const watch = http.watch(`${MAP}?watch=1&timeoutSeconds=1`, (line) => {
      muted.push(line);
      return false;
    });
    await watch.catch(() => undefined);
    assert.deepEqual(said(muted), ['ADDED a']);
  });
});

describe('requests that go wrong on purpose', () => {
  let rig: Rig;
  let http: HttpClient;
  before(async () => {
    rig = await createRig();
    http = createHttpClient(rig);
    rig.server.api.create('namespaces', { metadata: { name: 'shop' } });
  });
  after(async () => {
    http.close();
    await rig[Symbol.asyncDispose]();
  });
  const once = {
    match: ({ resource }: { resource: string | undefined }) => resource === 'services',
    times: 1,
  };

  test('fail with the code and the time to wait, once, and then work', async () => {
    rig.server.faults.add({ ...once, fault: { kind: 'fail', code: 429, retryAfterSeconds: 3 } });
    const refused = await http.get(SERVICES);
    assert.equal(refused.code, 429);
    assert.equal(refused.headers['retry-after'], '3');
    assert.equal(refused.json.reason, 'TooManyRequests');
    assert.equal((await http.get(SERVICES)).code, 200);
    for (const code of [410, 500, 503] as const) {
      rig.server.faults.add({ ...once, fault: { kind: 'fail', code } });
      assert.equal((await http.get(SERVICES)).json.code, code);
    }
  });

  test('answer garbage, half an answer, or another text', async () => {
    const { faults } = rig.server;
    faults.add({ ...once, fault: { kind: 'garbage' } });
    const garbage = await http.get(SERVICES);
    assert.equal(garbage.code, 200);
    assert.equal(garbage.json, undefined);
    faults.add({ ...once, fault: { kind: 'truncate', bytes: 10 } });
    await assert.rejects(http.get(SERVICES));
    faults.add({
      ...once,
      fault: { kind: 'rewrite', rewrite: (text) => text.replace('"items"', '"more":1,"items"') },
    });
    assert.equal((await http.get(SERVICES)).json.more, 1);
  });

  test('drop the connection, or never come back', async () => {
    rig.server.faults.add({ ...once, fault: { kind: 'drop' } });
    await assert.rejects(http.get(SERVICES));
    rig.server.faults.add({ ...once, fault: { kind: 'hang' } });
    const hanging = http.get(SERVICES);
    // The next request is served while the first one hangs, and only the end of the connection ends it.
    assert.equal((await http.get(SERVICES)).code, 200);
    rig.server.dropConnections();
    await assert.rejects(hanging);
  });

  test('come late, and a rule that is disposed strikes no more', async () => {
    const seen: string[] = [];
    const rule = rig.server.faults.add({
      match: ({ path }) => path === SERVICES,
      fault: { kind: 'delay', ms: 30 },
    });
    const slow = http.get(SERVICES).then(() => seen.push('slow'));
    await http.get('/version').then(() => seen.push('quick'));
    await slow;
    assert.deepEqual(seen, ['quick', 'slow']);
    rule[Symbol.dispose]();
    rig.server.faults.add({ match: () => false, fault: { kind: 'drop' } });
    assert.equal((await http.get(SERVICES)).code, 200);
  });
});

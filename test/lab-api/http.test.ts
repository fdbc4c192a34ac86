import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:http2';
import { after, before, describe, test } from 'node:test';
import { parse } from 'yaml';
import { listenerIn } from '../../src/kernel/netns.ts';
import { createKoffiSys } from '../../src/kernel/sys/koffi.ts';
import { createHttpClient, type HttpClient } from './http-client.ts';
import { createRig, type Rig } from './rig.ts';

type Json = ReturnType<typeof JSON.parse>;

const SERVICES = '/api/v1/namespaces/shop/services';
const MERGE = 'application/merge-patch+json';

describe('the lab over HTTPS', () => {
  let rig: Rig;
  let http: HttpClient;
  const service = (name: string, spec: object = {}): string =>
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace: 'shop' },
      spec: { ports: [{ port: 80 }], ...spec },
    });
  before(async () => {
    rig = await createRig();
    http = createHttpClient(rig);
    rig.server.api.create('namespaces', { metadata: { name: 'shop' } });
  });
  after(async () => {
    http.close();
    await rig[Symbol.asyncDispose]();
  });

  test('tells nothing but its health to those it does not know', async () => {
    const anonymous = createHttpClient(rig, { anonymous: true });
    for (const path of ['/api', '/apis', SERVICES, '/openapi/v3']) {
      const { code, json } = await anonymous.get(path);
      assert.equal(code, 401, path);
      assert.equal(json.reason, 'Unauthorized');
    }
    for (const path of ['/healthz', '/livez', '/readyz'])
      assert.equal((await anonymous.get(path)).text, 'ok');
    assert.equal((await anonymous.get('/version')).json.gitVersion, 'v1.36.0');
    anonymous.close();
  });

  test('speaks HTTP/2 as well', async () => {
    const session = connect(rig.url, {
      ca: rig.server.authority,
    });
    const { users } = parse(rig.server.kubeconfig(rig.url, { by: 'token' }));
    const stream = session.request({
      ':path': '/api/v1/namespaces',
      authorization: `Bearer ${users[0].user.token}`,
    });
    const [headers] = await once(stream, 'response');
    assert.equal(headers[':status'], 200);
    let text = '';
    for await (const chunk of stream) text += String(chunk);
    assert.equal(JSON.parse(text).kind, 'NamespaceList');
    session.close();
  });

  test('serves on a socket that somebody else has bound', async () => {
    // In the lab the socket comes from another network namespace; what counts is that a descriptor is enough.
    const fd = listenerIn(createKoffiSys(), { address: '127.0.0.1', port: 0 });
    const { port } = await rig.server.listenFd(fd);
    const other = createHttpClient({ ...rig, url: `https://127.0.0.1:${port}` });
    assert.equal((await other.get('/api/v1/namespaces/shop')).json.metadata.name, 'shop');
    other.close();
  });

  test('reads YAML, and refuses what it cannot read', async () => {
    const yaml = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: y}\ndata: {a: b}\n';
    const path = '/api/v1/namespaces/shop/configmaps';
    assert.equal((await http.send('POST', path, yaml, 'application/yaml')).code, 201);
    assert.equal((await http.send('POST', path, 'x', 'application/cbor')).code, 415);
    const cannot = await http.get(SERVICES, { accept: 'application/vnd.kubernetes.protobuf' });
    assert.equal(cannot.code, 406);
    const large = await http.send('POST', path, Buffer.alloc(4 * 1024 * 1024, ' ')).catch(String);
    // The refusal may come before the client has sent all.
    assert.ok(typeof large === 'string' || large.code === 413);
  });

  test('warns of unknown and repeated fields, or refuses them, as it is asked to', async () => {
    const body =
      '{"kind":"Service","metadata":{"name":"twice"},"spec":{"type":"NodePort","type":"ClusterIP","colour":1,"ports":[{"port":1}]}}';
    const strict = await http.send('POST', `${SERVICES}?fieldValidation=Strict`, body);
    assert.equal(strict.code, 400);
    assert.equal(
      strict.json.message,
      'Service in version "v1" cannot be handled as a Service: strict decoding error: duplicate field "spec.type", unknown field "spec.colour"',
    );
    const warned = await http.send('POST', `${SERVICES}?fieldValidation=Warn&dryRun=All`, body);
    assert.equal(warned.code, 201);
    assert.equal(
      warned.headers.warning,
      '299 - "duplicate field \\"spec.type\\"", 299 - "unknown field \\"spec.colour\\""',
    );
    assert.equal(warned.json.spec.colour, undefined);
    const silent = await http.send('POST', `${SERVICES}?fieldValidation=Ignore&dryRun=All`, body);
    assert.equal(silent.headers.warning, undefined);
    const patch = await http.send('POST', SERVICES, service('patched'));
    assert.equal(patch.code, 201);
    const refused = await http.send(
      'PATCH',
      `${SERVICES}/patched?fieldValidation=Strict`,
      '{"spec":{"colour":1}}',
      MERGE,
    );
    assert.equal(refused.code, 422);
    assert.match(
      refused.json.message,
      /patch: Invalid value: "map\[spec:map\[colour:1\]\]": strict decoding error: unknown field "spec.colour"/,
    );
  });

  test('keeps to what a page of a list has begun with, until the history is gone', async () => {
    const path = '/api/v1/namespaces/paged/configmaps';
    const { api } = rig.server;
    api.create('namespaces', { metadata: { name: 'paged' } });
    for (const name of ['a', 'b', 'c', 'd'])
      api.create('configmaps', { metadata: { name, namespace: 'paged' } });
    const first = (await http.get(`${path}?limit=2`)).json;
    api.delete({ resource: 'configmaps', namespace: 'paged', name: 'c' });
    api.create('configmaps', { metadata: { name: 'bb', namespace: 'paged' } });
    const names = ({ items }: Json): string[] => items.map((item: Json) => item.metadata.name);
    const second = (await http.get(`${path}?limit=2&continue=${first.metadata.continue}`)).json;
    assert.deepEqual([...names(first), ...names(second)], ['a', 'b', 'c', 'd']);
    assert.equal(second.metadata.resourceVersion, first.metadata.resourceVersion);
    assert.equal(second.metadata.continue, undefined);
    const exact = `${path}?resourceVersion=${first.metadata.resourceVersion}&resourceVersionMatch=Exact`;
    assert.deepEqual(names((await http.get(exact)).json), ['a', 'b', 'c', 'd']);
    rig.server.compact();
    const gone = await http.get(`${path}?limit=2&continue=${first.metadata.continue}`);
    assert.equal(gone.code, 410);
    const rest = (await http.get(`${path}?continue=${gone.json.metadata.continue}`)).json;
    assert.deepEqual(names(rest), ['bb', 'd']);
    assert.equal((await http.get(exact)).code, 410);
    assert.equal((await http.get(`${path}?resourceVersion=99999999`)).code, 504);
    assert.equal((await http.get(`${path}?continue=nonsense`)).code, 400);
  });

  test('answers with metadata only, packs large answers, and spreads them for curl', async () => {
    const { api } = rig.server;
    api.create('namespaces', { metadata: { name: 'large' } });
    for (const name of ['a', 'b'])
      api.create('configmaps', { metadata: { name, namespace: 'large' }, data: { k: 'x'.repeat(100_000) } });
    const path = '/api/v1/namespaces/large/configmaps';
    const partial = await http.get(path, {
      accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
    });
    assert.equal(partial.json.kind, 'PartialObjectMetadataList');
    assert.equal(partial.json.items[0].data, undefined);
    const packed = await http.get(path, { 'accept-encoding': 'gzip' });
    assert.equal(packed.headers['content-encoding'], 'gzip');
    assert.equal(packed.json.items[1].data.k.length, 100_000);
    assert.equal((await http.get(path)).headers['content-encoding'], undefined);
    assert.equal((await http.get(`${path}/a`, { accept: 'application/json' })).json.kind, 'ConfigMap');
    assert.match((await http.get(`${path}/nope`, { 'user-agent': 'curl/8' })).text, /\n {2}"kind": "Status"/);
  });

  test('deletes collections, with a selector, and answers with what was deleted', async () => {
    const { api } = rig.server;
    for (const [name, tier] of [
      ['one', 'a'],
      ['two', 'b'],
    ] as const)
      api.create('services', {
        metadata: { name, namespace: 'shop', labels: { tier } },
        spec: { ports: [{ port: 1 }] },
      });
    const deleted = await http.send('DELETE', `${SERVICES}?labelSelector=tier%3Da`, '');
    assert.equal(deleted.json.kind, 'ServiceList');
    assert.equal((await http.get(`${SERVICES}/one`)).code, 404);
    assert.equal((await http.get(`${SERVICES}/two`)).code, 200);
    const { uid } = (await http.get(`${SERVICES}/two`)).json.metadata;
    const wrong = await http.send('DELETE', `${SERVICES}/two`, '{"preconditions":{"uid":"other"}}');
    assert.equal(wrong.code, 409);
    assert.equal(
      (await http.send('DELETE', `${SERVICES}/two`, `{"preconditions":{"uid":"${uid}"}}`)).code,
      200,
    );
  });

  test('does not know what it does not serve', async () => {
    for (const path of [
      '/apis/apps/v1/namespaces/shop/deployments',
      '/api/v2',
      '/nope',
      `${SERVICES}/x/nope`,
    ]) {
      const { code, json } = await http.get(path);
      assert.equal(code, 404, path);
      assert.equal(json.message, 'the server could not find the requested resource');
    }
    assert.equal((await http.send('DELETE', '/api/v1/namespaces', '')).code, 405);
    assert.equal((await http.send('POST', `${SERVICES}/web/status`, '{}')).code, 405);
    const warned = await http.get('/api/v1/endpoints');
    assert.match(String(warned.headers.warning), /Endpoints is deprecated/);
  });

  test('Events are the same objects in both groups', async () => {
    const event = {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: 'e' },
      regarding: { kind: 'Pod', name: 'p', namespace: 'shop' },
      note: 'hello',
      reason: 'Hello',
      reportingController: 'test',
      reportingInstance: 'test-1',
      action: 'Greet',
      type: 'Normal',
      eventTime: '2026-12-01T02:00:41.000000Z',
    };
    const path = '/apis/events.k8s.io/v1/namespaces/shop/events';
    const made = await http.send('POST', path, JSON.stringify(event));
    assert.equal(made.code, 201);
    assert.equal(made.json.note, 'hello');
    const core = (await http.get('/api/v1/namespaces/shop/events/e')).json;
    assert.equal(core.message, 'hello');
    assert.deepEqual(core.involvedObject, event.regarding);
    assert.equal(core.reportingComponent, 'test');
    const patched = await http.send(
      'PATCH',
      `${path}/e`,
      '{"series":{"count":2,"lastObservedTime":"2026-12-01T02:01:41.000000Z"}}',
      MERGE,
    );
    assert.equal(patched.json.series.count, 2);
    assert.equal((await http.get(`${path}?fieldSelector=regarding.name%3Dp`)).json.items.length, 1);
  });
});

// What the lab's server answers, beside what a real kube-apiserver 1.36 answered (test/fixtures/lab-api).
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parse } from 'yaml';
import type { Draft, ResourceName } from '../../src/lab/api/cluster-api.ts';
import { createHttpClient, type HttpClient } from './http-client.ts';
import { createRig, type Rig } from './rig.ts';

type Json = ReturnType<typeof JSON.parse>;

const FIXTURES = join(import.meta.dirname, '..', 'fixtures', 'lab-api');
const text = (name: string): string => readFileSync(join(FIXTURES, name), 'utf8');
const fixture = (name: string): Json => JSON.parse(text(name));

const MANAGER = { manager: 'kubectl-create' };
const PLURALS: Readonly<Record<string, ResourceName>> = {
  Node: 'nodes',
  Namespace: 'namespaces',
  Service: 'services',
};

describe('beside the real server', () => {
  let rig: Rig;
  let http: HttpClient;
  before(async () => {
    rig = await createRig();
    const { api } = rig.server;
    for (const document of text('cluster-services.yaml').split(/^---$/m)) {
      const object: Draft & { kind: string } = parse(document);
      const answer = api.create(PLURALS[object.kind] ?? 'services', object, MANAGER);
      assert.ok(answer.ok, answer.ok ? '' : (answer.status.message ?? ''));
    }
    for (const item of fixture('cluster-slices.json').items)
      assert.ok(api.create('endpointslices', item, MANAGER).ok);
    for (const [name, ip] of [
      ['lb-ranges', '203.0.113.107'],
      ['lb-local', '203.0.113.108'],
    ] as const)
      api.patch(
        { resource: 'services', namespace: 'shop', name },
        'merge',
        { status: { loadBalancer: { ingress: [{ ip }] } } },
        { subresource: 'status', manager: 'curl' },
      );
    api.patch(
      { resource: 'nodes', name: 'node-a' },
      'merge',
      {
        status: {
          addresses: [
            { type: 'InternalIP', address: '192.0.2.11' },
            { type: 'InternalIP', address: '2001:db8::11' },
          ],
        },
      },
      { subresource: 'status' },
    );
    http = createHttpClient(rig);
  });
  after(async () => {
    http.close();
    await rig[Symbol.asyncDispose]();
  });

  test('discovery says the same of each resource that both have', async () => {
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    const { json, headers } = await http.get('/api', { accept });
    assert.equal(headers['content-type'], accept);
    const ours: Json[] = json.items[0].versions[0].resources;
    for (const real of fixture('discovery-core.json'))
      assert.deepEqual(
        ours.find(({ resource }) => resource === real.resource),
        real,
      );
    const etag = String(headers.etag);
    assert.equal((await http.get('/api', { accept, 'if-none-match': etag })).code, 304);
    const slices = await http.get('/apis/discovery.k8s.io/v1');
    assert.equal(slices.json.resources[0].name, 'endpointslices');
  });

  for (const plural of ['services', 'endpointslices', 'namespaces', 'nodes', 'pods', 'events'])
    test(`the table of ${plural} has the same columns and cells`, async () => {
      const real = fixture('tables.json')[plural];
      const path: Readonly<Record<string, string>> = {
        endpointslices: '/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices',
        services: '/api/v1/namespaces/shop/services',
      };
      const { json } = await http.get(path[plural] ?? `/api/v1/${plural}`, {
        accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
      });
      assert.deepEqual(
        json.columnDefinitions.map(({ name, type, format, priority }: Json) => ({
          name,
          type,
          format,
          priority,
        })),
        real.columns,
      );
      const age = real.columns.findIndex(({ name }: Json) => name === 'Age');
      const withoutAge = (rows: Json[]): Json[] => rows.map((cells) => cells.toSpliced(age, 1));
      assert.deepEqual(withoutAge(json.rows.map(({ cells }: Json) => cells)), withoutAge(real.rows));
    });

  test('objects come with the same defaults and owners of fields', async () => {
    const { api } = rig.server;
    for (const real of fixture('objects.json')) {
      const { name, namespace } = real.metadata;
      if (name === 'defaulted') continue;
      const resource: ResourceName =
        real.kind === 'EndpointSlice' ? 'endpointslices' : real.kind === 'Node' ? 'nodes' : 'services';
      const answer = api.get({ resource, namespace, name });
      assert.ok(answer.ok);
      const ours = JSON.parse(JSON.stringify(answer.object));
      if (real.kind === 'Node') delete real.spec.taints;
      for (const part of ['spec', 'status', 'endpoints', 'ports', 'addressType'])
        assert.deepEqual(ours[part], real[part], `${name}: ${part}`);
      assert.equal(ours.metadata.generation, real.metadata.generation);
      if (real.kind !== 'Node')
        assert.deepEqual(
          ours.metadata.managedFields.map(({ time: _time, ...entry }: Json) => entry),
          real.metadata.managedFields.map(({ time: _time, ...entry }: Json) => entry),
          name,
        );
    }
  });

  test('a LoadBalancer that says almost nothing is completed in the same way', () => {
    const real = fixture('objects.json').find(({ metadata }: Json) => metadata.name === 'defaulted');
    const answer = rig.server.api.create(
      'services',
      {
        metadata: { name: 'defaulted', namespace: 'shop' },
        spec: { type: 'LoadBalancer', selector: { app: 'x' }, ports: [{ port: 80 }] },
      },
      { dryRun: true },
    );
    assert.ok(answer.ok);
    const ours = JSON.parse(JSON.stringify(answer.object));
    // Which address and port are free is chance.
    assert.match(ours.spec.clusterIP, /^10\.(9[6-9]|10\d|11[01])\.\d+\.\d+$/);
    assert.ok(ours.spec.ports[0].nodePort >= 30000 && ours.spec.ports[0].nodePort <= 32767);
    const chosen = { clusterIP: ours.spec.clusterIP, clusterIPs: ours.spec.clusterIPs };
    real.spec.ports[0].nodePort = ours.spec.ports[0].nodePort;
    assert.deepEqual(ours.spec, { ...real.spec, ...chosen });
    assert.deepEqual(ours.status, real.status);
  });

  test('a page of a list looks the same', async () => {
    const real = fixture('list-page.json');
    const { json } = await http.get('/api/v1/services?limit=2');
    assert.deepEqual(Object.keys(json), Object.keys(real));
    assert.equal(json.metadata.remainingItemCount, real.metadata.remainingItemCount);
    assert.deepEqual(
      json.items.map((item: Json) => item.metadata.name),
      real.items.map((item: Json) => item.metadata.name),
    );
    assert.deepEqual(Object.keys(json.items[0]), ['metadata', 'spec', 'status']);
    const token = JSON.parse(Buffer.from(json.metadata.continue, 'base64url').toString());
    const realToken = JSON.parse(Buffer.from(real.metadata.continue, 'base64url').toString());
    assert.deepEqual({ ...token, rv: 0 }, { ...realToken, rv: 0 });
  });

  test('bookmarks look the same', async () => {
    const [service, slice] = fixture('bookmarks.json');
    const watched = async (path: string): Promise<Json> => {
      const lines = await http.watch(
        `${path}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
        (line) => line.type === 'BOOKMARK',
      );
      return { ...lines.at(-1) };
    };
    const ours = await watched('/api/v1/services');
    service.object.metadata.resourceVersion = ours.object.metadata.resourceVersion;
    assert.deepEqual(ours, service);
    const oursOfSlices = await watched('/apis/discovery.k8s.io/v1/endpointslices');
    slice.object.metadata = oursOfSlices.object.metadata;
    assert.deepEqual(oursOfSlices, slice);
  });

  test('errors say the same, word for word', async () => {
    const real = fixture('errors.json');
    const services = '/api/v1/namespaces/shop/services';
    const three = (await http.get(`${services}/three`)).json;
    const make = (object: object): Promise<{ json: Json }> =>
      http.send('POST', services, JSON.stringify({ apiVersion: 'v1', kind: 'Service', ...object }));
    const answers: Readonly<Record<string, () => Promise<{ json: Json }>>> = {
      '400-json': () => http.send('POST', services, '{"apiVersion":"v1",'),
      '401': () => http.get(services, { authorization: 'Bearer nobody' }),
      '404': () => http.get(`${services}/nope`),
      '405': () => http.send('PUT', services, '{}'),
      '409-conflict': () =>
        http.send(
          'PUT',
          `${services}/three`,
          JSON.stringify({ ...three, metadata: { ...three.metadata, resourceVersion: '1' } }),
        ),
      '409-exists': () => make({ metadata: { name: 'three' }, spec: { ports: [{ port: 80 }] } }),
      '415': () => http.send('PATCH', `${services}/three`, '{}', 'text/plain'),
      '422-immutable': () =>
        http.send(
          'PATCH',
          `${services}/three`,
          '{"spec":{"clusterIP":"10.96.10.77"}}',
          'application/merge-patch+json',
        ),
      '422-service': () =>
        make({ metadata: { name: 'Bad_Name' }, spec: { clusterIP: '10.1.1.1', ports: [{ port: 80 }] } }),
    };
    assert.deepEqual(Object.keys(answers).sort(), Object.keys(real).sort());
    for (const [name, ask] of Object.entries(answers)) assert.deepEqual((await ask()).json, real[name], name);
  });
});

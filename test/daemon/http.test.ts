// What the ports of the real program answer, header by header (behaviour spec 6).
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { silentLogger } from '../../src/base/log.ts';
import { listenerIn, preparePool } from '../../src/kernel/netns.ts';
import { createKoffiSys } from '../../src/kernel/sys/koffi.ts';
import { createAuthority } from '../../src/lab/api/identity/certificates.ts';
import { startHttpServer } from '../../src/observe/http-server.ts';
import { createTestNamespace, type TestNamespace } from '../kernel/test-namespace.ts';
import { nodeObject, serviceObject, sliceObject } from './cluster-objects.ts';
import { get, PROGRAM, start } from './process.ts';
import { type SmallApi, startSmallApi } from './small-api.ts';

const sys = createKoffiSys();
await preparePool();
const API_PORT = 6080;
const FLAGS = [
  `--master=http://127.0.0.1:${API_PORT}`,
  '--hostname-override=node-a',
  '--kube-api-qps=-1',
  '--conntrack-max-per-core=0',
  '--pointsman-socket=',
  '--v=2',
];
const FIRST_SYNC = /"Compared everything with the kernel".*because="the proxy starts"/;

async function clusterIn(namespace: TestNamespace): Promise<SmallApi> {
  const api = await startSmallApi({
    fd: listenerIn(sys, { namespace: namespace.path, address: '127.0.0.1', port: API_PORT }),
  });
  api.put('services', serviceObject('web', '10.96.0.1'));
  api.put('endpointslices', sliceObject('web', ['10.0.0.1', '10.0.0.2']));
  api.put('nodes', nodeObject('node-a'));
  return api;
}

test('S374 S389 S390 S391 S392 S473: each path of both ports, with its headers', async () => {
  using namespace = createTestNamespace();
  await using _api = await clusterIn(namespace);
  await using program = start(namespace, PROGRAM, ...FLAGS, '--cluster-cidr=10.0.0.0/8');
  await program.said(FIRST_SYNC);
  const plain = 'text/plain; charset=utf-8';
  const table: readonly (readonly [string, number, string, RegExp])[] = [
    ['10256/healthz', 200, 'application/json', /"nodeEligible":true,"healthy":true/],
    ['10256/livez', 200, 'application/json', /^\{"lastUpdated":"[^"]+","currentTime":"[^"]+","healthy":true/],
    ['10256/metrics', 404, plain, /^404 page not found/],
    ['10256/', 404, plain, /^404 page not found/],
    ['10249/healthz', 200, plain, /^ok$/],
    ['10249/healthz/ping', 200, plain, /^ok$/],
    ['10249/proxyMode', 200, plain, /^nftables$/],
    ['10249/configz', 200, 'application/json', /"clusterCIDR":"10\.0\.0\.0\/8"/],
    ['10249/configz', 200, 'application/json', /"nodePortAddresses":\["primary"\]/],
    ['10249/statusz', 200, plain, /^kube-proxy statusz\n/],
    ['10249/flagz', 200, plain, /^cluster-cidr=10\.0\.0\.0\/8$/m],
    ['10249/metrics', 200, 'text/plain; version=0.0.4; charset=utf-8', /^kubernetes_build_info\{/m],
    ['10249/metrics/slis', 200, 'text/plain; version=0.0.4; charset=utf-8', /^kubernetes_healthcheck/m],
    ['10249/debug/pprof/', 404, plain, /^404 page not found/],
    ['10249/nowhere', 404, plain, /^404 page not found/],
  ];
  for (const [path, status, type, body] of table) {
    const answer = await get(sys, namespace, `http://127.0.0.1:${path}`);
    assert.equal(answer.status, status, path);
    assert.equal(answer.headers['content-type'], type, path);
    assert.equal(answer.headers['x-content-type-options'], 'nosniff', path);
    assert.match(answer.body, body, path);
  }
  const { body } = await get(sys, namespace, 'http://127.0.0.1:10249/metrics');
  assert.match(body, /^kubeproxy_proxy_healthz_total\{code="200"\} 1$/m);
});

test('S369 S371: a Node that is about to go fails /healthz, not /livez, and the body says why', async () => {
  using namespace = createTestNamespace();
  await using api = await clusterIn(namespace);
  await using program = start(namespace, PROGRAM, ...FLAGS);
  await program.said(FIRST_SYNC);
  const node = nodeObject('node-a');
  const taints = [{ key: 'ToBeDeletedByClusterAutoscaler', effect: 'NoSchedule' }];
  api.put('nodes', { ...node, spec: { taints } });
  for (;;) {
    const answer = await get(sys, namespace, 'http://127.0.0.1:10256/healthz');
    if (answer.status !== 503) continue;
    const body = JSON.parse(answer.body);
    assert.deepEqual([body.nodeEligible, body.healthy], [false, true]);
    assert.match(body.because.join(), /ToBeDeletedByClusterAutoscaler/);
    break;
  }
  assert.equal((await get(sys, namespace, 'http://127.0.0.1:10256/livez')).status, 200);
});

test('the metrics port wants a token where that is asked for', async () => {
  using namespace = createTestNamespace();
  await using _api = await clusterIn(namespace);
  await using program = start(namespace, PROGRAM, ...FLAGS, '--pointsman-metrics-authorization');
  await program.said(FIRST_SYNC);
  assert.equal((await get(sys, namespace, 'http://127.0.0.1:10249/metrics')).status, 401);
  assert.equal((await get(sys, namespace, 'http://127.0.0.1:10249/healthz')).status, 200);
});

test('half a certificate is refused by name', async () => {
  using namespace = createTestNamespace();
  const { code, err } = await start(namespace, PROGRAM, ...FLAGS, '--pointsman-metrics-tls-cert-file=/x')
    .ended;
  assert.equal(code, 1);
  assert.match(err, /tls-cert-file and --pointsman-metrics-tls-private-key-file belong together/);
});

test('HTTPS is served with the certificate of the files; HEAD has no body', async () => {
  const authority = createAuthority();
  const { certificate, key } = authority.issue({
    commonName: 'localhost',
    purpose: 'server',
    dnsNames: ['localhost'],
  });
  await using server = startHttpServer({
    name: 'test server',
    address: '127.0.0.1',
    port: 0,
    routes: (_path, { method }) => ({ status: 200, contentType: 'text/plain', body: `by ${method}` }),
    log: silentLogger,
    hardFail: true,
    tls: async () => ({ cert: certificate, key }),
  });
  const port = await server.opened;
  const ask = async (method: string): Promise<string> => {
    const options = { host: '127.0.0.1', port, method, servername: 'localhost', agent: false };
    const [response] = await once(request({ ...options, ca: authority.certificate }).end(), 'response');
    return `${response.statusCode} ${await text(response)}`;
  };
  assert.equal(await ask('GET'), '200 by GET');
  assert.equal(await ask('HEAD'), '200 ');
  await using broken = startHttpServer({
    name: 'test server',
    address: '127.0.0.1',
    port: 0,
    routes: () => undefined,
    log: silentLogger,
    hardFail: true,
    tls: async () => ({ cert: 'none', key }),
  });
  await assert.rejects(broken.opened, { code: 'E_BIND' });
});

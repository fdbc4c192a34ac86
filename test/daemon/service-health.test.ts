// Health check node ports of the whole daemon, with a small API server and a data path that only remembers.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get } from 'node:http';
import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { DEFAULT_VALUES } from '../../src/config/flag-values.ts';
import { configurationOf } from '../../src/config/from-flags.ts';
import { NO_OWN } from '../../src/config/no-own.ts';
import { proxyConfig } from '../../src/config/proxy-config.ts';
import { createLog } from '../../src/observe/log.ts';
import { runDaemon } from '../../src/proxy/daemon.ts';
import { createFakeBackend, type FakeBackend } from '../../src/proxy/fake-backend.ts';
import { nodeObject, serviceObject, sliceObject } from './cluster-objects.ts';
import { fakeSettings } from './fake-settings.ts';
import { type Json, startSmallApi } from './small-api.ts';

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '0.0.0.0');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  await new Promise((resolve) => server.close(resolve));
  return address.port;
}

async function ask(port: number): Promise<{ readonly status: number; readonly body: string }> {
  const [response] = await once(get({ host: '127.0.0.1', port, agent: false }), 'response');
  return { status: response.statusCode, body: await text(response) };
}

interface Running extends AsyncDisposable {
  readonly backend: FakeBackend;
  /** Resolves with the first log line to come that matches. */
  next(pattern: RegExp): Promise<unknown>;
  stop(): Promise<void>;
}

/** A daemon without health server. */
async function start(api: { readonly port: number }): Promise<Running> {
  const config = proxyConfig(
    configurationOf({
      ...DEFAULT_VALUES,
      hostnameOverride: 'node-a',
      healthzBindAddress: '',
      metricsBindAddress: `127.0.0.1:${await freePort()}`,
      minSyncPeriodMs: 10,
      kubeApiQps: -1,
      oomScoreAdj: 0,
      verbosity: 2,
    }),
    { hostname: 'host', master: `http://127.0.0.1:${api.port}`, own: NO_OWN },
  );
  const backend = createFakeBackend();
  const waiting = new Set<{ readonly pattern: RegExp; readonly found: (line: string) => void }>();
  const log = createLog({
    ...config.logging,
    pid: 1,
    now: () => new Date(),
    write(line) {
      for (const each of waiting) if (each.pattern.test(line)) each.found(line);
    },
  });
  const ending = new AbortController();
  const openConntrack = async () => ({
    async *flows() {},
    end: async () => false,
    async [Symbol.asyncDispose]() {},
  });
  const openDataPath = async () => ({
    backend,
    openConntrack,
    restarts: () => 0,
    addresses: { list: async () => [], watch: async () => ({ close: async () => {} }) },
    [Symbol.asyncDispose]: () => backend[Symbol.asyncDispose](),
  });
  const ended = runDaemon({
    config,
    version: '0.0.0',
    flags: { v: '2' },
    env: {},
    log,
    signal: ending.signal,
    openDataPath,
    settings: fakeSettings(),
  });
  const stop = async (): Promise<void> => {
    ending.abort();
    await ended;
  };
  return {
    backend,
    next(pattern) {
      const { promise, resolve } = Promise.withResolvers<string>();
      waiting.add({ pattern, found: resolve });
      return Promise.race([promise, ended.then(() => Promise.reject(new Error(`ended without ${pattern}`)))]);
    },
    stop,
    [Symbol.asyncDispose]: () => stop().catch(() => {}),
  };
}

const loadBalancer = (healthCheckNodePort: number, more: Json = {}): Json =>
  serviceObject('web', '10.96.0.1', {
    type: 'LoadBalancer',
    externalTrafficPolicy: 'Local',
    healthCheckNodePort,
    ...more,
  });
const localSlice = (conditions: Json): Json => ({
  ...sliceObject('web', []),
  endpoints: [{ addresses: ['10.0.0.1'], nodeName: 'node-a', conditions }],
});
const COMMITTED = /SyncProxyRules complete/;

test('a load balancer learns whether this node has ready endpoints, also without a health server', async () => {
  await using api = await startSmallApi();
  const [port, other] = [await freePort(), await freePort()];
  const leaving = { spec: { taints: [{ key: 'ToBeDeletedByClusterAutoscaler', effect: 'NoSchedule' }] } };
  api.put('nodes', nodeObject('node-a', leaving));
  api.put('services', loadBalancer(port));
  api.put('endpointslices', localSlice({ ready: true }));
  await using daemon = await start(api);
  await daemon.next(/Opening healthcheck/);
  const well = await ask(port);
  assert.equal(well.status, 200);
  assert.match(well.body, /"localEndpoints": 1,/);

  let synced = daemon.next(COMMITTED);
  api.put('endpointslices', localSlice({ ready: false, serving: true, terminating: true }));
  await synced;
  assert.equal((await ask(port)).status, 503);

  synced = daemon.next(/Opening healthcheck/);
  api.put('services', loadBalancer(other));
  await synced;
  assert.equal((await ask(other)).status, 503);
  await assert.rejects(ask(port), { code: 'ECONNREFUSED' });

  synced = daemon.next(COMMITTED);
  api.put('services', loadBalancer(other, { externalTrafficPolicy: 'Cluster' }));
  await synced;
  await assert.rejects(ask(other), { code: 'ECONNREFUSED' });

  synced = daemon.next(/Opening healthcheck/);
  api.put('services', loadBalancer(other));
  await synced;
  await daemon.stop();
  await assert.rejects(ask(other), { code: 'ECONNREFUSED' });
});

test('nothing is told of endpoints before the rules for them are in the kernel', async () => {
  await using api = await startSmallApi();
  const port = await freePort();
  api.put('nodes', nodeObject('node-a'));
  api.put('services', loadBalancer(port));
  await using daemon = await start(api);
  await daemon.next(/Opening healthcheck/);
  assert.equal((await ask(port)).status, 503);
  const held = daemon.backend.pause();
  const begun = daemon.next(/fullSync=false/);
  api.put('endpointslices', localSlice({ ready: true }));
  await begun;
  assert.equal((await ask(port)).status, 503);
  const synced = daemon.next(COMMITTED);
  held.proceed();
  await synced;
  assert.equal((await ask(port)).status, 200);
});

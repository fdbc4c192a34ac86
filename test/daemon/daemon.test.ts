// The whole daemon in this process, with a small API server and a data path that only remembers.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { PointsmanError } from '../../src/base/errors.ts';
import { DEFAULT_VALUES, type FlagValues } from '../../src/config/flag-values.ts';
import { configurationOf } from '../../src/config/from-flags.ts';
import { NO_OWN } from '../../src/config/no-own.ts';
import { type ProxyConfig, proxyConfig } from '../../src/config/proxy-config.ts';
import { createLog } from '../../src/observe/log.ts';
import { runDaemon } from '../../src/proxy/daemon.ts';
import { createFakeBackend, type FakeBackend } from '../../src/proxy/fake-backend.ts';
import { nodeObject, serviceObject, sliceObject } from './cluster-objects.ts';
import { fakeSettings } from './fake-settings.ts';
import { type SmallApi, startSmallApi } from './small-api.ts';

interface Running extends AsyncDisposable {
  readonly backend: FakeBackend;
  readonly lines: readonly string[];
  readonly health: string;
  readonly metrics: string;
  /** Resolves with the first log line, past or to come, that matches. */
  said(pattern: RegExp): Promise<string>;
  /** Resolves with the first log line to come that matches. */
  next(pattern: RegExp): Promise<string>;
  /** Tells the daemon to end; rejects if it ended with an error. */
  stop(): Promise<void>;
  readonly ended: Promise<void>;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  await new Promise((resolve) => server.close(resolve));
  return address.port;
}

async function start(
  api: { readonly port: number },
  more: Partial<FlagValues> = {},
  backend: FakeBackend = createFakeBackend(),
): Promise<Running> {
  const [healthPort, metricsPort] = [await freePort(), await freePort()];
  const config: ProxyConfig = proxyConfig(
    configurationOf({
      ...DEFAULT_VALUES,
      hostnameOverride: 'node-a',
      healthzBindAddress: `127.0.0.1:${healthPort}`,
      metricsBindAddress: `127.0.0.1:${metricsPort}`,
      minSyncPeriodMs: 10,
      kubeApiQps: -1,
      oomScoreAdj: 0,
      verbosity: 2,
      ...more,
    }),
    { hostname: 'host', master: `http://127.0.0.1:${api.port}`, own: NO_OWN },
  );
  const lines: string[] = [];
  const waiting = new Set<{ readonly pattern: RegExp; readonly found: (line: string) => void }>();
  const log = createLog({
    ...config.logging,
    pid: 1,
    now: () => new Date(),
    write(line) {
      lines.push(line);
      for (const each of waiting) if (each.pattern.test(line)) each.found(line);
    },
  });
  const ending = new AbortController();
  const ended = runDaemon({
    config,
    version: '0.0.0',
    flags: { v: '2' },
    env: {},
    log,
    signal: ending.signal,
    settings: fakeSettings(),
    openDataPath: async () => ({
      backend,
      openConntrack: async () => ({
        async *flows() {},
        end: async () => false,
        async [Symbol.asyncDispose]() {},
      }),
      restarts: () => 0,
      addresses: { list: async () => [], watch: async () => ({ close: async () => {} }) },
      [Symbol.asyncDispose]: () => backend[Symbol.asyncDispose](),
    }),
  });
  ended.catch(() => {});
  const stop = async (): Promise<void> => {
    ending.abort();
    await ended;
  };
  const next = (pattern: RegExp): Promise<string> => {
    const { promise, resolve } = Promise.withResolvers<string>();
    waiting.add({ pattern, found: resolve });
    return Promise.race([promise, ended.then(() => Promise.reject(new Error(`ended without ${pattern}`)))]);
  };
  return {
    backend,
    lines,
    health: `http://127.0.0.1:${healthPort}`,
    metrics: `http://127.0.0.1:${metricsPort}`,
    said(pattern) {
      const past = lines.find((line) => pattern.test(line));
      return past === undefined ? next(pattern) : Promise.resolve(past);
    },
    next,
    stop,
    ended,
    [Symbol.asyncDispose]: () => stop().catch(() => {}),
  };
}

async function smallCluster(): Promise<SmallApi> {
  const api = await startSmallApi();
  api.put('services', serviceObject('web', '10.96.0.1'));
  api.put('endpointslices', sliceObject('web', ['10.0.0.1', '10.0.0.2']));
  api.put('nodes', nodeObject('node-a'));
  return api;
}
const FIRST_SYNC = /Compared everything with the kernel/;
const COMMITTED = /SyncProxyRules complete.*messages=1/;

test('what the API server lists is committed, and what it tells later too', async () => {
  await using api = await smallCluster();
  await using daemon = await start(api);
  await daemon.said(/SyncProxyRules complete/);
  const route = daemon.backend.kernel.get('10.96.0.1/TCP/80')?.route;
  assert.deepEqual(route?.kind === 'balance' && route.endpoints.map(({ address }) => address), [
    '10.0.0.1',
    '10.0.0.2',
  ]);
  const synced = daemon.next(COMMITTED);
  api.put('services', serviceObject('db', '10.96.0.2'));
  await synced;
  assert.equal(daemon.backend.kernel.get('10.96.0.2/TCP/80')?.route.kind, 'reject');
});

test('nothing is written while one of the listings is missing', async () => {
  await using api = await smallCluster();
  const held = api.hold('endpointslices');
  await using daemon = await start(api);
  await daemon.said(/Listed services/);
  await daemon.said(/Listed node/);
  assert.deepEqual(daemon.backend.calls, []);
  held.letGo();
  await daemon.said(FIRST_SYNC);
  assert.equal(daemon.backend.calls.length, 1);
});

test('health tells of the node and of both families', async () => {
  await using api = await smallCluster();
  await using daemon = await start(api);
  await daemon.said(FIRST_SYNC);
  const healthz = await fetch(`${daemon.health}/healthz`);
  assert.equal(healthz.status, 200);
  const body = JSON.parse(await healthz.text());
  assert.deepEqual(Object.keys(body), ['lastUpdated', 'currentTime', 'nodeEligible', 'healthy', 'status']);
  assert.equal(body.status.IPv4.healthy, true);
  const leaving = { spec: { taints: [{ key: 'ToBeDeletedByClusterAutoscaler', effect: 'NoSchedule' }] } };
  api.put('nodes', nodeObject('node-a', leaving));
  let status = 200;
  while (status === 200) status = (await fetch(`${daemon.health}/healthz`)).status;
  assert.equal((await fetch(`${daemon.health}/livez`)).status, 200);
});

test('without its Node in the cluster the proxy works, and says that the node is not eligible', async () => {
  await using api = await smallCluster();
  api.remove('nodes', 'node-a');
  await using daemon = await start(api);
  await daemon.said(FIRST_SYNC);
  await daemon.said(/The own Node is not in the cluster/);
  assert.equal((await fetch(`${daemon.health}/healthz`)).status, 503);
});

test('metrics tell of syncs, caches and the latency of new endpoints', async () => {
  await using api = await smallCluster();
  await using daemon = await start(api);
  await daemon.said(/SyncProxyRules complete/);
  const synced = daemon.next(COMMITTED);
  api.put('endpointslices', sliceObject('web', ['10.0.0.3'], new Date()));
  await synced;
  const text = await (await fetch(`${daemon.metrics}/metrics`)).text();
  for (const line of [
    'kubeproxy_network_programming_duration_seconds_count{ip_family="IPv4"} 1',
    'kubeproxy_sync_proxy_rules_endpoint_changes_total 2',
    'kubeproxy_sync_proxy_rules_endpoint_changes_pending 0',
    'kubeproxy_sync_full_proxy_rules_duration_seconds_count{ip_family="IPv4"} 1',
    'kubeproxy_sync_partial_proxy_rules_duration_seconds_count{ip_family="IPv4"} 1',
    'pointsman_cache_objects{resource="services"} 1',
    'pointsman_reconciles_total{cause="start"} 1',
    'pointsman_entries 1',
  ])
    assert.ok(text.includes(`\n${line}\n`), line);
  assert.match(text, /^rest_client_requests_total\{code="200",method="GET",host="127\.0\.0\.1:\d+"\} \d+$/m);
  assert.equal(await (await fetch(`${daemon.metrics}/proxyMode`)).text(), 'nftables');
});

test('an object with parts that cannot be used is named, and the rest of it works', async () => {
  await using api = await smallCluster();
  await using daemon = await start(api);
  await daemon.said(FIRST_SYNC);
  const ports = [
    { name: 'ok', protocol: 'TCP', port: 81 },
    { name: 'odd', protocol: 'TCP', port: 'many' },
  ];
  const synced = daemon.next(COMMITTED);
  api.put('services', serviceObject('odd', '10.96.0.9', { ports }));
  const line = await daemon.said(/cannot be used/);
  assert.match(line, /object="services shop\/odd" reason="spec\.ports\[1\]\.port is \\"many\\"/);
  await synced;
  assert.ok(daemon.backend.kernel.has('10.96.0.9/TCP/81'));
});

test('an end during a commit lets it finish, and leaves the rules', async () => {
  await using api = await smallCluster();
  const daemon = await start(api);
  await daemon.said(FIRST_SYNC);
  const held = daemon.backend.pause();
  api.put('services', serviceObject('db', '10.96.0.2'));
  await daemon.said(/fullSync=false/);
  let ended = false;
  const stopped = daemon.stop().then(() => {
    ended = true;
  });
  await fetch(`${daemon.health}/livez`);
  assert.equal(ended, false);
  held.proceed();
  await stopped;
  assert.deepEqual([...daemon.backend.kernel.keys()], ['10.96.0.1/TCP/80', '10.96.0.2/TCP/80']);
  assert.equal(daemon.backend.disposed, true);
  assert.equal(api.openWatches, 0);
  await assert.rejects(fetch(`${daemon.health}/livez`));
});

test('a kernel that lacks what the mode needs ends it before anything is asked or opened', async () => {
  await using api = await smallCluster();
  const probeError = new PointsmanError('E_KERNEL_FEATURE', 'this kernel has no nf_tables');
  const backend = createFakeBackend({ probeError });
  const daemon = await start(api, {}, backend);
  await assert.rejects(daemon.ended, { code: 'E_KERNEL_FEATURE' });
  assert.deepEqual([backend.disposed, backend.calls.length, api.openWatches], [true, 0, 0]);
});

test('a port that is taken ends it where that is to be an error', async () => {
  await using api = await smallCluster();
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  const address = holder.address();
  assert.ok(typeof address === 'object' && address !== null);
  const healthzBindAddress = `127.0.0.1:${address.port}`;
  const strict = await start(api, { healthzBindAddress, bindAddressHardFail: true });
  await assert.rejects(strict.ended, { code: 'E_BIND' });
  await using patient = await start(api, { healthzBindAddress });
  await patient.said(/Trying again every 5 s/);
  await patient.said(FIRST_SYNC);
  holder.close();
});

test('a kubeconfig that is not there ends it', async () => {
  const daemon = await start({ port: 1 }, { master: '', kubeconfig: '/nonexistent/kubeconfig' });
  await assert.rejects(daemon.ended, { code: 'E_KUBECONFIG' });
});

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { silentLogger } from '../base/log.ts';
import { createHealth } from './health.ts';
import { healthRoutes, metricsRoutes } from './http-routes.ts';
import { type HttpRoutes, type HttpServer, startHttpServer } from './http-server.ts';

const LOCAL = '127.0.0.1';

function serve(
  routes: HttpRoutes,
  more: { readonly address?: string; readonly port?: number } = {},
): HttpServer {
  return startHttpServer({
    name: 'test server',
    address: LOCAL,
    port: 0,
    routes,
    log: silentLogger,
    hardFail: true,
    ...more,
  });
}

test("health answers carry upstream's headers and status, and are counted", async () => {
  const counts: string[] = [];
  const health = createHealth({ families: ['IPv4'], syncPeriodMs: 1000, now: () => 0 });
  await using server = serve(
    healthRoutes(health, {
      healthz: (status) => counts.push(`healthz ${status}`),
      livez: (status) => counts.push(`livez ${status}`),
    }),
  );
  const at = `http://${LOCAL}:${await server.opened}`;
  const healthz = await fetch(`${at}/healthz?verbose`);
  assert.equal(healthz.status, 503);
  assert.equal(healthz.headers.get('content-type'), 'application/json');
  assert.equal(healthz.headers.get('x-content-type-options'), 'nosniff');
  assert.equal(JSON.parse(await healthz.text()).nodeEligible, false);
  assert.equal((await fetch(`${at}/livez`)).status, 200);
  const other = await fetch(`${at}/metrics`);
  assert.deepEqual([other.status, await other.text()], [404, '404 page not found\n']);
  assert.deepEqual(counts, ['healthz 503', 'livez 200']);
});

test('the metrics port tells metrics, the mode and that it lives', async () => {
  const metrics = { contentType: 'text/plain; version=0.0.4', text: async () => 'm 1\n' };
  await using server = serve(metricsRoutes({ metrics, mode: 'nftables', more: [] }));
  const at = `http://${LOCAL}:${await server.opened}`;
  const answers = new Map<string, string>();
  for (const path of ['/metrics', '/proxyMode', '/healthz', '/healthz/ping', '/configz']) {
    const response = await fetch(at + path);
    answers.set(path, `${response.status} ${response.headers.get('content-type')} ${await response.text()}`);
  }
  assert.deepEqual(Object.fromEntries(answers), {
    '/metrics': '200 text/plain; version=0.0.4 m 1\n',
    '/proxyMode': '200 text/plain; charset=utf-8 nftables',
    '/healthz': '200 text/plain; charset=utf-8 ok',
    '/healthz/ping': '200 text/plain; charset=utf-8 ok',
    '/configz': '404 text/plain; charset=utf-8 404 page not found\n',
  });
});

test('0.0.0.0 answers over IPv6 too', async () => {
  await using server = serve(() => ({ status: 200, contentType: 'text/plain', body: 'here' }), {
    address: '0.0.0.0',
  });
  const port = await server.opened;
  for (const host of [LOCAL, '[::1]'])
    assert.equal(await (await fetch(`http://${host}:${port}/`)).text(), 'here', host);
});

test('a port that is taken is an error, or is tried again until it is free', async () => {
  const holder = createServer().listen(0, LOCAL);
  await once(holder, 'listening');
  const address = holder.address();
  assert.ok(typeof address === 'object' && address !== null);
  const { port } = address;
  await using strict = serve(() => undefined, { port });
  await assert.rejects(strict.opened, { code: 'E_BIND', hint: 'another process has the port' });

  const said: string[] = [];
  await using patient = startHttpServer({
    name: 'test server',
    address: LOCAL,
    port,
    routes: () => ({ status: 200, contentType: 'text/plain', body: 'here' }),
    log: {
      ...silentLogger,
      error: (_error, message) => {
        said.push(message);
        holder.close();
      },
    },
    hardFail: false,
    retryMs: 5,
  });
  assert.equal(await patient.opened, port);
  assert.deepEqual(said, ['Trying again every 0.005 s']);
  assert.equal((await fetch(`http://${LOCAL}:${port}/`)).status, 200);
});

test('a server that is closed while it waits for its port lets go', async () => {
  const holder = createServer().listen(0, LOCAL);
  await once(holder, 'listening');
  const address = holder.address();
  assert.ok(typeof address === 'object' && address !== null);
  const waiting = startHttpServer({
    name: 'test server',
    address: LOCAL,
    port: address.port,
    routes: () => undefined,
    log: silentLogger,
    hardFail: false,
  });
  await waiting[Symbol.asyncDispose]();
  await assert.rejects(waiting.opened, { code: 'E_BIND' });
  holder.close();
});

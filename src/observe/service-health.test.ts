import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get } from 'node:http';
import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { type Logger, silentLogger } from '../base/log.ts';
import { createServiceHealth, type ServiceHealthPort } from './service-health.ts';
import { serviceHealthAnswer } from './service-health-answer.ts';

const shop = (name: string, v4: number, v6?: number): ServiceHealthPort => ({
  namespace: 'shop',
  name,
  uid: name,
  counts: new Map([['IPv4', v4] as const, ...(v6 === undefined ? [] : [['IPv6', v6] as const])]),
});

/** A log that hands out a promise of each next line that begins so. */
function listening(): { readonly log: Logger; readonly said: (start: string) => Promise<void> } {
  const waiting: { readonly start: string; readonly found: () => void }[] = [];
  const note = (message: string): void => {
    const index = waiting.findIndex(({ start }) => message.startsWith(start));
    waiting.splice(index, index < 0 ? 0 : 1)[0]?.found();
  };
  const said = (start: string): Promise<void> => new Promise((found) => waiting.push({ start, found }));
  return { log: { ...silentLogger, error: (_, line) => note(line), debug: (_, line) => note(line) }, said };
}

async function holdPort(): Promise<{ readonly port: number; readonly close: () => Promise<void> }> {
  const server = createServer().listen(0, '0.0.0.0');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return { port: address.port, close: () => new Promise((resolve) => server.close(() => resolve())) };
}
async function freePort(): Promise<number> {
  const { port, close } = await holdPort();
  await close();
  return port;
}

/** The body of an answer over a connection of its own: a pool's would be closed under the next request. */
async function bodyAt(port: number): Promise<string> {
  const request = get({ host: '127.0.0.1', port, agent: false });
  const [response] = await once(request, 'response');
  return text(response);
}

test('the answer has the weight, and its body is indented with tabs', () => {
  const { status, headers, body } = serviceHealthAnswer(shop('web', 2), 2, true);
  assert.equal(status, 200);
  assert.equal(headers['X-Load-Balancing-Endpoint-Weight'], '2');
  assert.equal(
    body,
    '{\n\t"service": {\n\t\t"namespace": "shop",\n\t\t"name": "web"\n\t},\n\t"localEndpoints": 2,\n\t"serviceProxyHealthy": true\n}',
  );
  assert.equal(serviceHealthAnswer(shop('web', 0), 0, true).status, 503);
  const ill = serviceHealthAnswer(shop('web', 2), 2, false);
  assert.deepEqual([ill.status, ill.headers['X-Load-Balancing-Endpoint-Weight']], [503, '2']);
  assert.match(ill.body, /"serviceProxyHealthy": false/);
});

test('each family has a socket and a count of its own, for any path and method', async () => {
  const port = await freePort();
  const { log, said } = listening();
  await using servers = createServiceHealth({ healthy: () => true, log });
  const opened = [said('Opening'), said('Opening')];
  servers.apply(new Map([[port, shop('web', 2, 0)]]));
  await Promise.all(opened);
  const v4 = await fetch(`http://127.0.0.1:${port}/any/path`, { method: 'POST', body: 'x' });
  assert.deepEqual(
    [v4.status, v4.headers.get('x-load-balancing-endpoint-weight'), v4.headers.get('content-type')],
    [200, '2', 'application/json'],
  );
  const v6 = await fetch(`http://[::1]:${port}/`);
  assert.deepEqual([v6.status, v6.headers.get('x-load-balancing-endpoint-weight')], [503, '0']);
  assert.deepEqual(servers.counts, { open: 2, waiting: 0 });
});

test('a port changes hands without closing, moves, and is refused once it is not wanted', async () => {
  const [port, next] = [await freePort(), await freePort()];
  const { log, said } = listening();
  await using servers = createServiceHealth({ healthy: () => true, log });
  let opened = said('Opening');
  servers.apply(new Map([[port, shop('web', 1)]]));
  await opened;
  servers.apply(new Map([[port, shop('other', 3)]]));
  assert.match(await bodyAt(port), /"name": "other"/);
  opened = said('Opening');
  servers.apply(
    new Map([
      [port, undefined],
      [next, shop('other', 3)],
    ]),
  );
  await opened;
  assert.match(await bodyAt(next), /"localEndpoints": 3/);
  await assert.rejects(bodyAt(port), { code: 'ECONNREFUSED' });
  opened = said('Opening');
  servers.apply(new Map([[next, undefined]]));
  servers.apply(new Map([[next, shop('other', 4)]]));
  await opened;
  assert.match(await bodyAt(next), /"localEndpoints": 4/);
});

test('a port that is taken is told once, and opened when it is free', async () => {
  const holder = await holdPort();
  const { log, said } = listening();
  const told: string[] = [];
  const failed = Promise.withResolvers<void>();
  await using servers = createServiceHealth({
    healthy: () => true,
    log,
    firstRetryMs: 5,
    failed(service, port, { code }) {
      told.push(`${service.name} ${port} ${code}`);
      failed.resolve();
    },
  });
  const opened = said('Opening');
  servers.apply(new Map([[holder.port, shop('web', 1)]]));
  await failed.promise;
  assert.deepEqual(servers.counts, { open: 0, waiting: 1 });
  await holder.close();
  await opened;
  assert.deepEqual(told, [`web ${holder.port} E_BIND`]);
  assert.equal((await fetch(`http://127.0.0.1:${holder.port}/`)).status, 200);
});

test('the end closes everything, also what still opens or waits', async () => {
  const holder = await holdPort();
  const port = await freePort();
  const servers = createServiceHealth({ healthy: () => true, log: silentLogger });
  servers.apply(
    new Map([
      [holder.port, shop('waits', 1)],
      [port, shop('opens', 1)],
    ]),
  );
  await servers[Symbol.asyncDispose]();
  assert.deepEqual(servers.counts, { open: 0, waiting: 0 });
  await assert.rejects(fetch(`http://127.0.0.1:${port}/`));
  await holder.close();
});

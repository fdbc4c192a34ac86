// The connection to an API server over TLS: protocols, certificates, dead peers, changing credentials.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { silentLogger } from '../../src/base/log.ts';
import type { ClusterAccess } from '../../src/kube/access.ts';
import { apiStatusOf } from '../../src/kube/api-status.ts';
import { TRANSPORT_TIMING } from '../../src/kube/connection.ts';
import { createCredentials } from '../../src/kube/credentials.ts';
import { createHttp1Connection } from '../../src/kube/http1-connection.ts';
import { readChunks } from '../../src/kube/read-chunks.ts';
import { constantText } from '../../src/kube/refreshed-file.ts';
import { createTransport, type TransportOptions } from '../../src/kube/transport.ts';
import { createAuthority } from './certificates.ts';
import { watchServices } from './harness.ts';
import { startServer } from './misbehaving-server.ts';
import { startRelay } from './stallable-relay.ts';

const authority = createAuthority('pointsman test CA');
const pair = authority.issue('apiserver', 'IP:127.0.0.1,DNS:kubernetes');
const folder = mkdtempSync(join(tmpdir(), `pt-${process.pid}-transport-`));
after(() => {
  authority[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
});

const SERVICES = '/api/v1/services';

function transportTo(
  url: string,
  access: Partial<ClusterAccess> = {},
  options: Partial<TransportOptions> = {},
) {
  return createTransport({
    access: {
      server: new URL(url),
      authority: constantText(authority.certificate),
      insecureSkipVerify: false,
      compression: true,
      credentials: createCredentials({}),
      origin: 'test',
      ...access,
    },
    log: silentLogger,
    userAgent: 'pointsman/test',
    rate: { qps: 0, burst: 0 },
    ...options,
  });
}

for (const [protocol, version] of [
  ['h2', '2.0'],
  ['https', '1.1'],
] as const) {
  test(`${protocol}: requests and a watch share what the server speaks`, async () => {
    await using server = await startServer({ protocol, pair });
    server.put('a');
    await using watched = watchServices({ server, authority: authority.certificate });
    await watched.until('the first list', () => watched.status().synced);
    server.put('b');
    await watched.until('the addition', () => watched.objects.has('shop/b'));
    const list = (await watched.transport.json('GET', SERVICES, { query: { limit: 1 } })) as {
      readonly items: readonly unknown[];
    };
    assert.equal(list.items.length, 1);
    assert.equal(server.requests.at(-1)?.headers['user-agent'], 'test');
    assert.deepEqual(
      server.requests.map(({ httpVersion }) => httpVersion),
      [version, version],
    );
    if (protocol === 'h2') assert.equal(server.connections, 1);
  });
}

test('a server whose certificate is of another CA is refused, with a hint', async () => {
  using other = createAuthority('another CA');
  await using server = await startServer({ protocol: 'h2', pair });
  using transport = transportTo(server.url, { authority: constantText(other.certificate) });
  await assert.rejects(transport.request('GET', SERVICES), {
    code: 'E_API_UNREACHABLE',
    message: /unable to verify|self.signed|issuer/i,
    hint: /certificate-authority/,
  });
});

test('a certificate for another name is refused, and accepted when tls-server-name says so', async () => {
  const named = authority.issue('elsewhere', 'DNS:kubernetes');
  await using server = await startServer({ protocol: 'h2', pair: named });
  using wrong = transportTo(server.url);
  await assert.rejects(wrong.request('GET', SERVICES), {
    code: 'E_API_UNREACHABLE',
    hint: /tls-server-name/,
  });
  using right = transportTo(server.url, { serverName: 'kubernetes' });
  assert.equal((await right.request('GET', SERVICES)).status, 200);
  assert.equal(server.requests[0]?.askedName, 'kubernetes');
});

test('without verification any certificate will do', async () => {
  using other = createAuthority('another CA');
  await using server = await startServer({ protocol: 'h2', pair: other.issue('x', 'DNS:x') });
  const { authority: _none, ...access } = { authority: undefined, insecureSkipVerify: true };
  using transport = createTransport({
    access: {
      server: new URL(server.url),
      compression: true,
      credentials: createCredentials({}),
      origin: 'test',
      ...access,
    },
    log: silentLogger,
    userAgent: 'test',
  });
  assert.equal((await transport.request('GET', SERVICES)).status, 200);
});

test('the path of the server URL is a prefix of every request', async () => {
  await using server = await startServer({ protocol: 'h2', pair });
  using transport = transportTo(`${server.url}/k8s/clusters/c-1/`);
  await transport.request('GET', SERVICES, {
    query: { limit: 5, fieldSelector: 'spec.clusterIP!=None', x: undefined },
  });
  const [request] = server.requests;
  assert.equal(request?.path, `/k8s/clusters/c-1${SERVICES}`);
  assert.equal(request?.query.get('fieldSelector'), 'spec.clusterIP!=None');
  assert.equal(request?.query.has('x'), false);
});

test('a half-open connection is noticed by an unanswered ping, and the watch goes on over a new one', async () => {
  await using server = await startServer({ protocol: 'h2', pair });
  await using relay = await startRelay(server.port);
  server.put('a');
  await using watched = watchServices({
    server,
    url: `https://127.0.0.1:${relay.port}`,
    authority: authority.certificate,
    transportTiming: { ping: 100, pong: 150 },
  });
  await watched.until('the first list', () => watched.status().synced);
  relay.stall();
  server.put('b');
  await watched.until('the change', () => watched.objects.has('shop/b'));
  assert.ok(
    watched.lines.some((line) => /no answer to a ping.*resuming/.test(line)),
    watched.lines.join('\n'),
  );
});

test('a stalled HTTP/1.1 connection is noticed by the silence of its watch', async () => {
  await using server = await startServer({ protocol: 'https', pair });
  await using relay = await startRelay(server.port);
  server.put('a');
  await using watched = watchServices({
    server,
    url: `https://127.0.0.1:${relay.port}`,
    authority: authority.certificate,
    timing: { silence: 300 },
  });
  await watched.until('the first list', () => watched.status().synced);
  server.bookmark();
  relay.stall();
  server.put('b');
  await watched.until('the change', () => watched.objects.has('shop/b'));
});

test('after GOAWAY running watches go on, and new requests use a new connection', async () => {
  await using server = await startServer({ protocol: 'h2', pair });
  server.put('a');
  await using watched = watchServices({ server, authority: authority.certificate });
  await watched.until('the first list', () => watched.status().synced);
  const [first] = server.requests;
  first?.session?.goaway();
  await watched.until('a request on a new connection', () => {
    void watched.transport.request('GET', SERVICES).then(
      () => {},
      () => {},
    );
    return server.requests.some(({ session }) => session !== first?.session);
  });
  server.put('b');
  await watched.until('the change', () => watched.objects.has('shop/b'));
  assert.equal(watched.status().restarts, 0);
});

test('a connection that died while it was idle costs a GET nothing', async () => {
  for (const protocol of ['h2', 'https'] as const) {
    await using server = await startServer({ protocol, pair });
    using transport = transportTo(server.url);
    await transport.request('GET', SERVICES);
    server.once(
      () => true,
      (exchange) => exchange.destroy(),
    );
    assert.equal((await transport.request('GET', SERVICES)).status, 200, protocol);
  }
});

test('a body that breaks off is an error, not an end', async () => {
  for (const protocol of ['h2', 'https', 'http'] as const) {
    await using server = await startServer({ protocol, pair });
    using transport = transportTo(server.url);
    server.once(
      () => true,
      (exchange) => {
        exchange.open();
        exchange.write('{"kind":');
      },
    );
    const { body } = await transport.stream(SERVICES);
    const chunks: string[] = [];
    await assert.rejects(
      readChunks(
        body,
        protocol,
        () => 20_000,
        (chunk) => {
          chunks.push(chunk.toString());
          server.breakConnections();
        },
      ),
      { code: 'E_API_UNREACHABLE', message: /it broke off/ },
    );
    assert.deepEqual(chunks, ['{"kind":']);
  }
});

test('a request that changes something is not repeated on its own', async () => {
  await using server = await startServer({ protocol: 'h2', pair });
  using transport = transportTo(server.url);
  await transport.request('GET', SERVICES);
  server.once(
    () => true,
    (exchange) => exchange.destroy(),
  );
  await assert.rejects(transport.request('POST', SERVICES, { body: {} }), { code: 'E_API_UNREACHABLE' });
  assert.equal(server.requests.length, 2);
});

test('a server that accepts connections and says nothing is given up in time', async () => {
  await using server = await startServer({ protocol: 'h2', pair });
  await using relay = await startRelay(server.port);
  relay.onConnection = () => relay.stall();
  using transport = transportTo(`https://127.0.0.1:${relay.port}`, {}, { timing: { connect: 100 } });
  await assert.rejects(transport.request('GET', SERVICES), {
    code: 'E_API_UNREACHABLE',
    message: /no TLS connection in 0.1 s/,
  });
});

test('a request without an answer is given up in time, and the connection stays', async () => {
  for (const protocol of ['h2', 'https', 'http'] as const) {
    await using server = await startServer({ protocol, pair });
    using transport = transportTo(server.url, {}, { timing: { head: 100 } });
    server.once(
      () => true,
      () => {},
    );
    await assert.rejects(transport.request('GET', SERVICES), {
      code: 'E_API_UNREACHABLE',
      message: /did not answer GET .* in 0.1 s/,
    });
    assert.equal((await transport.request('GET', SERVICES)).status, 200, protocol);
  }
});

test('an abort ends a request at once with its reason', async () => {
  for (const protocol of ['h2', 'http'] as const) {
    await using server = await startServer({ protocol, pair });
    using transport = transportTo(server.url);
    const stopper = new AbortController();
    server.once(
      () => true,
      () => stopper.abort(new RangeError('enough')),
    );
    await assert.rejects(transport.request('GET', SERVICES, { signal: stopper.signal }), RangeError);
  }
});

test('an error answer carries status, reason, message and Retry-After', async () => {
  await using server = await startServer({ protocol: 'h2', pair });
  using transport = transportTo(server.url);
  server.once(
    () => true,
    (exchange) =>
      exchange.refuse({
        status: 429,
        reason: 'TooManyRequests',
        message: 'slow down',
        headers: { 'retry-after': '7' },
      }),
  );
  const error = await transport.json('GET', SERVICES).catch((caught: unknown) => caught);
  assert.deepEqual(apiStatusOf(error), {
    status: 429,
    reason: 'TooManyRequests',
    retryAfterMs: 7000,
    causes: '',
  });
  assert.match(String(error), /GET \/api\/v1\/services with 429 TooManyRequests: slow down/);
});

test('requests are reported for metrics, answered or not', async () => {
  const reports: number[] = [];
  const server = await startServer({ protocol: 'h2', pair });
  using transport = transportTo(server.url, {}, { onRequest: ({ status }) => reports.push(status) });
  await transport.request('GET', SERVICES);
  await server.close();
  await assert.rejects(transport.request('GET', SERVICES));
  assert.deepEqual(reports, [200, 0]);
});

test('a plain connection that failed is closed for good once its requests are over', async () => {
  const server = await startServer({ protocol: 'http' });
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const connection = createHttp1Connection(new URL(server.url), undefined, TRANSPORT_TIMING, resolve);
  const request = { method: 'GET', path: SERVICES, headers: {} };
  const { body } = await connection.exchange(request, undefined);
  body.destroy();
  await server.close();
  await assert.rejects(connection.exchange(request, undefined), { code: 'E_API_UNREACHABLE' });
  assert.equal(connection.usable, false);
  await closed;
});

test('a closed transport refuses work', async () => {
  await using server = await startServer({ protocol: 'h2', pair });
  const transport = transportTo(server.url);
  await transport.request('GET', SERVICES);
  transport.close();
  await assert.rejects(transport.request('GET', SERVICES), {
    code: 'E_API_UNREACHABLE',
    message: /is closed/,
  });
});

// Credentials that change while we run: tokens, certificates, plugins.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { silentLogger } from '../../src/base/log.ts';
import type { ClusterAccess } from '../../src/kube/access.ts';
import { apiStatusOf } from '../../src/kube/api-status.ts';
import { createCredentials } from '../../src/kube/credentials.ts';
import { createExecPlugin } from '../../src/kube/exec-plugin.ts';
import { constantText, createRefreshedFile } from '../../src/kube/refreshed-file.ts';
import { createTransport, type TransportOptions } from '../../src/kube/transport.ts';
import { createAuthority } from './certificates.ts';
import { startServer } from './misbehaving-server.ts';

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

test('a client certificate is shown, and a new one makes a new connection', async () => {
  await using server = await startServer({ protocol: 'h2', pair, clientAuthority: authority.certificate });
  const paths = { certificate: join(folder, 'client.crt'), key: join(folder, 'client.key') };
  const install = (name: string): void => {
    const { certificate, key } = authority.issue(name, 'DNS:client');
    writeFileSync(paths.certificate, certificate);
    writeFileSync(paths.key, key);
  };
  let time = 0;
  const file = (path: string) => createRefreshedFile({ path, what: 'test', now: () => time });
  install('first');
  const certificate = { certificate: file(paths.certificate), key: file(paths.key) };
  using transport = transportTo(server.url, { credentials: createCredentials({ certificate }) });
  await transport.request('GET', SERVICES);
  install('second');
  await transport.request('GET', SERVICES);
  time += 61_000;
  await transport.request('GET', SERVICES);
  assert.deepEqual(
    server.requests.map(({ clientName }) => clientName),
    ['first', 'first', 'second'],
  );
});

test('a rotated token is used after a minute, and at once after a 401', async () => {
  await using server = await startServer({ protocol: 'h2', pair });
  const path = join(folder, 'token');
  let time = 0;
  writeFileSync(path, 'one\n');
  const token = createRefreshedFile({ path, what: 'test', now: () => time });
  using transport = transportTo(server.url, { credentials: createCredentials({ token }) });
  server.token = 'one';
  assert.equal((await transport.request('GET', SERVICES)).status, 200);

  writeFileSync(path, 'two');
  assert.equal((await transport.request('GET', SERVICES)).status, 200, 'read again too early');
  time += 61_000;
  server.token = 'two';
  assert.equal((await transport.request('GET', SERVICES)).status, 200);
  assert.equal(server.requests.length, 3, 'no request was refused');

  writeFileSync(path, 'three');
  server.token = 'three';
  assert.equal((await transport.request('GET', SERVICES)).status, 200);
  assert.equal(server.requests.length, 5, 'one was refused and repeated');

  server.token = 'four';
  const refused = await transport.json('GET', SERVICES).catch((error: unknown) => error);
  assert.equal(apiStatusOf(refused)?.status, 401);
  assert.equal(server.requests.length, 6, 'the same token is not tried twice');
});

test('a token file that is briefly missing keeps the last token', async () => {
  await using server = await startServer({ protocol: 'h2', pair });
  const path = join(folder, 'brief');
  let time = 0;
  writeFileSync(path, 'one');
  server.token = 'one';
  const token = createRefreshedFile({ path, what: 'test', now: () => time });
  using transport = transportTo(server.url, { credentials: createCredentials({ token }) });
  await transport.request('GET', SERVICES);
  rmSync(path);
  time += 61_000;
  assert.equal((await transport.request('GET', SERVICES)).status, 200);
});

test('an exec plugin is run again when its token expired and when it was refused', async () => {
  await using server = await startServer({ protocol: 'h2', pair });
  const tokens = join(folder, 'plugin-token');
  const runs = join(folder, 'plugin-runs');
  const plugin = join(folder, 'plugin');
  writeFileSync(runs, '');
  writeFileSync(plugin, `#!/bin/sh\necho "$KUBERNETES_EXEC_INFO" >> ${runs}\ncat ${tokens}\n`, {
    mode: 0o755,
  });
  const { readFileSync } = await import('node:fs');
  const give = (token: string, expires: string): void =>
    writeFileSync(
      tokens,
      JSON.stringify({
        apiVersion: 'client.authentication.k8s.io/v1',
        kind: 'ExecCredential',
        status: { token, expirationTimestamp: expires },
      }),
    );
  const countRuns = (): number => readFileSync(runs, 'utf8').split('\n').length - 1;
  let time = Date.parse('2030-01-01T00:00:00Z');
  const source = createExecPlugin({
    apiVersion: 'client.authentication.k8s.io/v1',
    command: plugin,
    args: [],
    env: { PATH: process.env.PATH },
    interactiveMode: 'Never',
    stdinIsTerminal: false,
    cluster: async () => ({ server: 'https://kubernetes' }),
    what: 'test',
    now: () => time,
  });
  using transport = transportTo(server.url, { credentials: createCredentials({ plugin: source }) });

  give('one', '2030-01-01T01:00:00Z');
  server.token = 'one';
  await Promise.all([transport.json('GET', SERVICES), transport.json('GET', SERVICES)]);
  assert.equal(countRuns(), 1, 'requests at once share a run');
  const info = JSON.parse(readFileSync(runs, 'utf8')) as { readonly spec: unknown };
  assert.deepEqual(info.spec, { cluster: { server: 'https://kubernetes' }, interactive: false });

  time += 3_600_000;
  give('two', '2030-01-01T03:00:00Z');
  server.token = 'two';
  await transport.json('GET', SERVICES);
  assert.equal(countRuns(), 2);
  assert.equal(server.requests.length, 3, 'an expired token is not shown');

  give('three', '2030-01-01T03:00:00Z');
  server.token = 'three';
  await transport.json('GET', SERVICES);
  assert.equal(countRuns(), 3);
});

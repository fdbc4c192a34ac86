// Credentials from files, end to end: what a kubeconfig, a pod or a plugin gives is what the server sees.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { silentLogger } from '../../src/base/log.ts';
import type { ClusterAccess } from '../../src/kube/access.ts';
import { findAccess } from '../../src/kube/find-access.ts';
import { createTransport } from '../../src/kube/transport.ts';
import { createAuthority } from './certificates.ts';
import { startServer } from './misbehaving-server.ts';

const authority = createAuthority('pointsman test CA');
const pair = authority.issue('apiserver', 'IP:127.0.0.1');
const client = authority.issue('ann', 'DNS:ann');
const folder = mkdtempSync(join(tmpdir(), `pt-${process.pid}-credentials-`));
after(() => {
  authority[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
});

function write(name: string, content: string, mode = 0o600): string {
  const path = join(folder, name);
  writeFileSync(path, content, { mode });
  return path;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const ca = `certificate-authority-data: ${base64(authority.certificate)}`;

function kubeconfig(name: string, server: string, cluster: string, user: string): string {
  return write(
    name,
    `clusters: [{name: c, cluster: {server: "${server}", ${cluster}}}]
users: [{name: u, user: {${user}}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`,
  );
}

async function request(access: ClusterAccess): Promise<number> {
  using transport = createTransport({ access, log: silentLogger, userAgent: 'test' });
  return (await transport.request('GET', '/api/v1/services')).status;
}

for (const [how, cluster, user] of [
  [
    'data',
    ca,
    `client-certificate-data: ${base64(client.certificate)}, client-key-data: ${base64(client.key)}`,
  ],
  ['files', 'certificate-authority: ca.crt', 'client-certificate: ann.crt, client-key: ann.key'],
] as const) {
  test(`a client certificate from ${how} is shown to the server`, async () => {
    await using server = await startServer({ protocol: 'h2', pair, clientAuthority: authority.certificate });
    write('ca.crt', authority.certificate);
    write('ann.crt', client.certificate);
    write('ann.key', client.key);
    const file = kubeconfig(how, server.url, cluster, user);
    assert.equal(await request(await findAccess({ kubeconfig: file, env: {} })), 200);
    assert.equal(server.requests[0]?.clientName, 'ann');
  });
}

test('a key that does not belong to its certificate is refused when the kubeconfig is read', async () => {
  const other = authority.issue('bob', 'DNS:bob');
  const user = `client-certificate-data: ${base64(client.certificate)}, client-key-data: ${base64(other.key)}`;
  const file = kubeconfig('mismatch', 'https://127.0.0.1:1', ca, user);
  await assert.rejects(findAccess({ kubeconfig: file, env: {} }), {
    code: 'E_KUBECONFIG',
    message: `kubeconfig ${file}: users[0].user cannot be used: client certificate and key: they do not belong together`,
  });
});

test('a damaged certificate is refused when the kubeconfig is read', async () => {
  const damaged = authority.certificate.replace(/\n[A-Za-z0-9+/]{20}/, '\nAAAAAAAAAAAAAAAAAAAA');
  const file = kubeconfig(
    'damaged',
    'https://127.0.0.1:1',
    `certificate-authority-data: ${base64(damaged)}`,
    '',
  );
  await assert.rejects(findAccess({ kubeconfig: file, env: {} }), {
    code: 'E_KUBECONFIG',
    message: /certificate-authority-data cannot be used: certificate 1 of 1 in it is damaged$/,
  });
});

test('a CA beside insecure-skip-tls-verify is a contradiction', async () => {
  const file = kubeconfig('both', 'https://127.0.0.1:1', `${ca}, insecure-skip-tls-verify: true`, '');
  await assert.rejects(findAccess({ kubeconfig: file, env: {} }), {
    message: /insecure-skip-tls-verify is true beside/,
  });
});

test('a pod uses its service account, also after token and CA were rotated', async () => {
  const account = join(folder, 'serviceaccount');
  mkdirSync(account);
  const mount = (token: string, bundle: string): void => {
    writeFileSync(join(account, 'token'), token);
    writeFileSync(join(account, 'ca.crt'), bundle);
  };
  mount('one', authority.certificate);
  await using server = await startServer({ protocol: 'h2', pair });
  server.token = 'one';
  let time = 0;
  const access = await findAccess({
    env: { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: String(server.port) },
    serviceAccountFolder: account,
    now: () => time,
  });
  using transport = createTransport({ access, log: silentLogger, userAgent: 'test' });
  assert.equal((await transport.request('GET', '/')).status, 200);

  using renewed = createAuthority('renewed CA');
  await using next = await startServer({ protocol: 'h2', pair: renewed.issue('apiserver', 'IP:127.0.0.1') });
  next.token = 'two';
  mount('two', renewed.certificate);
  time += 61_000;
  using moved = createTransport({
    access: { ...access, server: new URL(next.url) },
    log: silentLogger,
    userAgent: 'test',
  });
  assert.equal((await moved.request('GET', '/')).status, 200);
  assert.equal(next.requests.length, 1);
});

test('an IPv6 address in the environment of a pod gets its brackets', async () => {
  const account = join(folder, 'account6');
  mkdirSync(account);
  writeFileSync(join(account, 'token'), 't');
  writeFileSync(join(account, 'ca.crt'), authority.certificate);
  const env = { KUBERNETES_SERVICE_HOST: 'fd00:96::1', KUBERNETES_SERVICE_PORT: '443' };
  const access = await findAccess({ env, serviceAccountFolder: account });
  assert.equal(access.server.href, 'https://[fd00:96::1]/');
});

test('a pod without a mounted token is told which file is missing', async () => {
  const env = { KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '443' };
  await assert.rejects(findAccess({ env, serviceAccountFolder: join(folder, 'none') }), {
    code: 'E_KUBECONFIG',
    message: `in-cluster credentials: ${join(folder, 'none', 'token')} cannot be used: no such file`,
  });
});

/** A kubeconfig whose user is a plugin: this shell script, beside the kubeconfig. */
function withPlugin(server: string, script: string, exec = ''): string {
  write('plugin.sh', `#!/bin/sh\n${script}\n`, 0o700);
  const fields = `apiVersion: client.authentication.k8s.io/v1, command: ./plugin.sh, interactiveMode: Never`;
  return kubeconfig('plugin.conf', server, ca, `exec: {${fields}${exec}}`);
}

const credential = (status: object): string =>
  `printf %s '${JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status })}'`;

test('a plugin gets its arguments, its environment and the cluster, and its token is used', async () => {
  await using server = await startServer({ protocol: 'h2', pair });
  server.token = 'a-b-https';
  const token = `scheme=$(echo "$KUBERNETES_EXEC_INFO" | sed 's/.*"server":"\\([a-z]*\\):.*/\\1/')
echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"'$1-$EXTRA-$scheme'"}}'`;
  const file = withPlugin(
    server.url,
    token,
    ', args: [a], env: [{name: EXTRA, value: b}], provideClusterInfo: true',
  );
  assert.equal(await request(await findAccess({ kubeconfig: file, env: { PATH: process.env.PATH } })), 200);
});

test("a plugin's client certificate is shown to the server", async () => {
  await using server = await startServer({ protocol: 'h2', pair, clientAuthority: authority.certificate });
  const status = { clientCertificateData: client.certificate, clientKeyData: client.key };
  const file = withPlugin(server.url, credential(status));
  assert.equal(await request(await findAccess({ kubeconfig: file, env: { PATH: process.env.PATH } })), 200);
  assert.equal(server.requests[0]?.clientName, 'ann');
});

for (const [what, script, exec, message] of [
  ['fails', 'echo "not logged in" >&2; exit 3', '', /plugin\.sh ended with exit code 3: not logged in$/],
  ['prints no JSON', 'echo hello', '', /printed something that is no JSON$/],
  ['prints no credential', credential({}), '', /gave neither a token nor a client certificate$/],
  [
    'prints half a pair',
    credential({ clientKeyData: 'x' }),
    '',
    /gave only one of clientCertificateData and clientKeyData$/,
  ],
  [
    'prints a wrong certificate',
    credential({ clientKeyData: 'x', clientCertificateData: 'y' }),
    '',
    /gave an unusable/,
  ],
  ['prints a number for a token', credential({ token: 7 }), '', /whose status\.token is missing or wrong$/],
  [
    'answers in another version',
    credential({ token: 'x' }).replace('/v1"', '/v1beta1"'),
    '',
    /answered in client\.authentication\.k8s\.io\/v1beta1, the kubeconfig asks for client\.authentication\.k8s\.io\/v1$/,
  ],
  [
    'is not there',
    '',
    ', command: nowhere-to-be-found, installHint: "get it\\n at example"',
    /plugin nowhere-to-be-found was not found$/,
  ],
  ['wants a terminal', credential({ token: 'x' }), ', interactiveMode: Always', /wants a terminal/],
] as const) {
  test(`a plugin that ${what} is an error that says so`, async () => {
    const file = withPlugin('https://127.0.0.1:1', script, '');
    if (exec !== '') {
      const fields =
        'apiVersion: client.authentication.k8s.io/v1, command: ./plugin.sh, interactiveMode: Never';
      const [, key = ''] = /, (\w+):/.exec(exec) ?? [];
      const kept = fields.split(', ').filter((field) => !field.startsWith(`${key}:`));
      kubeconfig('plugin.conf', 'https://127.0.0.1:1', ca, `exec: {${kept.join(', ')}${exec}}`);
    }
    const access = await findAccess({ kubeconfig: file, env: { PATH: process.env.PATH } });
    await assert.rejects(
      access.credentials.present(),
      (error: Error & { readonly code?: string; readonly hint?: string }) => {
        assert.equal(error.code, 'E_CREDENTIAL_PLUGIN');
        assert.match(error.message, message);
        if (exec.includes('installHint')) assert.equal(error.hint, 'get it at example');
        return true;
      },
    );
  });
}

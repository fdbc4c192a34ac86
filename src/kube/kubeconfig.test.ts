// What a kubeconfig may say and how a wrong one is told. Certificates are tried in test/kube/.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { oneLine } from '../base/errors.ts';
import { findAccess } from './find-access.ts';
import { loadKubeconfig, usualKubeconfigFiles } from './kubeconfig.ts';

const folder = mkdtempSync(join(tmpdir(), `pt-${process.pid}-kubeconfig-`));
after(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

/** A kubeconfig of one context, with these fields in cluster and user (YAML flow maps). */
const config = (cluster: string, user = '{}'): string => `
apiVersion: v1
kind: Config
clusters: [{name: main, cluster: ${cluster}}]
users: [{name: me, user: ${user}}]
contexts: [{name: here, context: {cluster: main, user: me}}]
current-context: here
`;
const SERVER = '{server: "https://192.0.2.10:6443"}';

async function headersOf(user: string): Promise<unknown> {
  const access = await loadKubeconfig({ files: [write('headers', config(SERVER, user))] });
  return (await access.credentials.present()).headers;
}

test('server, options and origin are those of the context', async () => {
  const file = write(
    'full',
    config(
      '{server: "https://api.example:6443/k8s", tls-server-name: kubernetes, insecure-skip-tls-verify: true, disable-compression: true}',
      '{token: abc}',
    ),
  );
  const { credentials, ...access } = await loadKubeconfig({ files: [file] });
  assert.deepEqual(access, {
    server: new URL('https://api.example:6443/k8s'),
    serverName: 'kubernetes',
    insecureSkipVerify: true,
    compression: false,
    origin: `kubeconfig ${file}, context here`,
  });
  assert.deepEqual(await credentials.present(), { headers: { authorization: 'Bearer abc' } });
});

test('--master takes the place of the server', async () => {
  const files = [write('master', config(SERVER))];
  assert.equal((await loadKubeconfig({ files, master: 'http://127.0.0.1:8080' })).server.port, '8080');
});

test('basic authentication and impersonation become headers', async () => {
  assert.deepEqual(await headersOf('{username: ann, password: "p:w"}'), {
    authorization: `Basic ${Buffer.from('ann:p:w').toString('base64')}`,
  });
  assert.deepEqual(
    await headersOf('{token: t, as: bob, as-uid: "7", as-groups: [x, y], as-user-extra: {Scopes: [a, b]}}'),
    {
      authorization: 'Bearer t',
      'impersonate-user': 'bob',
      'impersonate-uid': '7',
      'impersonate-group': ['x', 'y'],
      'impersonate-extra-scopes': ['a', 'b'],
    },
  );
});

test('paths start at the folder of their file, and a token file wins over a token', async () => {
  mkdirSync(join(folder, 'sub'), { recursive: true });
  write('sub/token', ' from-file\n');
  const file = write('sub/config', config(SERVER, '{token: inline, tokenFile: token}'));
  const access = await loadKubeconfig({ files: [file] });
  assert.deepEqual((await access.credentials.present()).headers, { authorization: 'Bearer from-file' });
});

test('null stands for nothing, unknown fields are passed over, JSON is YAML', async () => {
  const yaml = config('{server: "https://h", extensions: null, novel: 1}', 'null').replace(
    'kind: Config',
    'preferences:',
  );
  assert.equal((await loadKubeconfig({ files: [write('nulls', yaml)] })).server.host, 'h');
  const json = JSON.stringify({
    clusters: [{ name: 'c', cluster: { server: 'https://j' } }],
    contexts: [{ name: 'x', context: { cluster: 'c' } }],
    'current-context': 'x',
  });
  assert.equal((await loadKubeconfig({ files: [write('json', json)] })).server.host, 'j');
});

test('of several files the first that has an entry counts, and missing ones are passed over', async () => {
  const clusters = write(
    'merge-1',
    'clusters: [{name: main, cluster: {server: "https://first"}}]\ncurrent-context: there\n',
  );
  const rest = write('merge-2', config('{server: "https://second"}').replaceAll('here', 'there'));
  const access = await loadKubeconfig({
    files: [join(folder, 'nowhere'), clusters, rest],
    missingAllowed: true,
  });
  assert.equal(access.server.host, 'first');
});

test('the usual files are those of KUBECONFIG, else the one in the home folder', () => {
  assert.deepEqual(usualKubeconfigFiles({ KUBECONFIG: 'a:b::a' }), ['a', 'b']);
  assert.deepEqual(usualKubeconfigFiles({ HOME: '/home/x' }), ['/home/x/.kube/config']);
});

const EXEC = 'apiVersion: client.authentication.k8s.io/v1, command: plugin';
for (const [what, content, message] of [
  ['broken YAML', 'clusters: [\n  {name: "x}', /: line \d, column \d+: /],
  ['a list', '[]', /: a list: the file must be a kubeconfig/],
  ['another kind', 'kind: Pod', /: kind is "Pod": must be "Config"$/],
  ['no contexts', 'kind: Config', /: current-context is missing: there are no contexts$/],
  [
    'no current context',
    config(SERVER).replace('current-context: here', ''),
    /: current-context is missing: the contexts are here$/,
  ],
  [
    'an unknown context',
    config(SERVER).replace('current-context: here', 'current-context: x'),
    /: current-context is "x": the contexts are here$/,
  ],
  [
    'an unknown cluster',
    config(SERVER).replace('cluster: main, user', 'cluster: min, user'),
    /: contexts\[0\]\.context\.cluster is "min": clusters has main$/,
  ],
  [
    'an unknown user',
    config(SERVER).replace('user: me', 'user: you'),
    /: contexts\[0\]\.context\.user is "you": users has me$/,
  ],
  [
    'a number for a server',
    config('{server: 42}'),
    /: clusters\[0\]\.cluster\.server is 42: must be a URL such as/,
  ],
  ['no server', config('{}'), /: clusters\[0\]\.cluster\.server is missing/],
  [
    'a bad server',
    config('{server: "ftp://h"}'),
    /clusters\[0\]\.cluster\.server is "ftp:\/\/h": only https and http/,
  ],
  [
    'a word for a flag',
    config('{server: "https://h", insecure-skip-tls-verify: "yes"}'),
    /insecure-skip-tls-verify is "yes": must be true or false$/,
  ],
  [
    'a proxy',
    config('{server: "https://h", proxy-url: "socks5://p"}'),
    /proxy-url is "socks5:\/\/p": proxies are not supported/,
  ],
  [
    'CA data that are no base64',
    config('{server: "https://h", certificate-authority-data: "%%"}'),
    /certificate-authority-data is no base64 text$/,
  ],
  [
    'CA data that are no certificate',
    config('{server: "https://h", certificate-authority-data: aGVsbG8=}'),
    /certificate-authority-data cannot be used: it holds no PEM certificate/,
  ],
  [
    'a missing CA file',
    config('{server: "https://h", certificate-authority: ca.crt}'),
    /certificate-authority: .*\/ca\.crt cannot be used: no such file$/,
  ],
  [
    'a missing token file',
    config(SERVER, '{tokenFile: nope}'),
    /tokenFile: .*\/nope cannot be used: no such file$/,
  ],
  [
    'a number for a token',
    config(SERVER, '{token: 123456}'),
    /users\[0\]\.user\.token is a number: must be text \(put it in quotes\)$/,
  ],
  [
    'two ways to authenticate',
    config(SERVER, '{token: a, username: b}'),
    /users\[0\]\.user has a token and a username/,
  ],
  [
    'a key without a certificate',
    config(SERVER, '{client-key: k}'),
    /users\[0\]\.user has a client-key without a client-certificate$/,
  ],
  [
    'a certificate without a key',
    config(SERVER, '{client-certificate: c}'),
    /users\[0\]\.user has a client-certificate without a client-key$/,
  ],
  [
    'an auth provider',
    config(SERVER, '{auth-provider: {name: gcp}}'),
    /auth-provider is not supported: Kubernetes 1.26 removed it/,
  ],
  [
    'an old exec version',
    config(SERVER, `{exec: {${EXEC.replace('v1', 'v1alpha1')}}}`),
    /exec\.apiVersion is "client\.authentication\.k8s\.io\/v1alpha1": must be/,
  ],
  [
    'exec without a mode',
    config(SERVER, `{exec: {${EXEC}}}`),
    /exec\.interactiveMode is missing: must be "Never"/,
  ],
  [
    'exec with a wrong mode',
    config(SERVER, `{exec: {${EXEC}, interactiveMode: never}}`),
    /exec\.interactiveMode is "never": must be "Never", "IfAvailable" or "Always"$/,
  ],
  [
    'exec with a number as argument',
    config(SERVER, `{exec: {${EXEC}, interactiveMode: Never, args: [1]}}`),
    /exec\.args\[0\] is a number: must be text/,
  ],
] as const) {
  test(`a kubeconfig with ${what} is refused in one line that says where`, async () => {
    const file = write('wrong', content);
    await assert.rejects(loadKubeconfig({ files: [file] }), (error: Error & { readonly code?: string }) => {
      assert.equal(error.code, 'E_KUBECONFIG');
      assert.match(error.message, message);
      assert.ok(error.message.startsWith(`kubeconfig ${file}: `), error.message);
      assert.equal(oneLine(error).includes('\n'), false);
      return true;
    });
  });
}

test('secrets never appear in a message', async () => {
  for (const user of [
    '{token: [s3cret]}',
    '{password: {s3cret: 1}}',
    '{client-key-data: s3cret%}',
    '{exec: {env: [{name: A, value: [s3cret]}]}}',
  ]) {
    await assert.rejects(
      loadKubeconfig({ files: [write('secret', config(SERVER, user))] }),
      (error: Error) => !oneLine(error).includes('s3cret'),
    );
  }
});

test('a missing kubeconfig is one clear line', async () => {
  await assert.rejects(findAccess({ kubeconfig: '/nowhere/kube.conf', env: {} }), {
    code: 'E_KUBECONFIG',
    message: 'kubeconfig /nowhere/kube.conf: no such file',
  });
});

test('without kubeconfig and outside of a pod the error says what to name', async () => {
  await assert.rejects(findAccess({ env: {} }), {
    code: 'E_KUBECONFIG',
    message: /KUBERNETES_SERVICE_HOST/,
    hint: 'name a file with --kubeconfig',
  });
});

test('--master alone is a server without credentials', async () => {
  const access = await findAccess({ master: '127.0.0.1:8080', env: {} });
  assert.equal(access.server.href, 'http://127.0.0.1:8080/');
  assert.deepEqual(await access.credentials.present(), { headers: {} });
});

// The real program with the real kernel, in a network namespace of its own.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { listenerIn, preparePool } from '../../src/kernel/netns.ts';
import { createKoffiSys } from '../../src/kernel/sys/koffi.ts';
import { createTestNamespace, type TestNamespace } from '../kernel/test-namespace.ts';
import { nodeObject, serviceObject, sliceObject } from './cluster-objects.ts';
import { type End, get, PROGRAM, type Program, start } from './process.ts';
import { type SmallApi, startSmallApi } from './small-api.ts';

const sys = createKoffiSys();
await preparePool();
const API_PORT = 6080;
const MASTER = `--master=http://127.0.0.1:${API_PORT}`;
const FLAGS = [
  MASTER,
  '--hostname-override=Node-A',
  '--kube-api-qps=-1',
  // The machine's limit is not a namespace's to set.
  '--conntrack-max-per-core=0',
  '--pointsman-socket=',
  '--v=2',
];
const FIRST_SYNC = /"Compared everything with the kernel".*because="the proxy starts"/;

const apiIn = (namespace: TestNamespace): Promise<SmallApi> =>
  startSmallApi({
    fd: listenerIn(sys, { namespace: namespace.path, address: '127.0.0.1', port: API_PORT }),
  });
async function clusterIn(namespace: TestNamespace): Promise<SmallApi> {
  const api = await apiIn(namespace);
  api.put('services', serviceObject('web', '10.96.0.1'));
  api.put('endpointslices', sliceObject('web', ['10.0.0.1', '10.0.0.2']));
  api.put('nodes', nodeObject('node-a'));
  return api;
}
const rulesOf = (namespace: TestNamespace, family: 'ip' | 'ip6' = 'ip'): string =>
  namespace.run('nft', 'list', 'table', family, 'pointsman');

/** Empty while there is no table. */
function rulesIfAny({ name }: TestNamespace): string {
  const list = ['netns', 'exec', name, 'nft', 'list', 'table', 'ip', 'pointsman'];
  return spawnSync('ip', list, { encoding: 'utf8' }).stdout;
}

/** Lets the API of this process answer. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function stop(program: Program): Promise<End> {
  program.child.kill('SIGTERM');
  return program.ended;
}

/** The one line of an error that ended the program, and nothing else. */
async function errorLine(program: Program): Promise<string> {
  const end = await program.ended;
  assert.deepEqual([end.code, end.out], [1, ''], end.err);
  assert.match(end.err, /^pointsman: [^\n]+\n$/);
  return end.err.trim();
}

test('the program commits what the API tells, answers on both ports, and leaves the rules at SIGTERM', async () => {
  using namespace = createTestNamespace();
  await using api = await clusterIn(namespace);
  await using program = start(namespace, PROGRAM, ...FLAGS);
  await program.said(FIRST_SYNC);
  assert.match(rulesOf(namespace), /10\.96\.0\.1 \. tcp \. 80/);

  const healthz = await get(sys, namespace, 'http://127.0.0.1:10256/healthz');
  assert.equal(healthz.status, 200, healthz.body);
  assert.equal(healthz.headers['content-type'], 'application/json');
  assert.deepEqual(Object.keys(JSON.parse(healthz.body).status), ['IPv4', 'IPv6']);
  assert.equal((await get(sys, namespace, 'http://[::1]:10256/livez')).status, 200);
  assert.equal((await get(sys, namespace, 'http://127.0.0.1:10249/proxyMode')).body, 'nftables');

  const committed = program.next(/"SyncProxyRules complete"/);
  api.put('services', serviceObject('db', '10.96.0.2'));
  await committed;
  assert.match(rulesOf(namespace), /10\.96\.0\.2 \. tcp \. 80/);
  const metrics = (await get(sys, namespace, 'http://127.0.0.1:10249/metrics')).body;
  assert.match(metrics, /^kubeproxy_sync_full_proxy_rules_duration_seconds_count\{ip_family="IPv4"\} 1$/m);
  assert.match(metrics, /^pointsman_commit_messages_total [1-9]\d*$/m);
  assert.match(metrics, /^process_open_fds \d+$/m);

  const rules = rulesOf(namespace);
  const end = await stop(program);
  assert.deepEqual([end.code, end.signal, end.out], [0, null, '']);
  assert.equal(rulesOf(namespace), rules);
});

test('a restart with nothing changed sends nothing to the kernel', async () => {
  using namespace = createTestNamespace();
  await using api = await clusterIn(namespace);
  api.put('services', serviceObject('six', 'fd00:96::1'));
  for (const expected of [/messages=[1-9]/, /messages=0\b/]) {
    await using program = start(namespace, PROGRAM, ...FLAGS);
    assert.match(await program.said(FIRST_SYNC), expected);
    assert.equal((await stop(program)).code, 0);
  }
});

test('after a kill in the middle of a load the next start comes to the right state', async () => {
  using namespace = createTestNamespace();
  await using api = await clusterIn(namespace);
  for (let index = 0; index < 3_000; index++) {
    const name = `load-${index}`;
    api.put('services', serviceObject(name, `10.97.${index >> 8}.${index & 255}`));
    api.put('endpointslices', sliceObject(name, [`10.1.${index >> 8}.${index & 255}`]));
  }
  {
    await using victim = start(namespace, PROGRAM, ...FLAGS);
    await victim.said(/"Syncing nftables rules"/);
    while (!/10\.97\./.test(rulesIfAny(namespace))) await turn();
    victim.child.kill('SIGKILL');
  }
  api.remove('services', 'load-7');
  await using program = start(namespace, PROGRAM, ...FLAGS);
  await program.said(FIRST_SYNC);
  const rules = rulesOf(namespace);
  assert.equal(new Set(rules.match(/10\.97\.\d+\.\d+ \. tcp \. 80/g)).size, 2_999);
  await stop(program);
  await using again = start(namespace, PROGRAM, ...FLAGS);
  assert.match(await again.said(FIRST_SYNC), /messages=0\b/);
});

test('a table that someone deletes comes back', async () => {
  using namespace = createTestNamespace();
  await using _api = await clusterIn(namespace);
  await using program = start(namespace, PROGRAM, ...FLAGS, '--iptables-min-sync-period=0s');
  await program.said(/"SyncProxyRules complete"/);
  const repaired = program.next(/"Compared everything with the kernel"/);
  namespace.run('nft', 'delete', 'table', 'ip', 'pointsman');
  await repaired;
  assert.match(rulesOf(namespace), /10\.96\.0\.1 \. tcp \. 80/);
});

test('while the API server is away the program waits, and says of whom', async () => {
  using namespace = createTestNamespace();
  await using program = start(namespace, PROGRAM, ...FLAGS);
  await program.said(/Watch of services: .*127\.0\.0\.1:6080/);
  assert.equal((await get(sys, namespace, 'http://127.0.0.1:10256/livez')).status, 200);
  assert.equal((await get(sys, namespace, 'http://127.0.0.1:10256/healthz')).status, 503);
  await using _api = await clusterIn(namespace);
  await program.said(FIRST_SYNC);
  assert.equal((await stop(program)).code, 0);
});

test('an interrupt ends the program as well', async () => {
  using namespace = createTestNamespace();
  await using program = start(namespace, PROGRAM, ...FLAGS);
  await program.said(/Watch of services/);
  program.child.kill('SIGINT');
  assert.equal((await program.ended).code, 0);
});

test('JSON logs are JSON from the first line to the last', async () => {
  using namespace = createTestNamespace();
  await using _api = await clusterIn(namespace);
  await using program = start(namespace, PROGRAM, ...FLAGS, '--logging-format=json');
  await program.said(/"msg":"SyncProxyRules complete"/);
  const { err } = await stop(program);
  for (const line of err.trim().split('\n')) {
    const { ts, caller, msg } = JSON.parse(line);
    assert.deepEqual([typeof ts, typeof caller, typeof msg], ['number', 'string', 'string']);
  }
});

test('a bad flag is one line and exit code 1', async () => {
  using namespace = createTestNamespace();
  assert.match(
    await errorLine(start(namespace, PROGRAM, '--kubconfig=x')),
    /unknown flag: --kubconfig \(did you mean --kubeconfig/,
  );
});

test('a bad kubeconfig is one line that names the file, and exit code 1', async () => {
  using namespace = createTestNamespace();
  const folder = mkdtempSync(join(tmpdir(), `pt-${process.pid}-`));
  try {
    const file = join(folder, 'kubeconfig');
    for (const text of [undefined, '{', 'clusters: []\n', 'current-context: a\ncontexts: []\n']) {
      if (text !== undefined) writeFileSync(file, text);
      assert.ok((await errorLine(start(namespace, PROGRAM, `--kubeconfig=${file}`))).includes(file));
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  assert.match(await errorLine(start(namespace, PROGRAM)), /no kubeconfig was named and this is no pod/);
});

test('without CAP_NET_ADMIN it is one line that names the capability, and exit code 1', async () => {
  using namespace = createTestNamespace();
  await using _api = await clusterIn(namespace);
  const unprivileged = ['setpriv', '--bounding-set=-net_admin', '--inh-caps=-net_admin'];
  assert.match(
    await errorLine(start(namespace, ...unprivileged, PROGRAM, ...FLAGS, '--v=0')),
    /CAP_NET_ADMIN/,
  );
});

test('on a kernel without nf_tables it is one line that says so, and exit code 1', async () => {
  using namespace = createTestNamespace();
  await using _api = await clusterIn(namespace);
  const helper = fileURLToPath(new URL('without-netfilter.ts', import.meta.url));
  const program = start(namespace, process.execPath, helper, PROGRAM, ...FLAGS, '--v=0');
  assert.match(await errorLine(program), /cannot use nftables mode: the kernel has no/);
});

test('a port that is taken is one line and exit code 1 with --bind-address-hard-fail', async () => {
  using namespace = createTestNamespace();
  await using _api = await clusterIn(namespace);
  const ports = [`--metrics-bind-address=127.0.0.1:${API_PORT}`, '--bind-address-hard-fail', '--v=0'];
  const { code, err } = await start(namespace, PROGRAM, ...FLAGS, ...ports).ended;
  assert.equal(code, 1);
  assert.match(err, /^pointsman: the metrics server cannot listen on 127\.0\.0\.1 port 6080 \(another/m);
});

test('as kube-proxy it takes flags alone', () => {
  const folder = mkdtempSync(join(tmpdir(), `pt-${process.pid}-`));
  try {
    execFileSync('ln', ['-s', PROGRAM, join(folder, 'kube-proxy')]);
    const told = execFileSync(join(folder, 'kube-proxy'), ['--version'], { encoding: 'utf8' });
    assert.match(told, /^Pointsman v/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

// The real program with flags and files that decide about more than single Services, in a namespace of its own.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { listenerIn, preparePool } from '../../src/kernel/netns.ts';
import { createKoffiSys } from '../../src/kernel/sys/koffi.ts';
import { createTestNamespace, type TestNamespace } from '../kernel/test-namespace.ts';
import { nodeObject, serviceObject, sliceObject } from './cluster-objects.ts';
import { get, PROGRAM, start } from './process.ts';
import { type Json, type Resource, type SmallApi, startSmallApi } from './small-api.ts';

const sys = createKoffiSys();
await preparePool();
const API_PORT = 6080;
const BASE = [`--master=http://127.0.0.1:${API_PORT}`, '--hostname-override=node-a', '--pointsman-socket='];
const FLAGS = [
  ...BASE,
  '--kube-api-qps=-1',
  '--conntrack-max-per-core=0',
  '--iptables-min-sync-period=0s',
  '--v=2',
];
const FIRST_SYNC = /"Compared everything with the kernel".*because="the proxy starts"/;
const COMMITTED = /"SyncProxyRules complete"/;

const apiIn = (namespace: TestNamespace, forbidden: readonly Resource[] = []): Promise<SmallApi> =>
  startSmallApi({
    fd: listenerIn(sys, { namespace: namespace.path, address: '127.0.0.1', port: API_PORT }),
    forbidden,
  });

async function clusterIn(
  namespace: TestNamespace,
  node: Json = nodeObject('node-a'),
  forbidden: readonly Resource[] = [],
): Promise<SmallApi> {
  const api = await apiIn(namespace, forbidden);
  api.put('services', serviceObject('web', '10.96.0.1'));
  api.put('endpointslices', sliceObject('web', ['10.0.0.1', '10.0.0.2']));
  api.put('nodes', node);
  return api;
}

const rulesOf = (namespace: TestNamespace): string =>
  namespace.run('nft', 'list', 'table', 'ip', 'pointsman');

/** A folder that is removed at the end of the scope. */
function scratch(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), `pt-${process.pid}-`));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) };
}

const fileOf = (more: string): string => `apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: nftables
logging: {verbosity: 2}
conntrack: {maxPerCore: 0}
nftables: {minSyncPeriod: 1ms}
${more}
`;

const nodeWith = (podCIDRs: readonly string[]): Json => ({ ...nodeObject('node-a'), spec: { podCIDRs } });

test('S265 S449 B095: node ports follow the addresses of the machine', async () => {
  using namespace = createTestNamespace();
  namespace.run('ip', 'address', 'add', '192.0.2.11/32', 'dev', 'lo');
  await using _api = await clusterIn(namespace);
  await using program = start(namespace, PROGRAM, ...FLAGS, '--nodeport-addresses=192.0.2.0/24');
  await program.said(FIRST_SYNC);
  await program.said(COMMITTED);
  assert.match(rulesOf(namespace), /192\.0\.2\.11\b/);
  assert.doesNotMatch(rulesOf(namespace), /192\.0\.2\.99/);

  const added = program.next(COMMITTED);
  namespace.run('ip', 'address', 'add', '192.0.2.99/32', 'dev', 'lo');
  await added;
  assert.match(rulesOf(namespace), /192\.0\.2\.99/);

  const removed = program.next(COMMITTED);
  namespace.run('ip', 'address', 'del', '192.0.2.11/32', 'dev', 'lo');
  await removed;
  assert.doesNotMatch(rulesOf(namespace), /192\.0\.2\.11\b/);
});

test('S090 B092: in NodeCIDR mode the podCIDR is waited for, and rules follow when it changes', async () => {
  using namespace = createTestNamespace();
  await using api = await clusterIn(namespace);
  await using program = start(namespace, PROGRAM, ...FLAGS, '--detect-local-mode=NodeCIDR');
  await program.said(/Waiting for the podCIDRs of the own Node/);
  api.put('nodes', nodeWith(['10.60.1.0/24']));
  await program.said(FIRST_SYNC);
  await program.said(COMMITTED);
  assert.match(rulesOf(namespace), /10\.60\.1\.0\/24/);
  const moved = program.next(COMMITTED);
  api.put('nodes', nodeWith(['10.60.9.0/24']));
  await moved;
  assert.match(rulesOf(namespace), /10\.60\.9\.0\/24/);
  assert.doesNotMatch(rulesOf(namespace), /10\.60\.1\.0\/24/);
  await program.said(/PodCIDRs changed for the node/);
});

test('S104 B090: interfaces tell local pods, also ones that are not there yet', async () => {
  using namespace = createTestNamespace();
  await using _api = await clusterIn(namespace);
  for (const [flags, rule] of [
    [['--detect-local-mode=BridgeInterface', '--pod-bridge-interface=cbr0'], /iifname != "cbr0"/],
    [['--detect-local-mode=InterfaceNamePrefix', '--pod-interface-name-prefix=azv'], /iifname != "azv\*"/],
  ] as const) {
    await using program = start(namespace, PROGRAM, ...FLAGS, ...flags);
    await program.said(FIRST_SYNC);
    assert.match(rulesOf(namespace), rule);
  }
});

test('S319: a ServiceCIDR that comes or changes is in the kernel at once; one that may not be read is done without', async () => {
  using namespace = createTestNamespace();
  {
    await using api = await clusterIn(namespace);
    await using program = start(namespace, PROGRAM, ...FLAGS);
    await program.said(FIRST_SYNC);
    await program.said(COMMITTED);
    const cidr = (spec: readonly string[]): Json => ({
      metadata: { name: 'kubernetes' },
      spec: { cidrs: spec },
    });
    const came = program.next(COMMITTED);
    api.put('servicecidrs', cidr(['10.96.0.0/16']));
    await came;
    assert.match(rulesOf(namespace), /10\.96\.0\.0\/16/);
    const changed = program.next(COMMITTED);
    api.put('servicecidrs', cidr(['10.97.0.0/16']));
    await changed;
    assert.match(rulesOf(namespace), /10\.97\.0\.0\/16/);
    assert.doesNotMatch(rulesOf(namespace), /10\.96\.0\.0\/16/);
  }
  await using _api = await clusterIn(namespace, nodeObject('node-a'), ['servicecidrs']);
  await using program = start(namespace, PROGRAM, ...FLAGS);
  await program.said(/servicecidrs.*403|403.*servicecidrs/);
  await program.said(FIRST_SYNC);
});

test('S361: conntrack settings are set where they differ, and fatal where they cannot be', async () => {
  using namespace = createTestNamespace();
  await using _api = await clusterIn(namespace);
  const established = 'net.netfilter.nf_conntrack_tcp_timeout_established';
  {
    await using program = start(namespace, PROGRAM, ...FLAGS, '--conntrack-tcp-timeout-established=2h');
    await program.said(new RegExp(`"Set sysctl".*${established}.*value=7200`));
    assert.equal(namespace.run('sysctl', '-n', established).trim(), '7200');
    await program.said(FIRST_SYNC);
  }
  // The limit belongs to the machine, and cannot be written from a namespace.
  const limit = Number(namespace.run('sysctl', '-n', 'net.netfilter.nf_conntrack_max'));
  const wanted = ['--conntrack-max-per-core=1', `--conntrack-min=${limit + 1}`];
  const { code, err } = await start(namespace, PROGRAM, ...BASE, ...wanted).ended;
  assert.equal(code, 1);
  assert.match(
    err,
    /^pointsman: could not set conntrack parameters from kube-proxy configuration: net\.netfilter\.nf_conntrack_max is \d+ and should be \d+/m,
  );
  const same = ['--conntrack-max-per-core=1', `--conntrack-min=${limit}`];
  const init = await start(namespace, PROGRAM, ...BASE, ...same, '--init-only').ended;
  assert.equal(init.code, 0, init.err);
});

test('S039: --init-only sets sysctls, writes no rules, needs no API server and ends well', async () => {
  using namespace = createTestNamespace();
  const { code, err } = await start(namespace, PROGRAM, ...FLAGS, '--init-only').ended;
  assert.equal(code, 0, err);
  assert.match(err, /System initialized and --init-only specified/);
  assert.equal(namespace.run('nft', 'list', 'tables'), '');
});

test('S030: --write-config-to writes every default and ends, without API server', async () => {
  using namespace = createTestNamespace();
  using folder = scratch();
  const path = join(folder.path, 'out.yaml');
  const end = await start(namespace, PROGRAM, '--cluster-cidr=10.0.0.0/8', `--write-config-to=${path}`).ended;
  assert.deepEqual([end.code, end.out, end.err], [0, '', '']);
  assert.match(readFileSync(path, 'utf8'), /^clusterCIDR: 10\.0\.0\.0\/8$/m);
  const again = await start(namespace, PROGRAM, `--config=${path}`, '--init-only', '--v=0').ended;
  assert.doesNotMatch(again.err, /lenient|failed/);
});

test('a configuration file that changes is taken without a restart of the process, a bad one is refused', async () => {
  using namespace = createTestNamespace();
  using folder = scratch();
  await using _api = await clusterIn(namespace);
  const path = join(folder.path, 'config.conf');
  writeFileSync(path, fileOf('clusterCIDR: 10.60.0.0/16'));
  await using program = start(namespace, PROGRAM, ...BASE, `--config=${path}`);
  await program.said(FIRST_SYNC);
  assert.match(rulesOf(namespace), /10\.60\.0\.0\/16/);
  const metrics = async (): Promise<string> =>
    (await get(sys, namespace, 'http://127.0.0.1:10249/metrics')).body;
  assert.match(await metrics(), /^pointsman_config_reloads_total\{result="applied"\} 0$/m);

  const refused = program.next(/The configuration file is refused/);
  writeFileSync(path, fileOf('clusterCIDR: 10.60.0.0'));
  assert.match(await refused, /must be a valid CIDR block/);
  assert.match(await metrics(), /^pointsman_config_file_refused 1$/m);
  assert.match(rulesOf(namespace), /10\.60\.0\.0\/16/);

  const synced = program.next(FIRST_SYNC);
  writeFileSync(path, fileOf('clusterCIDR: 10.61.0.0/16'));
  await synced;
  assert.match(rulesOf(namespace), /10\.61\.0\.0\/16/);
  const text = await metrics();
  assert.match(text, /^pointsman_config_reloads_total\{result="applied"\} 1$/m);
  assert.match(text, /^pointsman_config_reloads_total\{result="refused"\} 1$/m);
  assert.match(text, /^pointsman_config_file_refused 0$/m);

  // One with which the proxy cannot start.
  const back = program.next(/The configuration file is refused/);
  const resumed = program.next(FIRST_SYNC);
  writeFileSync(path, fileOf('clusterCIDR: 10.62.0.0/16\nclientConnection: {kubeconfig: /nowhere}'));
  await back;
  await resumed;
  assert.match(rulesOf(namespace), /10\.61\.0\.0\/16/);
  program.child.kill('SIGTERM');
  assert.equal((await program.ended).code, 0);
});

test("a ConfigMap's volume is followed, whose files change by a link", async () => {
  using namespace = createTestNamespace();
  using folder = scratch();
  await using _api = await clusterIn(namespace);
  const version = (name: string, cidr: string): void => {
    mkdirSync(join(folder.path, name));
    writeFileSync(join(folder.path, name, 'config.conf'), fileOf(`clusterCIDR: ${cidr}`));
    symlinkSync(name, join(folder.path, '..data_tmp'));
    renameSync(join(folder.path, '..data_tmp'), join(folder.path, '..data'));
  };
  version('..1', '10.60.0.0/16');
  symlinkSync('..data/config.conf', join(folder.path, 'config.conf'));
  await using program = start(namespace, PROGRAM, ...BASE, `--config=${join(folder.path, 'config.conf')}`);
  await program.said(FIRST_SYNC);
  const synced = program.next(FIRST_SYNC);
  version('..2', '10.61.0.0/16');
  await synced;
  assert.match(rulesOf(namespace), /10\.61\.0\.0\/16/);
});

test('S409 and events: the start, clashes and what cannot be used are told to the cluster', async () => {
  using namespace = createTestNamespace();
  await using api = await clusterIn(namespace);
  await using program = start(namespace, PROGRAM, ...FLAGS);
  await program.said(FIRST_SYNC);
  const { regarding, type, reportingController, reportingInstance } = await api.event('Starting');
  assert.deepEqual(
    [regarding, type, reportingController, reportingInstance],
    [{ kind: 'Node', name: 'node-a', uid: 'node-a' }, 'Normal', 'kube-proxy', 'kube-proxy-node-a'],
  );
  api.put('services', serviceObject('other', '10.96.0.1'));
  const clash = (await api.event('FrontendClash')) as { regarding: Json; related: Json; note: string };
  assert.match(clash.note, /^10\.96\.0\.1\/TCP\/80 is that of the older Service /);
  const bad = serviceObject('bad', '10.96.0.3') as { spec: Json };
  api.put('services', { ...bad, spec: { ...bad.spec, externalIPs: ['junk'] } });
  const invalid = (await api.event('InvalidService')) as { regarding: Json; note: string };
  assert.equal(invalid.regarding.name, 'bad');
  assert.match(invalid.note, /spec\.externalIPs\[0\] "junk" is no IP address/);
  const { body } = await get(sys, namespace, 'http://127.0.0.1:10249/metrics');
  assert.match(body, /^pointsman_frontend_clashes 1$/m);
});

test('S036 S014 S074: what is wrong is one line, and exit code 1', () => {
  for (const [flag, expected] of [
    ['--feature-gates=NoSuchGate=true', /failed validate: .*unrecognized feature gate: NoSuchGate/],
    ['--hostname-override=  ', /failed complete: empty hostname-override is invalid/],
    ['--logging-format=xml', /initialize logging: logging\.format/],
    ['--config=/nowhere', /failed complete: cannot read the configuration file \/nowhere/],
  ] as const) {
    const { status, stderr } = spawnSync(PROGRAM, [flag], { encoding: 'utf8' });
    assert.equal(status, 1, flag);
    assert.match(stderr, expected);
    assert.equal(stderr.trim().split('\n').length, 1, stderr);
  }
});

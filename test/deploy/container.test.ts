// The containers of the chart's DaemonSet with no more rights than the manifest gives them, over the real kernel.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { rootCertificates } from 'node:tls';
import { listenerIn, preparePool } from '../../src/kernel/netns.ts';
import { createKoffiSys } from '../../src/kernel/sys/koffi.ts';
import { nodeObject, serviceObject, sliceObject } from '../daemon/cluster-objects.ts';
import { get, PROGRAM, type Program, start } from '../daemon/process.ts';
import { type SmallApi, startSmallApi } from '../daemon/small-api.ts';
import { createTestNamespace, type TestNamespace } from '../kernel/test-namespace.ts';
import { at, configFiles, containerOf, type Manifest, ROOT, render } from './chart.ts';

const sys = createKoffiSys();
await preparePool();
const API_PORT = 6080;
// nf_conntrack_max cannot be written in a network namespace that is not the host's.
const VALUES = [
  '--set',
  `apiServer=http://127.0.0.1:${API_PORT},config.conntrack.maxPerCore=0,config.logging.verbosity=2`,
];
const ESTABLISHED = 'net.netfilter.nf_conntrack_tcp_timeout_established';

interface Pod extends Disposable {
  start(name: 'init' | 'pointsman'): Program;
}

/** A Pod of these manifests on node-a, in a network namespace that stands for the host's. */
function podIn(namespace: TestNamespace, manifests: readonly Manifest[]): Pod {
  const folder = mkdtempSync(join(tmpdir(), 'pointsman-container-'));
  const { config, kubeconfig } = configFiles(manifests);
  for (const name of ['config', 'account']) mkdirSync(join(folder, name));
  writeFileSync(join(folder, 'config', 'config.conf'), config);
  writeFileSync(join(folder, 'config', 'kubeconfig.conf'), kubeconfig);
  writeFileSync(join(folder, 'account', 'token'), 'test-token');
  if (JSON.stringify(containerOf(manifests, 'pointsman').volumeMounts).includes('/run/xtables.lock'))
    writeFileSync(join(folder, 'xtables.lock'), '');
  // Any will do: the server of this test speaks plain HTTP.
  writeFileSync(join(folder, 'account', 'ca.crt'), rootCertificates[0] ?? '');
  return {
    start(name) {
      const container = containerOf(manifests, name);
      const args = container.args.map((arg) => arg.replace('$(NODE_NAME)', 'node-a'));
      const given = at(container, 'securityContext', 'capabilities', 'add') as readonly string[] | undefined;
      const rights =
        at(container, 'securityContext', 'privileged') === true
          ? ['privileged']
          : (given ?? []).map((capability) => capability.toLowerCase());
      const script = ['sh', `${ROOT}test/deploy/container.sh`, folder, ...rights, '--'];
      return start(namespace, 'unshare', '--mount', ...script, PROGRAM, ...args);
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
}

const apiIn = (namespace: TestNamespace): Promise<SmallApi> =>
  startSmallApi({ fd: listenerIn(sys, { namespace: namespace.path, address: '127.0.0.1', port: API_PORT }) });

test('after the privileged init container has set the limits, NET_ADMIN is enough for the proxy', async () => {
  using namespace = createTestNamespace();
  await using api = await apiIn(namespace);
  api.put('services', serviceObject('web', '10.96.0.1'));
  api.put('endpointslices', sliceObject('web', ['10.0.0.1']));
  api.put('nodes', nodeObject('node-a'));
  using pod = podIn(namespace, render(...VALUES));

  await using init = pod.start('init');
  const end = await init.ended;
  assert.equal(end.code, 0, end.err);
  assert.equal(namespace.run('sysctl', '-n', ESTABLISHED).trim(), '86400');

  await using proxy = pod.start('pointsman');
  await proxy.said(/"Compared everything with the kernel".*because="the proxy starts"/);
  assert.match(namespace.run('nft', 'list', 'table', 'ip', 'pointsman'), /10\.96\.0\.1 \. tcp \. 80/);
  const status = namespace.run('cat', `/proc/${pidOf(namespace)}/status`);
  assert.match(status, /^CapEff:\t0{12}1000$/m);

  const livez = at(containerOf(render(...VALUES), 'pointsman'), 'livenessProbe', 'httpGet');
  const answer = await get(sys, namespace, `http://127.0.0.1:${at(livez, 'port')}${at(livez, 'path')}`);
  assert.equal(answer.status, 200, answer.body);

  proxy.child.kill('SIGTERM');
  assert.equal((await proxy.ended).code, 0);
});

test('without the init container the proxy says which limit it cannot set, and how to leave it alone', async () => {
  using namespace = createTestNamespace();
  using pod = podIn(namespace, render(...VALUES));
  await using proxy = pod.start('pointsman');
  const { code, err } = await proxy.ended;
  assert.equal(code, 1);
  assert.match(err, /nf_conntrack_tcp_timeout_established .*EROFS.*leave it alone/);
});

for (const variant of ['nft', 'legacy'])
  test(`in mode iptables the rights are enough for its variant ${variant}`, async () => {
    using namespace = createTestNamespace();
    // The kubelet's hint decides which variant is used.
    namespace.run(`iptables-${variant}`, '-t', 'mangle', '-N', 'KUBE-IPTABLES-HINT');
    await using api = await apiIn(namespace);
    api.put('services', serviceObject('web', '10.96.0.1'));
    api.put('endpointslices', sliceObject('web', ['10.0.0.1']));
    api.put('nodes', nodeObject('node-a'));
    using pod = podIn(namespace, render(...VALUES, '--set', 'mode=iptables'));

    await using init = pod.start('init');
    const end = await init.ended;
    assert.equal(end.code, 0, end.err);
    await using proxy = pod.start('pointsman');
    await proxy.said(/"SyncProxyRules complete"/);
    assert.match(
      namespace.run(`iptables-${variant}-save`, '-t', 'nat'),
      /-d 10\.96\.0\.1\/32 .*-j KUBE-SVC-/,
    );
  });

/** The one process in the namespace that listens on the health port. */
function pidOf(namespace: TestNamespace): string {
  const pid = /pid=(\d+)/.exec(namespace.run('ss', '-Hltnp', 'sport', '=', '10256'))?.[1];
  assert.ok(pid);
  return pid;
}

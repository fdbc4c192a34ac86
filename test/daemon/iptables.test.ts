// The real program in iptables mode, in a network namespace of its own, over both variants.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { listenerIn, preparePool } from '../../src/kernel/netns.ts';
import { createKoffiSys } from '../../src/kernel/sys/koffi.ts';
import { createTestNamespace, type TestNamespace } from '../kernel/test-namespace.ts';
import { nodeObject, serviceObject, sliceObject } from './cluster-objects.ts';
import { get, PROGRAM, start } from './process.ts';
import { type SmallApi, startSmallApi } from './small-api.ts';

const sys = createKoffiSys();
await preparePool();
const API_PORT = 6080;
const FLAGS = [
  `--master=http://127.0.0.1:${API_PORT}`,
  '--hostname-override=node-a',
  '--kube-api-qps=-1',
  '--conntrack-max-per-core=0',
  '--pointsman-socket=',
  '--proxy-mode=iptables',
  '--iptables-min-sync-period=0s',
  '--cluster-cidr=10.244.0.0/16,fd00:244::/48',
  '--v=2',
];
const FIRST_SYNC = /"Compared everything with the kernel".*because="the proxy starts"/;
const COMMITTED = /"SyncProxyRules complete"/;
const HINT = ':KUBE-IPTABLES-HINT - [0:0]';

async function clusterIn(namespace: TestNamespace): Promise<SmallApi> {
  const api = await startSmallApi({
    fd: listenerIn(sys, { namespace: namespace.path, address: '127.0.0.1', port: API_PORT }),
  });
  api.put('services', serviceObject('web', '10.96.0.1'));
  api.put('endpointslices', sliceObject('web', ['10.0.0.1', '10.0.0.2']));
  api.put('nodes', nodeObject('node-a'));
  return api;
}

const saved = (namespace: TestNamespace, variant: string): string =>
  namespace
    .run(`iptables-${variant}-save`)
    .replace(/^#.*\n/gm, '')
    .replace(/ \[\d+:\d+\]/g, '');
const ownOf = (text: string): readonly string[] => text.match(/^-A KUBE-.*$/gm) ?? [];

for (const variant of ['nft', 'legacy']) {
  test(`${variant}: rules are written for a change, stay the same over a restart, and come back when they are flushed`, async () => {
    using namespace = createTestNamespace();
    // The kubelet's hint decides which variant is used.
    namespace.pipe(`*mangle\n${HINT}\nCOMMIT\n`, `iptables-${variant}-restore`, '--noflush');
    await using api = await clusterIn(namespace);
    {
      await using program = start(namespace, PROGRAM, ...FLAGS, '--iptables-sync-period=1s');
      await program.said(new RegExp(`variant="${variant}"`));
      await program.said(FIRST_SYNC);
      await program.said(COMMITTED);
      const rules = saved(namespace, variant);
      assert.match(rules, /^-A KUBE-SERVICES -d 10\.96\.0\.1\/32 -p tcp .* -j KUBE-SVC-/m);
      assert.match(rules, /--to-destination 10\.0\.0\.2:/);
      assert.match(rules, /^-A PREROUTING .* -j KUBE-SERVICES$/m);

      const committed = program.next(COMMITTED);
      api.put('endpointslices', sliceObject('web', ['10.0.0.1', '10.0.0.3']));
      await committed;
      const changed = saved(namespace, variant);
      assert.match(changed, /--to-destination 10\.0\.0\.3:/);
      assert.doesNotMatch(changed, /--to-destination 10\.0\.0\.2:/);
      assert.equal((changed.match(/^:KUBE-SEP-/gm) ?? []).length, 2);

      const gone = program.next(COMMITTED);
      api.remove('services', 'web');
      await gone;
      assert.doesNotMatch(saved(namespace, variant), /KUBE-(SVC|SEP)-/);
      const back = program.next(COMMITTED);
      api.put('services', serviceObject('web', '10.96.0.1'));
      await back;

      const metrics = (await get(sys, namespace, 'http://127.0.0.1:10249/metrics')).body;
      assert.match(
        metrics,
        /^kubeproxy_sync_proxy_rules_iptables_total\{table="nat",ip_family="IPv4"\} [1-9]/m,
      );
      assert.equal((await get(sys, namespace, 'http://127.0.0.1:10249/proxyMode')).body, 'iptables');

      const before = ownOf(saved(namespace, variant));
      for (const table of ['nat', 'filter', 'mangle']) {
        const repaired = program.next(/"Compared everything with the kernel".*removed by another program/);
        namespace.run(`iptables-${variant}`, '-t', table, '-F');
        if (table === 'mangle') namespace.run(`iptables-${variant}`, '-t', table, '-X');
        await repaired;
        assert.deepEqual(ownOf(saved(namespace, variant)).toSorted(), before.toSorted(), table);
      }
      program.child.kill('SIGTERM');
      assert.equal((await program.ended).code, 0);
    }
    const rules = saved(namespace, variant);
    await using again = start(namespace, PROGRAM, ...FLAGS);
    assert.match(await again.said(FIRST_SYNC), /messages=0\b/);
    assert.equal(saved(namespace, variant), rules);
  });

  test(`${variant}: a kube-proxy's rules are taken over, what is not ours stays`, async () => {
    using namespace = createTestNamespace();
    const recorded = readFileSync(new URL('../fixtures/upstream/iptables-save.txt', import.meta.url), 'utf8')
      // This kernel has no nfacct.
      .replace(/ -m nfacct --nfacct-name {2}\S+/g, '');
    namespace.pipe(recorded, `iptables-${variant}-restore`);
    namespace.run(`iptables-${variant}`, '-t', 'mangle', '-N', 'KUBE-KUBELET-CANARY');
    namespace.run(`iptables-${variant}`, '-t', 'nat', '-N', 'FOREIGN');
    namespace.run(`iptables-${variant}`, '-t', 'nat', '-A', 'FOREIGN', '-j', 'ACCEPT');
    namespace.run(`iptables-${variant}`, '-t', 'nat', '-I', 'PREROUTING', '1', '-j', 'FOREIGN');
    await using _api = await clusterIn(namespace);
    await using program = start(namespace, PROGRAM, ...FLAGS);
    await program.said(FIRST_SYNC);
    const rules = saved(namespace, variant);
    assert.match(rules, /^-A PREROUTING -j FOREIGN\n-A PREROUTING .* -j KUBE-SERVICES$/m);
    assert.match(rules, /^:KUBE-KUBELET-CANARY /m);
    assert.match(rules, /--to-destination 10\.0\.0\.1:/);
    assert.doesNotMatch(rules, /shop\/nodeport/);
    const jumps = rules.match(/^-A (FORWARD|OUTPUT|INPUT|PREROUTING|POSTROUTING) .*$/gm) ?? [];
    assert.equal(jumps.filter((line) => line.includes('load balancer firewall')).length, 3);
  });
}

test('a mode that is not there is one line that says so', async () => {
  using namespace = createTestNamespace();
  await using _api = await clusterIn(namespace);
  const { code, err } = await start(namespace, PROGRAM, ...FLAGS, '--v=0', '--proxy-mode=ipvs').ended;
  assert.equal(code, 1);
  assert.match(err, /proxy mode ipvs is not there yet: nftables and iptables are/);
});

// What kube-proxy v1.36 wrote in ipvs mode, in a kernel that has IPVS, beside the virtual servers and sets of others.
// Kernels without are many, so `npm run test:ipvs` brings its own; there it is an error if something is missing.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createTestNamespace, type TestNamespace } from '../kernel/test-namespace.ts';
import { FOREIGN_RULES } from './foreign-rules.ts';
import { cleanUp } from './run-clean-up.ts';

const required = process.env.POINTSMAN_TEST_IPVS === 'required';
const skip =
  required || existsSync('/proc/net/ip_vs') ? false : 'this kernel has no IPVS: run `npm run test:ipvs`';

const recorded = (name: string): string =>
  readFileSync(new URL(`../fixtures/upstream/${name}`, import.meta.url), 'utf8');
const servers = (namespace: TestNamespace): string => namespace.run('ipvsadm', '-Sn');
const sets = (namespace: TestNamespace): string => namespace.run('ipset', 'save');
const rules = (namespace: TestNamespace, program: string): string =>
  namespace.run(`${program}-nft-save`).replace(/^#.*\n/gm, '');

const FOREIGN_SERVERS = `-A -t 198.51.100.40:443 -s rr
-a -t 198.51.100.40:443 -r 10.1.1.1:443 -m -w 1
-A -t 192.0.2.11:8443 -s wrr
-A -u 192.0.2.11:30005 -s rr
-A -f 7 -s rr
`;
const FOREIGN_SETS = `create mine hash:ip family inet hashsize 1024 maxelem 65536
add mine 192.0.2.77
create KUBE-ROUTER-NODES hash:ip family inet hashsize 1024 maxelem 65536
`;

/** All of ipvs mode's own, and what others have. Gives the others' state. */
function prepare(namespace: TestNamespace): readonly string[] {
  namespace.run('ip', 'link', 'add', 'eth0', 'type', 'dummy');
  for (const address of ['192.0.2.11/24', '198.51.100.40/32', '2001:db8::11/64'])
    namespace.run('ip', 'address', 'add', address, 'dev', 'eth0');
  namespace.pipe(FOREIGN_RULES, 'iptables-nft-restore');
  namespace.pipe(FOREIGN_SERVERS, 'ipvsadm', '-R');
  namespace.pipe(FOREIGN_SETS, 'ipset', 'restore');
  const before = [servers(namespace), sets(namespace), rules(namespace, 'iptables')];

  namespace.run('ip', 'link', 'add', 'kube-ipvs0', 'type', 'dummy');
  const text = recorded('ipvsadm-save.txt');
  const addresses = [...text.matchAll(/^-A \S+ \[?([^\]\s]+?)\]?:\d+ /gm)].map(([, address = '']) => address);
  for (const address of new Set(addresses.filter((one) => one !== '192.0.2.11' && one !== '2001:db8::11')))
    namespace.run('ip', 'address', 'add', address, 'dev', 'kube-ipvs0');
  namespace.pipe(text, 'ipvsadm', '-R');
  namespace.pipe(recorded('ipset-save.txt'), 'ipset', 'restore');
  for (const program of ['iptables', 'ip6tables'])
    namespace.pipe(
      recorded(`ipvs-${program}-save.txt`)
        .replace(/^:[A-Z]+ ACCEPT .*\n/gm, '')
        .replace(/^(:|-A )KUBE-FIREWALL .*\n/gm, '')
        .replace(/^-A \w+ -j KUBE-FIREWALL\n/gm, ''),
      `${program}-nft-restore`,
      '--noflush',
    );
  assert.match(servers(namespace), /10\.96\.10\.2:53/);
  assert.match(sets(namespace), /KUBE-6-LOAD-BALANCER-SOURCE-CID /);
  return before;
}

test('all that ipvs mode wrote is gone, and what others have is as it was', { skip }, () => {
  using namespace = createTestNamespace();
  const before = prepare(namespace);
  const { lines, exitCode } = cleanUp(namespace);
  assert.equal(exitCode, 0, lines.join('\n'));
  assert.deepEqual([servers(namespace), sets(namespace), rules(namespace, 'iptables')], before);
  assert.doesNotMatch(rules(namespace, 'ip6tables'), /KUBE/);
  assert.doesNotMatch(namespace.run('ip', '-o', 'link'), /kube-ipvs0/);
  const own = (recorded('ipvsadm-save.txt').match(/^-A /gm) ?? []).length;
  for (const line of [
    new RegExp(`^removed ${own} virtual servers of IPVS$`),
    /^removed device kube-ipvs0$/,
    /^removed 34 sets of ipset$/,
    /^left 4 virtual servers of IPVS: not kube-proxy's/,
  ])
    assert.ok(
      lines.some((one) => line.test(one)),
      lines.join('\n'),
    );
  assert.match(cleanUp(namespace).lines.join('\n'), /^left 4 virtual servers/);
});

test("a set that someone else's rule uses stays, and is named", { skip }, () => {
  using namespace = createTestNamespace();
  prepare(namespace);
  namespace.run(
    ...[
      'iptables-nft',
      '-A',
      'INPUT',
      '-m',
      'set',
      '--match-set',
      'KUBE-CLUSTER-IP',
      'dst,dst',
      '-j',
      'ACCEPT',
    ],
  );
  const { lines, exitCode } = cleanUp(namespace);
  assert.equal(exitCode, 0);
  assert.ok(lines.includes('left set KUBE-CLUSTER-IP: a rule still uses it'), lines.join('\n'));
  assert.match(sets(namespace), /^add KUBE-CLUSTER-IP 10\.96\.10\.10,tcp:80$/m);
});

test('mode iptables touches nothing of ipvs mode', { skip }, () => {
  using namespace = createTestNamespace();
  prepare(namespace);
  const before = [servers(namespace), sets(namespace), rules(namespace, 'iptables')];
  assert.deepEqual(cleanUp(namespace, { keep: 'iptables' }).lines, ['nothing was left of a kube-proxy']);
  assert.deepEqual([servers(namespace), sets(namespace), rules(namespace, 'iptables')], before);
});

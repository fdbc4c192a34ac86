// The rules that kube-proxy v1.36 wrote, loaded beside those of others, and removed: in both variants and families.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createTestNamespace, type TestNamespace } from '../kernel/test-namespace.ts';
import { FOREIGN_RULES, FOREIGN_RULES_6, FOREIGN_USER } from './foreign-rules.ts';
import { cleanUp } from './run-clean-up.ts';

const recorded = (name: string): string =>
  readFileSync(new URL(`../fixtures/upstream/${name}`, import.meta.url), 'utf8')
    // Not in every kernel: nfacct, sets, IPVS. What a rule in kube-proxy's own chains matches decides nothing.
    .replace(/ -m nfacct --nfacct-name {2}\S+/g, '')
    .replace(/ -m set --match-set \S+ \S+/g, '')
    .replace(/ -m ipvs --vproto \d+ --vaddr \S+ --vport \d+/g, '')
    .replace(/ -m physdev ! --physdev-is-in/g, '')
    // The policies are not kube-proxy's.
    .replace(/^:[A-Z]+ ACCEPT .*\n/gm, '')
    // Others' rules have it already, and it stays theirs.
    .replace(/^(:|-A )KUBE-FIREWALL .*\n/gm, '')
    .replace(/^-A \w+ -j KUBE-FIREWALL\n/gm, '');

const FAMILIES = [
  {
    family: 'IPv4',
    program: 'iptables',
    foreign: FOREIGN_RULES,
    own: ['iptables-save.txt', 'ipvs-iptables-save.txt'],
  },
  {
    family: 'IPv6',
    program: 'ip6tables',
    foreign: FOREIGN_RULES_6,
    own: ['ip6tables-save.txt', 'ipvs-ip6tables-save.txt'],
  },
] as const;

const saved = (namespace: TestNamespace, program: string, variant: string): string =>
  namespace.run(`${program}-${variant}-save`).replace(/^#.*\n/gm, '');

for (const variant of ['legacy', 'nft']) {
  for (const mode of [0, 1] as const) {
    test(`iptables-${variant}: what ${mode === 0 ? 'iptables' : 'ipvs'} mode wrote is gone, and all else is byte for byte as it was`, () => {
      using namespace = createTestNamespace();
      const before = FAMILIES.map(({ program, foreign, own }) => {
        namespace.pipe(foreign, `${program}-${variant}-restore`);
        const alone = saved(namespace, program, variant);
        namespace.pipe(recorded(own[mode]), `${program}-${variant}-restore`, '--noflush');
        assert.match(saved(namespace, program, variant), /^-A PREROUTING .* -j KUBE-SERVICES$/m);
        return alone;
      });
      const { lines, exitCode } = cleanUp(namespace);
      assert.equal(exitCode, 0);
      for (const [index, { program, family }] of FAMILIES.entries()) {
        assert.equal(saved(namespace, program, variant), before[index]);
        assert.ok(
          lines.some((line) =>
            new RegExp(
              `^removed \\d+ chains and \\d+ rules of table nat \\(iptables-${variant}, ${family}\\)$`,
            ).test(line),
          ),
          lines.join('\n'),
        );
      }
      assert.ok(
        lines.every((line) => line.startsWith('removed ')),
        lines.join('\n'),
      );
      assert.deepEqual(cleanUp(namespace).lines, ['nothing was left of a kube-proxy']);
    });
  }

  test(`iptables-${variant}: a chain that someone else's rule uses stays, and is named`, () => {
    using namespace = createTestNamespace();
    namespace.pipe(recorded('iptables-save.txt'), `iptables-${variant}-restore`);
    namespace.pipe(FOREIGN_USER, `iptables-${variant}-restore`, '--noflush');
    const { lines, exitCode } = cleanUp(namespace);
    assert.equal(exitCode, 0);
    assert.ok(
      lines.includes(
        `left chain KUBE-MARK-MASQ of table nat (iptables-${variant}, IPv4): a rule in CNI-HOSTPORT-SETMARK that is not kube-proxy's uses it`,
      ),
      lines.join('\n'),
    );
    const rules = saved(namespace, 'iptables', variant);
    assert.deepEqual(rules.match(/^(:|-A )(KUBE|CNI).*$/gm), [
      ':CNI-HOSTPORT-SETMARK - [0:0]',
      ':KUBE-MARK-MASQ - [0:0]',
      '-A CNI-HOSTPORT-SETMARK -m comment --comment "CNI portfwd masquerade mark" -j KUBE-MARK-MASQ',
      '-A KUBE-MARK-MASQ -j MARK --set-xmark 0x4000/0x4000',
    ]);
  });

  test(`iptables-${variant}: without its programs the rules stay, and that is said`, () => {
    using namespace = createTestNamespace();
    namespace.pipe(recorded('iptables-save.txt'), `iptables-${variant}-restore`);
    const before = saved(namespace, 'iptables', variant);
    const { lines, exitCode } = cleanUp(namespace, { programs: false });
    assert.equal(exitCode, 0);
    assert.equal(saved(namespace, 'iptables', variant), before);
    assert.equal(lines.length, 1);
    assert.match(
      lines[0] ?? '',
      new RegExp(
        `^left tables mangle, filter, nat \\(iptables-${variant}, IPv4\\): .*iptables-${variant}-save`,
      ),
    );
  });
}

test("mode iptables leaves the chains that it is about to use, and removes nftables' tables", () => {
  using namespace = createTestNamespace();
  namespace.pipe(recorded('iptables-save.txt'), 'iptables-nft-restore');
  const before = saved(namespace, 'iptables', 'nft');
  namespace.run('nft', 'add', 'table', 'ip', 'pointsman');
  namespace.run('nft', 'add', 'table', 'ip6', 'kube-proxy');
  assert.deepEqual(cleanUp(namespace, { keep: 'iptables' }).lines, [
    'removed nftables table ip pointsman',
    'removed nftables table ip6 kube-proxy',
  ]);
  assert.equal(saved(namespace, 'iptables', 'nft'), before);
});

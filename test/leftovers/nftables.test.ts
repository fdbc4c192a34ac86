// The tables that kube-proxy v1.36 wrote in nftables mode, and Pointsman's, beside those of others.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createTestNamespace, type TestNamespace } from '../kernel/test-namespace.ts';
import { cleanUp } from './run-clean-up.ts';

const RECORDED = fileURLToPath(new URL('../fixtures/upstream/nft-ip.nft', import.meta.url));
const FOREIGN = `
table inet kube-proxy {
	chain mine {
		type filter hook input priority 0; policy accept;
		ip saddr 192.0.2.1 drop
	}
}
table ip my-kube-proxy {
	set s {
		type ipv4_addr
		elements = { 192.0.2.1 }
	}
}
table inet others {
	chain c {
		type nat hook prerouting priority -90; policy accept;
		tcp dport 8080 redirect to :80
	}
}
`;

const ruleset = (namespace: TestNamespace): string => namespace.run('nft', 'list', 'ruleset');

function prepared(namespace: TestNamespace): string {
  namespace.pipe(FOREIGN, 'nft', '-f', '-');
  const before = ruleset(namespace);
  namespace.run('nft', '-f', RECORDED);
  namespace.pipe('add table ip6 kube-proxy\nadd chain ip6 kube-proxy services\n', 'nft', '-f', '-');
  namespace.pipe(
    'add table ip pointsman\nadd table ip6 pointsman\nadd chain ip pointsman c\n',
    'nft',
    '-f',
    '-',
  );
  assert.match(ruleset(namespace), /cluster-ips-check/);
  return before;
}

test("kube-proxy's tables and Pointsman's go, those of others stay as they are", () => {
  using namespace = createTestNamespace();
  const before = prepared(namespace);
  const { lines, exitCode } = cleanUp(namespace);
  assert.deepEqual(lines.toSorted(), [
    'removed nftables table ip kube-proxy',
    'removed nftables table ip pointsman',
    'removed nftables table ip6 kube-proxy',
    'removed nftables table ip6 pointsman',
  ]);
  assert.equal(exitCode, 0);
  assert.equal(ruleset(namespace), before);
});

test("at the start of mode nftables Pointsman's own tables stay, kube-proxy's go", () => {
  using namespace = createTestNamespace();
  prepared(namespace);
  assert.deepEqual(cleanUp(namespace, { keep: 'nftables' }).lines.toSorted(), [
    'removed nftables table ip kube-proxy',
    'removed nftables table ip6 kube-proxy',
  ]);
  assert.match(ruleset(namespace), /table ip pointsman/);
});

test('a table that iptables cannot read is left and named, and the rest goes on', () => {
  using namespace = createTestNamespace();
  namespace.pipe(
    '*filter\n:KUBE-FORWARD - [0:0]\nCOMMIT\n*nat\n:KUBE-SERVICES - [0:0]\nCOMMIT\n',
    'iptables-nft-restore',
  );
  namespace.pipe('add rule ip filter KUBE-FORWARD numgen inc mod 2 0 drop', 'nft', '-f', '-');
  namespace.run('nft', 'add', 'table', 'ip', 'kube-proxy');
  const { lines, exitCode } = cleanUp(namespace);
  assert.equal(exitCode, 0);
  assert.deepEqual(
    lines.map((line) => line.replace(/:.*/, '')),
    [
      'removed 1 chain and 0 rules of table nat (iptables-nft, IPv4)',
      'removed nftables table ip kube-proxy',
      'left table filter (iptables-nft, IPv4)',
    ],
  );
});

// `--cleanup` of the real program, in a network namespace of its own, beside rules of others.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createTestNamespace } from '../kernel/test-namespace.ts';
import { PROGRAM, start } from './process.ts';

const fixture = (name: string): string =>
  readFileSync(new URL(`../fixtures/upstream/${name}`, import.meta.url), 'utf8');

test('S038: --cleanup removes what kube-proxy left, prints what, and touches nothing else', async () => {
  using namespace = createTestNamespace();
  // This kernel has no nfacct.
  const recorded = fixture('iptables-save.txt').replace(/ -m nfacct --nfacct-name {2}\S+/g, '');
  namespace.pipe(recorded, 'iptables-nft-restore');
  namespace.run('iptables-nft', '-t', 'nat', '-N', 'FOREIGN');
  namespace.run('iptables-nft', '-t', 'nat', '-A', 'PREROUTING', '-j', 'FOREIGN');
  for (const table of ['kube-proxy', 'vendor']) namespace.run('nft', 'add', 'table', 'ip', table);

  const { code, out, err } = await start(namespace, PROGRAM, '--cleanup').ended;
  assert.equal(code, 0, err);
  assert.match(out, /iptables-nft, IPv4/);
  assert.match(out, /kube-proxy/);
  const left = namespace.run('iptables-nft-save');
  assert.match(left, /^-A PREROUTING -j FOREIGN$/m);
  assert.doesNotMatch(left, /KUBE-(SERVICES|SVC|SEP|POSTROUTING)/);
  const tables = namespace.run('nft', 'list', 'tables');
  assert.match(tables, /^table ip vendor$/m);
  assert.doesNotMatch(tables, /kube-proxy/);

  const again = await start(namespace, PROGRAM, '--cleanup').ended;
  assert.equal(again.code, 0, again.err);
  assert.doesNotMatch(again.out, /[1-9]\d* (chains|rules)/);
});

// The rules for the recorded cluster, chain by chain, against what kube-proxy v1.36 wrote for it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { createBooks } from '../../src/backends/iptables/books.ts';
import { restoreLines } from '../../src/backends/iptables/edits.ts';
import { endpointChain, portChains } from '../../src/backends/iptables/names.ts';
import { parseSaved, type Saved } from '../../src/backends/iptables/saved.ts';
import type { StaticOptions } from '../../src/backends/iptables/static-rules.ts';
import { reconcileSections } from '../../src/backends/iptables/wanted.ts';
import { type Family, parseCidr } from '../../src/model/address.ts';
import { decodeEndpointSlice, sliceKey } from '../../src/model/endpoint-slice.ts';
import { decodeNode } from '../../src/model/node.ts';
import { decodeService, serviceKey } from '../../src/model/service.ts';
import type { ForwardingTable, TableSettings } from '../../src/plan/forwarding-table.ts';
import { createClusterState } from '../../src/proxy/cluster-state.ts';

const fixture = (path: string): string =>
  readFileSync(new URL(`../fixtures/${path}`, import.meta.url), 'utf8');

const settingsIn = (cidr: string): TableSettings => {
  const parsed = parseCidr(cidr);
  assert.ok(parsed);
  return {
    masqueradeAll: false,
    localDetector: { kind: 'cidr', cidr: parsed },
    serviceCidrs: [],
    nodePortAddresses: 'all',
  };
};
const SETTINGS: ForwardingTable['settings'] = {
  IPv4: settingsIn('10.244.0.0/16'),
  IPv6: settingsIn('fd00:244::/48'),
};

/** Addresses that the recording gave load balancers in status. */
const VIPS: Readonly<Record<string, string>> = { 'lb-ranges': '203.0.113.107', 'lb-local': '203.0.113.108' };

async function recordedTable(): Promise<ForwardingTable> {
  const state = createClusterState({ nodeName: 'node-a', families: ['IPv4', 'IPv6'], settings: SETTINGS });
  state.setNode(
    decodeNode({
      metadata: { name: 'node-a', labels: { 'topology.kubernetes.io/zone': 'z1' } },
      status: { addresses: [{ type: 'InternalIP', address: '192.0.2.11' }] },
    }),
  );
  const objects: { kind: string; metadata: { name: string }; spec: Record<string, unknown> }[] =
    parseAllDocuments(fixture('lab-api/cluster-services.yaml')).map((document) => document.toJS());
  const kubernetes = {
    kind: 'Service',
    metadata: { name: 'kubernetes', namespace: 'default' },
    spec: { clusterIP: '10.96.0.1', ports: [{ name: 'https', port: 443 }] },
  };
  for (const object of [...objects, kubernetes]) {
    if (object.kind !== 'Service') continue;
    const vip = VIPS[object.metadata.name];
    const status = vip === undefined ? {} : { loadBalancer: { ingress: [{ ip: vip }] } };
    const decoded = decodeService({ ...object, status });
    assert.ok(decoded.kind === 'decoded');
    state.setService(serviceKey(decoded.value.namespace, decoded.value.name), decoded.value);
  }
  const slices: { items: object[] } = JSON.parse(fixture('lab-api/cluster-slices.json'));
  const own = {
    metadata: {
      name: 'kubernetes',
      namespace: 'default',
      labels: { 'kubernetes.io/service-name': 'kubernetes' },
    },
    addressType: 'IPv4',
    ports: [{ name: 'https', port: 6443, protocol: 'TCP' }],
    endpoints: [{ addresses: ['192.0.2.11'] }],
  };
  for (const object of [...slices.items, own]) {
    const decoded = decodeEndpointSlice(object);
    if (decoded.kind === 'decoded') state.setSlice(sliceKey(decoded.value), decoded.value);
  }
  await state.take();
  return state.table;
}

/** What would be in an empty kernel afterwards. */
async function ours(family: Family): Promise<Saved> {
  const table = await recordedTable();
  const books = createBooks();
  const entries = new Map([...table.entries].filter(([, entry]) => entry.frontend.family === family));
  books.settle(books.draft(entries, SETTINGS[family]));
  const options: StaticOptions = {
    family,
    settings: SETTINGS[family],
    masqueradeBit: 14,
    localhostNodePorts: true,
    dropInvalid: true,
    randomFully: true,
  };
  const lines = restoreLines(reconcileSections(new Map(), books.ports.values(), options));
  // Jumps are inserted one by one at the head.
  const saved = parseSaved(lines.join('\n')) as Map<string, Map<string, string[]>>;
  let section = '';
  for (const line of lines) {
    if (line.startsWith('*')) section = line.slice(1);
    const [, chain = '', rule = ''] = /^-I (\S+) 1 (.*)$/.exec(line) ?? [];
    if (chain === '') continue;
    const chains = saved.get(section);
    chains?.set(chain, [rule, ...(chains.get(chain) ?? [])]);
  }
  return saved as Saved;
}

/** Deliberate differences: counters of nfacct are not there, so neither are the matches that feed them. */
const withoutCounters = (rules: readonly string[]): readonly string[] =>
  rules
    .filter((rule) => !rule.includes('localhost_nps_accepted_pkts'))
    .map((rule) => rule.replace(' -m nfacct --nfacct-name  ct_state_invalid_dropped_pkts', ''));

/** Upstream walks Services in no order. */
const IN_NO_ORDER = ['KUBE-SERVICES', 'KUBE-NODEPORTS', 'KUBE-EXTERNAL-SERVICES', 'KUBE-PROXY-FIREWALL'];

for (const [family, file] of [
  ['IPv4', 'iptables-save.txt'],
  ['IPv6', 'ip6tables-save.txt'],
] as const) {
  test(`${family}: chains, names, comments and order are those of kube-proxy`, async () => {
    const theirs = parseSaved(fixture(`upstream/${file}`));
    const mine = await ours(family);
    for (const [table, chains] of theirs) {
      for (const [chain, recorded] of chains) {
        // The kubelet's own chain, which the recording has in IPv6 as well.
        if (chain === 'KUBE-FIREWALL' && family === 'IPv6') continue;
        const rules = withoutCounters(recorded).filter(
          (rule) => family === 'IPv4' || !rule.endsWith('KUBE-FIREWALL'),
        );
        const found = mine.get(table)?.get(chain) ?? [];
        if (IN_NO_ORDER.includes(chain)) {
          assert.deepEqual(found.toSorted(), rules.toSorted(), `${table} ${chain}`);
          assert.equal(found.at(-1)?.includes('last rule'), rules.at(-1)?.includes('last rule'));
        } else assert.deepEqual(found, rules, `${table} ${chain}`);
      }
      const more = [...(mine.get(table)?.keys() ?? [])].filter((chain) => !chains.has(chain));
      assert.deepEqual(more, [], table);
    }
  });
}

test('names of chains are made as upstream makes them', () => {
  const port = { family: 'IPv4', namespace: 'shop', name: 'web', portName: 'http', protocol: 'TCP' } as const;
  assert.equal(portChains(port).SVC, 'KUBE-SVC-67NZLRHBNDSAWJRO');
  assert.equal(endpointChain(port, { address: '10.50.1.7', port: 8080 }), 'KUBE-SEP-EVCLYYTSPIHYFFVW');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Cidr, parseCidr } from '../model/address.ts';
import { healthCheckAddresses } from './health-check-addresses.ts';
import { type SettingsConfig, type SettingsFacts, tableSettings } from './table-settings.ts';

const cidrs = (...texts: readonly string[]): readonly Cidr[] =>
  texts.flatMap((text) => parseCidr(text) ?? []);

const CONFIG: SettingsConfig = {
  localDetection: { kind: 'cluster-cidr', cidrs: [] },
  masqueradeAll: false,
  nodePorts: { kind: 'primary' },
  bindAddress: undefined,
};
const NODE = {
  addresses: ['192.0.2.11', '192.0.2.12', '2001:db8::11'],
  podCidrs: cidrs('10.50.1.0/24', 'fd00:50:1::/64', '10.50.2.0/24'),
};
const LOCAL = ['127.0.0.1', '::1', '192.0.2.11', '192.0.2.99', '198.51.100.4', '2001:db8::11', 'fe80::1'];

const settings = (config: Partial<SettingsConfig>, facts: Partial<SettingsFacts> = {}) =>
  tableSettings({ ...CONFIG, ...config }, { node: NODE, serviceCidrs: [], localAddresses: LOCAL, ...facts });

test('S102 S103: each family has its cluster CIDR as detector, or none', () => {
  const both = settings({
    localDetection: { kind: 'cluster-cidr', cidrs: cidrs('fd00:50::/48', '10.50.0.0/16') },
  });
  assert.deepEqual(both.IPv4.localDetector, { kind: 'cidr', cidr: cidrs('10.50.0.0/16')[0] });
  assert.deepEqual(both.IPv6.localDetector, { kind: 'cidr', cidr: cidrs('fd00:50::/48')[0] });
  const four = settings({ localDetection: { kind: 'cluster-cidr', cidrs: cidrs('10.50.0.0/16') } });
  assert.deepEqual(four.IPv6.localDetector, { kind: 'none' });
});

test('S437 S438: NodeCIDR takes the first podCIDR of each family, and follows the Node', () => {
  const nodeCidr = { localDetection: { kind: 'node-cidr' } } as const;
  assert.deepEqual(settings(nodeCidr).IPv4.localDetector, { kind: 'cidr', cidr: NODE.podCidrs[0] });
  assert.deepEqual(settings(nodeCidr).IPv6.localDetector, { kind: 'cidr', cidr: NODE.podCidrs[1] });
  const moved = { node: { ...NODE, podCidrs: cidrs('10.60.9.0/24') } };
  assert.deepEqual(settings(nodeCidr, moved).IPv4.localDetector, {
    kind: 'cidr',
    cidr: moved.node.podCidrs[0],
  });
  assert.deepEqual(settings(nodeCidr, moved).IPv6.localDetector, { kind: 'none' });
  assert.deepEqual(settings(nodeCidr, { node: undefined }).IPv4.localDetector, { kind: 'none' });
});

test('S104 S439: interfaces tell local pods by name or by prefix, in both families', () => {
  const bridge = settings({ localDetection: { kind: 'bridge', name: 'cbr0' } });
  assert.deepEqual(
    [bridge.IPv4.localDetector, bridge.IPv6.localDetector],
    [
      { kind: 'interface', name: 'cbr0' },
      { kind: 'interface', name: 'cbr0' },
    ],
  );
  const prefix = settings({ localDetection: { kind: 'interface-prefix', prefix: 'veth' } });
  assert.deepEqual(prefix.IPv6.localDetector, { kind: 'interface-prefix', prefix: 'veth' });
});

test('S093 S094 S095 S082: primary is the first address of a family, and all while none is known', () => {
  const ports = (facts: Partial<SettingsFacts>, config: Partial<SettingsConfig> = {}) => {
    const { IPv4, IPv6 } = settings(config, facts);
    return [IPv4.nodePortAddresses, IPv6.nodePortAddresses];
  };
  assert.deepEqual(ports({}), [['192.0.2.11'], ['2001:db8::11']]);
  assert.deepEqual(ports({ node: undefined }), ['all', 'all']);
  assert.deepEqual(ports({ node: { addresses: ['127.0.0.1'], podCidrs: [] } }), ['all', 'all']);
  assert.deepEqual(ports({ node: { addresses: ['192.0.2.11'], podCidrs: [] } }), [['192.0.2.11'], 'all']);
  assert.deepEqual(ports({}, { bindAddress: '198.51.100.9' }), [['198.51.100.9'], ['2001:db8::11']]);
});

test('S263 S264 S265 S266 S449: CIDRs choose among the addresses of the machine as it has them now', () => {
  const ports = (texts: readonly string[], localAddresses = LOCAL) => {
    const { IPv4, IPv6 } = settings(
      { nodePorts: { kind: 'cidrs', cidrs: cidrs(...texts) } },
      { localAddresses },
    );
    return [IPv4.nodePortAddresses, IPv6.nodePortAddresses];
  };
  assert.deepEqual(ports(['192.0.2.0/24']), [['192.0.2.11', '192.0.2.99'], 'all']);
  assert.deepEqual(ports(['2001:db8::/32']), ['all', ['2001:db8::11']]);
  assert.deepEqual(ports(['203.0.113.0/24', 'fd00::/8']), [[], []]);
  assert.deepEqual(ports(['10.0.0.0/8', '0.0.0.0/0']), ['all', 'all']);
  assert.deepEqual(ports(['127.0.0.0/8']), [[], 'all']);
  assert.deepEqual(ports(['192.0.2.0/24', '192.0.2.99/32'], [...LOCAL, '192.0.2.5']), [
    ['192.0.2.11', '192.0.2.5', '192.0.2.99'],
    'all',
  ]);
});

test('S318: ServiceCIDRs are split by family', () => {
  const { IPv4, IPv6 } = settings(
    {},
    { serviceCidrs: cidrs('10.96.0.0/16', '10.97.0.0/16', 'fd00:96::/112') },
  );
  assert.deepEqual([IPv4.serviceCidrs.length, IPv6.serviceCidrs.length], [2, 1]);
});

test('S386 S265: health checks are served where node ports are', () => {
  const of = (nodePorts: SettingsConfig['nodePorts'], local = LOCAL) =>
    healthCheckAddresses(nodePorts, settings({ nodePorts }, { localAddresses: local }), local);
  assert.deepEqual(of({ kind: 'cidrs', cidrs: cidrs('192.0.2.11/32') }), {
    IPv4: ['192.0.2.11'],
    IPv6: 'all',
  });
  assert.deepEqual(of({ kind: 'cidrs', cidrs: cidrs('203.0.113.0/24') }), { IPv4: [], IPv6: 'all' });
  assert.deepEqual(of({ kind: 'primary' }), { IPv4: ['192.0.2.11'], IPv6: ['2001:db8::11'] });
  // A primary address that no interface has cannot be listened on.
  assert.deepEqual(of({ kind: 'primary' }, ['10.0.0.1']), { IPv4: 'all', IPv6: 'all' });
});

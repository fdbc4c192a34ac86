import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_VALUES, type FlagValues } from '../config/flag-values.ts';
import { configurationOf } from '../config/from-flags.ts';
import { NO_OWN } from '../config/no-own.ts';
import { proxyConfig } from '../config/proxy-config.ts';
import { type Family, parseCidr } from '../model/address.ts';
import { checkSanity, primaryFamily } from './sanity.ts';

const DUAL: readonly Family[] = ['IPv4', 'IPv6'];
const check = (
  values: Partial<FlagValues>,
  families: readonly Family[] = DUAL,
  addresses: readonly string[] = ['192.0.2.11'],
  podCidrs: readonly string[] = [],
): readonly string[] =>
  checkSanity(
    proxyConfig(configurationOf({ ...DEFAULT_VALUES, clusterCidr: '10.50.0.0/16,fd00:50::/48', ...values }), {
      hostname: 'n',
      master: '',
      own: NO_OWN,
    }),
    { families, node: { addresses, podCidrs: podCidrs.flatMap((text) => parseCidr(text) ?? []) } },
  );

test('a plain configuration raises no doubt', () => {
  assert.deepEqual(check({}), []);
});

test('S076 to S083: the primary family is that of the bind address, else of the first address of the Node', () => {
  const of = (bindAddress: string | undefined, ...addresses: readonly string[]): Family =>
    primaryFamily({ bindAddress }, addresses.length === 0 ? undefined : { addresses });
  assert.equal(of('192.0.2.50'), 'IPv4');
  assert.equal(of('2001:db8::50'), 'IPv6');
  assert.equal(of(undefined), 'IPv4');
  assert.equal(of(undefined, '2001:db8::1'), 'IPv6');
  assert.equal(of(undefined, '2001:db8::1', '192.0.2.1'), 'IPv6');
  assert.equal(of('198.51.100.9', '2001:db8::1', '192.0.2.1'), 'IPv4');
  assert.equal(of('::1', '192.0.2.1', '2001:db8::1'), 'IPv6');
});

test('S096 S097: a primary family that the kernel does not have is fatal', () => {
  assert.deepEqual(check({}, ['IPv4']), []);
  assert.throws(() => check({}, ['IPv4'], ['2001:db8::1']), {
    code: 'E_CONFIG',
    message: 'no support for primary IP family "IPv6"',
  });
});

test('S098 S099: cluster CIDRs of the other family alone are fatal on one stack, and a doubt on two', () => {
  const values = { clusterCidr: 'fd00:50::/48' };
  assert.throws(() => check(values, ['IPv4']), /kube-proxy configuration is incorrect: cluster CIDRs/);
  assert.match(check(values).join(), /clusterCIDR is set, but has no IPv4 range/);
  const node = { detectLocalMode: 'NodeCIDR' };
  assert.throws(
    () => check(node, ['IPv4'], ['192.0.2.11'], ['fd00:50::/64']),
    /incorrect: the Node's podCIDRs/,
  );
  assert.match(check(node, DUAL, ['192.0.2.11'], ['fd00:50::/64']).join(), /no IPv4 podCIDR/);
});

test('S101: node port addresses that lack a family are told', () => {
  assert.match(
    check({ nodePortAddresses: ['192.0.2.0/24'] }).join(),
    /no IPv6 CIDR: node ports are served on all IPv6 addresses/,
  );
});

test('B099: without a cluster CIDR it is said what follows', () => {
  assert.match(check({ clusterCidr: '' }).join(), /nothing that pods send to a ClusterIP is masqueraded/);
});

test('what has no effect is said', () => {
  assert.match(
    check({ textSplitStream: true, featureGates: { LoggingAlphaOptions: true } }).join(),
    /logging.options.text has no effect/,
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCidr } from '../model/address.ts';
import { checkClusterCidrs, detectFamilies } from './families.ts';

test('IPv6 counts where the kernel has it and it is not switched off', () => {
  const files = (addresses: string | undefined, off: string | undefined) => (path: string) =>
    path === '/proc/net/if_inet6' ? addresses : off;
  assert.deepEqual(detectFamilies(files('', '0\n')), ['IPv4', 'IPv6']);
  assert.deepEqual(detectFamilies(files('', '1\n')), ['IPv4']);
  assert.deepEqual(detectFamilies(files(undefined, undefined)), ['IPv4']);
});

test('cluster CIDRs that fit no family of the node are refused', () => {
  const v6 = parseCidr('fd00::/48');
  const v4 = parseCidr('10.0.0.0/8');
  assert.ok(v4 && v6);
  assert.throws(() => checkClusterCidrs(['IPv4'], [v6]), { code: 'E_CONFIG' });
  checkClusterCidrs(['IPv4'], [v4, v6]);
  checkClusterCidrs(['IPv4', 'IPv6'], [v6]);
  checkClusterCidrs(['IPv4'], []);
});

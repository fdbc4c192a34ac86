import assert from 'node:assert/strict';
import { test } from 'node:test';
import { detectFamilies } from './families.ts';

test('IPv6 counts where the kernel has it and it is not switched off', () => {
  const files = (addresses: string | undefined, off: string | undefined) => (path: string) =>
    path === '/proc/net/if_inet6' ? addresses : off;
  assert.deepEqual(detectFamilies(files('', '0\n')), ['IPv4', 'IPv6']);
  assert.deepEqual(detectFamilies(files('', '1\n')), ['IPv4']);
  assert.deepEqual(detectFamilies(files(undefined, undefined)), ['IPv4']);
});

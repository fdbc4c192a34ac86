import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createKoffiSys } from '../../src/kernel/sys/koffi.ts';
import { readSysctl, writeSysctl } from '../../src/kernel/sysctl.ts';
import { createTestNamespace } from './test-namespace.ts';

const sys = createKoffiSys();

test('a sysctl is read and set in another namespace, and the own one keeps its value', () => {
  using namespace = createTestNamespace();
  const place = { sys, namespace: namespace.path };
  const own = readSysctl('net.ipv4.ip_forward');
  writeSysctl('net.ipv4.ip_forward', 1, place);
  assert.equal(readSysctl('net/ipv4/ip_forward', place), '1');
  writeSysctl('net.ipv4.ip_forward', 0, place);
  assert.equal(readSysctl('net.ipv4.ip_forward', place), '0');
  assert.equal(readSysctl('net.ipv4.ip_forward'), own);
});

test('what goes wrong is told with the name and the value', () => {
  using namespace = createTestNamespace();
  const place = { sys, namespace: namespace.path };
  assert.throws(() => readSysctl('net.ipv4.no_such', place), {
    code: 'E_KERNEL_FEATURE',
    message: 'cannot read the sysctl net.ipv4.no_such: the kernel has no such setting',
  });
  assert.throws(() => writeSysctl('net.ipv4.ip_forward', 'often', place), {
    code: 'E_SYSCALL',
    message: 'cannot set the sysctl net.ipv4.ip_forward to often: EINVAL',
  });
});

import assert from 'node:assert/strict';
import { closeSync } from 'node:fs';
import { constants } from 'node:os';
import { test } from 'node:test';
import fc from 'fast-check';
import { AF_INET, AF_INET6, EFD_CLOEXEC, EFD_NONBLOCK } from './constants.ts';
import { EAGAIN, errnoName, errnoText, unwrap } from './errno.ts';
import { createKoffiSys } from './koffi.ts';
import { createPollSet } from './poll-set.ts';
import { familyOf, internetAddress, ipBytes } from './sockaddr.ts';

test('every error number that Node knows has the same name here', () => {
  const aliases: Readonly<Record<string, string>> = { EWOULDBLOCK: 'EAGAIN', ENOTSUP: 'EOPNOTSUPP' };
  for (const [name, number] of Object.entries(constants.errno)) {
    assert.equal(errnoName(number), aliases[name] ?? name);
  }
});

test('numbers without a name, and the one that only the kernel has, are still told apart', () => {
  assert.equal(errnoName(41), 'errno 41');
  assert.equal(errnoName(9999), 'errno 9999');
  assert.equal(errnoText(524), 'ENOTSUPP');
  assert.equal(errnoText(2), 'ENOENT (no such file or directory)');
});

test('a failed call names what was wanted, and a missing right has a code of its own', () => {
  assert.equal(unwrap(7, 'open a door'), 7);
  assert.throws(() => unwrap(-2, 'open a door', { door: 1 }), {
    code: 'E_SYSCALL',
    message: 'cannot open a door: ENOENT (no such file or directory)',
    facts: { door: 1, errno: 2, errnoName: 'ENOENT' },
  });
  for (const errno of [1, 13]) assert.throws(() => unwrap(-errno, 'open a door'), { code: 'E_PERMISSION' });
});

test('IPv4 addresses are four bytes in network order', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 4, maxLength: 4 }), (bytes) => {
      assert.deepEqual([...ipBytes(bytes.join('.'))], [...bytes]);
    }),
  );
});

test('IPv6 addresses are sixteen bytes, however they are written', () => {
  const groups = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff })), {
    minLength: 8,
    maxLength: 8,
  });
  fc.assert(
    fc.property(groups, (numbers) => {
      const bytes = numbers.flatMap((group) => [group >> 8, group & 0xff]);
      const full = numbers.map((group) => group.toString(16)).join(':');
      const mapped = `${full.split(':').slice(0, 6).join(':')}:${bytes.slice(12).join('.')}`;
      // The first run of zeros, as a writer may shorten it.
      const short = full.replace(/(^|:)0(:0)+(:|$)/, '::');
      for (const text of [full, full.toUpperCase(), mapped, short]) {
        assert.deepEqual([...ipBytes(text)], bytes, text);
      }
    }),
  );
});

test('what is no plain address is refused', () => {
  for (const text of ['', 'localhost', '1.2.3', '1.2.3.4/8', 'fe80::1%lo', ':::']) {
    assert.throws(() => ipBytes(text), { code: 'E_MALFORMED' }, text);
  }
});

test('a socket address has its family`s size, port and address in place', () => {
  assert.equal(familyOf('10.0.0.1'), AF_INET);
  assert.equal(familyOf('::'), AF_INET6);
  const v4 = internetAddress('10.0.0.1', 0x1234);
  assert.equal(v4.length, 16);
  assert.deepEqual([...v4.subarray(2, 8)], [0x12, 0x34, 10, 0, 0, 1]);
  const v6 = internetAddress('::1', 80);
  assert.equal(v6.length, 28);
  assert.deepEqual([v6.readUInt16BE(2), v6[23]], [80, 1]);
});

test('poll tells which descriptor can be read, and a call`s errno is its result', () => {
  const sys = createKoffiSys();
  const [quiet, ready] = [0, 1].map((count) => sys.eventfd(count, EFD_CLOEXEC | EFD_NONBLOCK)) as [
    number,
    number,
  ];
  try {
    const set = createPollSet([quiet, ready]);
    assert.equal(sys.poll(set.bytes, 0), 1);
    assert.deepEqual(
      [quiet, ready, 9999].map((fd) => set.isReadable(fd)),
      [false, true, false],
    );
    const count = new Uint8Array(8);
    assert.equal(sys.read(ready, count), 8);
    assert.equal(sys.read(ready, count), -EAGAIN);
    assert.equal(sys.write(ready, count.fill(1)), 8);
  } finally {
    for (const fd of [quiet, ready]) closeSync(fd);
  }
});

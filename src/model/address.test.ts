import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  addressBytes,
  addressText,
  cidrBounds,
  cidrContains,
  cidrCovers,
  cidrText,
  parseAddress,
  parseCidr,
} from './address.ts';

test('addresses are read as upstream reads them and written canonically', () => {
  const table: readonly (readonly [string, string | undefined])[] = [
    ['10.0.0.1', '10.0.0.1'],
    ['10.096.0.021', '10.96.0.21'],
    ['198.18.0.007', '198.18.0.7'],
    ['::ffff:10.0.0.1', '10.0.0.1'],
    ['2001:DB8::0:1', '2001:db8::1'],
    ['fd00:0:0:0:0:0:0:1', 'fd00::1'],
    ['::', '::'],
    ['256.0.0.1', undefined],
    ['10.0.0', undefined],
    ['10.0.0.1.2', undefined],
    ['0x10.0.0.1', undefined],
    ['', undefined],
    ['junk', undefined],
    ['fe80::1%eth0', undefined],
    ['10.0.0.1/8', undefined],
    [' 10.0.0.1', undefined],
  ];
  for (const [text, expected] of table) assert.equal(parseAddress(text), expected, text);
});

test('CIDRs lose their host bits and may carry leading zeros', () => {
  const table: readonly (readonly [string, string | undefined])[] = [
    ['10.50.3.7/16', '10.50.0.0/16'],
    ['192.000.002.0/024', '192.0.2.0/24'],
    ['fd00:50::1/48', 'fd00:50::/48'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['::/0', '::/0'],
    ['::ffff:10.0.0.0/104', '10.0.0.0/8'],
    ['10.0.0.0/33', undefined],
    ['10.0.0.0', undefined],
    ['10.0.0.0/', undefined],
    ['10.0.0.0/-1', undefined],
  ];
  for (const [text, expected] of table) {
    const cidr = parseCidr(text);
    assert.equal(cidr && cidrText(cidr), expected, text);
  }
});

test('bytes and canonical text are two forms of one address', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(4, 16).chain((length) => fc.uint8Array({ minLength: length, maxLength: length })),
      (bytes) => {
        assert.deepEqual(addressBytes(addressText(bytes)), bytes);
      },
    ),
  );
});

test('a CIDR contains its first and last address and nothing beyond', () => {
  const cidr = parseCidr('198.51.100.128/25');
  assert.ok(cidr);
  const { first, last } = cidrBounds(cidr);
  assert.equal(addressText(first), '198.51.100.128');
  assert.equal(addressText(last), '198.51.100.255');
  assert.ok(cidrContains(cidr, '198.51.100.128'));
  assert.ok(cidrContains(cidr, '198.51.100.255'));
  assert.ok(!cidrContains(cidr, '198.51.100.127'));
  assert.ok(!cidrContains(cidr, '198.51.101.0'));
  assert.ok(!cidrContains(cidr, '::ffff'));
});

test('a wider range covers a narrower one inside it, not the other way round', () => {
  const wide = parseCidr('10.0.0.0/8');
  const narrow = parseCidr('10.1.0.0/16');
  const other = parseCidr('11.1.0.0/16');
  assert.ok(wide && narrow && other);
  assert.ok(cidrCovers(wide, narrow));
  assert.ok(cidrCovers(wide, wide));
  assert.ok(!cidrCovers(narrow, wide));
  assert.ok(!cidrCovers(wide, other));
});

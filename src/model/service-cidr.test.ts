import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cidrText } from './address.ts';
import { cidrUnion, decodeServiceCidr } from './service-cidr.ts';

const decoded = (...cidrs: unknown[]): ReturnType<typeof cidrUnion> =>
  decodeServiceCidr({ spec: { cidrs } }) ?? [];

test('the ranges of a ServiceCIDR are read, unreadable ones are left out', () => {
  assert.deepEqual(decoded('10.96.0.0/16', 7, 'x', 'fd00:10:96::/112').map(cidrText), [
    '10.96.0.0/16',
    'fd00:10:96::/112',
  ]);
  assert.equal(decodeServiceCidr('text'), undefined);
  assert.deepEqual(decodeServiceCidr({}), []);
});

test('a union has every range once, none inside another, in one order', () => {
  const ranges = decoded('10.97.0.0/16', '10.96.0.0/16', '10.96.5.0/24', '10.96.0.0/16', 'fd00::/112');
  const union = cidrUnion(ranges);
  assert.deepEqual(union.map(cidrText), ['10.96.0.0/16', '10.97.0.0/16', 'fd00::/112']);
  assert.deepEqual(cidrUnion([...ranges].reverse()), union);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byteOrder, fieldsOfNumber, lengthOf, typeNumber } from './fields.ts';
import { byteOrderUserdata } from './userdata.ts';

test('a concatenation has its types in one number, and its fields padded', () => {
  assert.equal(typeNumber(['ipv4_addr', 'inet_service']), 461);
  assert.deepEqual(fieldsOfNumber(461), ['ipv4_addr', 'inet_service']);
  assert.equal(lengthOf(['ipv4_addr', 'inet_service']), 8);
  assert.equal(lengthOf(['ipv6_addr', 'inet_proto', 'inet_service', 'mark']), 28);
});

test('a single field is not padded', () => {
  assert.equal(lengthOf(['inet_proto']), 1);
  assert.equal(lengthOf(['inet_service']), 2);
});

test('a verdict has a number of its own, and cannot be a part of anything', () => {
  assert.equal(typeNumber(['verdict']), 0xffff_ff00);
  assert.deepEqual(fieldsOfNumber(0xffff_ff00), ['verdict']);
  assert.throws(() => typeNumber(['mark', 'verdict']), RangeError);
});

test('types that Pointsman does not use make the whole unknown', () => {
  const integer = 4;
  assert.equal(fieldsOfNumber(integer), undefined);
  assert.equal(fieldsOfNumber((7 << 6) | integer), undefined);
  assert.equal(fieldsOfNumber(0), undefined);
});

test('user data of a set says the byte order of its key and data, and nothing else', () => {
  const host = byteOrder(['classid']);
  const network = byteOrder(['ipv4_addr', 'mark']);
  assert.deepEqual([...byteOrderUserdata(host, undefined)].slice(0, 3), [0, 4, 1]);
  const both = byteOrderUserdata(network, host);
  assert.deepEqual([both.length, both[0], both[1], both[6], both[7]], [12, 0, 4, 1, 4]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  checkNodeName,
  checkPodKey,
  checkPrefix,
  defaultNodeName,
  namespaceName,
  namespacesOf,
} from './names.ts';

test('a namespace carries the prefix of its lab and the name of its part', () => {
  assert.equal(namespaceName('lab', 'switch'), 'lab-switch');
  assert.equal(namespaceName('lab', 'default/web-1'), 'lab-default_web-1');
});

test('names that are too long for a file stay different when they are cut', () => {
  const long = `default/${'x'.repeat(253)}`;
  const one = namespaceName('lab', `${long}1`);
  const other = namespaceName('lab', `${long}2`);
  assert.equal(one.length, 255);
  assert.notEqual(one, other);
});

test('only namespaces of the lab itself are its own, the switch last', () => {
  const names = [
    'lab-switch',
    'lab-node-a',
    'lab-default_web-1',
    'lab-2-switch',
    'lab-2-node-a',
    'labs-switch',
    'other',
  ];
  assert.deepEqual(namespacesOf('lab', names), ['lab-node-a', 'lab-default_web-1', 'lab-switch']);
  assert.deepEqual(namespacesOf('lab-2', names), ['lab-2-node-a', 'lab-2-switch']);
  assert.deepEqual(namespacesOf('other', names), []);
});

test('a node cannot be called like another part or like the switch of another lab', () => {
  for (const wrong of ['switch', 'outside', '2-switch', 'Node', 'a_b', '', 'a/b']) {
    assert.throws(() => checkNodeName(wrong), { code: 'E_LAB' }, wrong);
  }
  for (const right of ['node-a', 'ip-10-0-0-1.internal']) checkNodeName(right);
});

test('a Pod is known by its namespace and name', () => {
  checkPodKey('default/web-1');
  for (const wrong of ['web-1', 'a/b/c', 'default/', 'default/Web']) {
    assert.throws(() => checkPodKey(wrong), { code: 'E_LAB' }, wrong);
  }
});

test('a prefix is short and plain', () => {
  checkPrefix('pt-123-a');
  for (const wrong of ['', '-lab', 'lab-', 'Lab', 'a b', 'x'.repeat(41)]) {
    assert.throws(() => checkPrefix(wrong), { code: 'E_LAB' }, wrong);
  }
});

test('nodes without a name are called after their number', () => {
  assert.deepEqual([1, 2, 26, 27].map(defaultNodeName), ['node-a', 'node-b', 'node-z', 'node-27']);
});

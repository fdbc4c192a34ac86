import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  checkNodeName,
  checkPodKey,
  checkPrefix,
  defaultNodeName,
  namespaceName,
  namespacesOf,
} from './names.ts';

test('a namespace is called after its lab and its part', () => {
  assert.equal(namespaceName('pt-lab-a', 'node-a'), 'pt-lab-a-node-a');
  assert.equal(namespaceName('pt-lab-a', 'shop/cart-1'), 'pt-lab-a-shop_cart-1');
});

test('names that are too long for a file stay apart when they are cut', () => {
  const long = `${'n'.repeat(63)}/${'p'.repeat(240)}`;
  const [one, other] = [`${long}1`, `${long}2`].map((part) => namespaceName('pt-lab-a', part));
  assert.ok(one !== undefined && one.length <= 255);
  assert.notEqual(one, other);
});

test('no two parts of a lab share a namespace', () => {
  const label = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,10}[a-z0-9])?$/);
  const part = fc.oneof(
    label,
    fc.tuple(label, label).map((key) => key.join('/')),
  );
  fc.assert(
    fc.property(part, part, (one, other) => {
      fc.pre(one !== other);
      assert.notEqual(namespaceName('lab', one), namespaceName('lab', other));
    }),
  );
});

test("a lab's namespaces are its own also beside a lab whose prefix begins with its prefix", () => {
  const names = [
    'lab-switch',
    'lab-node-a',
    'lab-2-switch',
    'lab-2-node-a',
    'lab-2-shop_web',
    'other',
    'labor',
  ];
  assert.deepEqual(namespacesOf('lab', names), ['lab-node-a', 'lab-switch']);
  assert.deepEqual(namespacesOf('lab-2', names), ['lab-2-node-a', 'lab-2-shop_web', 'lab-2-switch']);
  assert.deepEqual(namespacesOf('la', names), []);
});

test('prefixes, node names and Pod keys that would be ambiguous or no names are refused', () => {
  for (const wrong of ['', '-a', 'a-', 'A', 'a_b', 'a/b', 'a'.repeat(41)]) {
    assert.throws(() => checkPrefix(wrong), { code: 'E_LAB' }, wrong);
  }
  for (const wrong of ['', 'switch', 'outside', 'my-switch', 'a/b', 'Node', 'a'.repeat(151)]) {
    assert.throws(() => checkNodeName(wrong), { code: 'E_LAB' }, wrong);
  }
  for (const wrong of ['web', 'a/b/c', '/web', 'a/', 'a/Web']) {
    assert.throws(() => checkPodKey(wrong), { code: 'E_LAB' }, wrong);
  }
  checkPrefix('pt-123-lab');
  checkNodeName('node-a.example');
  checkPodKey('default/web-1');
});

test('nodes are lettered as long as there are letters', () => {
  assert.deepEqual([1, 2, 26, 27].map(defaultNodeName), ['node-a', 'node-b', 'node-z', 'node-27']);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findNamespace } from './lab-exec.ts';

const NAMESPACES = [
  'l-switch',
  'l-outside',
  'l-node-a',
  'l-default_web',
  'l-shop_web',
  'l-shop_db',
  'l-shop_node-a',
  'l-kube-system_dns',
];

const found: readonly [string, string][] = [
  ['outside', 'l-outside'],
  ['node-a', 'l-node-a'],
  ['shop/web', 'l-shop_web'],
  ['web', 'l-default_web'],
  ['db', 'l-shop_db'],
  ['shop/node-a', 'l-shop_node-a'],
  ['dns', 'l-kube-system_dns'],
];
for (const [part, namespace] of found)
  test(`exec in ${part} means the namespace ${namespace}`, () => {
    assert.equal(findNamespace('l', part, NAMESPACES), namespace);
  });

test('a part that is not there is refused with those that are', () => {
  assert.throws(() => findNamespace('l', 'nobody', ['l-switch', 'l-shop_db']), {
    message: 'the lab has nothing called nobody',
    hint: 'there are switch, shop/db',
  });
  assert.throws(() => findNamespace('l', 'default/db', NAMESPACES), { code: 'E_LAB' });
});

test('a name that several Pods have is refused with their full names', () => {
  assert.throws(() => findNamespace('l', 'api', ['l-switch', 'l-a_api', 'l-b_api']), {
    message: 'several Pods of the lab are called api',
    hint: 'there are a/api, b/api',
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiObject } from '../api-object.ts';
import { fieldSelector, labelSelector } from './selector.ts';

const with_ = (labels: Record<string, string>): ApiObject => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name: 'a', labels },
});

test('label selectors match as they say', () => {
  const labels = { app: 'web', tier: '', 'example.org/zone': 'z1' };
  const cases: readonly (readonly [selector: string, matches: boolean])[] = [
    ['', true],
    ['app=web', true],
    ['app==web', true],
    ['app!=web', false],
    ['other!=web', true],
    ['app in (web, db)', true],
    ['app notin (web)', false],
    ['other notin (web)', true],
    ['other in (web)', false],
    ['tier', true],
    ['!tier', false],
    ['!other', true],
    ['tier=', true],
    ['example.org/zone=z1,app=web', true],
    ['app=web,tier=x', false],
  ];
  for (const [selector, matches] of cases) {
    const parsed = labelSelector(selector);
    assert.ok(parsed.ok, selector);
    assert.equal(parsed.matches(with_(labels)), matches, selector);
  }
});

test('what is no selector is refused', () => {
  for (const text of ['a b', '=x', 'a in b', 'a=b=c', 'a,,b'])
    assert.equal(labelSelector(text).ok, false, text);
  assert.equal(fieldSelector('spec.x=1', {}).ok, false);
  assert.equal(fieldSelector('metadata.name', { 'metadata.name': () => '' }).ok, false);
});

test('field selectors compare the fields that the resource names, and unescape values', () => {
  const fields = { name: ({ metadata }: ApiObject) => metadata.name ?? '', odd: () => 'a,b' };
  const matches = (text: string): boolean => {
    const parsed = fieldSelector(text, fields);
    assert.ok(parsed.ok);
    return parsed.matches(with_({}));
  };
  assert.equal(matches('name=a'), true);
  assert.equal(matches('name!=a'), false);
  assert.equal(matches('name==a,name!=b'), true);
  assert.equal(matches('odd=a\\,b,name=a'), true);
});

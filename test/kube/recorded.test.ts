// What a real kube-apiserver 1.36 sent, read by the same code.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { apiError, apiStatusOf } from '../../src/kube/api-status.ts';
import { createLineSplitter } from '../../src/kube/line-splitter.ts';
import { createListScanner } from '../../src/kube/list-scanner.ts';
import {
  metadataOf,
  objectKey,
  parseWatchEvent,
  versionOf,
  type WatchEvent,
} from '../../src/kube/watch-event.ts';

const read = (name: string): Buffer => readFileSync(new URL(`../fixtures/api/${name}`, import.meta.url));
const events = (name: string): WatchEvent[] =>
  [...createLineSplitter().push(read(name))].map(parseWatchEvent);

test('a streamed list is objects and the bookmark that ends it', () => {
  const all = events('watchlist-services.jsonl');
  const last = all.at(-1);
  assert.deepEqual(last, { kind: 'bookmark', version: '301', initialEventsEnd: true });
  const objects = all
    .slice(0, -1)
    .map((event) => (event.kind === 'set' ? objectKey(event.object) : event.kind));
  assert.ok(objects.includes('shop/dual') && objects.includes('shop/three'), objects.join(' '));
  assert.equal(new Set(objects).size, objects.length);
});

test('a watch is changes and bookmarks', () => {
  const [first, second] = events('watch-slices.jsonl');
  assert.equal(first?.kind === 'set' ? versionOf(first.object) : '', '305');
  assert.deepEqual(second, { kind: 'bookmark', version: '305', initialEventsEnd: false });
});

test('a page of a list, as it is printed for people, has its items and its continue token', () => {
  const scanner = createListScanner();
  const items = [...scanner.push(read('list-page1.json'))].map(
    (item) => JSON.parse(item.toString()) as Record<string, unknown>,
  );
  assert.deepEqual(items.map(objectKey), ['default/kubernetes', 'shop/dual']);
  const { resourceVersion, continue: token } = metadataOf(scanner.end());
  assert.equal(resourceVersion, '299');
  assert.match(String(token), /^eyJ2Ijoi/);
});

for (const [name, status, reason] of [
  ['err-401.txt', 401, 'Unauthorized'],
  ['err-404.txt', 404, 'NotFound'],
] as const) {
  test(`the ${status} of a real server has its reason`, () => {
    const body = read(name)
      .toString()
      .split(/\r?\n\r?\n/)
      .slice(1)
      .join('\n\n');
    const error = apiError('GET /x', status, {}, body, () => 0);
    assert.equal(apiStatusOf(error)?.reason, reason);
  });
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { answerInWords, decodeEchoAnswer, encodeEchoAnswer, sleepWish } from './echo-answer.ts';

const end = fc
  .tuple(fc.oneof(fc.ipV4(), fc.ipV6()), fc.nat(65535))
  .map(([address, port]) => ({ address, port }));

test('an answer is one line that reads back as it was', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), end, end, (pod, node, server, client) => {
      const answer = { pod, node, server, client };
      const line = encodeEchoAnswer(answer);
      assert.match(line, /^[^\n]+\n$/);
      assert.deepEqual(decodeEchoAnswer(line), answer);
    }),
  );
});

test('an answer shows addresses as people write them', () => {
  const answer = {
    pod: 'default/web',
    node: 'node-a',
    server: { address: 'fd00:244:1::2', port: 8080 },
    client: { address: '10.244.1.3', port: 41000 },
  };
  assert.equal(
    encodeEchoAnswer(answer),
    '{"pod":"default/web","node":"node-a","server":"[fd00:244:1::2]:8080","client":"10.244.1.3:41000"}\n',
  );
});

test('an answer in words is one line too', () => {
  const answer = {
    pod: 'default/web',
    node: 'node-a',
    server: { address: 'fd00:244:1::2', port: 8080 },
    client: { address: '2001:db8:51::2', port: 41000 },
  };
  assert.equal(
    answerInWords(answer),
    'default/web on node-a, at [fd00:244:1::2]:8080, sees [2001:db8:51::2]:41000\n',
  );
});

test('what is no answer is not taken for one', () => {
  for (const line of [
    '',
    'hello',
    'null',
    '[]',
    '{"pod":"a"}',
    '{"pod":"a","node":"b","server":"x","client":"y"}',
  ])
    assert.equal(decodeEchoAnswer(line), undefined, line);
});

for (const [query, ms] of [
  ['sleep=1.5', 1500],
  ['sleep=0', 0],
  ['sleep=-1', 0],
  ['sleep=', 0],
  ['sleep=1e9', 0],
  ['sleep=soon', 0],
  ['?', 0],
] as const) {
  test(`the wish "${query}" lets the server wait ${ms} ms`, () => {
    assert.equal(sleepWish(new URLSearchParams(query)), ms);
  });
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, tally } from './answer.ts';
import { failureKind } from './client-failure.ts';

const end = { address: '10.0.0.1', port: 1 };
const by = (pod: string) => ({ kind: 'answered', pod, node: 'n', client: end, server: end, ms: 1 }) as const;

test('a tally counts who answered, most first, and how the others failed', () => {
  const failed = { kind: 'failed', how: 'refused', detail: '', ms: 1 } as const;
  const { pods, failures } = tally([by('a'), by('b'), failed, by('b'), failed]);
  assert.deepEqual(
    [...pods],
    [
      ['b', 2],
      ['a', 1],
    ],
  );
  assert.deepEqual([...failures], [['refused', 2]]);
});

test('a stranger’s answer is a failure that shows what it said', () => {
  const answer = answerOf('<html>', 1);
  assert.equal(answer.kind, 'failed');
  assert.match(answer.kind === 'failed' ? answer.detail : '', /<html>/);
});

for (const [code, kind] of [
  ['ECONNREFUSED', 'refused'],
  ['ECONNRESET', 'reset'],
  ['EHOSTUNREACH', 'unreachable'],
  ['EPERM', 'not-permitted'],
  ['ETIMEDOUT', 'timeout'],
  ['EADDRINUSE', 'other'],
] as const) {
  test(`a socket's ${code} counts as ${kind}`, () => {
    assert.equal(failureKind(Object.assign(new Error('x'), { code })), kind);
  });
}

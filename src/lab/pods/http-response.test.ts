import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseResponse } from './http-response.ts';

const WHOLE = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello';

test('a response is complete when its whole body has come, not earlier', () => {
  for (let length = 0; length < WHOLE.length; length += 1)
    assert.deepEqual(parseResponse(WHOLE.slice(0, length)), { kind: 'incomplete' });
  assert.deepEqual(parseResponse(`${WHOLE}HTTP`), {
    kind: 'response',
    status: 200,
    body: 'hello',
    rest: 'HTTP',
  });
});

test('what is no HTTP, or has no length, is malformed', () => {
  for (const text of ['SSH-2.0', 'HTTP/1.0 200 OK\r\n\r\n', 'HTTP/1.1 200 OK\r\nx-content-length: 1\r\n\r\n'])
    assert.deepEqual(parseResponse(text), { kind: 'malformed' }, text);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer } from '../pods/answer.ts';
import { shareRow, shareTable } from './shares.ts';

const answered = (pod: string, client: string): Answer => ({
  kind: 'answered',
  pod: `hello/${pod}`,
  node: 'node-a',
  client: { address: client, port: 1 },
  server: { address: '10.0.0.1', port: 80 },
  ms: 1,
});

test('a table shows each Pod’s share, failures by kind, and the sources that Pods saw', () => {
  const answers = [answered('b', '10.0.0.9'), answered('a', '10.0.0.9'), answered('a', '10.0.0.8')];
  const refused: Answer = { kind: 'failed', how: 'refused', detail: '', ms: 1 };
  assert.deepEqual(
    shareTable([
      shareRow('a Pod', '10.96.0.1:80', [...answers, refused]),
      shareRow('a node', '10.96.0.1:80', [answered('b', '192.0.2.1')]),
    ]),
    [
      'FROM    TO            A     B      FAILED     THE POD SEES',
      'a Pod   10.96.0.1:80  50 %  25 %   1 refused  10.0.0.8, 10.0.0.9',
      'a node  10.96.0.1:80  -     100 %  -          192.0.2.1',
    ],
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type LabReport, type NodeReport, textOf } from './lab-status.ts';

const node = (name: string, pods: number | null, pointsman: NodeReport['pointsman']): NodeReport => ({
  name,
  zone: 'zone-a',
  addresses: ['192.0.2.11', '2001:db8::11'],
  pods,
  pointsman,
});
const report: LabReport = {
  name: 'pointsman',
  phase: 'ready',
  pid: 7,
  startedAt: '2026-12-01T00:00:00Z',
  server: 'https://127.0.0.1:6443',
  kubeconfig: '/run/k',
  log: '/run/l',
  apiTrouble: '',
  nodes: [
    node('node-a', 12, { health: 'healthy', pid: 8, because: '' }),
    node('node-b', 0, { health: 'silent', pid: null, because: 'connect ECONNREFUSED' }),
    node('node-c', 0, { health: 'none', pid: null, because: '' }),
  ],
};
const NOW = Date.UTC(2026, 11, 1, 0, 1, 5);

test('the status of a lab is a few lines and a table of its nodes', () => {
  assert.deepEqual(textOf(report, NOW), [
    'Lab pointsman: up for 65s, process 7',
    '  API server  https://127.0.0.1:6443',
    '  kubeconfig  /run/k',
    '  log         /run/l',
    '  NODE     ZONE     ADDRESSES                 PODS   POINTSMAN',
    '  node-a   zone-a   192.0.2.11 2001:db8::11   12     healthy, process 8',
    '  node-b   zone-a   192.0.2.11 2001:db8::11   0      silent: connect ECONNREFUSED',
    '  node-c   zone-a   192.0.2.11 2001:db8::11   0      none',
  ]);
});

test('a crashed lab says what removes it, and what is not known is a question mark', () => {
  const [node] = report.nodes;
  assert.ok(node !== undefined);
  const lines = textOf(
    { ...report, name: 'two', phase: 'crashed', apiTrouble: 'gone', nodes: [{ ...node, pods: null }] },
    NOW,
  );
  assert.equal(lines[0], 'Lab two: crashed; `pointsman lab down --name two` removes what is left');
  assert.equal(lines[1], '  API server  https://127.0.0.1:6443: gone');
  assert.match(lines.at(-1) ?? '', / \? {6}healthy/);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHealth, type Health } from './health.ts';

const START = Date.parse('2026-12-01T02:00:00.000Z');
const OWN_NODE = { deleting: false, taints: ['node.kubernetes.io/unschedulable'] };

function create(): { readonly health: Health; after(seconds: number): void } {
  let at = START;
  const health = createHealth({ families: ['IPv4', 'IPv6'], syncPeriodMs: 30_000, now: () => at });
  return {
    health,
    after(seconds) {
      at += seconds * 1000;
    },
  };
}

test('the fields stand in the order of upstream', () => {
  const { health, after } = create();
  health.setNode(OWN_NODE);
  health.queued();
  health.updated();
  after(6);
  assert.deepEqual(health.answer('/healthz'), {
    status: 200,
    body: '{"lastUpdated":"2026-12-01T02:00:06.000Z","currentTime":"2026-12-01T02:00:06.000Z","nodeEligible":true,"healthy":true,"status":{"IPv4":{"lastUpdated":"2026-12-01T02:00:00.000Z","healthy":true},"IPv6":{"lastUpdated":"2026-12-01T02:00:00.000Z","healthy":true}}}',
  });
  assert.deepEqual(health.answer('/livez'), {
    status: 200,
    body: '{"lastUpdated":"2026-12-01T02:00:06.000Z","currentTime":"2026-12-01T02:00:06.000Z","healthy":true,"status":{"IPv4":{"lastUpdated":"2026-12-01T02:00:00.000Z","healthy":true},"IPv6":{"lastUpdated":"2026-12-01T02:00:00.000Z","healthy":true}}}',
  });
});

test('before the first sync all is well and there is no status to tell', () => {
  const { health, after } = create();
  after(1000);
  assert.deepEqual(health.answer('/livez'), {
    status: 200,
    body: '{"lastUpdated":"2026-12-01T02:16:40.000Z","currentTime":"2026-12-01T02:16:40.000Z","healthy":true}',
  });
});

test('a change that waits for twice the sync period makes it unhealthy until a sync succeeds', () => {
  const { health, after } = create();
  health.setNode(OWN_NODE);
  health.queued();
  health.updated();
  after(5);
  health.queued();
  after(30);
  health.queued();
  after(29.999);
  assert.equal(health.answer('/livez').status, 200);
  after(0.001);
  const answer = health.answer('/healthz');
  assert.equal(answer.status, 503);
  assert.equal(health.healthy, false);
  assert.deepEqual(JSON.parse(answer.body), {
    lastUpdated: '2026-12-01T02:00:00.000Z',
    currentTime: '2026-12-01T02:01:05.000Z',
    nodeEligible: true,
    healthy: false,
    status: {
      IPv4: { lastUpdated: '2026-12-01T02:00:00.000Z', healthy: false },
      IPv6: { lastUpdated: '2026-12-01T02:00:00.000Z', healthy: false },
    },
    because: [
      'a change of IPv4 has waited for 60 s to be in the kernel',
      'a change of IPv6 has waited for 60 s to be in the kernel',
    ],
  });
  assert.equal(health.answer('/livez').status, 503);
  health.updated();
  assert.equal(health.answer('/healthz').status, 200);
});

test('a proxy whose first sync never succeeds is unhealthy, and was never updated', () => {
  const { health, after } = create();
  health.queued();
  after(60);
  const answer = health.answer('/livez');
  assert.equal(answer.status, 503);
  assert.equal(JSON.parse(answer.body).lastUpdated, '0001-01-01T00:00:00Z');
});

test('a node that is unknown, going or about to go is not eligible, which livez ignores', () => {
  for (const node of [
    undefined,
    { deleting: true, taints: [] },
    { deleting: false, taints: ['ToBeDeletedByClusterAutoscaler'] },
  ]) {
    const { health, after } = create();
    health.setNode(node);
    health.updated();
    after(10);
    const answer = health.answer('/healthz');
    assert.equal(answer.status, 503);
    const body = JSON.parse(answer.body);
    assert.deepEqual([body.nodeEligible, body.healthy], [false, true]);
    assert.equal(body.lastUpdated, '2026-12-01T02:00:00.000Z');
    assert.equal(health.answer('/livez').status, 200);
  }
});

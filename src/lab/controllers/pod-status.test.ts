import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodStatus } from '../api/resources/pod/types.ts';
import { examplePod, type PodParts } from './example-objects.ts';
import {
  READY_ANNOTATION,
  runningStatus,
  SHUTDOWN_ANNOTATION,
  shutdownMs,
  stuckStatus,
} from './pod-status.ts';

const RUNNING = { hostIps: ['192.0.2.11'], podIps: ['10.244.1.2', 'fd00:244:1::2'], startedAt: 0 };
const NOW = Date.UTC(2026, 11, 1);
const conditionsOf = (status: PodStatus) =>
  Object.fromEntries((status.conditions ?? []).map(({ type, status: value }) => [type, value]));
const pending = (parts: PodParts = {}) =>
  examplePod({ ...parts, status: { phase: 'Pending', conditions: [], ...parts.status } });

test('a running Pod is ready, with its addresses and those of its node', () => {
  const status = runningStatus(pending(), RUNNING, NOW);
  assert.equal(status.phase, 'Running');
  assert.deepEqual(
    [status.podIP, status.podIPs, status.hostIP],
    ['10.244.1.2', RUNNING.podIps.map((ip) => ({ ip })), '192.0.2.11'],
  );
  assert.deepEqual(conditionsOf(status), {
    PodReadyToStartContainers: 'True',
    Initialized: 'True',
    PodScheduled: 'True',
    Ready: 'True',
    ContainersReady: 'True',
  });
  assert.deepEqual(
    status.containerStatuses?.map(({ name, ready }) => [name, ready]),
    [['main', true]],
  );
});

test('the annotation takes a Pod out of service', () => {
  const status = runningStatus(pending({ annotations: { [READY_ANNOTATION]: 'false' } }), RUNNING, NOW);
  const { Ready, ContainersReady, Initialized } = conditionsOf(status);
  assert.deepEqual([Ready, ContainersReady, Initialized], ['False', 'False', 'True']);
  assert.equal(status.containerStatuses?.[0]?.ready, false);
});

test('a readiness gate keeps a Pod out of service until its condition is there', () => {
  const spec = { readinessGates: [{ conditionType: 'example.com/lb' }] };
  const gate = (value: string) => ({ conditions: [{ type: 'example.com/lb', status: value }] });
  const readyWith = (value: string) =>
    conditionsOf(runningStatus(pending({ spec, status: gate(value) }), RUNNING, NOW));
  assert.deepEqual([readyWith('False').Ready, readyWith('True').Ready], ['False', 'True']);
  assert.equal(readyWith('True')['example.com/lb'], 'True');
});

test('a condition keeps its time while it stays as it is, so that the same status is the same object', () => {
  const first = runningStatus(pending(), RUNNING, NOW);
  const again = runningStatus({ ...examplePod(), status: first }, RUNNING, NOW + 60_000);
  assert.deepEqual(again, first);
  const out = examplePod({ annotations: { [READY_ANNOTATION]: 'false' } });
  const later = runningStatus({ ...out, status: first }, RUNNING, NOW + 60_000);
  const times = Object.fromEntries(
    (later.conditions ?? []).map(({ type, lastTransitionTime }) => [type, lastTransitionTime]),
  );
  assert.equal(times.Ready, '2026-12-01T00:01:00Z');
  assert.equal(times.Initialized, '2026-12-01T00:00:00Z');
});

test('init containers are done, sidecars run', () => {
  const init = (name: string, restartPolicy?: string) => ({ name, ...(restartPolicy && { restartPolicy }) });
  const spec = { initContainers: [init('setup'), init('mesh', 'Always')] };
  const { initContainerStatuses = [] } = runningStatus(pending({ spec }), RUNNING, NOW);
  assert.deepEqual(
    initContainerStatuses.map(({ name, state }) => [name, Object.keys(state ?? {})[0]]),
    [
      ['setup', 'terminated'],
      ['mesh', 'running'],
    ],
  );
});

test('a Pod that cannot start says why', () => {
  const status = stuckStatus(pending(), 'port 80 is taken', NOW);
  assert.equal(status.phase, 'Pending');
  assert.deepEqual(status.containerStatuses?.[0]?.state, {
    waiting: { reason: 'CreateContainerError', message: 'port 80 is taken' },
  });
  assert.equal(conditionsOf(status).Ready, 'False');
});

const deletedWith = (grace: number, seconds?: string): PodParts => ({
  deleted: { at: '2026-12-01T00:00:00Z', grace },
  ...(seconds === undefined ? {} : { annotations: { [SHUTDOWN_ANNOTATION]: seconds } }),
});
const times: readonly [string, PodParts, number][] = [
  ['2 s by itself', deletedWith(30), 2000],
  ['never longer than its grace period', deletedWith(1), 1000],
  ['as long as its annotation says', deletedWith(30, '7.5'), 7500],
  ['not longer than its grace period whatever the annotation says', deletedWith(5, '60'), 5000],
  ['2 s with an annotation that is no number', deletedWith(30, 'soon'), 2000],
  ['no time when the annotation says so', deletedWith(30, '0'), 0],
];
for (const [what, parts, expected] of times)
  test(`a Pod that is told to end serves on: ${what}`, () => {
    assert.equal(shutdownMs(examplePod(parts)), expected);
  });

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../json.ts';
import { podCells } from './table.ts';
import type { Pod } from './types.ts';

const NOW = Date.parse('2026-01-01T01:00:00Z');

function row(status: JsonObject, spec: JsonObject = {}, metadata: JsonObject = {}): string {
  const pod = {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name: 'p', creationTimestamp: '2026-01-01T00:00:00Z', ...metadata },
    spec: { containers: [{ name: 'a' }, { name: 'b' }], ...spec },
    status,
  } as Pod;
  return podCells(pod, NOW).slice(1, 4).join(' ');
}
const container = (name: string, ready: boolean, state: JsonObject, more: JsonObject = {}): JsonObject => ({
  name,
  ready,
  restartCount: 0,
  state,
  ...more,
});
const running = { running: {} };

test('READY, STATUS and RESTARTS sum up the containers', () => {
  const both = (a: JsonObject, b: JsonObject): JsonObject => ({
    phase: 'Running',
    containerStatuses: [a, b],
  });
  assert.equal(row({ phase: 'Pending' }), '0/2 Pending 0');
  assert.equal(row(both(container('a', true, running), container('b', true, running))), '2/2 Running 0');
  assert.equal(
    row(
      both(
        container(
          'a',
          false,
          { waiting: { reason: 'CrashLoopBackOff' } },
          { restartCount: 3, lastState: { terminated: { exitCode: 1, finishedAt: '2026-01-01T00:55:00Z' } } },
        ),
        container('b', true, running),
      ),
    ),
    '1/2 CrashLoopBackOff 3 (5m ago)',
  );
  assert.equal(
    row(both(container('a', false, { terminated: { exitCode: 2 } }), container('b', true, running))),
    '1/2 ExitCode:2 0',
  );
  assert.equal(
    row(
      both(
        container('a', false, { terminated: { exitCode: 0, reason: 'Completed' } }),
        container('b', true, running),
      ),
    ),
    '1/2 NotReady 0',
  );
  assert.equal(row({ phase: 'Failed', reason: 'Evicted' }), '0/2 Evicted 0');
  assert.equal(
    row({ phase: 'Running' }, {}, { deletionTimestamp: '2026-01-01T00:59:00Z' }),
    '0/2 Terminating 0',
  );
});

test('init containers are shown while they are busy', () => {
  const spec = { initContainers: [{ name: 'i' }, { name: 'j' }] };
  const inits = (...statuses: JsonObject[]): JsonObject => ({
    phase: 'Pending',
    initContainerStatuses: statuses,
  });
  const done = container('i', true, { terminated: { exitCode: 0, reason: 'Completed' } });
  assert.equal(row(inits(done, container('j', false, running)), spec), '0/2 Init:1/2 0');
  assert.equal(
    row(inits(container('i', false, { terminated: { exitCode: 1, reason: 'Error' } })), spec),
    '0/2 Init:Error 0',
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { examplePod, type PodParts } from './example-objects.ts';
import { type KubeletStep, nextStep, type PodEntry } from './kubelet-step.ts';

const running = (endsAt?: number, uid = 'uid-a'): PodEntry => ({
  kind: 'running',
  uid,
  endsAt,
  hostIps: [],
  podIps: [],
  startedAt: 0,
});
const stuck: PodEntry = { kind: 'stuck', uid: 'uid-a', because: 'no room' };
const deleted = { at: '2026-12-01T00:00:30Z', grace: 30 };
const NOW = 1000;

const cases: readonly [string, PodParts | undefined, PodEntry | undefined, KubeletStep][] = [
  ['a bound Pod that it does not know is started', {}, undefined, 'start'],
  ['a Pod that ran to its end is not', { status: { phase: 'Succeeded' } }, undefined, 'nothing'],
  ['a running Pod is reported on', {}, running(), 'report'],
  ['a Pod that cannot start waits', {}, stuck, 'nothing'],
  ['a Pod told to end goes on for its time', { deleted }, running(), 'drain'],
  ['and still before its time is over', { deleted }, running(NOW + 1), 'drain'],
  ['it ends when its time is over', { deleted }, running(NOW), 'end'],
  ['a deleted Pod that never ran is finished with', { deleted }, undefined, 'finish'],
  ['a deleted Pod that cannot start too', { deleted }, stuck, 'finish'],
  ['a running Pod whose object is gone is abandoned', undefined, running(), 'abandon'],
  ['a running Pod whose name is another Pod now as well', {}, running(undefined, 'uid-old'), 'abandon'],
  ['an unknown Pod that is gone needs nothing', undefined, undefined, 'nothing'],
];
for (const [what, pod, entry, step] of cases)
  test(`the kubelet's next step: ${what}`, () => {
    assert.equal(nextStep(pod && examplePod(pod), entry, NOW), step);
  });

test('a Pod without a node is not the kubelet’s', () => {
  const pod = examplePod();
  const { nodeName: _, ...spec } = pod.spec;
  assert.equal(nextStep({ ...pod, spec }, undefined, NOW), 'nothing');
});

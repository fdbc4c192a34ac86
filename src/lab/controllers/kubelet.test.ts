import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { test } from 'node:test';
import type { Pod } from '../api/resources/pod/types.ts';
import { startControllers } from './controllers.ts';
import { exampleCluster } from './example-cluster.ts';
import { exampleNode } from './example-objects.ts';
import type { PodHost, PodOutcome, PodStart } from './pod-host.ts';

/** A host that remembers what it was asked; `full` makes all starts fail. */
function fakeHost() {
  const running = new Map<string, PodStart>();
  const calls: string[] = [];
  const emitter = new EventEmitter();
  const host = {
    running,
    calls,
    full: false,
    emitter,
    async start(pods: readonly PodStart[]): Promise<readonly PodOutcome[]> {
      calls.push(`start ${pods.map(({ key }) => key).join(' ')}`);
      return pods.map((pod): PodOutcome => {
        if (host.full) return { kind: 'failed', because: 'the node is full' };
        assert.ok(!running.has(pod.key), `${pod.key} was started twice`);
        running.set(pod.key, pod);
        return { kind: 'running', podIps: [`10.244.1.${running.size + 1}`], hostIps: ['192.0.2.11'] };
      });
    },
    async stop(keys: readonly string[]): Promise<void> {
      calls.push(`stop ${keys.join(' ')}`);
      for (const key of keys) running.delete(key);
      emitter.emit('stopped');
    },
  };
  return host satisfies PodHost;
}

function stage() {
  const cluster = exampleCluster();
  const host = fakeHost();
  const controllers = startControllers(cluster, { host, loadBalancerPool: [] });
  const makeNode = (name: string) => cluster.make('nodes', exampleNode(name));
  const makePod = (name: string, annotations: Readonly<Record<string, string>> = {}) =>
    cluster.make('pods', {
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: { name, namespace: 'default', annotations },
      spec: {
        containers: [
          {
            name: 'main',
            image: 'echo',
            ports: [{ containerPort: 80 }, { containerPort: 53, protocol: 'UDP' }],
          },
        ],
      },
    });
  const pods = () => cluster.objects<Pod>('pods');
  const place = (name: string) => ({ resource: 'pods', namespace: 'default', name }) as const;
  return { cluster, api: cluster.api, host, controllers, makeNode, makePod, pods, place };
}

test('Pods are spread over the nodes, started together, and reported as running and ready', async () => {
  const { cluster, host, controllers, makeNode, makePod, pods } = stage();
  await using _ = controllers;
  makeNode('node-1');
  makeNode('node-2');
  for (const name of ['a', 'b', 'c', 'd']) makePod(name);
  await cluster.settled();
  assert.deepEqual(host.calls, ['start default/a default/b default/c default/d']);
  assert.deepEqual(
    pods().map(({ spec, status }) => [
      spec.nodeName,
      status.phase,
      status.conditions?.find(({ type }) => type === 'Ready')?.status,
    ]),
    [
      ['node-1', 'Running', 'True'],
      ['node-2', 'Running', 'True'],
      ['node-1', 'Running', 'True'],
      ['node-2', 'Running', 'True'],
    ],
  );
  assert.deepEqual(host.running.get('default/a')?.ports, [
    { protocol: 'TCP', port: 80 },
    { protocol: 'UDP', port: 53 },
  ]);
  assert.deepEqual(cluster.warnings, []);
});

test('a Pod waits for a node, and says so', async () => {
  const { cluster, host, controllers, makeNode, makePod, pods } = stage();
  await using _ = controllers;
  makePod('a');
  await cluster.settled();
  assert.deepEqual(
    pods()[0]?.status.conditions?.map(({ type, reason }) => [type, reason]),
    [['PodScheduled', 'Unschedulable']],
  );
  makeNode('node-1');
  await cluster.settled();
  assert.deepEqual(host.calls, ['start default/a']);
});

test('a deleted Pod is stopped after its time and its object goes; until then it is there and ready', async () => {
  const { cluster, api, host, controllers, makeNode, makePod, pods, place } = stage();
  await using _ = controllers;
  makeNode('node-1');
  makePod('a', { 'pointsman.example/shutdown-seconds': '0.02' });
  await cluster.settled();
  const stopped = once(host.emitter, 'stopped');
  api.delete(place('a'));
  await cluster.settled();
  const [pod] = pods();
  assert.ok(pod?.metadata.deletionTimestamp !== undefined);
  assert.equal(pod.status.conditions?.find(({ type }) => type === 'Ready')?.status, 'True');
  assert.equal(host.running.size, 1);
  await stopped;
  await cluster.settled();
  assert.deepEqual(pods(), []);
  assert.deepEqual(cluster.warnings, []);
  assert.deepEqual(
    cluster
      .objects('events')
      .map(({ reason }) => reason)
      .sort(),
    ['Killing', 'Scheduled', 'Started'],
  );
});

test('a Pod deleted by force is stopped at once, and its successor of the same name started after it', async () => {
  const { cluster, api, host, controllers, makeNode, makePod, place } = stage();
  await using _ = controllers;
  makeNode('node-1');
  makePod('a');
  await cluster.settled();
  api.delete(place('a'), { gracePeriodSeconds: 0 });
  makePod('a');
  await cluster.settled();
  assert.deepEqual(host.calls, ['start default/a', 'stop default/a', 'start default/a']);
});

test('a deletion can be shortened while the Pod still serves', async () => {
  const { cluster, api, host, controllers, makeNode, makePod, pods, place } = stage();
  await using _ = controllers;
  makeNode('node-1');
  makePod('a', { 'pointsman.example/shutdown-seconds': '1000' });
  await cluster.settled();
  api.delete(place('a'), { gracePeriodSeconds: 1000 });
  await cluster.settled();
  assert.equal(pods().length, 1);
  const stopped = once(host.emitter, 'stopped');
  api.delete(place('a'), { gracePeriodSeconds: 0 });
  await stopped;
  assert.deepEqual(pods(), []);
});

test('a change of a Pod that is ending does not give it more time', async () => {
  const { cluster, api, host, controllers, makeNode, makePod, pods, place } = stage();
  await using _ = controllers;
  makeNode('node-1');
  makePod('a', { 'pointsman.example/shutdown-seconds': '0.05' });
  await cluster.settled();
  const stopped = once(host.emitter, 'stopped');
  api.delete(place('a'));
  await cluster.settled();
  const longer = { 'pointsman.example/shutdown-seconds': '1000' };
  api.patch(place('a'), 'merge', { metadata: { annotations: longer } });
  await stopped;
  await cluster.settled();
  assert.deepEqual(pods(), []);
});

test('a Pod goes where one has left', async () => {
  const { cluster, api, controllers, makeNode, makePod, pods, place } = stage();
  await using _ = controllers;
  makeNode('node-1');
  makeNode('node-2');
  for (const name of ['a', 'b']) makePod(name);
  await cluster.settled();
  api.delete(place('b'), { gracePeriodSeconds: 0 });
  makePod('c');
  await cluster.settled();
  assert.deepEqual(
    pods().map(({ metadata, spec }) => [metadata.name, spec.nodeName]),
    [
      ['a', 'node-1'],
      ['c', 'node-2'],
    ],
  );
});

test('a Pod that cannot start says why, and is tried again when another one ends', async () => {
  const { cluster, api, host, controllers, makeNode, makePod, pods, place } = stage();
  await using _ = controllers;
  makeNode('node-1');
  makePod('a');
  await cluster.settled();
  host.full = true;
  makePod('b');
  await cluster.settled();
  const waiting = pods().map(({ status }) => status.containerStatuses?.[0]?.state?.waiting?.message);
  assert.deepEqual(waiting, [undefined, 'the node is full']);
  host.full = false;
  api.delete(place('a'), { gracePeriodSeconds: 0 });
  await cluster.settled();
  assert.deepEqual(
    pods().map(({ status }) => status.phase),
    ['Running'],
  );
  assert.deepEqual([...host.running.keys()], ['default/b']);
});

test('the annotation switches the readiness of a running Pod', async () => {
  const { cluster, api, controllers, makeNode, makePod, pods, place } = stage();
  await using _ = controllers;
  makeNode('node-1');
  makePod('a');
  await cluster.settled();
  const ready = async (value: string | null) => {
    api.patch(place('a'), 'merge', { metadata: { annotations: { 'pointsman.example/ready': value } } });
    await cluster.settled();
    return pods()[0]?.status.conditions?.find(({ type }) => type === 'Ready')?.status;
  };
  assert.equal(await ready('false'), 'False');
  assert.equal(await ready(null), 'True');
});

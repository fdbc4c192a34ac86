import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exampleCluster } from './controllers/example-cluster.ts';
import { exampleNode } from './controllers/example-objects.ts';
import { until } from './until.ts';

test('it resolves at once when it holds already, and at the event after which it does', async () => {
  const { api, make } = exampleCluster();
  assert.deepEqual(await until(api, 'nodes', 'no node', (nodes) => nodes.length === 0), []);
  const two = until(api, 'nodes', 'two nodes', (nodes) => nodes.length === 2);
  make('nodes', exampleNode('node-1'));
  make('nodes', exampleNode('node-2'));
  assert.deepEqual(
    (await two).map(({ metadata }) => metadata.name),
    ['node-1', 'node-2'],
  );
});

test('it looks at one namespace only when told so', async () => {
  const { api } = exampleCluster();
  const services = await until(api, 'services', 'Services', (all) => all.length === 1, {
    namespace: 'default',
  });
  assert.equal(services.length, 1);
  assert.deepEqual(
    await until(api, 'services', 'none', (all) => all.length === 0, { namespace: 'other' }),
    [],
  );
});

test('it says what it waited for when the time is over or the caller gives up', async () => {
  const { api } = exampleCluster();
  await assert.rejects(
    until(api, 'pods', 'a Pod', (pods) => pods.length > 0, { timeoutMs: 10 }),
    { code: 'E_LAB', message: 'waited for a Pod: not in 0.01 s' },
  );
  const signal = AbortSignal.abort();
  await assert.rejects(
    until(api, 'pods', 'a Pod', (pods) => pods.length > 0, { signal }),
    { code: 'E_LAB', message: 'waited for a Pod: given up' },
  );
});

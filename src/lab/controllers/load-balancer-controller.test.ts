import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Service } from '../api/resources/service/types.ts';
import { exampleCluster } from './example-cluster.ts';
import { ingressOf } from './load-balancer.ts';
import { startLoadBalancerController } from './load-balancer-controller.ts';

test('addresses are given, given back at deletion and change of type, and passed on to those who wait', async () => {
  const cluster = exampleCluster();
  using _ = startLoadBalancerController(cluster, [{ family: 'IPv4', address: '203.0.113.0', prefix: 30 }]);
  const make = (name: string) =>
    cluster.make('services', {
      kind: 'Service',
      apiVersion: 'v1',
      metadata: { name, namespace: 'default' },
      spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
    });
  const given = async () => {
    await cluster.settled();
    return Object.fromEntries(
      cluster
        .objects<Service>('services')
        .filter(({ metadata }) => metadata.name !== 'kubernetes')
        .map((service) => [
          service.metadata.name,
          ingressOf(service)
            .map(({ ip }) => ip)
            .join(),
        ]),
    );
  };
  for (const name of ['a', 'b', 'c', 'd']) make(name);
  assert.deepEqual(await given(), { a: '203.0.113.1', b: '203.0.113.2', c: '', d: '' });
  assert.deepEqual(
    cluster.objects('events').map(({ reason }) => reason),
    ['EnsuredLoadBalancer', 'EnsuredLoadBalancer', 'SyncLoadBalancerFailed', 'SyncLoadBalancerFailed'],
  );
  cluster.api.delete({ resource: 'services', namespace: 'default', name: 'a' });
  assert.deepEqual(await given(), { b: '203.0.113.2', c: '203.0.113.1', d: '' });
  cluster.api.patch({ resource: 'services', namespace: 'default', name: 'b' }, 'merge', {
    spec: { type: 'ClusterIP' },
  });
  assert.deepEqual(await given(), { b: '', c: '203.0.113.1', d: '203.0.113.2' });
  assert.deepEqual(cluster.warnings, []);
});

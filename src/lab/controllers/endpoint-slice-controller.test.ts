import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EndpointSlice } from '../api/resources/endpoint-slice.ts';
import { startEndpointSliceController } from './endpoint-slice-controller.ts';
import { exampleCluster } from './example-cluster.ts';
import { exampleNode, examplePod, exampleService } from './example-objects.ts';

/** A cluster with its controller, two nodes, the Service `web`, and a look at its endpoints. */
async function stage() {
  const cluster = exampleCluster();
  const controller = startEndpointSliceController(cluster);
  cluster.make('nodes', exampleNode());
  cluster.make('nodes', exampleNode('node-2', 'zone-b'));
  const { metadata, spec } = exampleService({
    clusterIP: '',
    clusterIPs: [],
    ipFamilyPolicy: 'PreferDualStack',
  });
  const { uid: _, ...rest } = metadata;
  cluster.make('services', {
    kind: 'Service',
    apiVersion: 'v1',
    metadata: rest,
    spec: { ...spec, ipFamilies: [] },
  });
  const pod = (name: string, ready = true) => {
    const { metadata, ...others } = examplePod({ name, ready, ips: [`10.244.1.${name.charCodeAt(0)}`] });
    const { uid: _, ...own } = metadata;
    const { containers } = others.spec;
    return {
      ...others,
      metadata: own,
      spec: { ...others.spec, containers: containers.map((one) => ({ ...one, image: 'x' })) },
    };
  };
  const endpoints = async () => {
    await cluster.settled();
    return Object.fromEntries(
      cluster
        .objects<EndpointSlice>('endpointslices')
        .filter(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === 'web')
        .map(({ addressType, endpoints }) => [
          addressType,
          (endpoints ?? [])
            .map(({ targetRef, conditions }) => `${targetRef?.name} ${conditions.ready}`)
            .sort()
            .join(', '),
        ]),
    );
  };
  return { ...cluster, controller, pod, endpoints, cluster };
}

test('the slices of a Service follow its Pods through creation, readiness, deletion and relabelling', async () => {
  const { cluster, controller, pod, endpoints, api } = await stage();
  using _ = controller;
  assert.deepEqual(await endpoints(), { IPv4: '', IPv6: '' });
  const a = cluster.make('pods', pod('a'));
  cluster.make('pods', pod('b', false));
  assert.deepEqual(await endpoints(), { IPv4: 'a true, b false', IPv6: '' });
  const place = (name: string) => ({ resource: 'pods', namespace: 'default', name }) as const;
  const ready = { status: { conditions: [{ type: 'Ready', status: 'True' }] } };
  api.patch(place('b'), 'merge', ready, { subresource: 'status' });
  assert.deepEqual(await endpoints(), { IPv4: 'a true, b true', IPv6: '' });
  api.patch(place('b'), 'merge', { metadata: { labels: { app: 'other' } } });
  assert.deepEqual(await endpoints(), { IPv4: 'a true', IPv6: '' });
  api.delete(place('a'), { gracePeriodSeconds: 30 });
  assert.deepEqual(await endpoints(), { IPv4: 'a false', IPv6: '' });
  api.delete(place('a'), { gracePeriodSeconds: 0, uid: a.metadata.uid ?? '' });
  assert.deepEqual(await endpoints(), { IPv4: '', IPv6: '' });
  assert.deepEqual(cluster.warnings, []);
});

test('slices that somebody deletes or edits are put right', async () => {
  const { cluster, controller, pod, endpoints, api } = await stage();
  using _ = controller;
  cluster.make('pods', pod('a'));
  await endpoints();
  for (const { metadata } of cluster.objects('endpointslices'))
    api.delete({ resource: 'endpointslices', namespace: 'default', name: metadata.name ?? '' });
  assert.deepEqual(await endpoints(), { IPv4: 'a true', IPv6: '' });
  for (const { metadata } of cluster.objects('endpointslices'))
    api.patch({ resource: 'endpointslices', namespace: 'default', name: metadata.name ?? '' }, 'merge', {
      endpoints: [],
    });
  assert.deepEqual(await endpoints(), { IPv4: 'a true', IPv6: '' });
});

test('the slices of a deleted Service go, those that are not managed here stay', async () => {
  const { cluster, controller, endpoints, api } = await stage();
  using _ = controller;
  await endpoints();
  cluster.make('endpointslices', {
    kind: 'EndpointSlice',
    apiVersion: 'discovery.k8s.io/v1',
    metadata: { name: 'by-hand', namespace: 'default', labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4',
    endpoints: [],
    ports: [],
  });
  api.delete({ resource: 'services', namespace: 'default', name: 'web' });
  await cluster.settled();
  assert.deepEqual(
    cluster.objects('endpointslices').map(({ metadata }) => metadata.name),
    ['by-hand'],
  );
});

test('a node that moves to another zone changes its endpoints', async () => {
  const { cluster, controller, pod, endpoints, api } = await stage();
  using _ = controller;
  cluster.make('pods', pod('a'));
  await endpoints();
  api.patch({ resource: 'nodes', name: 'node-1' }, 'merge', {
    metadata: { labels: { 'topology.kubernetes.io/zone': 'zone-z' } },
  });
  await cluster.settled();
  const zones = cluster
    .objects<EndpointSlice>('endpointslices')
    .flatMap(({ endpoints }) => (endpoints ?? []).map(({ zone }) => zone));
  assert.deepEqual(zones, ['zone-z']);
});

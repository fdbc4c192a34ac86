// What single objects mean for the table (catalogue D, E and F), where no packet could tell.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../src/model/decode.ts';
import { decodeEndpointSlice, sliceKey } from '../src/model/endpoint-slice.ts';
import { decodeNode } from '../src/model/node.ts';
import { decodeService, serviceKey } from '../src/model/service.ts';
import { endpointText } from '../src/model/service-port.ts';
import { type ClusterState, createClusterState } from '../src/proxy/cluster-state.ts';

const SETTINGS = {
  masqueradeAll: false,
  localDetector: { kind: 'none' },
  serviceCidrs: [],
  nodePortAddresses: 'all',
} as const;
const KEY = '10.96.0.10/TCP/80';

const create = (): ClusterState =>
  createClusterState({
    nodeName: 'n1',
    families: ['IPv4', 'IPv6'],
    settings: { IPv4: SETTINGS, IPv6: SETTINGS },
  });

function service(
  state: ClusterState,
  spec: JsonObject | undefined,
  metadata: JsonObject = {},
  namespace = 'shop',
): void {
  const object = { ports: [{ name: 'p', port: 80 }], clusterIP: '10.96.0.10', ...spec };
  const decoded = decodeService({ metadata: { namespace, name: 's', uid: 'u', ...metadata }, spec: object });
  assert.equal(decoded.kind, 'decoded');
  state.setService(serviceKey(namespace, 's'), spec === undefined ? undefined : decoded.value);
}

interface SliceGiven {
  readonly namespace?: string;
  readonly name?: string;
  readonly of?: string;
  readonly ports?: readonly JsonObject[];
  readonly endpoints?: readonly JsonObject[];
  readonly metadata?: JsonObject;
}

function slice(state: ClusterState, addresses: readonly string[], more: SliceGiven = {}): void {
  const { namespace = 'shop', name = 's-1', of = 's', metadata } = more;
  const decoded = decodeEndpointSlice({
    metadata: { namespace, name, labels: { 'kubernetes.io/service-name': of }, ...metadata },
    addressType: addresses[0]?.includes(':') ? 'IPv6' : 'IPv4',
    ports: more.ports ?? [{ name: 'p', port: 8080 }],
    endpoints: more.endpoints ?? addresses.map((address) => ({ addresses: [address] })),
  });
  assert.equal(decoded.kind, 'decoded');
  state.setSlice(sliceKey(decoded.value), decoded.value);
}

const changed = async (state: ClusterState): Promise<readonly string[]> => [
  ...(await state.take()).change.entries.keys(),
];

function endpoints(state: ClusterState, key: string = KEY): readonly string[] {
  const route = state.table.entries.get(key)?.route;
  assert.ok(route !== undefined, key);
  return route.kind === 'balance' ? route.endpoints.map(endpointText) : [route.kind];
}

test('S110 S435: a Service with a ClusterIP of one family holds nothing in the other', async () => {
  const state = create();
  service(state, { clusterIP: 'fd00:96::10', ports: [{ name: 'p', port: 80, nodePort: 31010 }] });
  slice(state, ['fd00:50::7']);
  slice(state, ['10.50.1.7'], { name: 's-2' });
  await state.take();
  assert.deepEqual(
    [...state.table.entries.values()].map(({ frontend }) => frontend.family),
    ['IPv6', 'IPv6'],
  );
});

test('S112: families without a ClusterIP make no frontend', async () => {
  const state = create();
  service(state, { clusterIP: '', clusterIPs: [], ipFamilies: ['IPv4'] });
  await state.take();
  assert.equal(state.table.entries.size, 0);
});

test('S128 S148 S149: annotations, resource versions and repeated objects change nothing', async () => {
  const state = create();
  service(state, {});
  slice(state, ['10.50.1.7']);
  await state.take();
  service(state, {}, { annotations: { a: 'b' }, resourceVersion: '2' });
  slice(state, ['10.50.1.7']);
  slice(state, ['10.50.1.7'], {
    metadata: { labels: { 'kubernetes.io/service-name': 's' }, resourceVersion: '3' },
  });
  assert.deepEqual(await changed(state), []);
});

test('S129: a Service that came and went between two syncs leaves no change', async () => {
  const state = create();
  service(state, {});
  service(state, undefined);
  assert.deepEqual(await changed(state), []);
  assert.equal(state.table.entries.size, 0);
});

test('S150: the order of ports in a slice does not matter', async () => {
  const state = create();
  const ports = [
    { name: 'p', port: 8080 },
    { name: 'q', port: 9090 },
  ];
  service(state, {});
  slice(state, ['10.50.1.7'], { ports });
  await state.take();
  slice(state, ['10.50.1.7'], { ports: ports.toReversed() });
  assert.deepEqual(await changed(state), []);
});

test('S151: the end of an unknown slice changes nothing', async () => {
  const state = create();
  service(state, {});
  await state.take();
  state.setSlice('shop/unknown', undefined);
  assert.deepEqual(await changed(state), []);
});

test('S153: a Service of the same name in another namespace has its own endpoints', async () => {
  const state = create();
  service(state, {});
  service(state, { clusterIP: '10.96.0.11' }, {}, 'other');
  slice(state, ['10.50.1.7']);
  slice(state, ['10.50.1.8'], { namespace: 'other' });
  await state.take();
  assert.deepEqual(endpoints(state), ['10.50.1.7:8080']);
  assert.deepEqual(endpoints(state, '10.96.0.11/TCP/80'), ['10.50.1.8:8080']);
});

test('S155: endpoints stand in the order of their text', async () => {
  const state = create();
  service(state, {});
  slice(state, ['10.0.0.1', '10.0.0.10'], { ports: [{ name: 'p', port: 80 }] });
  await state.take();
  assert.deepEqual(endpoints(state), ['10.0.0.10:80', '10.0.0.1:80']);
});

test('S156 B077: slices of any controller count', async () => {
  const state = create();
  service(state, {});
  slice(state, ['10.50.1.7'], {
    metadata: {
      labels: { 'kubernetes.io/service-name': 's', 'endpointslice.kubernetes.io/managed-by': 'x' },
    },
  });
  await state.take();
  assert.deepEqual(endpoints(state), ['10.50.1.7:8080']);
});

test('S157: a slice that the watch no longer selects is gone, and connections are refused', async () => {
  const state = create();
  service(state, {});
  slice(state, ['10.50.1.7']);
  await state.take();
  // The watch leaves out what is labelled headless, which the API server tells as a deletion.
  state.setSlice('shop/s-1', undefined);
  await state.take();
  assert.deepEqual(endpoints(state), ['reject']);
});

test('S165 S166 S407 B087 B089: without a zone hints do not count; when the node gains one they do', async () => {
  const state = create();
  service(state, {});
  slice(state, [], {
    endpoints: ['za', 'zb'].map((zone, index) => ({
      addresses: [`10.50.1.${index + 1}`],
      hints: { forZones: [{ name: zone }] },
    })),
  });
  await state.take();
  const both = ['10.50.1.1:8080', '10.50.1.2:8080'];
  assert.deepEqual(endpoints(state), both);
  const zoned = async (labels: JsonObject): Promise<readonly string[]> => {
    state.setNode(decodeNode({ metadata: { name: 'n1', labels } }));
    await state.take();
    return endpoints(state);
  };
  assert.deepEqual(await zoned({ 'topology.kubernetes.io/zone': '' }), both);
  assert.deepEqual(await zoned({ 'topology.kubernetes.io/zone': 'za' }), ['10.50.1.1:8080']);
  assert.deepEqual(await zoned({ 'topology.kubernetes.io/zone': 'zb' }), ['10.50.1.2:8080']);
  assert.deepEqual(await zoned({ 'topology.kubernetes.io/region': 'r' }), both);
});

test('S408: a region label changes nothing', async () => {
  const state = create();
  service(state, {});
  slice(state, ['10.50.1.7']);
  state.setNode(decodeNode({ metadata: { name: 'n1', labels: {} } }));
  await state.take();
  state.setNode(decodeNode({ metadata: { name: 'n1', labels: { 'topology.kubernetes.io/region': 'r' } } }));
  assert.deepEqual(await changed(state), []);
});

test('S237 S238: ranges with the node admit the load balancer’s own addresses, others do not', async () => {
  const allowed = async (ranges: readonly string[]): Promise<unknown> => {
    const state = create();
    state.setNode(
      decodeNode({
        metadata: { name: 'n1' },
        status: { addresses: [{ type: 'InternalIP', address: '192.0.2.11' }] },
      }),
    );
    const decoded = decodeService({
      metadata: { namespace: 'shop', name: 's' },
      spec: {
        type: 'LoadBalancer',
        clusterIP: '10.96.0.10',
        ports: [{ name: 'p', port: 80 }],
        loadBalancerSourceRanges: ranges,
      },
      status: { loadBalancer: { ingress: [{ ip: '198.18.0.30' }] } },
    });
    assert.equal(decoded.kind, 'decoded');
    state.setService('shop/s', decoded.value);
    await state.take();
    return state.table.entries
      .get('198.18.0.30/TCP/80')
      ?.allowedSources?.map(({ address, prefix }) => `${address}/${prefix}`);
  };
  assert.deepEqual(await allowed(['192.0.2.0/24']), ['192.0.2.0/24', '198.18.0.30/32']);
  assert.deepEqual(await allowed(['198.51.100.0/25']), ['198.51.100.0/25']);
});

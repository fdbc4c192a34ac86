import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from './decode.ts';
import { decodeEndpointSlice, type EndpointSlice } from './endpoint-slice.ts';

function object(more: JsonObject): JsonObject {
  return {
    metadata: { namespace: 'shop', name: 'web-x', labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
    endpoints: [],
    ...more,
  };
}
function read(more: JsonObject): { slice: EndpointSlice; problems: readonly string[] } {
  const decoded = decodeEndpointSlice(object(more));
  assert.equal(decoded.kind, 'decoded');
  return {
    slice: decoded.value,
    problems: decoded.problems.map(({ field, because }) => `${field} ${because}`),
  };
}

test('absent conditions mean ready and serving', () => {
  const states = (conditions: JsonObject): unknown => {
    const endpoint = read({ endpoints: [{ addresses: ['10.0.0.1'], conditions }] }).slice.endpoints[0];
    return endpoint && [endpoint.state, endpoint.serving, endpoint.leaving];
  };
  assert.deepEqual(states({}), ['ready', true, false]);
  assert.deepEqual(states({ ready: false }), ['down', true, false]);
  assert.deepEqual(states({ ready: false, terminating: true }), ['terminating', true, true]);
  assert.deepEqual(states({ ready: false, serving: false, terminating: true }), ['down', false, true]);
  assert.deepEqual(states({ ready: true, terminating: true }), ['ready', true, true]);
});

test('traits are read: node, zone, hints, manager, trigger time', () => {
  const { slice } = read({
    metadata: {
      namespace: 'shop',
      name: 'web-x',
      labels: { 'kubernetes.io/service-name': 'web', 'endpointslice.kubernetes.io/managed-by': 'me' },
      annotations: { 'endpoints.kubernetes.io/last-change-trigger-time': '2026-01-02T03:04:05.5Z' },
    },
    endpoints: [
      {
        addresses: ['10.050.01.007', '10.0.0.2'],
        nodeName: 'n1',
        zone: 'za',
        hints: { forZones: [{ name: 'za' }], forNodes: [{ name: 'n1' }] },
      },
    ],
  });
  assert.equal(slice.service, 'shop/web');
  assert.equal(slice.managedBy, 'me');
  assert.equal(slice.triggeredAt, Date.parse('2026-01-02T03:04:05.5Z'));
  assert.deepEqual(slice.endpoints, [
    {
      address: '10.50.1.7',
      state: 'ready',
      leaving: false,
      serving: true,
      node: 'n1',
      zone: 'za',
      zoneHints: ['za'],
      nodeHints: ['n1'],
    },
  ]);
});

test('ports without number or name are named and left out, as upstream', () => {
  const { slice, problems } = read({
    ports: [{ name: 'a' }, { name: 'b', port: 0 }, { port: 80 }, { name: '', port: 81 }],
  });
  assert.deepEqual(slice.ports, [{ name: '', protocol: 'TCP', port: 81 }]);
  assert.deepEqual(problems, [
    'ports[0].port is undefined, not a port from 1 to 65535',
    'ports[1].port is 0, not a port from 1 to 65535',
    'ports[2].name is undefined, not a string',
  ]);
});

test('an endpoint without a usable address is named and left out, the others stay', () => {
  const { slice, problems } = read({
    endpoints: [{ addresses: [] }, { addresses: ['fd00::1'] }, 7, { addresses: ['10.0.0.1'] }],
  });
  assert.deepEqual(
    slice.endpoints.map(({ address }) => address),
    ['10.0.0.1'],
  );
  assert.equal(problems.length, 3);
});

test('a slice of no Service, of FQDNs, or that is no slice is refused with a reason', () => {
  assert.equal(decodeEndpointSlice(object({ metadata: { namespace: 'a', name: 'b' } })).kind, 'unusable');
  assert.equal(decodeEndpointSlice(object({ addressType: 'FQDN' })).kind, 'unusable');
  for (const value of [undefined, null, 7, [], {}]) assert.equal(decodeEndpointSlice(value).kind, 'unusable');
});

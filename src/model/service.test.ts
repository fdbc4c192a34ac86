import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from './decode.ts';
import { decodeService, type Service } from './service.ts';

function object(spec: JsonObject, status: JsonObject = {}): JsonObject {
  return {
    metadata: { namespace: 'shop', name: 'web', uid: 'u1', creationTimestamp: '2026-01-02T03:04:05Z' },
    spec,
    status,
  };
}
function read(spec: JsonObject, status: JsonObject = {}): { service: Service; problems: readonly string[] } {
  const decoded = decodeService(object(spec, status));
  assert.equal(decoded.kind, 'decoded');
  return {
    service: decoded.value,
    problems: decoded.problems.map(({ field, because }) => `${field} ${because}`),
  };
}
const http = { name: 'http', port: 80 };

test('a Service as the API server stores it is read in full', () => {
  const { service, problems } = read(
    {
      type: 'LoadBalancer',
      clusterIP: '10.96.0.9',
      clusterIPs: ['10.96.0.9', 'fd00:96::9'],
      ipFamilies: ['IPv4', 'IPv6'],
      ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080, nodePort: 30080 }],
      externalIPs: ['198.51.100.9', '2001:DB8::9'],
      externalTrafficPolicy: 'Local',
      internalTrafficPolicy: 'Cluster',
      healthCheckNodePort: 32022,
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } },
      loadBalancerSourceRanges: [' 198.51.100.0/24'],
    },
    { loadBalancer: { ingress: [{ ip: '203.0.113.7' }] } },
  );
  assert.deepEqual(problems, []);
  assert.deepEqual(service, {
    namespace: 'shop',
    name: 'web',
    uid: 'u1',
    createdAt: Date.parse('2026-01-02T03:04:05Z'),
    type: 'LoadBalancer',
    clusterIPs: ['10.96.0.9', 'fd00:96::9'],
    ports: [{ name: 'http', protocol: 'TCP', port: 80, nodePort: 30080 }],
    externalIPs: ['198.51.100.9', '2001:db8::9'],
    loadBalancerIPs: ['203.0.113.7'],
    sourceRanges: [{ family: 'IPv4', address: '198.51.100.0', prefix: 24 }],
    externalTrafficPolicy: 'Local',
    internalTrafficPolicy: 'Cluster',
    affinitySeconds: 60,
    healthCheckNodePort: 32022,
  });
});

test('which ClusterIPs a Service has', () => {
  const table: readonly (readonly [string, JsonObject, readonly string[]])[] = [
    ['headless', { clusterIP: 'None' }, []],
    ['not yet allocated', { clusterIP: '' }, []],
    ['ExternalName', { type: 'ExternalName', clusterIP: '10.96.0.1' }, []],
    ['no ipFamilies', { clusterIP: 'fd00:96::1' }, ['fd00:96::1']],
    [
      'v6 first',
      { ipFamilies: ['IPv6', 'IPv4'], clusterIPs: ['fd00:96::1', '10.96.0.1'] },
      ['fd00:96::1', '10.96.0.1'],
    ],
    ['family without address', { ipFamilies: ['IPv4'], clusterIPs: [] }, []],
    ['leading zeros', { clusterIP: '10.096.0.021' }, ['10.96.0.21']],
  ];
  for (const [name, spec, expected] of table)
    assert.deepEqual(read({ ports: [http], ...spec }).service.clusterIPs, expected, name);
});

test('a bad port is named and left out, the others stay', () => {
  const { service, problems } = read({
    clusterIP: '10.96.0.1',
    ports: [
      { name: 'a', port: 0 },
      { name: 'b', port: 99999 },
      { name: 'c', port: 1, protocol: 'QUIC' },
      7,
      http,
      { name: 'n', port: 9, nodePort: 70000 },
    ],
  });
  assert.deepEqual(service.ports, [
    { name: 'http', protocol: 'TCP', port: 80, nodePort: 0 },
    { name: 'n', protocol: 'TCP', port: 9, nodePort: 0 },
  ]);
  assert.deepEqual(problems, [
    'spec.ports[0].port is 0, not a port from 1 to 65535',
    'spec.ports[1].port is 99999, not a port from 1 to 65535',
    'spec.ports[2].protocol is "QUIC", not TCP, UDP or SCTP',
    'spec.ports[3] is 7, not an object',
    'spec.ports[5].nodePort is 70000, not a port from 1 to 65535',
  ]);
});

test('blank external IPs are left out silently, junk with a reason, repeated ones once', () => {
  const { service, problems } = read({ externalIPs: ['', 'junk', '198.51.100.1', '198.51.100.001'] });
  assert.deepEqual(service.externalIPs, ['198.51.100.1']);
  assert.deepEqual(problems, ['spec.externalIPs[1] "junk" is no IP address']);
});

test('of the load balancer only addresses with ipMode VIP are ours', () => {
  const ingress = [
    { ip: '203.0.113.1' },
    { ip: '203.0.113.2', ipMode: 'VIP' },
    { ip: '203.0.113.3', ipMode: 'Proxy' },
    { hostname: 'lb.example' },
  ];
  const { service, problems } = read({}, { loadBalancer: { ingress } });
  assert.deepEqual(service.loadBalancerIPs, ['203.0.113.1', '203.0.113.2']);
  assert.deepEqual(problems, []);
});

test('a health check port counts for type LoadBalancer with externalTrafficPolicy Local only', () => {
  const port = (type: string, policy: string): number =>
    read({ type, externalTrafficPolicy: policy, healthCheckNodePort: 32022 }).service.healthCheckNodePort;
  assert.equal(port('LoadBalancer', 'Local'), 32022);
  assert.equal(port('NodePort', 'Local'), 0);
  assert.equal(port('LoadBalancer', 'Cluster'), 0);
});

test('ClientIP affinity without a time-out lasts three hours', () => {
  assert.equal(read({ sessionAffinity: 'ClientIP' }).service.affinitySeconds, 10800);
  assert.equal(read({ sessionAffinity: 'None' }).service.affinitySeconds, 0);
});

test('what is no Service is refused with a reason, whatever it is', () => {
  for (const value of [undefined, null, 7, 'x', [], {}, { metadata: { name: 'x' } }]) {
    assert.equal(decodeService(value).kind, 'unusable');
  }
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../base/log.ts';
import { decodeEndpointSlice, type EndpointSlice } from '../model/endpoint-slice.ts';
import { decodeService, type Service } from '../model/service.ts';
import { createHealthPortUpdates } from './health-port-updates.ts';
import { createHealthPorts } from './health-ports.ts';
import { createPortClashes } from './port-clashes.ts';
import { createQuarantine } from './quarantine.ts';

const PORTS = [
  { name: 'http', port: 80 },
  { name: 'https', port: 443 },
];

function service(name: string, second: number, more: Readonly<Record<string, unknown>> = {}): Service {
  const decoded = decodeService({
    metadata: { namespace: 'shop', name, uid: name, creationTimestamp: `2026-12-01T00:00:0${second}Z` },
    spec: {
      type: 'LoadBalancer',
      clusterIP: '10.96.0.1',
      externalTrafficPolicy: 'Local',
      healthCheckNodePort: 32022,
      ports: PORTS,
      ...more,
    },
  });
  assert.ok(decoded.kind === 'decoded');
  return decoded.value;
}

type Conditions = Readonly<Record<string, boolean>>;
function slice(
  name: string,
  ports: readonly unknown[],
  endpoints: readonly (readonly [string, string, Conditions])[],
): EndpointSlice {
  const decoded = decodeEndpointSlice({
    metadata: { namespace: 'shop', name, labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4',
    ports,
    endpoints: endpoints.map(([address, nodeName, conditions]) => ({
      addresses: [address],
      nodeName,
      conditions,
    })),
  });
  assert.ok(decoded.kind === 'decoded');
  return decoded.value;
}
const READY = { ready: true };
const TERMINATING = { ready: false, serving: true, terminating: true };

test('an address counts once over all ports, and only if it is ready and on this node', () => {
  const ports = createHealthPorts('n1', ['IPv4', 'IPv6'], createPortClashes());
  ports.set('shop/web', service('web', 1), [
    slice('both', PORTS, [
      ['10.0.0.1', 'n1', READY],
      ['10.0.0.3', 'n2', READY],
      ['10.0.0.4', 'n1', TERMINATING],
    ]),
    slice('one', PORTS.slice(0, 1), [['10.0.0.2', 'n1', READY]]),
  ]);
  const [taken] = ports.take();
  assert.deepEqual([...(taken?.holder?.counts ?? [])], [['IPv4', 2]]);
  ports.set('shop/web', service('web', 1), [slice('both', PORTS, [['10.0.0.4', 'n1', TERMINATING]])]);
  assert.deepEqual([...(ports.take()[0]?.holder?.counts ?? [])], [['IPv4', 0]]);
  assert.deepEqual(ports.take(), []);
});

test('a Service that no longer asks for a port, or asks for another, gives the old one back', () => {
  const ports = createHealthPorts('n1', ['IPv4'], createPortClashes());
  const seen = (): unknown => ports.take().map(({ port, holder }) => [port, holder?.name]);
  ports.set('shop/web', service('web', 1), []);
  assert.deepEqual(seen(), [[32022, 'web']]);
  ports.set('shop/web', service('web', 1, { healthCheckNodePort: 32023 }), []);
  assert.deepEqual(seen(), [
    [32022, undefined],
    [32023, 'web'],
  ]);
  ports.set('shop/web', service('web', 1, { externalTrafficPolicy: 'Cluster' }), []);
  assert.deepEqual(seen(), [[32023, undefined]]);
  ports.set('shop/web', service('web', 1, { type: 'NodePort' }), []);
  ports.set('shop/web', service('web', 1, { healthCheckNodePort: 0 }), []);
  assert.deepEqual(seen(), []);
});

test('of two Services with one port the older has it, the other is set aside until the port is its own', () => {
  const ports = createHealthPorts('n1', ['IPv4'], createPortClashes());
  const quarantine = createQuarantine({ log: silentLogger, now: () => 0, clock: () => 0 });
  const told: unknown[] = [];
  const servers = {
    apply: (changes: ReadonlyMap<number, { readonly name: string } | undefined>): void => {
      for (const [port, wanted] of changes) told.push([port, wanted?.name]);
    },
  };
  const update = createHealthPortUpdates({ servers, quarantine });
  ports.set('shop/young', service('young', 2), []);
  ports.set('shop/old', service('old', 1), []);
  update(ports.take());
  assert.deepEqual(
    quarantine.list().map(({ key, reason }) => `${key}: ${reason}`),
    ['services shop/young healthCheckNodePort 32022: the port is that of the older Service shop/old'],
  );
  ports.set('shop/old', undefined, []);
  update(ports.take());
  assert.deepEqual(quarantine.list(), []);
  assert.deepEqual(told, [
    [32022, 'old'],
    [32022, 'young'],
  ]);
});

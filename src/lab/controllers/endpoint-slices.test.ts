import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodSpec } from '../api/resources/pod/types.ts';
import { endpointGroups, isSelected, sliceLabels } from './endpoint-slices.ts';
import { exampleNode, examplePod, exampleService, type PodParts } from './example-objects.ts';

const nodes = new Map(
  [exampleNode(), exampleNode('node-2', 'zone-b')].map((node) => [node.metadata.name, node]),
);
const nodeOf = (name: string) => nodes.get(name);
const groups = (service: ReturnType<typeof exampleService>, ...pods: readonly PodParts[]) =>
  endpointGroups(service, pods.map(examplePod), nodeOf);

test('a ready Pod becomes an endpoint with its node, zone and a reference to the Pod', () => {
  assert.deepEqual(groups(exampleService(), {}), [
    {
      family: 'IPv4',
      ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
      endpoints: [
        {
          addresses: ['10.244.1.7'],
          conditions: { ready: true, serving: true, terminating: false },
          targetRef: { kind: 'Pod', namespace: 'default', name: 'a', uid: 'uid-a' },
          nodeName: 'node-1',
          zone: 'zone-a',
        },
      ],
    },
  ]);
});

const deleted = { at: '2026-12-01T00:00:00Z', grace: 30 };
const conditionCases: readonly [string, PodParts, boolean, readonly [boolean, boolean, boolean]][] = [
  ['ready', {}, false, [true, true, false]],
  ['not ready', { ready: false }, false, [false, false, false]],
  ['terminating and still serving', { deleted }, false, [false, true, true]],
  ['terminating and not serving', { deleted, ready: false }, false, [false, false, true]],
  ['not ready but published', { ready: false }, true, [true, false, false]],
  ['terminating but published', { deleted }, true, [true, true, true]],
];
for (const [what, pod, publishNotReadyAddresses, [ready, serving, terminating]] of conditionCases)
  test(`a Pod that is ${what} has conditions ready=${ready} serving=${serving} terminating=${terminating}`, () => {
    const [group] = groups(exampleService({ publishNotReadyAddresses }), pod);
    assert.deepEqual(
      group?.endpoints.map(({ conditions }) => conditions),
      [{ ready, serving, terminating }],
    );
  });

const absentCases: readonly [string, PodParts][] = [
  ['has no address yet', { ips: [] }],
  ['has no address of the family', { ips: ['fd00::7'] }],
  ['has run to its end', { status: { phase: 'Succeeded' } }],
  ['has failed', { status: { phase: 'Failed' } }],
  ['has other labels', { labels: { app: 'other' } }],
  ['is on a node that does not exist', { spec: { nodeName: 'nowhere' } }],
  [
    'lacks the named port',
    { spec: { containers: [{ name: 'main', ports: [{ name: 'grpc', containerPort: 1 }] }] } },
  ],
];
for (const [what, pod] of absentCases)
  test(`a Pod that ${what} is no endpoint, and the family keeps an empty group`, () => {
    assert.deepEqual(groups(exampleService(), pod), [{ family: 'IPv4', ports: [], endpoints: [] }]);
  });

test('a Pod on an unknown node is published when the Service publishes what is not ready', () => {
  const [group] = groups(exampleService({ publishNotReadyAddresses: true }), {
    spec: { nodeName: 'nowhere' },
  });
  assert.deepEqual(
    group?.endpoints.map(({ nodeName, zone }) => [nodeName, zone]),
    [['nowhere', undefined]],
  );
});

test('each family of a dual-stack Service has its own group', () => {
  const both = groups(exampleService({ ipFamilies: ['IPv6', 'IPv4'] }), {});
  assert.deepEqual(
    both.map(({ family, endpoints }) => [family, endpoints[0]?.addresses[0]]),
    [
      ['IPv6', 'fd00:10:244:1::7'],
      ['IPv4', '10.244.1.7'],
    ],
  );
});

const containers = (...ports: readonly { name?: string; containerPort: number; protocol?: string }[]) =>
  ({ containers: [{ name: 'main', ports }] }) satisfies PodSpec;

test('named, numeric and absent targetPorts resolve each in its way', () => {
  const service = exampleService({
    ports: [
      { name: 'named', protocol: 'TCP', port: 80, targetPort: 'dns' },
      { name: 'udp', protocol: 'UDP', port: 53, targetPort: 'dns' },
      { name: 'number', protocol: 'TCP', port: 81, targetPort: 9000, appProtocol: 'http' },
      { name: 'same', protocol: 'TCP', port: 82, targetPort: 0 },
    ],
  });
  const spec = containers(
    { name: 'dns', containerPort: 5353, protocol: 'UDP' },
    { name: 'dns', containerPort: 5354, protocol: 'TCP' },
  );
  assert.deepEqual(groups(service, { spec })[0]?.ports, [
    { name: 'named', protocol: 'TCP', port: 5354 },
    { name: 'udp', protocol: 'UDP', port: 5353 },
    { name: 'number', protocol: 'TCP', port: 9000, appProtocol: 'http' },
    { name: 'same', protocol: 'TCP', port: 82 },
  ]);
});

test('a sidecar among the init containers has ports, a plain init container has none', () => {
  const port = { name: 'http', containerPort: 15000, protocol: 'TCP' };
  const spec = (restartPolicy: string): PodSpec => ({
    containers: [{ name: 'main' }],
    initContainers: [{ name: 'init', restartPolicy, ports: [port] }],
  });
  assert.equal(groups(exampleService(), { spec: spec('Always') })[0]?.ports[0]?.port, 15000);
  assert.deepEqual(groups(exampleService(), { spec: spec('Never') })[0]?.endpoints, []);
});

test('Pods that resolve a named port differently go to different groups', () => {
  const old = { name: 'old', spec: containers({ name: 'http', containerPort: 8080 }) };
  const fresh = { name: 'new', spec: containers({ name: 'http', containerPort: 9090 }) };
  assert.deepEqual(
    groups(exampleService(), old, fresh, { name: 'third' }).map(({ ports, endpoints }) => [
      ports[0]?.port,
      endpoints.length,
    ]),
    [
      [8080, 2],
      [9090, 1],
    ],
  );
});

test('a headless Service without ports lists its Pods all the same', () => {
  const [group] = groups(exampleService({ clusterIP: 'None', clusterIPs: ['None'], ports: [] }), {});
  assert.deepEqual([group?.ports, group?.endpoints.length], [[], 1]);
});

test('a Pod with hostname in the Service as its subdomain carries the hostname', () => {
  const nameOf = (subdomain: string) =>
    groups(exampleService(), {
      spec: { ...containers({ name: 'http', containerPort: 1 }), hostname: 'db-0', subdomain },
    })[0]?.endpoints[0]?.hostname;
  assert.deepEqual([nameOf('web'), nameOf('other')], ['db-0', undefined]);
});

const forZones = [{ name: 'zone-a' }];
const hintCases: readonly [string | undefined, PodParts, object | undefined][] = [
  [undefined, {}, undefined],
  ['PreferClose', {}, { forZones }],
  ['PreferSameZone', {}, { forZones }],
  ['PreferSameNode', {}, { forNodes: [{ name: 'node-1' }], forZones }],
  ['PreferSameZone', { ready: false }, undefined],
  ['PreferSameNode', { deleted }, undefined],
];
for (const [trafficDistribution, pod, hints] of hintCases)
  test(`trafficDistribution ${trafficDistribution} hints ${JSON.stringify(hints)} for ${JSON.stringify(pod)}`, () => {
    const service = exampleService(trafficDistribution === undefined ? {} : { trafficDistribution });
    assert.deepEqual(groups(service, pod)[0]?.endpoints[0]?.hints, hints);
  });

test('the controller looks after Services with a selector that are more than a DNS name', () => {
  assert.equal(isSelected(exampleService()), true);
  assert.equal(isSelected(exampleService({ selector: {} })), false);
  assert.equal(isSelected(exampleService({ type: 'ExternalName' })), false);
});

test('slices carry the labels of the Service, whose they are, and whether it is headless', () => {
  const own = { labels: { tier: 'front', 'service.kubernetes.io/headless': 'mine' } };
  const whose = {
    tier: 'front',
    'kubernetes.io/service-name': 'web',
    'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
  };
  assert.deepEqual(sliceLabels(exampleService({}, own)), whose);
  assert.deepEqual(sliceLabels(exampleService({ clusterIP: 'None', clusterIPs: ['None'] }, own)), {
    ...whose,
    'service.kubernetes.io/headless': '',
  });
});

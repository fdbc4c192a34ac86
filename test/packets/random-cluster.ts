// Random clusters and the events that lead to them: few names and addresses, so that objects collide and come back.
import fc from 'fast-check';
import { FAMILIES, parseCidr } from '../../src/model/address.ts';
import type { JsonObject } from '../../src/model/decode.ts';
import { decodeEndpointSlice, type EndpointSlice } from '../../src/model/endpoint-slice.ts';
import { decodeNode, type Node } from '../../src/model/node.ts';
import { decodeService, PROTOCOLS, type Service } from '../../src/model/service.ts';
import type { ForwardingTable, LocalDetector } from '../../src/plan/forwarding-table.ts';
import { type ClusterState, createClusterState } from '../../src/proxy/cluster-state.ts';

export type ClusterEvent =
  | { readonly kind: 'service'; readonly name: string; readonly object: JsonObject | undefined }
  | { readonly kind: 'slice'; readonly name: string; readonly object: JsonObject | undefined }
  | { readonly kind: 'node'; readonly zone: string }
  | { readonly kind: 'settings'; readonly settings: ForwardingTable['settings'] };

const NAMES = ['a', 'b', 'c', 'd'] as const;
const PORT_NAMES = ['', 'p', 'q'] as const;
const anyOf = <T>(...values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values);
const someOf = <T>(values: readonly T[], maxLength: number): fc.Arbitrary<T[]> =>
  fc.array(fc.constantFrom(...values), { maxLength });

/** What Services claim: addresses of both families, junk, and some that several Services will want. */
const EXTERNAL = ['203.0.113.1', '203.0.113.2', '2001:db8:113::1', '', 'junk', '192.0.2.11'] as const;
const INGRESS: readonly JsonObject[] = [
  { ip: '198.18.0.1' },
  { ip: '198.18.0.2', ipMode: 'Proxy' },
  { ip: '2001:db8:18::1', ipMode: 'VIP' },
  { hostname: 'lb.example.org' },
  { ip: '203.0.113.1' },
];
const RANGES = [
  '198.51.100.0/24',
  ' 198.51.100.0/25',
  '192.0.2.0/24',
  '2001:db8:51::/64',
  '0.0.0.0/0',
] as const;
const CLUSTER_IPS: readonly (readonly string[])[] = [
  ['10.96.0.1'],
  ['10.96.0.2', 'fd00:96::2'],
  ['fd00:96::3'],
  ['fd00:96::4', '10.96.0.4'],
  ['None'],
  [],
];

const servicePorts = fc.uniqueArray(
  fc.record({
    name: anyOf(...PORT_NAMES),
    protocol: anyOf(...PROTOCOLS),
    port: anyOf(80, 53, 443),
    nodePort: anyOf(0, 0, 31_001, 31_002),
  }),
  { selector: ({ name }) => name, minLength: 1, maxLength: 3 },
);

const serviceObjects = (name: string): fc.Arbitrary<JsonObject> =>
  fc
    .record({
      clusterIPs: fc.oneof(
        { weight: 8, arbitrary: anyOf(...CLUSTER_IPS.slice(0, 4)) },
        anyOf(...CLUSTER_IPS),
      ),
      ports: servicePorts,
      type: anyOf('ClusterIP', 'NodePort', 'LoadBalancer', 'LoadBalancer', 'ExternalName'),
      externalIPs: someOf(EXTERNAL, 3),
      ingress: someOf(INGRESS, 3),
      loadBalancerSourceRanges: someOf(RANGES, 3),
      externalTrafficPolicy: anyOf('Cluster', 'Local'),
      internalTrafficPolicy: anyOf('Cluster', 'Cluster', 'Local'),
      affinity: anyOf<JsonObject>(
        {},
        { sessionAffinity: 'ClientIP' },
        { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 30 } } },
      ),
      created: anyOf('2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'),
    })
    .map(({ clusterIPs, ingress, affinity, created, ...spec }) => ({
      metadata: { namespace: 'shop', name, uid: name, creationTimestamp: created },
      spec: { ...spec, ...affinity, clusterIP: clusterIPs[0] ?? '', clusterIPs },
      status: { loadBalancer: { ingress } },
    }));

const endpointObjects = (six: boolean): fc.Arbitrary<JsonObject> =>
  fc
    .record({
      number: fc.integer({ min: 1, max: 12 }),
      nodeName: anyOf('n1', 'n2', undefined),
      ready: anyOf(true, true, false, undefined),
      serving: anyOf(true, false, undefined),
      terminating: anyOf(false, false, true, undefined),
      zones: someOf(['za', 'zb'], 2),
      nodes: someOf(['n1', 'n2'], 1),
      blank: fc.integer({ min: 0, max: 19 }).map((value) => value === 0),
    })
    .map(({ number, nodeName, zones, nodes, blank, ...conditions }) => ({
      addresses: blank ? [] : [six ? `fd00:50::${number}` : `10.50.1.${number}`],
      nodeName,
      conditions,
      hints: {
        forZones: zones.map((name) => ({ name })),
        forNodes: nodes.map((name) => ({ name })),
      },
    }));

const sliceObjects = (name: string): fc.Arbitrary<JsonObject> =>
  fc.boolean().chain((six) =>
    fc
      .record({
        of: anyOf(...NAMES),
        ports: fc.array(
          fc.record({
            name: anyOf(...PORT_NAMES, ...PORT_NAMES, undefined),
            protocol: anyOf(...PROTOCOLS),
            port: anyOf(8080, 8080, 9090, undefined, 0),
          }),
          { maxLength: 5 },
        ),
        endpoints: fc.array(endpointObjects(six), { maxLength: 14 }),
      })
      .map(({ of, ...slice }) => ({
        ...slice,
        addressType: six ? 'IPv6' : 'IPv4',
        metadata: { namespace: 'shop', name, labels: { 'kubernetes.io/service-name': of } },
      })),
  );

const settings: fc.Arbitrary<ForwardingTable['settings']> = fc
  .record({
    masqueradeAll: fc.boolean(),
    detector: anyOf<DetectorName>('cidr', 'none', 'bridge', 'prefix'),
    serviceCidrs: fc.boolean(),
    listed: fc.boolean(),
  })
  .map(({ masqueradeAll, detector, serviceCidrs, listed }) => {
    const cidrs = (text: string): LocalDetector => {
      const cidr = parseCidr(text);
      return cidr === undefined ? { kind: 'none' } : { kind: 'cidr', cidr };
    };
    const of = (pods: string, range: string, address: string): ForwardingTable['settings']['IPv4'] => ({
      masqueradeAll,
      localDetector: detectorOf(detector, cidrs(pods)),
      serviceCidrs: serviceCidrs ? [range].flatMap((text) => parseCidr(text) ?? []) : [],
      nodePortAddresses: listed ? [address] : 'all',
    });
    return {
      IPv4: of('10.50.0.0/16', '10.96.0.0/16', '192.0.2.11'),
      IPv6: of('fd00:50::/32', 'fd00:96::/112', '2001:db8::11'),
    };
  });

type DetectorName = 'cidr' | 'none' | 'bridge' | 'prefix';

function detectorOf(kind: DetectorName, cidr: LocalDetector): LocalDetector {
  switch (kind) {
    case 'cidr':
      return cidr;
    case 'bridge':
      return { kind: 'interface', name: 'cbr0' };
    case 'prefix':
      return { kind: 'interface-prefix', prefix: 'veth' };
    case 'none':
      return { kind: 'none' };
  }
}

const named = (
  kind: 'service' | 'slice',
  names: readonly string[],
  object: (name: string) => fc.Arbitrary<JsonObject>,
): fc.Arbitrary<ClusterEvent> =>
  fc
    .constantFrom(...names)
    .chain((name) =>
      fc.option(object(name), { nil: undefined, freq: 4 }).map((given) => ({ kind, name, object: given })),
    );

/** Events, in rounds: each round is committed before the next begins. */
export const histories: fc.Arbitrary<readonly (readonly ClusterEvent[])[]> = fc.array(
  fc.array(
    fc.oneof(
      { weight: 6, arbitrary: named('service', NAMES, serviceObjects) },
      { weight: 9, arbitrary: named('slice', ['s1', 's2', 's3', 's4', 's5', 's6'], sliceObjects) },
      { weight: 1, arbitrary: anyOf('', 'za', 'zb').map((zone): ClusterEvent => ({ kind: 'node', zone })) },
      {
        weight: 1,
        arbitrary: settings.map((value): ClusterEvent => ({ kind: 'settings', settings: value })),
      },
    ),
    { minLength: 1, maxLength: 12 },
  ),
  { minLength: 1, maxLength: 8, size: 'max' },
);

const START = {
  masqueradeAll: false,
  localDetector: { kind: 'none' },
  serviceCidrs: [],
  nodePortAddresses: 'all',
} as const;

export const emptyState = (): ClusterState =>
  createClusterState({ nodeName: 'n1', families: FAMILIES, settings: { IPv4: START, IPv6: START } });

/** Tells the book of one event, as the watches do. */
export function enter(state: ClusterState, event: ClusterEvent): void {
  switch (event.kind) {
    case 'service':
      state.setService(`shop/${event.name}`, serviceOf(event.object));
      break;
    case 'slice':
      state.setSlice(`shop/${event.name}`, sliceOf(event.object));
      break;
    case 'node':
      state.setNode(nodeOf(event.zone));
      break;
    case 'settings':
      state.setSettings(event.settings);
  }
}

/** The events without which the end would differ: the last one of every object. */
export function lastOnes(history: readonly ClusterEvent[]): readonly ClusterEvent[] {
  const last = new Map<string, ClusterEvent>();
  for (const event of history) last.set('name' in event ? `${event.kind} ${event.name}` : event.kind, event);
  return [...last.values()];
}

function serviceOf(object: JsonObject | undefined): Service | undefined {
  const decoded = decodeService(object ?? {});
  return decoded.kind === 'decoded' ? decoded.value : undefined;
}
function sliceOf(object: JsonObject | undefined): EndpointSlice | undefined {
  const decoded = decodeEndpointSlice(object ?? {});
  return decoded.kind === 'decoded' ? decoded.value : undefined;
}
function nodeOf(zone: string): Node | undefined {
  return decodeNode({
    metadata: { name: 'n1', labels: { 'topology.kubernetes.io/zone': zone } },
    status: { addresses: [{ type: 'InternalIP', address: '192.0.2.11' }] },
  });
}

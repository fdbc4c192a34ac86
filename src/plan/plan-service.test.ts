import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../model/decode.ts';
import { decodeEndpointSlice, type EndpointSlice } from '../model/endpoint-slice.ts';
import { decodeService, type Service } from '../model/service.ts';
import { endpointText, frontendKey } from '../model/service-port.ts';
import type { Entry, Route } from './forwarding-table.ts';
import { planService } from './plan-service.ts';

const facts = { nodeName: 'n1', zone: 'za', nodeAddresses: ['192.0.2.11', '2001:db8:1::11'] };
const FAMILIES = ['IPv4', 'IPv6'] as const;

function service(spec: JsonObject, status: JsonObject = {}): Service {
  const decoded = decodeService({
    metadata: { namespace: 'shop', name: 'web' },
    spec: { clusterIP: '10.96.0.21', ports: [{ name: 'http', port: 80 }], ...spec },
    status,
  });
  assert.equal(decoded.kind, 'decoded');
  return decoded.value;
}
function slice(endpoints: readonly JsonObject[], more: JsonObject = {}, name = 's'): EndpointSlice {
  const decoded = decodeEndpointSlice({
    metadata: { namespace: 'shop', name, labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 8080 }],
    endpoints,
    ...more,
  });
  assert.equal(decoded.kind, 'decoded');
  return decoded.value;
}
const local: JsonObject = { addresses: ['10.50.1.7'], nodeName: 'n1' };
const remote: JsonObject = { addresses: ['10.50.2.7'], nodeName: 'n2' };
const leaving = { ready: false, serving: true, terminating: true };

function plan(given: Service, slices: readonly EndpointSlice[]): ReadonlyMap<string, Entry> {
  return new Map(
    planService(given, slices, FAMILIES, facts).map((entry) => [frontendKey(entry.frontend), entry]),
  );
}
function shown(route: Route | undefined): string {
  if (route === undefined) return 'none';
  const list = (endpoints: readonly { readonly address: string; readonly port: number }[]): string =>
    endpoints.map(endpointText).join(',');
  if (route.kind === 'balance') return list(route.endpoints);
  if (route.kind === 'by-source') return `all ${list(route.all)} local ${list(route.local) || 'drop'}`;
  return route.kind;
}
const EL = '10.50.1.7:8080';
const ER = '10.50.2.7:8080';
const external = { type: 'LoadBalancer', ports: [{ name: 'http', port: 80, nodePort: 31021 }] };
const vip = { loadBalancer: { ingress: [{ ip: '198.18.0.21' }] } };

test('what each frontend does, by policy and endpoints', () => {
  const table: readonly (readonly [string, JsonObject, readonly JsonObject[], string, string])[] = [
    ['Cluster', {}, [local, remote], `${EL},${ER}`, `${EL},${ER}`],
    ['no endpoints', {}, [], 'reject', 'reject'],
    [
      'only terminating and not serving',
      {},
      [{ ...local, conditions: { ready: false, serving: false, terminating: true } }],
      'reject',
      'reject',
    ],
    [
      'external Local',
      { externalTrafficPolicy: 'Local' },
      [local, remote],
      `${EL},${ER}`,
      `all ${EL},${ER} local ${EL}`,
    ],
    ['external Local, none here', { externalTrafficPolicy: 'Local' }, [remote], ER, `all ${ER} local drop`],
    ['internal Local', { internalTrafficPolicy: 'Local' }, [local, remote], EL, `${EL},${ER}`],
    ['internal Local, none here', { internalTrafficPolicy: 'Local' }, [remote], 'drop', ER],
    [
      'external Local, terminating here',
      { externalTrafficPolicy: 'Local' },
      [{ ...local, conditions: leaving }, remote],
      ER,
      `all ${ER} local ${EL}`,
    ],
    [
      'external Local, only a terminating one elsewhere',
      { externalTrafficPolicy: 'Local' },
      [{ ...remote, conditions: leaving }],
      ER,
      `all ${ER} local drop`,
    ],
  ];
  for (const [name, spec, endpoints, internal, outside] of table) {
    const entries = plan(service({ ...external, ...spec }, vip), [slice(endpoints)]);
    assert.equal(shown(entries.get('10.96.0.21/TCP/80')?.route), internal, `${name}: ClusterIP`);
    assert.equal(shown(entries.get('nodeport/IPv4/TCP/31021')?.route), outside, `${name}: NodePort`);
    assert.equal(shown(entries.get('198.18.0.21/TCP/80')?.route), outside, `${name}: load balancer`);
  }
});

test('externalTrafficPolicy of a ClusterIP Service counts only with external IPs', () => {
  const spec = { externalTrafficPolicy: 'Local' };
  assert.equal(shown(plan(service(spec), [slice([remote])]).get('10.96.0.21/TCP/80')?.route), ER);
  const entries = plan(service({ ...spec, externalIPs: ['198.51.100.9'] }), [slice([local, remote])]);
  assert.equal(shown(entries.get('198.51.100.9/TCP/80')?.route), `all ${EL},${ER} local ${EL}`);
});

test('who is masqueraded: outsiders to a ClusterIP, everyone under Cluster, the node itself under Local', () => {
  const masquerade = (spec: JsonObject): readonly (string | undefined)[] => {
    const entries = plan(service({ ...external, ...spec }, vip), [slice([local])]);
    return ['10.96.0.21/TCP/80', 'nodeport/IPv4/TCP/31021', '198.18.0.21/TCP/80'].map(
      (key) => entries.get(key)?.masquerade,
    );
  };
  assert.deepEqual(masquerade({}), ['unless-pod', 'always', 'always']);
  assert.deepEqual(masquerade({ externalTrafficPolicy: 'Local' }), ['unless-pod', 'own', 'own']);
});

test('source ranges hold for load-balancer addresses alone', () => {
  const ranges = (loadBalancerSourceRanges: readonly string[]): unknown => {
    const entries = plan(
      service({ ...external, loadBalancerSourceRanges, externalIPs: ['198.51.100.9'] }, vip),
      [slice([local])],
    );
    for (const key of ['10.96.0.21/TCP/80', 'nodeport/IPv4/TCP/31021', '198.51.100.9/TCP/80']) {
      assert.equal(entries.get(key)?.allowedSources, undefined);
    }
    return entries
      .get('198.18.0.21/TCP/80')
      ?.allowedSources?.map(({ address, prefix }) => `${address}/${prefix}`);
  };
  assert.deepEqual(ranges([]), undefined);
  assert.deepEqual(ranges(['203.0.113.0/24']), ['203.0.113.0/24']);
  assert.deepEqual(ranges(['203.0.113.0/25', '203.0.113.0/24', '10.0.0.0/8']), [
    '10.0.0.0/8',
    '203.0.113.0/24',
  ]);
  assert.deepEqual(ranges(['203.0.113.0/24', '0.0.0.0/0']), undefined);
  assert.deepEqual(ranges(['2001:db8::/32']), undefined);
  assert.deepEqual(
    ranges(['192.0.2.0/24']),
    ['192.0.2.0/24', '198.18.0.21/32'],
    'a range with the node admits the VIP itself',
  );
});

test('ports are matched by name and protocol, numbers come from the slice', () => {
  const given = service({
    ports: [
      { name: 'dns', port: 53, protocol: 'UDP' },
      { name: 'dns-tcp', port: 53 },
      { name: 'gone', port: 9 },
    ],
  });
  const ports = [
    { name: 'dns', port: 5353, protocol: 'UDP' },
    { name: 'dns-tcp', port: 5354 },
    { name: 'gone', port: 99, protocol: 'UDP' },
  ];
  const entries = plan(given, [slice([local], { ports })]);
  assert.equal(shown(entries.get('10.96.0.21/UDP/53')?.route), '10.50.1.7:5353');
  assert.equal(shown(entries.get('10.96.0.21/TCP/53')?.route), '10.50.1.7:5354');
  assert.equal(shown(entries.get('10.96.0.21/TCP/9')?.route), 'reject');
});

test('endpoints of several slices are joined, in the order of their text, each once', () => {
  const one = slice([{ addresses: ['10.0.0.1'] }, { addresses: ['10.0.0.10'] }], {}, 'one');
  const two = slice([{ addresses: ['10.0.0.1'] }], {}, 'two');
  const three = slice([{ addresses: ['10.0.0.1'] }], { ports: [{ name: 'http', port: 9090 }] }, 'three');
  for (const slices of [
    [one, two, three],
    [three, two, one],
  ]) {
    assert.equal(
      shown(plan(service({}), slices).get('10.96.0.21/TCP/80')?.route),
      '10.0.0.10:8080,10.0.0.1:8080,10.0.0.1:9090',
    );
  }
});

test('of two copies of an endpoint the one that is not terminating wins, in either order', () => {
  const stays = { addresses: ['10.50.1.7'], nodeName: 'n1' };
  const goes = { addresses: ['10.50.1.7'], nodeName: 'n1', conditions: leaving };
  for (const [first, second] of [
    [stays, goes],
    [goes, stays],
  ] as const) {
    const entries = plan(service({}), [
      slice([first], {}, 'a'),
      slice([second, { addresses: ['10.50.2.9'], conditions: leaving }], {}, 'b'),
    ]);
    assert.equal(shown(entries.get('10.96.0.21/TCP/80')?.route), EL);
  }
});

test('each family has its own ClusterIP and endpoints', () => {
  const given = service({ ipFamilies: ['IPv4', 'IPv6'], clusterIPs: ['10.96.0.21', 'fd00:96::21'] });
  const six = slice([{ addresses: ['fd00:50::7'], nodeName: 'n1' }], { addressType: 'IPv6' }, 'six');
  const entries = plan(given, [slice([local]), six]);
  assert.equal(shown(entries.get('10.96.0.21/TCP/80')?.route), EL);
  assert.equal(shown(entries.get('fd00:96::21/TCP/80')?.route), '[fd00:50::7]:8080');
  assert.deepEqual(
    [...planService(given, [six], ['IPv4'], facts)].map(({ route }) => route.kind),
    ['reject'],
  );
});

test('local endpoints are marked, for hairpin connections', () => {
  const route = plan(service({}), [slice([local, remote])]).get('10.96.0.21/TCP/80')?.route;
  assert.ok(route?.kind === 'balance');
  assert.deepEqual(
    route.endpoints.map((endpoint) => endpoint.local),
    [true, false],
  );
});

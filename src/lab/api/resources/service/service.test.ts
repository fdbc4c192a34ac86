import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Cidr, cidrContains, parseCidr } from '../../../../model/address.ts';
import type { ClusterApi } from '../../cluster-api.ts';
import type { JsonObject } from '../../json.ts';
import { startCluster } from '../../start-cluster.ts';
import { chooseAddress, firstAddress } from './address-range.ts';
import type { Service, ServiceSpec } from './types.ts';

function cidr(text: string): Cidr {
  const parsed = parseCidr(text);
  assert.ok(parsed);
  return parsed;
}
const V4 = cidr('10.96.0.0/24');
const V6 = cidr('fd00:96::/108');

const cluster = (...serviceCidrs: Cidr[]): ClusterApi =>
  startCluster({ serviceCidrs: serviceCidrs.length === 0 ? [V4, V6] : serviceCidrs }).api;

const PORTS = { ports: [{ port: 80 }] };
const place = (name: string) => ({ resource: 'services', namespace: 'default', name }) as const;

function make(api: ClusterApi, name: string, spec: JsonObject): ServiceSpec {
  const answer = api.create('services', { metadata: { name, namespace: 'default' }, spec });
  assert.ok(answer.ok, answer.ok ? '' : (answer.status.message ?? ''));
  return (answer.object as Service).spec;
}
function refused(api: ClusterApi, spec: JsonObject): string {
  const answer = api.create('services', { metadata: { name: 'bad', namespace: 'default' }, spec });
  assert.ok(!answer.ok, 'it was taken');
  return (answer.status.message ?? '').replace(/^Service "bad" is invalid: /, '');
}
function patched(api: ClusterApi, name: string, spec: JsonObject): ServiceSpec {
  const answer = api.patch(place(name), 'merge', { spec });
  assert.ok(answer.ok, answer.ok ? '' : (answer.status.message ?? ''));
  return (answer.object as Service).spec;
}
function refusedPatch(api: ClusterApi, name: string, spec: JsonObject): string {
  const answer = api.patch(place(name), 'merge', { spec });
  assert.ok(!answer.ok, 'it was taken');
  return (answer.status.message ?? '').replace(/^Service "\S+" is invalid: /, '');
}

test('the kubernetes Service has the first address', () => {
  const answer = cluster().get(place('kubernetes'));
  assert.ok(answer.ok);
  assert.equal((answer.object as Service).spec.clusterIP, '10.96.0.1');
  assert.equal(firstAddress(V6), 'fd00:96::1');
});

test('families follow the policy and the cluster', () => {
  const api = cluster();
  const families = (name: string, spec: JsonObject): unknown => {
    const made = make(api, name, { ...PORTS, ...spec });
    assert.equal(made.clusterIPs?.length, made.clusterIPs?.[0] === 'None' ? 1 : made.ipFamilies?.length);
    assert.equal(made.clusterIP, made.clusterIPs?.[0]);
    return [made.ipFamilyPolicy, ...(made.ipFamilies ?? [])].join(' ');
  };
  assert.equal(families('a', {}), 'SingleStack IPv4');
  assert.equal(families('b', { ipFamilies: ['IPv6'] }), 'SingleStack IPv6');
  assert.equal(families('c', { ipFamilyPolicy: 'PreferDualStack' }), 'PreferDualStack IPv4 IPv6');
  assert.equal(
    families('d', { ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv6'] }),
    'RequireDualStack IPv6 IPv4',
  );
  assert.equal(families('e', { clusterIP: 'fd00:96::77' }), 'SingleStack IPv6');
  assert.equal(families('f', { clusterIP: 'None', selector: { a: 'b' } }), 'SingleStack IPv4');
  assert.equal(families('g', { clusterIP: 'None' }), 'RequireDualStack IPv4 IPv6');
});

test('a cluster of one family gives what it has, and refuses what it has not', () => {
  const api = cluster(V4);
  assert.deepEqual(make(api, 'a', { ...PORTS, ipFamilyPolicy: 'PreferDualStack' }).ipFamilies, ['IPv4']);
  assert.match(
    refused(api, { ...PORTS, ipFamilyPolicy: 'RequireDualStack' }),
    /not configured for dual-stack/,
  );
  assert.match(
    refused(api, { ...PORTS, ipFamilies: ['IPv6'] }),
    /spec\.ipFamilies\[0\]: .*not configured on this cluster/,
  );
});

test('addresses are taken once, and free again when the Service is gone', () => {
  const api = cluster();
  make(api, 'a', { ...PORTS, clusterIP: '10.96.0.50' });
  assert.match(refused(api, { ...PORTS, clusterIP: '10.96.0.50' }), /provided IP is already allocated/);
  assert.match(refused(api, { ...PORTS, clusterIP: '10.97.0.1' }), /does not match the current range/);
  assert.match(refused(api, { ...PORTS, clusterIP: '10.96.0.0' }), /does not match the current range/);
  assert.equal(api.get({ resource: 'ipaddresses', name: '10.96.0.50' }).ok, true);
  api.delete(place('a'));
  assert.equal(api.get({ resource: 'ipaddresses', name: '10.96.0.50' }).ok, false);
  make(api, 'b', { ...PORTS, clusterIP: '10.96.0.50' });
});

test('a refused Service and a dry run take nothing', () => {
  const api = cluster();
  const before = api.list('ipaddresses');
  assert.match(
    refused(api, { type: 'NodePort', ports: [{ port: 80, nodePort: 30001 }, { port: 81 }] }),
    /name: Required/,
  );
  api.create(
    'services',
    { metadata: { name: 'dry', namespace: 'default' }, spec: { ...PORTS, type: 'NodePort' } },
    { dryRun: true },
  );
  const after = api.list('ipaddresses');
  assert.deepEqual(before.ok && before.items, after.ok && after.items);
  make(api, 'real', { type: 'NodePort', ports: [{ port: 80, nodePort: 30001 }] });
});

test('a range that is full says so, and the lower band is the last to go', () => {
  const api = cluster(cidr('10.0.0.0/26'));
  const chosen = Array.from({ length: 61 }, (_, at) => make(api, `s${at}`, PORTS).clusterIP ?? '');
  assert.equal(new Set(chosen).size, 61);
  const last = (address: string): number => Number(address.split('.')[3]);
  assert.ok(chosen.slice(0, 46).every((address) => last(address) > 16));
  assert.ok(chosen.slice(46).every((address) => last(address) <= 16));
  assert.match(refused(api, PORTS), /range is full/);
});

test('a chosen address lies in the range and is free', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('10.1.0.0/28', '10.1.0.0/20', 'fd00::/120', 'fd00::/64'),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      fc.uniqueArray(fc.nat(30)),
      (range, random, takenHosts) => {
        const parsed = cidr(range);
        const taken = new Set(
          takenHosts.map((host) =>
            parsed.family === 'IPv4' ? `10.1.0.${host}` : `fd00::${host.toString(16)}`,
          ),
        );
        const address = chooseAddress(
          parsed,
          (one) => taken.has(one),
          () => random,
        );
        if (address === undefined) return;
        assert.ok(cidrContains(parsed, address));
        assert.ok(!taken.has(address));
      },
    ),
  );
});

test('node ports are unique, shared by the protocols of one port, and given back', () => {
  const api = cluster();
  const both = make(api, 'a', {
    type: 'NodePort',
    ports: [
      { name: 't', port: 53, protocol: 'TCP' },
      { name: 'u', port: 53, protocol: 'UDP' },
    ],
  });
  assert.equal(both.ports?.[0]?.nodePort, both.ports?.[1]?.nodePort);
  const taken = both.ports?.[0]?.nodePort ?? 0;
  assert.match(
    refused(api, { type: 'NodePort', ports: [{ port: 80, nodePort: taken }] }),
    /spec\.ports\[0\]\.nodePort: .*already allocated/,
  );
  assert.match(
    refused(api, { type: 'NodePort', ports: [{ port: 80, nodePort: 80 }] }),
    /valid ports is 30000-32767/,
  );
  assert.equal(patched(api, 'a', { type: 'ClusterIP' }).ports?.[0]?.nodePort, undefined);
  make(api, 'b', { type: 'NodePort', ports: [{ port: 80, nodePort: taken }] });
});

test('an update keeps what the server chose, though the client leaves it out', () => {
  const api = cluster();
  const made = make(api, 'a', { type: 'NodePort', ports: [{ port: 80 }], ipFamilyPolicy: 'PreferDualStack' });
  const answer = api.update('services', {
    metadata: { name: 'a', namespace: 'default' },
    spec: { type: 'NodePort', ports: [{ port: 80, targetPort: 8080 }] },
  });
  assert.ok(answer.ok);
  const now = (answer.object as Service).spec;
  assert.deepEqual(now.clusterIPs, made.clusterIPs);
  assert.deepEqual(now.ipFamilies, made.ipFamilies);
  assert.equal(now.ports?.[0]?.nodePort, made.ports?.[0]?.nodePort);
  assert.equal(now.ports?.[0]?.targetPort, 8080);
});

test('a Service goes from type to type, and loses what the new type has no use for', () => {
  const api = cluster();
  const made = make(api, 'a', PORTS);
  const balancer = patched(api, 'a', { type: 'LoadBalancer', externalTrafficPolicy: 'Local' });
  assert.ok((balancer.healthCheckNodePort ?? 0) >= 30000);
  assert.equal(balancer.allocateLoadBalancerNodePorts, true);
  assert.equal(balancer.clusterIP, made.clusterIP);
  const plain = patched(api, 'a', { type: 'ClusterIP' });
  for (const field of [
    'healthCheckNodePort',
    'allocateLoadBalancerNodePorts',
    'externalTrafficPolicy',
  ] as const)
    assert.equal(plain[field], undefined, field);
  const external = patched(api, 'a', { type: 'ExternalName', externalName: 'example.org' });
  for (const field of [
    'clusterIP',
    'clusterIPs',
    'ipFamilies',
    'ipFamilyPolicy',
    'internalTrafficPolicy',
  ] as const)
    assert.equal(external[field], undefined, field);
  make(api, 'b', { ...PORTS, clusterIP: made.clusterIP ?? '' });
  assert.ok(patched(api, 'a', { type: 'ClusterIP', externalName: null }).clusterIP);
});

test('a Service grows a second family and sheds it again', () => {
  const api = cluster();
  const made = make(api, 'a', PORTS);
  const dual = patched(api, 'a', { ipFamilyPolicy: 'RequireDualStack' });
  assert.equal(dual.clusterIPs?.[0], made.clusterIP);
  assert.match(dual.clusterIPs?.[1] ?? '', /^fd00:96::/);
  assert.match(
    refusedPatch(api, 'a', { clusterIPs: [made.clusterIP ?? ''] }),
    /must be set to 'SingleStack' when releasing/,
  );
  const single = patched(api, 'a', { ipFamilyPolicy: 'SingleStack' });
  assert.deepEqual(single.clusterIPs, [made.clusterIP]);
  assert.deepEqual(single.ipFamilies, ['IPv4']);
  assert.equal(api.get({ resource: 'ipaddresses', name: dual.clusterIPs?.[1] ?? '' }).ok, false);
});

test('what may not change is refused', () => {
  const api = cluster();
  make(api, 'a', { ...PORTS, type: 'LoadBalancer', externalTrafficPolicy: 'Local' });
  assert.match(
    refusedPatch(api, 'a', { clusterIP: '10.96.0.9' }),
    /^spec\.clusterIPs\[0\]: .*may not change once set/,
  );
  assert.match(
    refusedPatch(api, 'a', { ipFamilies: ['IPv6'] }),
    /spec\.ipFamilies\[0\]: .*may not change once set/,
  );
  assert.match(
    refusedPatch(api, 'a', { loadBalancerClass: 'x/y' }),
    /spec\.loadBalancerClass: .*may not change once set/,
  );
  assert.match(
    refusedPatch(api, 'a', { healthCheckNodePort: 30999 }),
    /spec\.healthCheckNodePort: .*field is immutable/,
  );
});

test('affinity defaults to three hours, and loses its setting with the affinity', () => {
  const api = cluster();
  const made = make(api, 'a', { ...PORTS, sessionAffinity: 'ClientIP' });
  assert.equal(made.sessionAffinityConfig?.clientIP?.timeoutSeconds, 10800);
  assert.equal(patched(api, 'a', { sessionAffinity: 'None' }).sessionAffinityConfig, undefined);
});

test('the status is the load balancer’s own: the main path does not touch it', () => {
  const api = cluster();
  make(api, 'a', { ...PORTS, type: 'LoadBalancer' });
  const status = { loadBalancer: { ingress: [{ ip: '203.0.113.1' }] } };
  api.patch(place('a'), 'merge', { status });
  const before = api.get(place('a'));
  assert.deepEqual(before.ok && before.object.status, { loadBalancer: {} });
  const set = api.patch(
    place('a'),
    'merge',
    { status, spec: { type: 'ClusterIP' } },
    { subresource: 'status' },
  );
  assert.ok(set.ok);
  assert.deepEqual(set.object.status, { loadBalancer: { ingress: [{ ip: '203.0.113.1', ipMode: 'VIP' }] } });
  assert.equal((set.object as Service).spec.type, 'LoadBalancer');
  patched(api, 'a', { type: 'NodePort' });
  const after = api.get(place('a'));
  assert.deepEqual(after.ok && after.object.status, { loadBalancer: {} });
});

test('everything that is wrong with a Service is said at once', () => {
  const api = cluster();
  const cases: readonly (readonly [spec: JsonObject, words: RegExp])[] = [
    [{}, /^spec\.ports: Required value$/],
    [
      { ports: [{ port: 0 }] },
      /^spec\.ports\[0\]\.port: Invalid value: 0: must be between 1 and 65535, inclusive$/,
    ],
    [
      { ports: [{ name: 'A', port: 1 }] },
      /spec\.ports\[0\]\.name: Invalid value: "A": a lowercase RFC 1123 label/,
    ],
    [
      {
        ports: [
          { name: 'a', port: 1 },
          { name: 'a', port: 2 },
        ],
      },
      /^spec\.ports\[1\]\.name: Duplicate value: "a"$/,
    ],
    [
      {
        ports: [
          { name: 'a', port: 1 },
          { name: 'b', port: 1 },
        ],
      },
      /^spec\.ports\[1\]: Duplicate value: \{/,
    ],
    [{ ports: [{ port: 1, targetPort: 'a_b' }] }, /spec\.ports\[0\]\.targetPort: .*alpha-numeric/],
    [
      { ...PORTS, type: 'Nope' },
      /spec\.type: Unsupported value: "Nope": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"/,
    ],
    [
      { ...PORTS, sessionAffinity: 'x' },
      /spec\.sessionAffinity: Unsupported value: "x": supported values: "ClientIP", "None"/,
    ],
    [
      {
        ...PORTS,
        sessionAffinity: 'ClientIP',
        sessionAffinityConfig: { clientIP: { timeoutSeconds: 90000 } },
      },
      /must be greater than 0 and less than 86400/,
    ],
    [
      { ...PORTS, externalTrafficPolicy: 'Local' },
      /spec\.externalTrafficPolicy: .*may only be set for externally-accessible services/,
    ],
    [{ ...PORTS, internalTrafficPolicy: 'x' }, /spec\.internalTrafficPolicy: Unsupported value/],
    [{ ...PORTS, healthCheckNodePort: 30000 }, /spec\.healthCheckNodePort: .*may only be set when/],
    [
      { ...PORTS, externalIPs: ['127.0.0.1', 'x'] },
      /externalIPs\[0\]: .*loopback.*externalIPs\[1\]: .*must be a valid IP address/,
    ],
    [
      { ...PORTS, loadBalancerSourceRanges: ['10.0.0.0/8'] },
      /may only be used when `type` is 'LoadBalancer'/,
    ],
    [{ ...PORTS, trafficDistribution: 'x' }, /spec\.trafficDistribution: Unsupported value/],
    [{ ...PORTS, type: 'NodePort', clusterIP: 'None' }, /may not be set to 'None' for NodePort services/],
    [{ type: 'ExternalName' }, /spec\.externalName: Required value/],
    [
      { ports: [{ port: 1, nodePort: 30000 }] },
      /spec\.ports\[0\]\.nodePort: Forbidden: may not be used when `type` is 'ClusterIP'/,
    ],
    [{ ...PORTS, clusterIPs: ['10.96.0.9'] }, /must be empty when `clusterIP` is not specified/],
    [{ ...PORTS, clusterIP: '10.96.0.9', clusterIPs: ['10.96.0.8'] }, /first value must match `clusterIP`/],
    [{ ...PORTS, selector: { 'a b': 'c' } }, /spec\.selector: Invalid value: "a b": name part must consist/],
  ];
  for (const [spec, words] of cases) assert.match(refused(api, spec), words, JSON.stringify(spec));
});

test('a second ServiceCIDR widens what may be asked for', () => {
  const api = cluster();
  assert.match(refused(api, { ...PORTS, clusterIP: '10.200.0.5' }), /does not match/);
  assert.equal(
    api.create('servicecidrs', { metadata: { name: 'more' }, spec: { cidrs: ['10.200.0.0/24'] } }).ok,
    true,
  );
  make(api, 'a', { ...PORTS, clusterIP: '10.200.0.5' });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Cidr } from '../../model/address.ts';
import type { ServiceSpec } from '../api/resources/service/types.ts';
import { exampleService } from './example-objects.ts';
import { loadBalancing } from './load-balancer.ts';

const POOL: readonly Cidr[] = [
  { family: 'IPv4', address: '203.0.113.0', prefix: 30 },
  { family: 'IPv6', address: '2001:db8:113::', prefix: 64 },
];
const vip = (...ips: readonly string[]) => ({
  kind: 'given',
  ingress: ips.map((ip) => ({ ip, ipMode: 'VIP' })),
});

interface Case {
  readonly what: string;
  readonly spec: Partial<ServiceSpec>;
  readonly present?: readonly string[];
  readonly taken?: readonly string[];
  readonly expected: object;
}
const balanced = { type: 'LoadBalancer' };
const both = { ...balanced, ipFamilies: ['IPv6', 'IPv4'] };
const cases: readonly Case[] = [
  { what: 'no other type gets an address', spec: {}, expected: { kind: 'none' } },
  { what: 'a new one gets the first of the pool', spec: balanced, expected: vip('203.0.113.1') },
  {
    what: 'what another Service has is passed over',
    spec: balanced,
    taken: ['203.0.113.1'],
    expected: vip('203.0.113.2'),
  },
  { what: 'it keeps what it has', spec: balanced, present: ['203.0.113.2'], expected: vip('203.0.113.2') },
  {
    what: 'an address outside the pool is replaced',
    spec: balanced,
    present: ['198.51.100.1'],
    expected: vip('203.0.113.1'),
  },
  {
    what: 'the one that it asks for is given',
    spec: { ...balanced, loadBalancerIP: '203.0.113.2' },
    present: ['203.0.113.1'],
    expected: vip('203.0.113.2'),
  },
  {
    what: 'asking for a taken one gets another',
    spec: { ...balanced, loadBalancerIP: '203.0.113.2' },
    taken: ['203.0.113.2'],
    expected: vip('203.0.113.1'),
  },
  {
    what: 'a Service of two families gets one of each, in its order',
    spec: both,
    present: ['203.0.113.2'],
    expected: vip('2001:db8:113::101', '203.0.113.2'),
  },
  {
    what: 'an empty pool says so',
    spec: balanced,
    taken: ['203.0.113.1', '203.0.113.2'],
    expected: { kind: 'exhausted', because: 'all load-balancer addresses of 203.0.113.0/30 are taken' },
  },
  {
    what: 'a Service that is no load balancer any more gives its addresses back',
    spec: {},
    present: ['203.0.113.1'],
    expected: { kind: 'given', ingress: [] },
  },
  {
    what: 'a Service of a class is left to its controller',
    spec: { ...balanced, loadBalancerClass: 'example.com/other' },
    present: ['198.51.100.1'],
    expected: { kind: 'none' },
  },
];
for (const { what, spec, present = [], taken = [], expected } of cases)
  test(`load-balancer addresses: ${what}`, () => {
    const service = exampleService(spec);
    const ingress = present.map((ip) => ({ ip, ipMode: 'VIP' }));
    const result = loadBalancing({ ...service, status: { loadBalancer: { ingress } } }, POOL, (address) =>
      taken.includes(address),
    );
    assert.deepEqual(result, expected);
  });

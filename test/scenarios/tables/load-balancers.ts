// Load balancers, source ranges, protocols (I).
import type { Scenario, ServiceGiven } from '../scenario.ts';
import { EPS, plain, SA } from './services.ts';

const ranged = (ranges: readonly string[], more: Partial<ServiceGiven> = {}): ServiceGiven => ({
  clusterIP: '10.96.0.30',
  port: 443,
  nodePort: 31030,
  vips: ['198.18.0.30', '198.18.0.31'],
  externalIPs: ['203.0.113.30'],
  endpoints: EPS,
  ...more,
  spec: { loadBalancerSourceRanges: ranges, ...more.spec },
});
const RANGES = ['192.0.2.0/24', ' 198.51.100.0/25', '192.0.3.0/24'];

export const loadBalancers: readonly Scenario[] = [
  {
    id: 'S233 S234 S235 S236 S239 S240 S241 S117 B064 B067',
    title: 'source ranges hold for every load-balancer address, and for no other frontend',
    services: { L: ranged(RANGES) },
    packets: [
      'X -> L.vip : EL ER M',
      'X -> L.vip2 : EL ER M',
      'B -> L.vip : silence',
      'B -> L.vip2 : silence',
      'P -> L.vip : silence',
      'n1 -> L.vip : EL ER M',
      'n1 -> L.vip2 : EL ER M',
      'B -> L.node : EL ER M',
      'B -> L.ext : EL ER M',
      'P -> L : EL ER -',
    ],
  },
  {
    id: 'S242 S119',
    title: 'a /0 is no restriction',
    services: { L: ranged(['198.51.100.0/25', '0.0.0.0/0']) },
    packets: ['B -> L.vip : EL ER M'],
  },
  {
    id: 'S243 B063',
    title: 'ranges come and go on a live Service',
    services: { L: ranged([]) },
    packets: ['B -> L.vip : EL ER M'],
    steps: [
      {
        title: 'added',
        services: { L: ranged(RANGES) },
        packets: ['B -> L.vip : silence', 'X -> L.vip : EL ER M'],
      },
      {
        title: 'other ones',
        services: { L: ranged(['203.0.113.0/24']) },
        packets: ['B -> L.vip : EL ER M', 'X -> L.vip : silence'],
      },
      {
        title: 'removed',
        services: { L: ranged([]) },
        packets: ['X -> L.vip : EL ER M', 'B -> L.vip : EL ER M'],
      },
    ],
  },
  {
    id: 'S244 S118',
    title: 'ranges of the other family alone are no restriction',
    services: { L: ranged(['2001:db8::/32']) },
    packets: ['B -> L.vip : EL ER M'],
  },
  {
    id: 'S245',
    differs: { iptables: { 'B -> L.vip': 'refused' } },
    title: 'without endpoints those outside the ranges are dropped and the others refused',
    services: { L: ranged(RANGES, { endpoints: '' }) },
    packets: ['B -> L.vip : silence', 'X -> L.vip : refused'],
  },
  {
    id: 'B065 B066',
    title: 'ranges of one Service leave other Services alone, on the same address and on others',
    services: {
      a: {
        clusterIP: '10.96.0.31',
        port: 7101,
        vips: ['203.0.113.72'],
        spec: { loadBalancerSourceRanges: ['198.51.100.0/24'] },
        endpoints: 'EL',
      },
      b: { clusterIP: '10.96.0.32', port: 8101, vips: ['203.0.113.72'], endpoints: 'ER' },
      c: { clusterIP: '10.96.0.33', port: 80, vips: ['203.0.113.73'], endpoints: 'ER' },
    },
    packets: [
      'B -> a.vip : silence',
      'X -> a.vip : EL M',
      'B -> b.vip : ER M',
      'n1 -> b.vip : ER M',
      'B -> c.vip : ER M',
    ],
  },
  {
    id: 'S246 S115 B059',
    title: 'an address with ipMode Proxy is left to the network',
    services: {
      L: {
        ...SA,
        vips: [
          { ip: '198.18.0.9', ipMode: 'Proxy' },
          { ip: '198.18.0.8', ipMode: 'VIP' },
        ],
      },
    },
    packets: ['P -> L.vip : untouched', 'P -> L.vip2 : EL ER M'],
  },
  {
    id: 'S247',
    title: 'a load balancer without node ports',
    services: {
      L: {
        clusterIP: '10.96.0.21',
        port: 80,
        vips: ['198.18.0.21'],
        spec: { allocateLoadBalancerNodePorts: false },
        endpoints: EPS,
      },
    },
    packets: ['X -> L.vip : EL ER M'],
  },
  {
    id: 'S248',
    title: 'the load-balancer address changes',
    services: { L: SA },
    packets: ['X -> L.vip : EL ER M'],
    steps: [
      {
        title: 'another',
        services: { L: { ...SA, vips: ['198.18.0.32'] } },
        packets: ['X -> L.vip : EL ER M', 'X -> 198.18.0.21:80 : untouched'],
      },
    ],
  },
  {
    id: 'S250',
    differs: { iptables: { 'P -> S': 'untouched' } },
    title: 'a protocol that the Service does not have is refused',
    services: { S: plain('EL', { spec: { ports: [{ name: 'tcp', port: 80, protocol: 'TCP' }] } }) },
    protocols: ['UDP'],
    packets: ['P -> S : refused'],
  },
  {
    id: 'S251 B158',
    title: 'a port that the Service does not have is refused, also to outsiders',
    services: { S: plain('EL'), T: { clusterIP: '10.96.0.11', port: 81, endpoints: 'ER' } },
    packets: ['P -> S:81 : refused', 'X -> S:22 : refused', 'P -> T : ER -'],
  },
  {
    id: 'S252',
    title: 'an address of the ServiceCIDR that no Service has is dropped',
    serviceCidrs: ['10.96.0.0/16'],
    services: { S: plain('EL') },
    packets: ['P -> 10.96.77.77:80 : silence', 'P -> S : EL -'],
  },
  {
    id: 'S253 B079',
    protocols: ['TCP', 'UDP'],
    title: 'the port of the slice is the target, whatever targetPort says',
    services: {
      S: plain('EL', {
        spec: {
          ports: [
            { name: 'tcp', port: 80, targetPort: 80 },
            { name: 'udp', port: 80, protocol: 'UDP' },
          ],
        },
      }),
    },
    packets: ['P -> S : EL -'],
  },
  {
    id: 'S254 S137',
    protocols: ['TCP', 'UDP'],
    title: 'endpoints of one name with different ports',
    services: {
      S: plain('', {
        slices: [
          {
            ports: [
              { name: 'tcp', port: 8080 },
              { name: 'udp', port: 8080, protocol: 'UDP' },
            ],
            endpoints: [{ addresses: ['10.50.1.7'] }],
          },
          {
            ports: [
              { name: 'tcp', port: 9090 },
              { name: 'udp', port: 9090, protocol: 'UDP' },
            ],
            endpoints: [{ addresses: ['10.50.2.7'] }],
          },
        ],
      }),
    },
    packets: ['P -> S : EL ER:9090 -'],
  },
  {
    id: 'S138 S139 B078',
    title: 'slice ports without number or name give no endpoints',
    services: {
      S: plain('', {
        slices: [{ ports: [{ name: 'tcp' }, { port: 8080 }], endpoints: [{ addresses: ['10.50.1.7'] }] }],
      }),
    },
    packets: ['P -> S : refused'],
  },
  {
    id: 'S159',
    title: 'a slice port of another name is no endpoint',
    services: {
      S: plain('', {
        slices: [{ ports: [{ name: 'r', port: 8080 }], endpoints: [{ addresses: ['10.50.1.7'] }] }],
      }),
    },
    packets: ['P -> S : refused'],
  },
  {
    id: 'S134 S135 S136 B075',
    title: 'several slices are one list',
    services: {
      S: plain('', {
        slices: [
          {
            endpoints: [
              { addresses: ['10.50.1.7'] },
              { addresses: ['10.50.2.7'], conditions: { ready: false, serving: true, terminating: true } },
            ],
          },
          { endpoints: [{ addresses: ['10.50.2.7'] }] },
        ],
      }),
    },
    packets: ['P -> S : EL ER -'],
  },
];

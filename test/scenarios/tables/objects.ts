// Services and slices of every legal shape (D, E, H, I and Q).
import type { JsonObject } from '../../../src/model/decode.ts';
import { PROTOCOLS, type Protocol } from '../../../src/model/service.ts';
import type { Scenario } from '../scenario.ts';
import { plain, SA } from './services.ts';

/** One port number, for each protocol another endpoint. */
const THREE_WAYS: Readonly<Record<Protocol, { readonly name: string; readonly address: string }>> = {
  TCP: { name: 'EL', address: '10.50.1.7' },
  UDP: { name: 'ER', address: '10.50.2.7' },
  SCTP: { name: 'c', address: '10.50.2.1' },
};
const unnamed = (port: number): readonly JsonObject[] =>
  PROTOCOLS.map((protocol) => ({ name: protocol === 'TCP' ? '' : protocol.toLowerCase(), protocol, port }));

export const objects: readonly Scenario[] = [
  ...PROTOCOLS.map(
    (protocol): Scenario => ({
      id: 'S108 S249 B072',
      title: `ports of one number are separate by protocol: ${protocol}`,
      services: {
        S: plain('', {
          port: 53,
          slices: PROTOCOLS.map((one) => ({
            ports: [{ name: one.toLowerCase(), protocol: one, port: 8080 }],
            endpoints: [{ addresses: [THREE_WAYS[one].address] }],
          })),
        }),
      },
      protocols: [protocol],
      packets: [`P -> S : ${THREE_WAYS[protocol].name} -`],
    }),
  ),
  {
    id: 'S109',
    title: 'a port without name meets the slice port without name',
    services: {
      S: plain('', {
        spec: { ports: unnamed(80) },
        slices: [{ ports: unnamed(8080), endpoints: [{ addresses: ['10.50.1.7'] }] }],
      }),
    },
    packets: ['P -> S : EL -'],
  },
  {
    id: 'S116',
    title: 'a load balancer that has a host name alone has no address; one with both has the address',
    services: { L: { ...SA, vips: [{ hostname: 'lb.example.org' }, { ip: '198.18.0.21' }] } },
    packets: ['X -> L.vip2 : EL ER M', 'P -> L : EL ER -'],
    steps: [
      {
        title: 'the address goes',
        services: { L: { ...SA, vips: [{ hostname: 'lb.example.org' }] } },
        packets: ['X -> 198.18.0.21:80 : untouched', 'P -> L : EL ER -'],
      },
    ],
  },
  {
    id: 'S133',
    title: 'two ports, each with its own target on every endpoint',
    services: {
      S: plain('', {
        spec: {
          ports: [
            { name: 'p', port: 80 },
            { name: 'q', port: 443 },
          ],
        },
        slices: [
          {
            ports: [
              { name: 'p', port: 8080 },
              { name: 'q', port: 9090 },
            ],
            endpoints: [
              { addresses: ['10.50.1.7'], nodeName: 'n1' },
              { addresses: ['10.50.2.7'] },
              { addresses: ['10.50.2.1'] },
            ],
          },
        ],
      }),
    },
    protocols: ['TCP'],
    packets: ['P -> S : EL ER c -', 'P -> S:443 : EL:9090 ER:9090 c:9090 -'],
  },
  {
    id: 'S232',
    title: 'when the Pods are evicted, connections are refused, not left to time out',
    services: { SA },
    packets: ['P -> SA : EL ER -'],
    steps: [
      {
        title: 'evicted',
        services: { SA: { ...SA, endpoints: 'EL- ER-' } },
        packets: ['P -> SA : refused', 'X -> SA.vip : refused', 'X -> SA.node : refused'],
      },
    ],
  },
  {
    id: 'S416',
    title: 'a Service that begins without ready endpoints works as soon as there is one',
    services: { S: plain('EL-') },
    packets: ['P -> S : refused'],
    steps: [{ title: 'ready', services: { S: plain('EL') }, packets: ['P -> S : EL -'] }],
  },
  {
    id: 'S421',
    title: 'Pods with the network of their node, of this one and of another',
    services: { S: plain('h1 h2') },
    packets: ['P -> S : h1 h2 -'],
  },
  {
    id: 'S422',
    title: 'an ExternalName becomes a ClusterIP with node port, and goes back',
    services: { S: plain('EL', { spec: { type: 'ExternalName' } }) },
    packets: ['P -> 10.96.0.10:80 : untouched'],
    steps: [
      {
        title: 'node port',
        services: { S: plain('EL', { nodePort: 31010 }) },
        packets: ['P -> S : EL -', 'X -> S.node : EL M'],
      },
      {
        title: 'back',
        services: { S: plain('EL', { spec: { type: 'ExternalName' } }) },
        packets: ['P -> 10.96.0.10:80 : untouched', 'X -> 192.0.2.11:31010 : untouched'],
      },
    ],
  },
  {
    id: 'S110 S111 S432',
    title: 'a dual-stack Service: each family has its ClusterIP, and only the one with slices is served',
    services: {
      S: plain('EL', {
        spec: { ipFamilies: ['IPv6', 'IPv4'], clusterIPs: ['fd00:96::10', '10.96.0.10'] },
      }),
    },
    packets: ['P -> S : EL -'],
    steps: [
      {
        title: 'only slices of the other family are left',
        services: {
          S: plain('', {
            spec: { ipFamilies: ['IPv6', 'IPv4'], clusterIPs: ['fd00:96::10', '10.96.0.10'] },
            slices: [{ addressType: 'IPv6', endpoints: [{ addresses: ['fd00:50:1::7'] }] }],
          }),
        },
        packets: ['P -> S : refused'],
      },
    ],
  },
];

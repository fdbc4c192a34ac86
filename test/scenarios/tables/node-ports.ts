// Node ports (J).
import type { Scenario } from '../scenario.ts';
import { plain, SA } from './services.ts';

export const nodePorts: readonly Scenario[] = [
  {
    id: 'S255 S262',
    differs: { iptables: { 'n1 -> 127.0.0.1:31021': { IPv4: 'EL ER M' } } },
    // SCTP does not talk from another address to loopback.
    protocols: ['TCP', 'UDP'],
    title: 'all addresses of the node serve node ports, loopback does not',
    services: { SA },
    packets: [
      'X -> 192.0.2.11:31021 : EL ER M',
      'X -> 192.0.3.11:31021 : EL ER M',
      'n1 -> 127.0.0.1:31021 : untouched',
    ],
  },
  {
    id: 'S256 S263 B094',
    title: 'only listed addresses serve node ports',
    nodePortAddresses: ['192.0.2.11'],
    services: { SA },
    packets: ['X -> 192.0.2.11:31021 : EL ER M', 'X -> 192.0.3.11:31021 : untouched'],
  },
  {
    id: 'S265',
    title: 'an empty list serves none',
    nodePortAddresses: [],
    services: { SA },
    packets: ['X -> 192.0.2.11:31021 : untouched', 'X -> SA.vip : EL ER M'],
  },
  {
    id: 'S268 B071',
    title: 'a node port changes',
    services: { SA },
    packets: ['X -> SA.node : EL ER M'],
    steps: [
      {
        title: 'to 31055',
        services: { SA: { ...SA, nodePort: 31055 } },
        packets: ['X -> 192.0.2.11:31055 : EL ER M', 'X -> 192.0.2.11:31021 : untouched'],
      },
    ],
  },
  {
    id: 'S269',
    title: 'one node port number, TCP of one Service and UDP of another',
    services: {
      T: {
        clusterIP: '10.96.0.41',
        port: 80,
        endpoints: 'EL',
        spec: { type: 'NodePort', ports: [{ name: 'tcp', port: 80, nodePort: 31077 }] },
      },
      U: {
        clusterIP: '10.96.0.42',
        port: 80,
        endpoints: 'ER',
        spec: { type: 'NodePort', ports: [{ name: 'udp', port: 80, nodePort: 31077, protocol: 'UDP' }] },
      },
    },
    protocols: ['TCP'],
    packets: ['X -> 192.0.2.11:31077 : EL M'],
  },
  {
    id: 'S269',
    title: 'and the other way round',
    services: {
      T: {
        clusterIP: '10.96.0.41',
        port: 80,
        endpoints: 'EL',
        spec: { type: 'NodePort', ports: [{ name: 'tcp', port: 80, nodePort: 31077 }] },
      },
      U: {
        clusterIP: '10.96.0.42',
        port: 80,
        endpoints: 'ER',
        spec: { type: 'NodePort', ports: [{ name: 'udp', port: 80, nodePort: 31077, protocol: 'UDP' }] },
      },
    },
    protocols: ['UDP'],
    packets: ['X -> 192.0.2.11:31077 : ER M'],
  },
  {
    id: 'S125',
    title: 'a node port of a Service of type ClusterIP is served',
    services: { S: plain('EL', { nodePort: 31099, spec: { type: 'ClusterIP' } }) },
    packets: ['X -> S.node : EL M'],
  },
];

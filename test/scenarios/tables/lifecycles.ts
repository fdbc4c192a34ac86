// Objects as they come and go (D, E and R).
import type { Scenario } from '../scenario.ts';
import { ETP, external, plain } from './services.ts';

export const lifecycles: readonly Scenario[] = [
  {
    id: 'S105 S106 S107',
    title: 'headless, pending and ExternalName Services have no frontends',
    services: { H: plain('EL', { clusterIP: 'None' }), E: plain('EL', { spec: { type: 'ExternalName' } }) },
    packets: ['P -> 10.96.0.10:80 : untouched'],
  },
  {
    id: 'S113 S114 B070',
    title: 'blank and broken external IPs are left out',
    services: { S: plain('EL', { externalIPs: ['203.0.113.9', '', 'junk', '2001:db8::9'] }) },
    packets: ['X -> S.ext : EL M', 'P -> S : EL -'],
  },
  {
    id: 'S127 S154',
    title: 'leading zeros are decimal',
    ipv4Only: 'only IPv4 has the decimal notation that old parsers read as octal',
    services: {
      S: plain('', {
        clusterIP: '10.096.0.021',
        vips: ['198.18.0.007'],
        slices: [{ endpoints: [{ addresses: ['10.050.01.007'] }] }],
      }),
    },
    packets: ['P -> 10.96.0.21:80 : EL -', 'X -> 198.18.0.7:80 : EL M'],
  },
  {
    id: 'S131',
    title: 'a removed port is refused, the others stay',
    services: {
      S: plain('EL', {
        spec: {
          ports: [
            { name: 'tcp', port: 80 },
            { name: 'tcp', port: 81 },
          ],
        },
      }),
    },
    protocols: ['TCP'],
    packets: ['P -> S : EL -', 'P -> S:81 : EL -'],
    steps: [
      {
        title: 'port 81 is removed',
        services: { S: plain('EL', { spec: { ports: [{ name: 'tcp', port: 80 }] } }) },
        packets: ['P -> S : EL -', 'P -> S:81 : refused'],
      },
    ],
  },
  {
    id: 'S132',
    title: 'a recreated Service has its new ClusterIP only',
    services: { S: plain('EL') },
    packets: ['P -> S : EL -'],
    steps: [
      {
        title: 'recreated',
        services: { S: plain('EL', { clusterIP: '10.96.0.77' }) },
        packets: ['P -> S : EL -', 'P -> 10.96.0.10:80 : untouched'],
      },
    ],
  },
  {
    id: 'S130 S422',
    title: 'a Service becomes a load balancer and goes back',
    services: { S: plain('EL') },
    packets: ['P -> S : EL -', 'X -> 198.18.0.10:80 : untouched'],
    steps: [
      {
        title: 'load balancer',
        services: { S: external('EL') },
        packets: ['X -> S.vip : EL M', 'X -> S.node : EL M'],
      },
      {
        title: 'back',
        services: { S: plain('EL') },
        packets: ['X -> 198.18.0.10:80 : untouched', 'X -> 192.0.2.11:31010 : untouched', 'P -> S : EL -'],
      },
    ],
  },
  {
    id: 'S140 S141 S144',
    title: 'only the first address of an endpoint counts, and none without',
    services: {
      S: plain('', {
        slices: [{ endpoints: [{ addresses: [] }, { addresses: ['10.50.1.7', '10.50.2.7'] }] }],
      }),
    },
    packets: ['P -> S : EL -'],
  },
  {
    id: 'S142 S143',
    title: 'conditions that are not given',
    services: {
      S: plain('', {
        slices: [
          {
            endpoints: [
              { addresses: ['10.50.1.7'], conditions: {} },
              { addresses: ['10.50.2.7'], conditions: { ready: false, terminating: true } },
            ],
          },
        ],
      }),
    },
    packets: ['P -> S : EL -'],
  },
  {
    id: 'S145 S146 S147',
    title: 'slices of another family, of names, or of no Service are no endpoints',
    services: {
      S: plain('', {
        slices: [
          { addressType: 'FQDN', endpoints: [{ addresses: ['example.org'] }] },
          { endpoints: [{ addresses: ['10.50.1.7'] }] },
        ],
      }),
    },
    packets: ['P -> S : EL -'],
  },
  {
    id: 'S152',
    title: 'one of two slices goes',
    services: {
      S: plain('', {
        slices: [
          { endpoints: [{ addresses: ['10.50.1.7'] }] },
          { endpoints: [{ addresses: ['10.50.2.7'] }] },
        ],
      }),
    },
    packets: ['P -> S : EL ER -'],
    steps: [
      {
        title: 'the second is gone',
        services: { S: plain('', { slices: [{ endpoints: [{ addresses: ['10.50.1.7'] }] }] }) },
        packets: ['P -> S : EL -'],
      },
    ],
  },
  {
    id: 'S459 S460 S230',
    title: 'a Service goes and comes back while its slices stay',
    services: { S: plain('EL') },
    packets: ['P -> S : EL -'],
    steps: [
      { title: 'gone', services: { S: null }, packets: ['P -> 10.96.0.10:80 : untouched'] },
      { title: 'back', services: { S: plain('EL') }, packets: ['P -> S : EL -'] },
    ],
  },
  {
    id: 'S457',
    title: 'a Service port is renamed together with its slices',
    services: { S: plain('EL') },
    protocols: ['TCP'],
    packets: ['P -> S : EL -'],
    steps: [
      {
        title: 'renamed',
        services: {
          S: plain('', {
            spec: { ports: [{ name: 'web', port: 80 }] },
            slices: [{ ports: [{ name: 'web', port: 8080 }], endpoints: [{ addresses: ['10.50.2.7'] }] }],
          }),
        },
        packets: ['P -> S : ER -'],
      },
    ],
  },
  {
    id: 'S455',
    title: 'a single endpoint',
    services: { S: plain('ER') },
    packets: ['P -> S : ER -', 'n1 -> S : ER M'],
  },
  {
    id: 'S456 S306 S307',
    title: 'one pod behind two Services reaches itself by both, still after one has gone',
    services: { S: plain('EL'), T: { clusterIP: '10.96.0.11', port: 80, endpoints: 'EL' } },
    packets: ['EL -> S : EL M', 'EL -> T : EL M'],
    steps: [{ title: 'one Service goes', services: { S: null }, packets: ['EL -> T : EL M'] }],
  },
  {
    id: 'B091 B106',
    title: 'the only pod of a Service is recreated and reaches itself',
    services: { S: plain('EL') },
    packets: ['EL -> S : EL M'],
    steps: [
      { title: 'gone', services: { S: plain('') }, packets: ['EL -> S : refused'] },
      { title: 'back', services: { S: plain('EL') }, packets: ['EL -> S : EL M'] },
    ],
  },
  {
    id: 'clash',
    title: 'of two Services that claim one external IP and port the older has it',
    services: {
      young: plain('ER', { externalIPs: ['203.0.113.51'], created: '2026-02-01T00:00:00Z' }),
      old: {
        clusterIP: '10.96.0.11',
        port: 80,
        endpoints: 'EL',
        externalIPs: ['203.0.113.51'],
        created: '2026-01-01T00:00:00Z',
      },
    },
    packets: ['X -> old.ext : EL M', 'P -> young : ER -'],
    steps: [{ title: 'the older goes', services: { old: null }, packets: ['X -> young.ext : ER M'] }],
  },
  {
    id: 'B084',
    title: 'Services that share an address with different ports do not disturb each other',
    services: {
      a: plain('EL', { vips: ['203.0.113.51'] }),
      b: { clusterIP: '10.96.0.11', port: 81, vips: ['203.0.113.51'], endpoints: 'ER' },
    },
    packets: ['X -> a.vip : EL M', 'X -> b.vip : ER M'],
    steps: [
      {
        title: 'one goes',
        services: { a: null },
        packets: ['X -> b.vip : ER M', 'X -> 203.0.113.51:80 : untouched'],
      },
    ],
  },
  {
    id: 'B053',
    title: 'the external policy does not touch the ClusterIP',
    services: { S: external('ER', ETP) },
    packets: ['P -> S : ER -', 'n1 -> S : ER M'],
  },
  {
    id: 'B098',
    title: 'a pod by node port sees its answers: the way is masqueraded',
    services: { S: external('ER') },
    packets: ['P -> S.node : ER M'],
  },
];

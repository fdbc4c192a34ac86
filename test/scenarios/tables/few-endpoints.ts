// No or few endpoints (H).
import type { Scenario } from '../scenario.ts';
import { SA, SB, SC } from './services.ts';

export const fewEndpoints: readonly Scenario[] = [
  {
    id: 'S214 S215 S216 S217 B060',
    differs: { iptables: { 'n1 -> SA.ext': 'silence', 'n1 -> SA.vip': 'silence' } },
    title: 'without endpoints every frontend refuses at once',
    services: { SA: { ...SA, endpoints: '', externalIPs: ['203.0.113.21'] } },
    packets: [
      'P -> SA : refused',
      'X -> SA.vip : refused',
      'X -> SA.ext : refused',
      'P -> SA.node : refused',
      'X -> SA.node : refused',
      'n1 -> SA : refused',
      'n1 -> SA.ext : refused',
    ],
  },
  {
    id: 'S218 S219 S220 B050 B054',
    title:
      'external policy Local with only a remote endpoint: dropped for outsiders, not for pods and the node',
    services: { SB: SB('ER') },
    packets: [
      'X -> SB.vip : silence',
      'X -> SB.node : silence',
      'P -> SB.vip : ER -',
      'n1 -> SB.node : ER M',
      'n1 -> SB.vip : ER M',
      'P -> SB : ER -',
    ],
  },
  {
    id: 'S221 S222 B056',
    title: 'internal policy Local with only a remote endpoint',
    services: { SC: SC('ER') },
    packets: ['P -> SC : silence', 'n1 -> SC : silence', 'X -> SC.vip : ER M'],
  },
  {
    id: 'S226 S181 B040',
    title: 'a terminating local endpoint serves outsiders while the ClusterIP uses the ready one',
    services: { SB: SB('EL! ER') },
    packets: ['X -> SB.vip : EL -', 'P -> SB : ER -'],
  },
  {
    id: 'S227',
    title: 'a ready local endpoint beats a terminating one',
    services: { SB: SB('EL e2!') },
    packets: ['X -> SB.vip : EL -', 'P -> SB : EL -'],
  },
  {
    id: 'S228 S183',
    title: 'only a remote terminating endpoint',
    services: { SB: SB('ER!') },
    packets: ['P -> SB : ER -', 'X -> SB.vip : silence'],
  },
  {
    id: 'S229 S179',
    title: 'endpoints that neither are ready nor serve are none',
    services: { SB: SB('EL- ER-') },
    packets: ['P -> SB : refused', 'X -> SB.vip : refused'],
  },
  {
    id: 'S230 S231 B061 B062',
    title: 'endpoints leave and return',
    services: { SA },
    packets: ['P -> SA : EL ER -'],
    steps: [
      {
        title: 'all gone',
        services: { SA: { ...SA, endpoints: '' } },
        packets: ['P -> SA : refused', 'X -> SA.node : refused', 'X -> SA.vip : refused'],
      },
      {
        title: 'one is back',
        services: { SA: { ...SA, endpoints: 'ER' } },
        packets: ['P -> SA : ER -', 'X -> SA.node : ER M', 'X -> SA.vip : ER M'],
      },
      { title: 'both are back', services: { SA }, packets: ['P -> SA : EL ER -', 'X -> SA.vip : EL ER M'] },
    ],
  },
  {
    id: 'S433',
    title: 'slices of the other family are no endpoints',
    services: {
      SA: {
        ...SA,
        endpoints: '',
        slices: [{ addressType: 'IPv6', endpoints: [{ addresses: ['fd00:50:1::7'] }] }],
      },
    },
    packets: ['P -> SA : refused'],
  },
];

// Which endpoints are chosen (F).
import type { Scenario } from '../scenario.ts';
import { ETP, external, ITP, plain } from './services.ts';

export const choice: readonly Scenario[] = [
  { id: 'S162', title: 'zone hints', services: { S: plain('a:za c:zb d:za') }, packets: ['P -> S : a d -'] },
  {
    id: 'S163',
    title: 'one endpoint without hint cancels the hints',
    services: { S: plain('a:za c d:za') },
    packets: ['P -> S : a c d -'],
  },
  {
    id: 'S164',
    title: 'no hint for this zone',
    services: { S: plain('a:zb c:zc') },
    packets: ['P -> S : a c -'],
  },
  {
    id: 'S167',
    title: 'an unready endpoint is not used, whatever its hint',
    services: { S: plain('a:za d-:za') },
    packets: ['P -> S : a -'],
  },
  {
    id: 'S168 B086',
    title: 'all endpoints of this zone unready',
    services: { S: plain('a-:za c:zb d:zc') },
    packets: ['P -> S : c d -'],
  },
  {
    id: 'S169',
    title: 'an unready endpoint without hint does not cancel the hints',
    services: { S: plain('a:za b- c:zb') },
    packets: ['P -> S : a -'],
  },
  {
    id: 'S170',
    title: 'hints for several zones',
    services: { S: plain('a:za,zb c:zb') },
    packets: ['P -> S : a -'],
  },
  {
    id: 'S171 S420',
    title: 'node hints come before zone hints, and fall back when that endpoint goes',
    services: { S: plain('a:za@n1 c:za@n2') },
    packets: ['P -> S : a -'],
    steps: [
      { title: 'it is gone', services: { S: plain('c:za@n2') }, packets: ['P -> S : c -'] },
      { title: 'it is back', services: { S: plain('a:za@n1 c:za@n2') }, packets: ['P -> S : a -'] },
    ],
  },
  {
    id: 'S172',
    title: 'node hints for other nodes leave the zone to decide',
    services: { S: plain('a:za@n2 c:za@n3 d:zb@n2') },
    packets: ['P -> S : a c -'],
  },
  {
    id: 'S173',
    title: 'one missing node hint means zone mode',
    services: { S: plain('a:za@n1 c:za d:zb@n2') },
    packets: ['P -> S : a c -'],
  },
  {
    id: 'S174',
    title: 'hints do not apply to local lists of external frontends',
    services: { S: external('a:za b:zb c:za', ETP) },
    packets: ['P -> S : a c -', 'X -> S.vip : a b -', 'P -> S.vip : a c -'],
  },
  {
    id: 'S175',
    title: 'nor to those of the internal policy',
    services: { S: external('a:za b:zb c:za', ITP) },
    packets: ['P -> S : a b -', 'X -> S.vip : a c M'],
  },
  {
    id: 'S176',
    title: 'internal policy Local, not external',
    services: { S: plain('a c', { spec: ITP }) },
    packets: ['P -> S : a -'],
  },
  {
    id: 'S177',
    title: 'internal policy Local, none here',
    services: { S: plain('c d', { spec: ITP }) },
    packets: ['P -> S : silence'],
  },
  {
    id: 'S178',
    title: 'both policies Local, none here',
    services: { S: external('c d', { ...ETP, ...ITP }) },
    packets: ['P -> S : silence', 'X -> S.vip : silence', 'P -> S.vip : c d -'],
  },
  {
    id: 'S180 S185',
    title: 'all terminating: all serve, hints do not count',
    services: { S: plain('a!:za b! c!:zb') },
    packets: ['P -> S : a b c -'],
  },
  {
    id: 'S182',
    title: 'terminating without serving is no fallback',
    services: { S: plain('a- c!') },
    packets: ['P -> S : c -'],
  },
  {
    id: 'S184 S123',
    title: 'the external policy of a Service without external frontends has no effect',
    services: { S: plain('c', { spec: ETP }) },
    packets: ['P -> S : c -'],
  },
  {
    id: 'S186 S423',
    title: 'ready though terminating counts as ready',
    services: { S: plain('a~ c!') },
    packets: ['P -> S : a -'],
  },
  { id: 'S187', title: 'no endpoints', services: { S: plain('') }, packets: ['P -> S : refused'] },
  {
    id: 'S478',
    title: 'a topology annotation or trafficDistribution without hints has no effect',
    services: { S: plain('a c', { spec: { trafficDistribution: 'PreferSameZone' } }) },
    packets: ['P -> S : a c -'],
  },
];

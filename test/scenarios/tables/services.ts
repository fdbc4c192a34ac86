// Services that several tables share.
import type { JsonObject } from '../../../src/model/decode.ts';
import type { ServiceGiven } from '../scenario.ts';

export const EPS: string = 'EL ER';
export const lb = (
  clusterIP: string,
  nodePort: number,
  vip: string,
  spec: ServiceGiven['spec'] = {},
  endpoints: string = EPS,
): ServiceGiven => ({
  clusterIP,
  port: 80,
  nodePort,
  vips: [vip],
  spec,
  endpoints,
});
export const SA: ServiceGiven = lb('10.96.0.21', 31021, '198.18.0.21');
export const SB = (endpoints: string = EPS): ServiceGiven =>
  lb('10.96.0.22', 31022, '198.18.0.22', { externalTrafficPolicy: 'Local' }, endpoints);
export const SC = (endpoints: string = EPS): ServiceGiven =>
  lb('10.96.0.23', 31023, '198.18.0.23', { internalTrafficPolicy: 'Local' }, endpoints);
export const plain = (endpoints: string, more: Partial<ServiceGiven> = {}): ServiceGiven => ({
  clusterIP: '10.96.0.10',
  port: 80,
  endpoints,
  ...more,
});
export const external = (endpoints: string, spec: ServiceGiven['spec'] = {}): ServiceGiven =>
  lb('10.96.0.10', 31010, '198.18.0.10', spec, endpoints);
export const ETP: JsonObject = { externalTrafficPolicy: 'Local' };
export const ITP: JsonObject = { internalTrafficPolicy: 'Local' };

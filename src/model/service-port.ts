// The words that plan, backends and observers share: ServicePort, Endpoint, Frontend.
import type { Address, Family } from './address.ts';
import type { Protocol } from './service.ts';

/** One port of one Service for one IP family: the unit of planning. */
export interface ServicePort {
  readonly family: Family;
  readonly namespace: string;
  readonly name: string;
  /** Empty for the one unnamed port. */
  readonly portName: string;
  readonly protocol: Protocol;
}

/** `family/namespace/name/portName/protocol`; upstream too keeps a port name of two protocols apart. */
export function servicePortKey(port: ServicePort): string {
  return `${port.family}/${port.namespace}/${port.name}/${port.portName}/${port.protocol}`;
}

/** As people write it: `namespace/name:port`, without colon for the unnamed port. */
export function servicePortText(port: ServicePort): string {
  return `${port.namespace}/${port.name}${port.portName === '' ? '' : `:${port.portName}`}`;
}

/** Where a new connection may go. */
export interface Endpoint {
  readonly address: Address;
  readonly port: number;
  /** It runs on this node. */
  readonly local: boolean;
}

/** `10.0.0.1:80`, `[fd00::1]:80`: the identity of an endpoint within a ServicePort. */
export function endpointText(endpoint: { readonly address: Address; readonly port: number }): string {
  return endpoint.address.includes(':')
    ? `[${endpoint.address}]:${endpoint.port}`
    : `${endpoint.address}:${endpoint.port}`;
}

/** An address that a packet may be sent to. A node port stands for any node address that serves node ports. */
export type Frontend =
  | {
      readonly kind: 'cluster-ip' | 'external-ip' | 'load-balancer-ip';
      readonly family: Family;
      readonly address: Address;
      readonly protocol: Protocol;
      readonly port: number;
    }
  | {
      readonly kind: 'node-port';
      readonly family: Family;
      readonly protocol: Protocol;
      readonly port: number;
    };

/** `10.96.0.1/TCP/80`, `nodeport/IPv4/TCP/30080`. One key is one place in the kernel, whatever its kind. */
export type FrontendKey = string;

export function frontendKey(frontend: Frontend): FrontendKey {
  return frontend.kind === 'node-port'
    ? `nodeport/${frontend.family}/${frontend.protocol}/${frontend.port}`
    : `${frontend.address}/${frontend.protocol}/${frontend.port}`;
}

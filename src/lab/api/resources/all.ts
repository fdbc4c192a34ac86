// Every resource that the server has.
import type { Resource } from './definition.ts';
import { ENDPOINT_SLICES } from './endpoint-slice.ts';
import { ENDPOINTS } from './endpoints.ts';
import { CORE_EVENTS, NEW_EVENTS } from './event.ts';
import { IP_ADDRESSES, SERVICE_CIDRS } from './ip-address.ts';
import { LEASES } from './lease.ts';
import { NAMESPACES } from './namespace.ts';
import { NODES } from './node.ts';
import { CONFIG_MAPS, SECRETS, SERVICE_ACCOUNTS } from './plain.ts';
import { PODS } from './pod/pod.ts';
import { SERVICES } from './service/service.ts';

/** The resources with objects of their own, in the order of discovery. */
export const RESOURCES: readonly Resource[] = [
  CONFIG_MAPS,
  ENDPOINTS,
  CORE_EVENTS,
  NAMESPACES,
  NODES,
  PODS,
  SECRETS,
  SERVICE_ACCOUNTS,
  SERVICES,
  IP_ADDRESSES,
  SERVICE_CIDRS,
  LEASES,
  ENDPOINT_SLICES,
];

/** Other forms of those: they share the objects and have paths of their own. */
export const VIEWS: readonly Resource[] = [NEW_EVENTS];

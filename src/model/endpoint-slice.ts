// An EndpointSlice as we use it (discovery/v1; behaviour spec 2; KEP-752, KEP-1672, KEP-2433).
import { type Address, type Family, familyOf, parseAddress } from './address.ts';
import {
  arrayAt,
  booleanAt,
  type Decoded,
  isObject,
  type JsonObject,
  objectAt,
  type Problem,
  shown,
  stringAt,
  unusable,
} from './decode.ts';
import { isPort, type Protocol, protocolOf, type ServiceKey, serviceKey } from './service.ts';

/** A port that all endpoints of the slice have. */
export interface PortOfSlice {
  readonly name: string;
  readonly protocol: Protocol;
  readonly port: number;
}

/**
 * `ready`: takes new connections. `terminating`: on its way out but still serving, the fallback of KEP-1669.
 * `down`: neither.
 */
export type EndpointState = 'ready' | 'terminating' | 'down';

export interface EndpointOfSlice {
  readonly address: Address;
  readonly state: EndpointState;
  /** conditions.terminating as given: of two copies of one endpoint the one that is not terminating wins. */
  readonly leaving: boolean;
  /** conditions.serving, which is true when absent: decides whether its UDP flows may live on. */
  readonly serving: boolean;
  /** Empty when unknown: such an endpoint is remote. */
  readonly node: string;
  /** Where the endpoint is, for people; not used to choose. */
  readonly zone: string;
  readonly zoneHints: readonly string[];
  readonly nodeHints: readonly string[];
}

export interface EndpointSlice {
  readonly namespace: string;
  readonly name: string;
  /** The Service it belongs to, from label kubernetes.io/service-name. */
  readonly service: ServiceKey;
  readonly family: Family;
  readonly managedBy: string;
  readonly ports: readonly PortOfSlice[];
  readonly endpoints: readonly EndpointOfSlice[];
  /** Annotation endpoints.kubernetes.io/last-change-trigger-time in ms since 1970, 0 when absent. */
  readonly triggeredAt: number;
}

export const sliceKey = (slice: { readonly namespace: string; readonly name: string }): string =>
  `${slice.namespace}/${slice.name}`;

const NONE: readonly string[] = [];

/** Reads a discovery/v1 EndpointSlice. Parts that cannot be used are named in `problems`; the rest is used. */
export function decodeEndpointSlice(object: unknown): Decoded<EndpointSlice> {
  if (!isObject(object)) return unusable('', `is ${shown(object)}, not an object`);
  const metadata = objectAt(object, 'metadata');
  const namespace = stringAt(metadata, 'namespace');
  const name = stringAt(metadata, 'name');
  if (!namespace || !name) return unusable('metadata', 'has no namespace or name');
  const labels = objectAt(metadata, 'labels');
  const service = stringAt(labels, 'kubernetes.io/service-name');
  if (!service) return unusable('metadata.labels', 'has no kubernetes.io/service-name');
  const family = object.addressType;
  if (family !== 'IPv4' && family !== 'IPv6')
    return unusable('addressType', `is ${shown(family)}, not IPv4 or IPv6`);
  const problems: Problem[] = [];
  const trigger = stringAt(
    objectAt(metadata, 'annotations'),
    'endpoints.kubernetes.io/last-change-trigger-time',
  );
  return {
    kind: 'decoded',
    value: {
      namespace,
      name,
      service: serviceKey(namespace, service),
      family,
      managedBy: stringAt(labels, 'endpointslice.kubernetes.io/managed-by') ?? '',
      ports: portsOf(object, problems),
      endpoints: endpointsOf(object, family, problems),
      triggeredAt: Date.parse(trigger ?? '') || 0,
    },
    problems,
  };
}

/** A port without number does not mean all ports, as upstream; one without name is left out too. */
function portsOf(object: JsonObject, problems: Problem[]): PortOfSlice[] {
  const ports: PortOfSlice[] = [];
  for (const [index, item] of arrayAt(object, 'ports').entries()) {
    const field = `ports[${index}]`;
    if (!isObject(item)) {
      problems.push({ field, because: `is ${shown(item)}, not an object` });
      continue;
    }
    const protocol = protocolOf(item.protocol ?? 'TCP');
    const port = item.port;
    const name = item.name;
    if (typeof name !== 'string')
      problems.push({ field: `${field}.name`, because: `is ${shown(name)}, not a string` });
    else if (protocol === undefined)
      problems.push({
        field: `${field}.protocol`,
        because: `is ${shown(item.protocol)}, not TCP, UDP or SCTP`,
      });
    else if (!isPort(port))
      problems.push({ field: `${field}.port`, because: `is ${shown(port)}, not a port from 1 to 65535` });
    else ports.push({ name, protocol, port });
  }
  return ports;
}

function endpointsOf(object: JsonObject, family: Family, problems: Problem[]): EndpointOfSlice[] {
  const endpoints: EndpointOfSlice[] = [];
  for (const [index, item] of arrayAt(object, 'endpoints').entries()) {
    const field = `endpoints[${index}]`;
    if (!isObject(item)) {
      problems.push({ field, because: `is ${shown(item)}, not an object` });
      continue;
    }
    // Only the first address counts: the others were never given a meaning.
    const text = arrayAt(item, 'addresses')[0];
    const address = typeof text === 'string' ? parseAddress(text) : undefined;
    if (address === undefined)
      problems.push({ field: `${field}.addresses[0]`, because: `is ${shown(text)}, not an IP address` });
    else if (familyOf(address) !== family)
      problems.push({ field: `${field}.addresses[0]`, because: `${shown(text)} is not of family ${family}` });
    else endpoints.push(endpointOf(item, address));
  }
  return endpoints;
}

/** Absent conditions: ready and serving are true, terminating is false (discovery/v1). */
function endpointOf(item: JsonObject, address: Address): EndpointOfSlice {
  const conditions = objectAt(item, 'conditions');
  const ready = booleanAt(conditions, 'ready') ?? true;
  const serving = booleanAt(conditions, 'serving') ?? true;
  const leaving = booleanAt(conditions, 'terminating') ?? false;
  const hints = objectAt(item, 'hints');
  return {
    address,
    state: ready ? 'ready' : serving && leaving ? 'terminating' : 'down',
    leaving,
    serving,
    node: stringAt(item, 'nodeName') ?? '',
    zone: stringAt(item, 'zone') ?? '',
    zoneHints: namesOf(arrayAt(hints, 'forZones')),
    nodeHints: namesOf(arrayAt(hints, 'forNodes')),
  };
}

function namesOf(items: readonly unknown[]): readonly string[] {
  const names = items.flatMap((item) => (isObject(item) && typeof item.name === 'string' ? [item.name] : []));
  return names.length === 0 ? NONE : names;
}

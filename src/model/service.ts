// A Service as we use it (behaviour spec 2 and 3; KEP-752, KEP-1669, KEP-2086).
import { type Address, type Cidr, type Family, familyOf, parseAddress, parseCidr } from './address.ts';
import {
  arrayAt,
  type Decoded,
  integerAt,
  isObject,
  type JsonObject,
  objectAt,
  type Problem,
  shown,
  stringAt,
  unusable,
} from './decode.ts';

export type Protocol = 'TCP' | 'UDP' | 'SCTP';
export const PROTOCOLS: readonly Protocol[] = ['TCP', 'UDP', 'SCTP'];

export type TrafficPolicy = 'Cluster' | 'Local';

export interface PortOfService {
  /** Empty for the one unnamed port. */
  readonly name: string;
  readonly protocol: Protocol;
  /** 1 to 65535. */
  readonly port: number;
  /** 0 when it has none. */
  readonly nodePort: number;
}

export interface Service {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** metadata.creationTimestamp in ms since 1970, 0 when unknown: the older of two clashing Services wins. */
  readonly createdAt: number;
  readonly type: string;
  /** At most one ClusterIP a family; empty for what a proxy does not serve (headless, ExternalName, not yet allocated). */
  readonly clusterIPs: readonly Address[];
  readonly ports: readonly PortOfService[];
  readonly externalIPs: readonly Address[];
  /** status.loadBalancer addresses whose ipMode is VIP. */
  readonly loadBalancerIPs: readonly Address[];
  /** loadBalancerSourceRanges of both families; a family with none, or with a /0, is unrestricted. */
  readonly sourceRanges: readonly Cidr[];
  readonly externalTrafficPolicy: TrafficPolicy;
  readonly internalTrafficPolicy: TrafficPolicy;
  /** ClientIP affinity in seconds, 0 for none. */
  readonly affinitySeconds: number;
  /** 0 unless type is LoadBalancer and externalTrafficPolicy is Local. */
  readonly healthCheckNodePort: number;
}

/** `namespace/name`. */
export type ServiceKey = string;
export const serviceKey = (namespace: string, name: string): ServiceKey => `${namespace}/${name}`;
/** Also for other objects with a namespace. */
export function serviceOfKey(key: ServiceKey): { readonly namespace: string; readonly name: string } {
  const slash = key.indexOf('/');
  return { namespace: key.slice(0, Math.max(0, slash)), name: key.slice(slash + 1) };
}

/** core/v1 DefaultClientIPServiceAffinitySeconds, for objects that bypassed the API server's defaulting. */
const DEFAULT_AFFINITY_SECONDS = 10_800;

/** Reads a v1 Service. Parts that cannot be used are named in `problems`; the rest is used. */
export function decodeService(object: unknown): Decoded<Service> {
  if (!isObject(object)) return unusable('', `is ${shown(object)}, not an object`);
  const metadata = objectAt(object, 'metadata');
  const namespace = stringAt(metadata, 'namespace');
  const name = stringAt(metadata, 'name');
  if (!namespace || !name) return unusable('metadata', 'has no namespace or name');
  const spec = objectAt(object, 'spec');
  const problems: Problem[] = [];
  const type = stringAt(spec, 'type') ?? 'ClusterIP';
  const externalTrafficPolicy = policyAt(spec, 'externalTrafficPolicy');
  const value: Service = {
    namespace,
    name,
    uid: stringAt(metadata, 'uid') ?? '',
    createdAt: Date.parse(stringAt(metadata, 'creationTimestamp') ?? '') || 0,
    type,
    clusterIPs: type === 'ExternalName' ? [] : clusterIPsOf(spec, problems),
    ports: portsOf(spec, problems),
    externalIPs: addressesOf(arrayAt(spec, 'externalIPs'), 'spec.externalIPs', problems),
    loadBalancerIPs: loadBalancerIPsOf(object, problems),
    sourceRanges: sourceRangesOf(spec, problems),
    externalTrafficPolicy,
    internalTrafficPolicy: policyAt(spec, 'internalTrafficPolicy'),
    affinitySeconds: affinityOf(spec),
    healthCheckNodePort: healthCheckNodePortOf(spec, type, externalTrafficPolicy, problems),
  };
  return { kind: 'decoded', value, problems };
}

/** Behaviour spec 3.3: only load balancers with policy Local have one. */
function healthCheckNodePortOf(
  spec: JsonObject,
  type: string,
  policy: TrafficPolicy,
  problems: Problem[],
): number {
  if (type !== 'LoadBalancer' || policy !== 'Local') return 0;
  const port = integerAt(spec, 'healthCheckNodePort') ?? 0;
  if (port === 0)
    problems.push({
      field: 'spec.healthCheckNodePort',
      because: 'is 0: load balancers cannot learn which nodes have endpoints',
    });
  return port;
}

function policyAt(spec: JsonObject, key: string): TrafficPolicy {
  return stringAt(spec, key) === 'Local' ? 'Local' : 'Cluster';
}

/** Behaviour spec 2: without ipFamilies clusterIP alone counts; else clusterIPs, by the index of the family. */
function clusterIPsOf(spec: JsonObject, problems: Problem[]): Address[] {
  const families = arrayAt(spec, 'ipFamilies').filter(
    (family): family is Family => family === 'IPv4' || family === 'IPv6',
  );
  const texts =
    families.length === 0 ? [spec.clusterIP] : arrayAt(spec, 'clusterIPs').slice(0, families.length);
  const found: Address[] = [];
  for (const [index, text] of texts.entries()) {
    if (typeof text !== 'string' || text === '' || text === 'None') continue;
    const field = families.length === 0 ? 'spec.clusterIP' : `spec.clusterIPs[${index}]`;
    const address = parseAddress(text);
    if (address === undefined) problems.push({ field, because: `${shown(text)} is no IP address` });
    else if (families[index] !== undefined && familyOf(address) !== families[index])
      problems.push({
        field,
        because: `${shown(text)} is not of family ${families[index]}, as spec.ipFamilies[${index}] says`,
      });
    else if (!found.some((other) => familyOf(other) === familyOf(address))) found.push(address);
  }
  return found;
}

function portsOf(spec: JsonObject, problems: Problem[]): PortOfService[] {
  const ports: PortOfService[] = [];
  for (const [index, item] of arrayAt(spec, 'ports').entries()) {
    const field = `spec.ports[${index}]`;
    if (!isObject(item)) {
      problems.push({ field, because: `is ${shown(item)}, not an object` });
      continue;
    }
    const protocol = protocolOf(item.protocol ?? 'TCP');
    const port = item.port;
    const nodePort = item.nodePort ?? 0;
    if (protocol === undefined)
      problems.push({
        field: `${field}.protocol`,
        because: `is ${shown(item.protocol)}, not TCP, UDP or SCTP`,
      });
    else if (!isPort(port))
      problems.push({ field: `${field}.port`, because: `is ${shown(port)}, not a port from 1 to 65535` });
    else {
      const usable = nodePort === 0 || isPort(nodePort);
      if (!usable)
        problems.push({
          field: `${field}.nodePort`,
          because: `is ${shown(nodePort)}, not a port from 1 to 65535`,
        });
      ports.push({
        name: stringAt(item, 'name') ?? '',
        protocol,
        port,
        nodePort: usable && typeof nodePort === 'number' ? nodePort : 0,
      });
    }
  }
  return ports;
}

export function protocolOf(value: unknown): Protocol | undefined {
  return PROTOCOLS.find((protocol) => protocol === value);
}

export function isPort(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 65_535;
}

/** Blank ones are left out silently, as upstream does; duplicates once. */
function addressesOf(items: readonly unknown[], field: string, problems: Problem[]): Address[] {
  const found = new Set<Address>();
  for (const [index, item] of items.entries()) {
    if (typeof item === 'string' && item.trim() === '') continue;
    const address = typeof item === 'string' ? parseAddress(item) : undefined;
    if (address === undefined)
      problems.push({ field: `${field}[${index}]`, because: `${shown(item)} is no IP address` });
    else found.add(address);
  }
  return [...found];
}

/** KEP-1860: an address with ipMode Proxy is the load balancer's own, and left to the network. */
function loadBalancerIPsOf(object: JsonObject, problems: Problem[]): Address[] {
  const ingress = arrayAt(objectAt(objectAt(object, 'status'), 'loadBalancer'), 'ingress');
  const vips = ingress.map((item) => {
    if (!isObject(item) || item.ip === undefined) return '';
    return (stringAt(item, 'ipMode') ?? 'VIP') === 'VIP' ? item.ip : '';
  });
  return addressesOf(vips, 'status.loadBalancer.ingress', problems);
}

function sourceRangesOf(spec: JsonObject, problems: Problem[]): Cidr[] {
  const ranges: Cidr[] = [];
  for (const [index, item] of arrayAt(spec, 'loadBalancerSourceRanges').entries()) {
    const cidr = typeof item === 'string' ? parseCidr(item.trim()) : undefined;
    if (cidr === undefined)
      problems.push({
        field: `spec.loadBalancerSourceRanges[${index}]`,
        because: `${shown(item)} is no CIDR`,
      });
    else ranges.push(cidr);
  }
  return ranges;
}

function affinityOf(spec: JsonObject): number {
  if (stringAt(spec, 'sessionAffinity') !== 'ClientIP') return 0;
  const seconds = integerAt(objectAt(objectAt(spec, 'sessionAffinityConfig'), 'clientIP'), 'timeoutSeconds');
  return seconds !== undefined && seconds > 0 ? seconds : DEFAULT_AFFINITY_SECONDS;
}

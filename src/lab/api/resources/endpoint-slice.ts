// EndpointSlices (discovery.k8s.io, KEP-752).
import { familyOf, parseAddress } from '../../../model/address.ts';
import type { ApiObject } from '../api-object.ts';
import { duplicate, type FieldError, invalidValue, notSupported, required, tooMany } from '../field-error.ts';
import { type JsonObject, withFields } from '../json.ts';
import { dnsLabel, dnsSubdomain, labelValue } from '../names.ts';
import { OBJECT_REFERENCE, resourceSchema } from '../schema/meta.ts';
import { flagKept, int32Kept, list, map, object, type Schema, text, textKept } from '../schema/schema.ts';
import { ageOf } from '../time.ts';
import { AGE_COLUMN, column, defineResource, NAME_COLUMN, type Resource } from './definition.ts';

const DISCOVERY = 'io.k8s.api.discovery.v1';
const MOST_ENDPOINTS = 1000;
const MOST_PORTS = 100;
const MOST_ADDRESSES = 100;
const MOST_HINTS = 8;

export interface SliceEndpoint extends JsonObject {
  readonly addresses: readonly string[];
  readonly conditions: JsonObject & {
    readonly ready?: boolean;
    readonly serving?: boolean;
    readonly terminating?: boolean;
  };
  readonly hostname?: string;
  readonly targetRef?: JsonObject;
  readonly nodeName?: string;
  readonly zone?: string;
  readonly hints?: JsonObject & {
    readonly forZones?: readonly JsonObject[];
    readonly forNodes?: readonly JsonObject[];
  };
}

export interface SlicePort extends JsonObject {
  readonly name: string;
  readonly protocol: string;
  readonly port?: number;
  readonly appProtocol?: string;
}

export interface EndpointSlice extends ApiObject {
  readonly addressType: string;
  readonly endpoints: readonly SliceEndpoint[] | null;
  readonly ports: readonly SlicePort[] | null;
}

const NAMED: (name: string) => Schema = (name) => list(object(`${DISCOVERY}.${name}`, { name: textKept }));

const ENDPOINT: Schema = object(`${DISCOVERY}.Endpoint`, {
  addresses: { kind: 'list', of: text, merge: { kind: 'set' }, empty: 'kept' },
  conditions: object(`${DISCOVERY}.EndpointConditions`, {
    ready: flagKept,
    serving: flagKept,
    terminating: flagKept,
  }),
  hostname: textKept,
  targetRef: OBJECT_REFERENCE,
  deprecatedTopology: map(),
  nodeName: textKept,
  zone: textKept,
  hints: object(`${DISCOVERY}.EndpointHints`, { forZones: NAMED('ForZone'), forNodes: NAMED('ForNode') }),
});

const PORT: Schema = object(`${DISCOVERY}.EndpointPort`, {
  name: textKept,
  protocol: textKept,
  port: int32Kept,
  appProtocol: textKept,
});

/** At most three of a list, and how many more there are. */
export function firstThree(items: readonly string[]): string {
  if (items.length === 0) return '<unset>';
  const shown = items.slice(0, 3).join(',');
  return items.length > 3 ? `${shown} + ${items.length - 3} more...` : shown;
}

function portErrors(ports: readonly SlicePort[]): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (ports.length > MOST_PORTS) errors.push(tooMany('ports', ports.length, MOST_PORTS));
  const names = new Set<string>();
  ports.forEach((port, at) => {
    const path = `ports[${at}]`;
    if (port.name !== '')
      errors.push(...dnsLabel(port.name).map((why) => invalidValue(`${path}.name`, port.name, why)));
    if (names.has(port.name)) errors.push(duplicate(`${path}.name`, port.name));
    names.add(port.name);
    if (!['TCP', 'UDP', 'SCTP'].includes(port.protocol))
      errors.push(notSupported(`${path}.protocol`, port.protocol, ['SCTP', 'TCP', 'UDP']));
    if (port.port !== undefined && (port.port < 1 || port.port > 65535))
      errors.push(invalidValue(`${path}.port`, port.port, 'must be between 1 and 65535, inclusive'));
  });
  return errors;
}

function addressErrors(type: string, address: string, field: string): readonly FieldError[] {
  if (type === 'FQDN') return dnsSubdomain(address).map((why) => invalidValue(field, address, why));
  const canonical = parseAddress(address);
  const word = type === 'IPv4' ? 'an IPv4' : 'an IPv6';
  if (canonical === undefined)
    return [invalidValue(field, address, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')];
  if (familyOf(canonical) !== type) return [invalidValue(field, address, `must be ${word} address`)];
  if (/^(127\.|0\.0\.0\.0$|169\.254\.|22[4-9]\.|23\d\.)|^(::1?$|fe80:|ff)/.test(canonical))
    return [invalidValue(field, address, 'may not be unspecified, loopback, link-local or multicast')];
  return [];
}

function endpointErrors(slice: EndpointSlice): readonly FieldError[] {
  const endpoints = slice.endpoints ?? [];
  const errors: FieldError[] = [];
  if (endpoints.length > MOST_ENDPOINTS) errors.push(tooMany('endpoints', endpoints.length, MOST_ENDPOINTS));
  endpoints.forEach((endpoint, at) => {
    const path = `endpoints[${at}]`;
    const addresses = endpoint.addresses ?? [];
    if (addresses.length === 0) errors.push(required(`${path}.addresses`, 'must contain at least 1 address'));
    if (addresses.length > MOST_ADDRESSES)
      errors.push(tooMany(`${path}.addresses`, addresses.length, MOST_ADDRESSES));
    addresses.forEach((address, index) => {
      errors.push(...addressErrors(slice.addressType, address, `${path}.addresses[${index}]`));
    });
    const { nodeName, hostname, hints } = endpoint;
    if (nodeName !== undefined)
      errors.push(...dnsSubdomain(nodeName).map((why) => invalidValue(`${path}.nodeName`, nodeName, why)));
    if (hostname !== undefined)
      errors.push(...dnsLabel(hostname).map((why) => invalidValue(`${path}.hostname`, hostname, why)));
    for (const kind of ['forZones', 'forNodes'] as const) {
      const named = hints?.[kind] ?? [];
      if (named.length > MOST_HINTS) errors.push(tooMany(`${path}.hints.${kind}`, named.length, MOST_HINTS));
      named.forEach(({ name }, index) => {
        const field = `${path}.hints.${kind}[${index}].name`;
        errors.push(...labelValue(String(name)).map((why) => invalidValue(field, name, why)));
      });
    }
  });
  return errors;
}

export const ENDPOINT_SLICES: Resource = defineResource<EndpointSlice>({
  group: 'discovery.k8s.io',
  version: 'v1',
  kind: 'EndpointSlice',
  plural: 'endpointslices',
  singular: 'endpointslice',
  namespaced: true,
  nameRule: dnsSubdomain,
  hasGeneration: true,
  createOnUpdate: true,
  blank: { addressType: '', endpoints: null, ports: null },
  schema: resourceSchema(`${DISCOVERY}.EndpointSlice`, {
    addressType: textKept,
    endpoints: list(ENDPOINT, 'kept'),
    ports: list(PORT, 'kept'),
  }),
  columns: [NAME_COLUMN, column('AddressType'), column('Ports'), column('Endpoints'), AGE_COLUMN],
  cells: (slice, now) => [
    slice.metadata.name ?? '',
    slice.addressType,
    // A port without a number means all ports.
    firstThree((slice.ports ?? []).map(({ port }) => (port === undefined ? '*' : String(port)))),
    firstThree((slice.endpoints ?? []).flatMap(({ addresses }) => addresses ?? [])),
    ageOf(slice.metadata.creationTimestamp, now),
  ],
  defaults: (slice) =>
    withFields(slice, {
      addressType: slice.addressType ?? '',
      endpoints: (slice.endpoints ?? []).map((endpoint) =>
        withFields(endpoint, { addresses: endpoint.addresses ?? [], conditions: endpoint.conditions ?? {} }),
      ),
      ports: (slice.ports ?? []).map((port) =>
        withFields({ name: '', protocol: 'TCP' } as SlicePort, { ...port, protocol: port.protocol ?? 'TCP' }),
      ),
    }),
  validate(slice, before) {
    const errors: FieldError[] = [];
    const types = ['FQDN', 'IPv4', 'IPv6'];
    if (slice.addressType === '') errors.push(required('addressType'));
    else if (!types.includes(slice.addressType))
      errors.push(notSupported('addressType', slice.addressType, types));
    else errors.push(...endpointErrors(slice));
    errors.push(...portErrors(slice.ports ?? []));
    if (before && before.addressType !== slice.addressType)
      errors.push(invalidValue('addressType', slice.addressType, 'field is immutable'));
    return errors;
  },
});

// ServiceCIDRs and IPAddresses (networking.k8s.io): the ranges of cluster IPs, and which of them are taken.
import { type Cidr, cidrText, parseAddress, parseCidr } from '../../../model/address.ts';
import type { ApiObject } from '../api-object.ts';
import { type FieldError, invalidValue, required } from '../field-error.ts';
import type { JsonObject } from '../json.ts';
import { sameJson } from '../json.ts';
import { dnsSubdomain, type NameRule } from '../names.ts';
import { CONDITION, resourceSchema } from '../schema/meta.ts';
import { keyed, list, object, text } from '../schema/schema.ts';
import { ageOf } from '../time.ts';
import { AGE_COLUMN, column, defineResource, NAME_COLUMN, type Resource } from './definition.ts';

const NETWORKING = 'io.k8s.api.networking.v1';

interface ServiceCidr extends ApiObject {
  readonly spec?: JsonObject & { readonly cidrs?: readonly string[] };
}

export const SERVICE_CIDRS: Resource = defineResource<ServiceCidr>({
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'ServiceCIDR',
  plural: 'servicecidrs',
  singular: 'servicecidr',
  namespaced: false,
  nameRule: dnsSubdomain,
  hasStatus: true,
  schema: resourceSchema(`${NETWORKING}.ServiceCIDR`, {
    spec: object(`${NETWORKING}.ServiceCIDRSpec`, { cidrs: list(text) }),
    status: object(`${NETWORKING}.ServiceCIDRStatus`, { conditions: keyed(CONDITION, 'type') }),
  }),
  columns: [NAME_COLUMN, column('CIDRs'), AGE_COLUMN],
  cells: (object, now) => [
    object.metadata.name ?? '',
    object.spec?.cidrs?.join(',') ?? '',
    ageOf(object.metadata.creationTimestamp, now),
  ],
  validate(next, before) {
    const cidrs = next.spec?.cidrs ?? [];
    const errors: FieldError[] = [];
    if (cidrs.length === 0) errors.push(required('spec.cidrs', 'at least one CIDR required'));
    cidrs.forEach((text, at) => {
      const parsed = parseCidr(text);
      if (parsed === undefined || cidrText(parsed) !== text)
        errors.push(
          invalidValue(
            `spec.cidrs[${at}]`,
            text,
            'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
          ),
        );
    });
    if (cidrs.length > 2 || new Set(cidrs.map((text) => text.includes(':'))).size !== cidrs.length)
      errors.push(
        invalidValue(
          'spec.cidrs',
          cidrs,
          'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64',
        ),
      );
    if (before && !sameJson(before.spec, next.spec))
      errors.push(invalidValue('spec.cidrs', cidrs, 'field is immutable'));
    return errors;
  },
});

/** The ranges that ServiceCIDR objects add to the cluster's own. */
export function addedCidrs(objects: readonly ApiObject[]): readonly Cidr[] {
  return objects.flatMap((object) =>
    ((object as ServiceCidr).spec?.cidrs ?? []).flatMap((text) => parseCidr(text) ?? []),
  );
}

interface ParentReference extends JsonObject {
  readonly group?: string;
  readonly resource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

interface IpAddress extends ApiObject {
  readonly spec?: JsonObject & { readonly parentRef?: ParentReference };
}

const canonicalAddress: NameRule = (text) =>
  parseAddress(text) === text ? [] : ['must be a valid IP address in canonical form (RFC 5952)'];

function parentWords(parent: ParentReference): string {
  const resource = [parent.resource, parent.group].filter((word) => word !== undefined).join('.');
  return [resource, parent.namespace, parent.name].filter((word) => word !== undefined).join('/');
}

export const IP_ADDRESSES: Resource = defineResource<IpAddress>({
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'IPAddress',
  plural: 'ipaddresses',
  singular: 'ipaddress',
  shortNames: ['ip'],
  namespaced: false,
  nameRule: canonicalAddress,
  schema: resourceSchema(`${NETWORKING}.IPAddress`, {
    spec: object(`${NETWORKING}.IPAddressSpec`, {
      parentRef: object(`${NETWORKING}.ParentReference`, {
        group: text,
        resource: text,
        namespace: text,
        name: text,
      }),
    }),
  }),
  columns: [NAME_COLUMN, column('ParentRef'), AGE_COLUMN],
  cells: (object, now) => [
    object.metadata.name ?? '',
    object.spec?.parentRef === undefined ? '' : parentWords(object.spec.parentRef),
    ageOf(object.metadata.creationTimestamp, now),
  ],
  selectable: {
    'spec.parentRef.name': (object) => (object as IpAddress).spec?.parentRef?.name ?? '',
  },
  validate(next, before) {
    if (next.spec?.parentRef === undefined) return [required('spec.parentRef')];
    if (before && !sameJson(before.spec, next.spec))
      return [invalidValue('spec.parentRef', next.spec.parentRef, 'field is immutable')];
    return [];
  },
});

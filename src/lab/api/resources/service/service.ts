// Services.
import { invalidValue } from '../../field-error.ts';
import { withFields } from '../../json.ts';
import { serviceName } from '../../names.ts';
import { ageOf } from '../../time.ts';
import type { Cluster } from '../cluster.ts';
import {
  AGE_COLUMN,
  column,
  defineResource,
  NAME_COLUMN,
  type Reservation,
  type Resource,
} from '../definition.ts';
import { serviceDefaults } from './defaults.ts';
import { chooseFamilies } from './families.ts';
import { linkNew, linkUpdated } from './linked-fields.ts';
import { releaseAddresses, reserveAddresses } from './reserve-addresses.ts';
import { releasePorts, reservePorts } from './reserve-ports.ts';
import { SERVICE_SCHEMA, type Service, type ServiceSpec } from './types.ts';
import { serviceErrors } from './validate.ts';

function externalAddresses({ spec, status }: Service): string {
  if (spec.type === 'ExternalName') return spec.externalName ?? '';
  const external = spec.externalIPs ?? [];
  const assigned = (status.loadBalancer.ingress ?? []).map(({ ip, hostname }) => ip ?? hostname ?? '');
  const all = spec.type === 'LoadBalancer' ? [...assigned, ...external] : external;
  if (all.length > 0) return all.join(',');
  return spec.type === 'LoadBalancer' ? '<pending>' : '<none>';
}

function portWords({ ports = [] }: ServiceSpec): string {
  if (ports.length === 0) return '<none>';
  return ports
    .map(
      ({ port, nodePort, protocol }) => `${port}${nodePort === undefined ? '' : `:${nodePort}`}/${protocol}`,
    )
    .join(',');
}

function selectorWords({ selector = {} }: ServiceSpec): string {
  const pairs = Object.entries(selector).map(([key, value]) => `${key}=${value}`);
  return pairs.length === 0 ? '<none>' : pairs.sort().join(',');
}

function reserve(next: Service, before: Service | undefined, cluster: Cluster): Reservation<Service> {
  const { clusterIP, clusterIPs = [] } = next.spec;
  if (before === undefined && clusterIP === undefined && clusterIPs.length > 0)
    return {
      ok: false,
      errors: [
        invalidValue('spec.clusterIPs', clusterIPs, 'must be empty when `clusterIP` is not specified'),
      ],
    };
  const linked = before === undefined ? linkNew(next) : linkUpdated(next, before);
  const families = chooseFamilies(
    linked,
    before,
    cluster.serviceCidrs.map(({ family }) => family),
  );
  if (!families.ok) return families;
  const service = withFields(linked, { spec: families.spec });
  const addresses = reserveAddresses(service, before, cluster);
  if (!addresses.ok) return addresses;
  const chosen = addresses.addresses.length === 0 ? families.spec.clusterIPs : addresses.addresses;
  const withAddresses = withFields(service, {
    spec: withFields(families.spec, {
      clusterIPs: chosen,
      clusterIP: families.spec.clusterIP ?? chosen?.[0],
    }),
  });
  const ports = reservePorts(withAddresses, before, cluster);
  if (!ports.ok) return ports;
  return {
    ok: true,
    object: withFields(withAddresses, { spec: ports.spec }),
    settle() {
      addresses.settle();
      ports.settle();
    },
  };
}

export const SERVICES: Resource = defineResource<Service>({
  version: 'v1',
  kind: 'Service',
  plural: 'services',
  singular: 'service',
  shortNames: ['svc'],
  categories: ['all'],
  namespaced: true,
  nameRule: serviceName,
  hasStatus: true,
  createOnUpdate: true,
  returnsDeleted: true,
  blank: { spec: {}, status: { loadBalancer: {} } },
  schema: SERVICE_SCHEMA,
  columns: [
    NAME_COLUMN,
    column('Type'),
    column('Cluster-IP'),
    column('External-IP'),
    column('Port(s)'),
    AGE_COLUMN,
    column('Selector', { wide: true }),
  ],
  cells: (service, now) => [
    service.metadata.name ?? '',
    service.spec.type,
    service.spec.clusterIP ?? '<none>',
    externalAddresses(service),
    portWords(service.spec),
    ageOf(service.metadata.creationTimestamp, now),
    selectorWords(service.spec),
  ],
  selectable: {
    'spec.clusterIP': (service) => (service as Service).spec.clusterIP ?? '',
    'spec.type': (service) => (service as Service).spec.type,
  },
  defaults: serviceDefaults,
  prepareCreate: (service) => withFields(service, { status: { loadBalancer: {} } }),
  prepareUpdate(next, before) {
    // Addresses of a load balancer mean nothing once the Service is none.
    const dropped = before.spec.type === 'LoadBalancer' && next.spec.type !== 'LoadBalancer';
    return dropped ? withFields(next, { status: withFields(next.status, { loadBalancer: {} }) }) : next;
  },
  reserve,
  release(service, cluster) {
    releaseAddresses(service, cluster);
    releasePorts(service, cluster);
  },
  validate: serviceErrors,
});

// Endpoints of the core group: deprecated since 1.33, still asked for by older tools.
import type { ApiObject } from '../api-object.ts';
import type { JsonObject } from '../json.ts';
import { withFields } from '../json.ts';
import { dnsSubdomain } from '../names.ts';
import { OBJECT_REFERENCE, resourceSchema } from '../schema/meta.ts';
import { int32Kept, list, object, type Schema, text, textKept } from '../schema/schema.ts';
import { ageOf } from '../time.ts';
import { AGE_COLUMN, column, defineResource, NAME_COLUMN, type Resource } from './definition.ts';

const CORE = 'io.k8s.api.core.v1';

interface Subset extends JsonObject {
  readonly addresses?: readonly (JsonObject & { readonly ip: string })[];
  readonly ports?: readonly (JsonObject & { readonly name?: string; readonly port: number })[];
}

interface Endpoints extends ApiObject {
  readonly subsets?: readonly Subset[];
}

const ADDRESS: Schema = object(`${CORE}.EndpointAddress`, {
  ip: textKept,
  hostname: text,
  nodeName: textKept,
  targetRef: OBJECT_REFERENCE,
});

function shown(subsets: readonly Subset[]): string {
  const all = subsets.flatMap(({ addresses = [], ports = [] }) =>
    addresses.flatMap(({ ip }) =>
      ports.length === 0
        ? [ip]
        : ports.map(({ port }) => (ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`)),
    ),
  );
  if (all.length === 0) return '<none>';
  const first = all.slice(0, 3).join(',');
  return all.length > 3 ? `${first} + ${all.length - 3} more...` : first;
}

export const ENDPOINTS: Resource = defineResource<Endpoints>({
  version: 'v1',
  kind: 'Endpoints',
  plural: 'endpoints',
  singular: 'endpoints',
  shortNames: ['ep'],
  namespaced: true,
  nameRule: dnsSubdomain,
  createOnUpdate: true,
  warning: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
  schema: resourceSchema(`${CORE}.Endpoints`, {
    subsets: list(
      object(`${CORE}.EndpointSubset`, {
        addresses: list(ADDRESS),
        notReadyAddresses: list(ADDRESS),
        ports: list(
          object(`${CORE}.EndpointPort`, {
            name: text,
            port: int32Kept,
            protocol: text,
            appProtocol: textKept,
          }),
        ),
      }),
    ),
  }),
  columns: [NAME_COLUMN, column('Endpoints'), AGE_COLUMN],
  cells: (endpoints, now) => [
    endpoints.metadata.name ?? '',
    shown(endpoints.subsets ?? []),
    ageOf(endpoints.metadata.creationTimestamp, now),
  ],
  defaults: (endpoints) =>
    withFields(endpoints, {
      subsets: endpoints.subsets?.map((subset) => ({
        ...subset,
        ...(subset.ports === undefined
          ? {}
          : { ports: subset.ports.map((port) => ({ ...port, protocol: port.protocol ?? 'TCP' })) }),
      })),
    }),
});

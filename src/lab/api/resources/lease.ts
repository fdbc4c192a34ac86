// Leases (coordination.k8s.io): who leads, which node is alive.
import type { ApiObject } from '../api-object.ts';
import { type FieldError, invalidValue } from '../field-error.ts';
import type { JsonObject } from '../json.ts';
import { dnsSubdomain } from '../names.ts';
import { resourceSchema } from '../schema/meta.ts';
import { int32Kept, object, textKept, time } from '../schema/schema.ts';
import { ageOf } from '../time.ts';
import { AGE_COLUMN, column, defineResource, NAME_COLUMN, type Resource } from './definition.ts';

interface Lease extends ApiObject {
  readonly spec?: JsonObject & {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly leaseTransitions?: number;
  };
}

const GROUP = 'io.k8s.api.coordination.v1';

export const LEASES: Resource = defineResource<Lease>({
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  singular: 'lease',
  namespaced: true,
  nameRule: dnsSubdomain,
  createOnUpdate: true,
  unconditionalUpdate: false,
  schema: resourceSchema(`${GROUP}.Lease`, {
    spec: object(`${GROUP}.LeaseSpec`, {
      holderIdentity: textKept,
      leaseDurationSeconds: int32Kept,
      acquireTime: time,
      renewTime: time,
      leaseTransitions: int32Kept,
      strategy: textKept,
      preferredHolder: textKept,
    }),
  }),
  columns: [NAME_COLUMN, column('Holder'), AGE_COLUMN],
  cells: (lease, now) => [
    lease.metadata.name ?? '',
    lease.spec?.holderIdentity ?? '',
    ageOf(lease.metadata.creationTimestamp, now),
  ],
  validate(lease) {
    const errors: FieldError[] = [];
    const { leaseDurationSeconds: duration, leaseTransitions: transitions } = lease.spec ?? {};
    if (duration !== undefined && duration <= 0)
      errors.push(invalidValue('spec.leaseDurationSeconds', duration, 'must be greater than 0'));
    if (transitions !== undefined && transitions < 0)
      errors.push(invalidValue('spec.leaseTransitions', transitions, 'must be greater than or equal to 0'));
    return errors;
  },
});

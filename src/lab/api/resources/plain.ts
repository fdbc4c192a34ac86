// Resources that are storage and little more: ConfigMaps, Secrets, ServiceAccounts.
import type { ApiObject } from '../api-object.ts';
import { type FieldError, forbiddenField } from '../field-error.ts';
import { fieldsOf, type JsonObject, sameJson, withFields } from '../json.ts';
import { dnsSubdomain } from '../names.ts';
import { OBJECT_REFERENCE, resourceSchema } from '../schema/meta.ts';
import { atomicObject, bytes, flagKept, keyed, list, map, type Schema, text } from '../schema/schema.ts';
import { ageOf } from '../time.ts';
import { AGE_COLUMN, column, defineResource, NAME_COLUMN, type Resource } from './definition.ts';

const CORE = 'io.k8s.api.core.v1';

interface DataHolder extends ApiObject {
  readonly data?: JsonObject;
  readonly binaryData?: JsonObject;
  readonly stringData?: JsonObject;
  readonly type?: string;
  readonly immutable?: boolean;
}

const sizeOf = (fields: JsonObject | undefined): number =>
  fields === undefined ? 0 : fieldsOf(fields).length;

function keptImmutable(next: DataHolder, before: DataHolder | undefined): readonly FieldError[] {
  if (before?.immutable !== true) return [];
  const errors: FieldError[] = [];
  if (next.immutable !== true)
    errors.push(forbiddenField('immutable', 'field is immutable when `immutable` is set'));
  for (const field of ['data', 'binaryData'] as const)
    if (!sameJson(next[field], before[field]))
      errors.push(forbiddenField(field, 'field is immutable when `immutable` is set'));
  return errors;
}

export const CONFIG_MAPS: Resource = defineResource<DataHolder>({
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  singular: 'configmap',
  shortNames: ['cm'],
  namespaced: true,
  nameRule: dnsSubdomain,
  schema: resourceSchema(`${CORE}.ConfigMap`, { immutable: flagKept, data: map(), binaryData: map(bytes) }),
  columns: [NAME_COLUMN, column('Data'), AGE_COLUMN],
  cells: (object, now) => [
    object.metadata.name ?? '',
    String(sizeOf(object.data) + sizeOf(object.binaryData)),
    ageOf(object.metadata.creationTimestamp, now),
  ],
  validate: keptImmutable,
});

export const SECRETS: Resource = defineResource<DataHolder>({
  version: 'v1',
  kind: 'Secret',
  plural: 'secrets',
  singular: 'secret',
  namespaced: true,
  nameRule: dnsSubdomain,
  schema: resourceSchema(`${CORE}.Secret`, {
    immutable: flagKept,
    data: map(bytes),
    stringData: map(),
    type: text,
  }),
  columns: [NAME_COLUMN, column('Type'), column('Data'), AGE_COLUMN],
  cells: (object, now) => [
    object.metadata.name ?? '',
    object.type ?? '',
    String(sizeOf(object.data)),
    ageOf(object.metadata.creationTimestamp, now),
  ],
  selectable: { type: (object) => String(object.type ?? '') },
  defaults(secret) {
    // stringData is for writing only: it ends up in data.
    const written = fieldsOf(secret.stringData ?? {}).map(
      ([key, value]) => [key, Buffer.from(String(value)).toString('base64')] as const,
    );
    const data = written.length === 0 ? secret.data : { ...secret.data, ...Object.fromEntries(written) };
    return withFields(secret, { data, stringData: undefined, type: secret.type ?? 'Opaque' });
  },
  validate: keptImmutable,
});

const LOCAL_REFERENCE: Schema = atomicObject(`${CORE}.LocalObjectReference`, { name: text });

interface ServiceAccount extends ApiObject {
  readonly secrets?: readonly JsonObject[];
}

export const SERVICE_ACCOUNTS: Resource = defineResource<ServiceAccount>({
  version: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  singular: 'serviceaccount',
  shortNames: ['sa'],
  namespaced: true,
  nameRule: dnsSubdomain,
  returnsDeleted: true,
  schema: resourceSchema(`${CORE}.ServiceAccount`, {
    secrets: keyed(OBJECT_REFERENCE, 'name'),
    imagePullSecrets: list(LOCAL_REFERENCE),
    automountServiceAccountToken: flagKept,
  }),
  columns: [NAME_COLUMN, column('Secrets'), AGE_COLUMN],
  cells: (account, now) => [
    account.metadata.name ?? '',
    String(account.secrets?.length ?? 0),
    ageOf(account.metadata.creationTimestamp, now),
  ],
});

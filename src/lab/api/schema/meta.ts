// The metadata that every object carries, and other types that several resources use.
import {
  atomicObject,
  flagKept,
  int64,
  int64Kept,
  keyed,
  list,
  map,
  type ObjectSchema,
  object,
  open,
  type Schema,
  set,
  text,
  textKept,
  time,
} from './schema.ts';

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const CORE = 'io.k8s.api.core.v1';

const OWNER_REFERENCE: Schema = atomicObject(`${META}.OwnerReference`, {
  apiVersion: textKept,
  kind: textKept,
  name: textKept,
  uid: textKept,
  controller: flagKept,
  blockOwnerDeletion: flagKept,
});

const MANAGED_FIELDS: Schema = object(`${META}.ManagedFieldsEntry`, {
  manager: text,
  operation: text,
  apiVersion: text,
  time,
  fieldsType: text,
  fieldsV1: open,
  subresource: text,
});

export const OBJECT_META: ObjectSchema = object(`${META}.ObjectMeta`, {
  name: text,
  generateName: text,
  namespace: text,
  selfLink: text,
  uid: text,
  resourceVersion: text,
  generation: int64,
  creationTimestamp: time,
  deletionTimestamp: time,
  deletionGracePeriodSeconds: int64Kept,
  labels: map(),
  annotations: map(),
  ownerReferences: keyed(OWNER_REFERENCE, 'uid'),
  finalizers: set(text),
  managedFields: list(MANAGED_FIELDS),
});

/** A condition of a status, as most new resources have it. */
export const CONDITION: Schema = object(`${META}.Condition`, {
  type: textKept,
  status: textKept,
  observedGeneration: int64,
  lastTransitionTime: time,
  reason: textKept,
  message: textKept,
});

export const LABEL_SELECTOR: Schema = atomicObject(`${META}.LabelSelector`, {
  matchLabels: map(),
  matchExpressions: list(
    object(`${META}.LabelSelectorRequirement`, { key: textKept, operator: textKept, values: list(text) }),
  ),
});

/** A reference to another object. */
export const OBJECT_REFERENCE: Schema = atomicObject(`${CORE}.ObjectReference`, {
  kind: text,
  namespace: text,
  name: text,
  uid: text,
  apiVersion: text,
  resourceVersion: text,
  fieldPath: text,
});

/** The schema of a whole resource: kind, apiVersion and metadata before its own fields. */
export function resourceSchema(name: string, fields: Readonly<Record<string, Schema>>): ObjectSchema {
  return object(name, { kind: text, apiVersion: text, metadata: OBJECT_META, ...fields });
}

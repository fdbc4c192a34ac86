// The rules of metadata, the same for every resource.
import type { ApiObject, ObjectMeta } from '../api-object.ts';
import { type FieldError, forbiddenField, invalidValue, required, tooLong } from '../field-error.ts';
import { fieldsOf, withFields } from '../json.ts';
import { dnsLabel, labelValue, nameSuffix, qualifiedName } from '../names.ts';
import type { Cluster } from '../resources/cluster.ts';
import type { Resource } from '../resources/definition.ts';
import { timestamp } from '../time.ts';

const MOST_ANNOTATION_BYTES = 262144;
const LONGEST_NAME = 253;
/** A generated name is its prefix, cut to this, and five characters. */
const LONGEST_PREFIX = 58;

/** The metadata of a new object: what only the server may say is the server's. */
export function newMetadata(given: ObjectMeta, resource: Resource, cluster: Cluster): ObjectMeta {
  const generated =
    given.name === undefined && given.generateName !== undefined
      ? `${given.generateName.slice(0, LONGEST_PREFIX)}${nameSuffix(() => cluster.random())}`
      : given.name;
  return withFields(given, {
    name: generated,
    selfLink: undefined,
    resourceVersion: undefined,
    deletionTimestamp: undefined,
    deletionGracePeriodSeconds: undefined,
    uid: crypto.randomUUID(),
    generation: resource.hasGeneration ? 1 : undefined,
    creationTimestamp: timestamp(cluster.now()),
  });
}

/** The metadata of an update: what cannot change stays. */
export function nextMetadata(given: ObjectMeta, before: ObjectMeta): ObjectMeta {
  return withFields(given, {
    name: before.name,
    generateName: before.generateName,
    namespace: before.namespace,
    selfLink: undefined,
    uid: before.uid,
    resourceVersion: before.resourceVersion,
    generation: before.generation,
    creationTimestamp: before.creationTimestamp,
    deletionTimestamp: before.deletionTimestamp,
    deletionGracePeriodSeconds: before.deletionGracePeriodSeconds,
  });
}

function nameErrors({ name }: ObjectMeta, resource: Resource): readonly FieldError[] {
  const field = 'metadata.name';
  if (name === undefined) return [required(field, 'name or generateName is required')];
  if (name.length > LONGEST_NAME) return [tooLong(field, LONGEST_NAME)];
  return resource.nameRule(name).map((why) => invalidValue(field, name, why));
}

function labelErrors(labels: ObjectMeta['labels']): readonly FieldError[] {
  return fieldsOf(labels ?? {}).flatMap(([key, value]) => [
    ...qualifiedName(key).map((why) => invalidValue('metadata.labels', key, why)),
    ...labelValue(String(value)).map((why) => invalidValue('metadata.labels', value, why)),
  ]);
}

function annotationErrors(annotations: ObjectMeta['annotations']): readonly FieldError[] {
  const field = 'metadata.annotations';
  const pairs = fieldsOf(annotations ?? {});
  const size = pairs.reduce((sum, [key, value]) => sum + key.length + Buffer.byteLength(String(value)), 0);
  return [
    ...pairs.flatMap(([key]) => qualifiedName(key.toLowerCase()).map((why) => invalidValue(field, key, why))),
    ...(size > MOST_ANNOTATION_BYTES ? [tooLong(field, MOST_ANNOTATION_BYTES)] : []),
  ];
}

function ownerErrors(owners: ObjectMeta['ownerReferences']): readonly FieldError[] {
  const errors = (owners ?? []).flatMap((owner, at) =>
    (['apiVersion', 'kind', 'name', 'uid'] as const).flatMap((field) =>
      owner[field] === undefined || owner[field] === ''
        ? [invalidValue(`metadata.ownerReferences[${at}].${field}`, owner[field] ?? '', 'must not be empty')]
        : [],
    ),
  );
  const controllers = (owners ?? []).filter(({ controller }) => controller === true);
  if (controllers.length > 1)
    errors.push(
      invalidValue(
        'metadata.ownerReferences',
        owners ?? [],
        'Only one reference can have Controller set to true.',
      ),
    );
  return errors;
}

function finalizerErrors(next: ObjectMeta, before: ObjectMeta | undefined): readonly FieldError[] {
  const errors = (next.finalizers ?? []).flatMap((name, at) =>
    qualifiedName(name).map((why) => invalidValue(`metadata.finalizers[${at}]`, name, why)),
  );
  const added = (next.finalizers ?? []).filter((name) => !(before?.finalizers ?? []).includes(name));
  if (before?.deletionTimestamp !== undefined && added.length > 0)
    errors.push(
      forbiddenField(
        'metadata.finalizers',
        `no new finalizers can be added if the object is being deleted, found new finalizers []string{${added.map((name) => JSON.stringify(name)).join(', ')}}`,
      ),
    );
  return errors;
}

/** Everything that is wrong with an object's metadata. */
export function metadataErrors(
  next: ApiObject,
  before: ApiObject | undefined,
  resource: Resource,
): readonly FieldError[] {
  const { metadata } = next;
  const namespace = resource.namespaced ? metadata.namespace : undefined;
  return [
    ...(before === undefined ? nameErrors(metadata, resource) : []),
    ...(namespace === undefined || before !== undefined
      ? []
      : dnsLabel(namespace).map((why) => invalidValue('metadata.namespace', namespace, why))),
    ...labelErrors(metadata.labels),
    ...annotationErrors(metadata.annotations),
    ...ownerErrors(metadata.ownerReferences),
    ...finalizerErrors(metadata, before?.metadata),
  ];
}

// Pods.
import type { ApiObject } from '../../api-object.ts';
import {
  duplicate,
  type FieldError,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from '../../field-error.ts';
import { type JsonObject, sameJson, withFields } from '../../json.ts';
import { dnsLabel, dnsSubdomain, portName } from '../../names.ts';
import { defineResource, type Resource } from '../definition.ts';
import { podDefaults, qosClass } from './defaults.ts';
import { POD_SCHEMA } from './schema.ts';
import { POD_COLUMNS, podCells } from './table.ts';
import type { Container, Pod, PodSpec } from './types.ts';

const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];

function containerErrors(containers: readonly Container[], path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  const names = new Set<string>();
  containers.forEach((container, at) => {
    const here = `${path}[${at}]`;
    if (container.name === undefined || container.name === '') errors.push(required(`${here}.name`));
    else
      errors.push(
        ...dnsLabel(container.name).map((why) => invalidValue(`${here}.name`, container.name, why)),
      );
    if (names.has(container.name)) errors.push(duplicate(`${here}.name`, container.name));
    names.add(container.name);
    if (container.image === undefined) errors.push(required(`${here}.image`));
    container.ports?.forEach((port, index) => {
      const place = `${here}.ports[${index}]`;
      const number = port.containerPort ?? 0;
      if (number < 1 || number > 65535)
        errors.push(invalidValue(`${place}.containerPort`, number, 'must be between 1 and 65535, inclusive'));
      if (!PROTOCOLS.includes(port.protocol ?? ''))
        errors.push(notSupported(`${place}.protocol`, port.protocol ?? '', PROTOCOLS));
      const { name } = port;
      if (name !== undefined)
        errors.push(...portName(name).map((why) => invalidValue(`${place}.name`, name, why)));
    });
  });
  return errors;
}

/** What of a spec an update may not touch. */
function fixedPart(spec: PodSpec): JsonObject {
  const withoutImages = (containers: readonly Container[] | undefined): readonly JsonObject[] | undefined =>
    containers?.map((container) => withFields(container, { image: undefined }));
  return withFields(spec as JsonObject, {
    containers: withoutImages(spec.containers),
    initContainers: withoutImages(spec.initContainers),
    activeDeadlineSeconds: undefined,
    tolerations: undefined,
    terminationGracePeriodSeconds: undefined,
    // Binding a Pod to a node is an update where there is no scheduler.
    nodeName: undefined,
  });
}

function validate(pod: Pod, before: Pod | undefined): readonly FieldError[] {
  const { spec } = pod;
  const errors: FieldError[] = [];
  if (spec.containers.length === 0) errors.push(required('spec.containers'));
  errors.push(...containerErrors(spec.containers, 'spec.containers'));
  errors.push(...containerErrors(spec.initContainers ?? [], 'spec.initContainers'));
  const policies = ['Always', 'OnFailure', 'Never'];
  if (!policies.includes(spec.restartPolicy ?? ''))
    errors.push(notSupported('spec.restartPolicy', spec.restartPolicy ?? '', policies));
  if (before === undefined) return errors;
  const moved = before.spec.nodeName !== undefined && before.spec.nodeName !== spec.nodeName;
  if (moved || !sameJson(fixedPart(spec), fixedPart(before.spec)))
    errors.push(
      forbiddenField(
        'spec',
        'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
      ),
    );
  return errors;
}

const podOf = (object: ApiObject): Pod => object as Pod;

export const PODS: Resource = defineResource<Pod>({
  version: 'v1',
  kind: 'Pod',
  plural: 'pods',
  singular: 'pod',
  shortNames: ['po'],
  categories: ['all'],
  namespaced: true,
  nameRule: dnsSubdomain,
  hasStatus: true,
  hasGeneration: true,
  returnsDeleted: true,
  blank: { spec: { containers: null }, status: {} },
  schema: POD_SCHEMA,
  columns: POD_COLUMNS,
  cells: podCells,
  selectable: {
    'spec.nodeName': (pod) => podOf(pod).spec.nodeName ?? '',
    'spec.restartPolicy': (pod) => podOf(pod).spec.restartPolicy ?? '',
    'spec.schedulerName': (pod) => String(podOf(pod).spec.schedulerName ?? ''),
    'spec.serviceAccountName': (pod) => podOf(pod).spec.serviceAccountName ?? '',
    'spec.hostNetwork': (pod) => String(podOf(pod).spec.hostNetwork === true),
    'status.phase': (pod) => podOf(pod).status.phase ?? '',
    'status.podIP': (pod) => podOf(pod).status.podIP ?? '',
    'status.podIPs': (pod) => podOf(pod).status.podIPs?.[0]?.ip ?? '',
    'status.nominatedNodeName': (pod) => podOf(pod).status.nominatedNodeName ?? '',
  },
  defaults: podDefaults,
  prepareCreate: (pod) => withFields(pod, { status: { phase: 'Pending', qosClass: qosClass(pod) } }),
  validate,
  graceSeconds(pod, asked) {
    const { phase } = pod.status;
    // No kubelet has ever seen it, or it has ended: nobody needs the time.
    if (pod.spec.nodeName === undefined || phase === 'Succeeded' || phase === 'Failed') return 0;
    return asked ?? pod.spec.terminationGracePeriodSeconds ?? 30;
  },
});

// Nodes.
import { parseCidr } from '../../../model/address.ts';
import type { ApiObject } from '../api-object.ts';
import { type FieldError, forbiddenField, invalidValue } from '../field-error.ts';
import type { JsonObject } from '../json.ts';
import { sameJson, withFields } from '../json.ts';
import { dnsSubdomain } from '../names.ts';
import { resourceSchema } from '../schema/meta.ts';
import {
  flag,
  int32Kept,
  int64,
  keyed,
  list,
  map,
  object,
  open,
  openList,
  quantity,
  set,
  text,
  textKept,
  time,
} from '../schema/schema.ts';
import { ageOf } from '../time.ts';
import { AGE_COLUMN, column, defineResource, NAME_COLUMN, type Resource } from './definition.ts';

const CORE = 'io.k8s.api.core.v1';

interface NodeSpec extends JsonObject {
  readonly podCIDR?: string;
  readonly podCIDRs?: readonly string[];
  readonly providerID?: string;
  readonly unschedulable?: boolean;
}

interface Node extends ApiObject {
  readonly spec: NodeSpec;
  readonly status: JsonObject & {
    readonly addresses?: readonly { readonly type: string; readonly address: string }[];
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly nodeInfo?: JsonObject;
  };
}

const ROLE_PREFIX = 'node-role.kubernetes.io/';
const ROLE_LABEL = 'kubernetes.io/role';

function rolesOf({ metadata }: Node): string {
  const labels = metadata.labels ?? {};
  const roles = Object.keys(labels).flatMap((label) =>
    label.startsWith(ROLE_PREFIX) && label !== ROLE_PREFIX ? [label.slice(ROLE_PREFIX.length)] : [],
  );
  const named = labels[ROLE_LABEL];
  const all = [...new Set([...roles, ...(named === undefined || named === '' ? [] : [named])])].sort();
  return all.length === 0 ? '<none>' : all.join(',');
}

function statusOf({ spec, status }: Node): string {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  const words = [ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady'];
  if (spec?.unschedulable === true) words.push('SchedulingDisabled');
  return words.join(',');
}

const addressOf = ({ status }: Node, type: string): string =>
  status?.addresses?.find((address) => address.type === type)?.address ?? '<none>';
const infoOf = ({ status }: Node, field: string): string => String(status?.nodeInfo?.[field] ?? '');

const NODE_INFO = {
  machineID: textKept,
  systemUUID: textKept,
  bootID: textKept,
  kernelVersion: textKept,
  osImage: textKept,
  containerRuntimeVersion: textKept,
  kubeletVersion: textKept,
  kubeProxyVersion: textKept,
  operatingSystem: textKept,
  architecture: textKept,
};

export const NODES: Resource = defineResource<Node>({
  version: 'v1',
  kind: 'Node',
  plural: 'nodes',
  singular: 'node',
  shortNames: ['no'],
  namespaced: false,
  nameRule: dnsSubdomain,
  hasStatus: true,
  blank: { spec: {}, status: {} },
  schema: resourceSchema(`${CORE}.Node`, {
    spec: object(`${CORE}.NodeSpec`, {
      podCIDR: text,
      podCIDRs: set(text),
      providerID: text,
      unschedulable: flag,
      taints: list(
        object(`${CORE}.Taint`, { key: textKept, value: text, effect: textKept, timeAdded: time }),
      ),
      configSource: open,
      externalID: text,
    }),
    status: object(`${CORE}.NodeStatus`, {
      capacity: map(quantity),
      allocatable: map(quantity),
      phase: text,
      conditions: keyed(
        object(`${CORE}.NodeCondition`, {
          type: textKept,
          status: textKept,
          lastHeartbeatTime: time,
          lastTransitionTime: time,
          reason: text,
          message: text,
        }),
        'type',
      ),
      addresses: keyed(object(`${CORE}.NodeAddress`, { type: textKept, address: textKept }), 'type'),
      daemonEndpoints: object(`${CORE}.NodeDaemonEndpoints`, {
        kubeletEndpoint: object(`${CORE}.DaemonEndpoint`, { Port: int32Kept }),
      }),
      nodeInfo: object(`${CORE}.NodeSystemInfo`, {
        ...NODE_INFO,
        swap: object(`${CORE}.NodeSwapStatus`, { capacity: int64 }),
      }),
      images: openList,
      volumesInUse: list(text),
      volumesAttached: openList,
      config: open,
      runtimeHandlers: openList,
      features: open,
      declaredFeatures: list(text),
    }),
  }),
  columns: [
    NAME_COLUMN,
    column('Status'),
    column('Roles'),
    AGE_COLUMN,
    column('Version'),
    column('Internal-IP', { wide: true }),
    column('External-IP', { wide: true }),
    column('OS-Image', { wide: true }),
    column('Kernel-Version', { wide: true }),
    column('Container-Runtime', { wide: true }),
  ],
  cells: (node, now) => [
    node.metadata.name ?? '',
    statusOf(node),
    rolesOf(node),
    ageOf(node.metadata.creationTimestamp, now),
    infoOf(node, 'kubeletVersion'),
    addressOf(node, 'InternalIP'),
    addressOf(node, 'ExternalIP'),
    infoOf(node, 'osImage') || '<unknown>',
    infoOf(node, 'kernelVersion') || '<unknown>',
    infoOf(node, 'containerRuntimeVersion') || '<unknown>',
  ],
  selectable: {
    'spec.unschedulable': (node) => String((node as Node).spec?.unschedulable === true),
  },
  defaults(node) {
    const { podCIDR, podCIDRs } = node.spec ?? {};
    // The singular field and the first of the plural one are the same thing.
    const cidrs = podCIDRs ?? (podCIDR === undefined ? undefined : [podCIDR]);
    const info = Object.fromEntries(Object.keys(NODE_INFO).map((field) => [field, '']));
    return withFields(node, {
      spec: withFields(node.spec ?? {}, { podCIDR: podCIDR ?? cidrs?.[0], podCIDRs: cidrs }),
      status: {
        ...node.status,
        daemonEndpoints: node.status?.daemonEndpoints ?? { kubeletEndpoint: { Port: 0 } },
        nodeInfo: { ...info, ...node.status?.nodeInfo },
      },
    });
  },
  validate(next, before) {
    const errors: FieldError[] = [];
    const { podCIDRs = [], podCIDR } = next.spec;
    podCIDRs.forEach((text, at) => {
      if (parseCidr(text) === undefined)
        errors.push(
          invalidValue(
            `spec.podCIDRs[${at}]`,
            text,
            'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
          ),
        );
    });
    if (podCIDRs.length > 0 && podCIDRs[0] !== podCIDR)
      errors.push(invalidValue('spec.podCIDRs[0]', podCIDRs[0], 'must match `podCIDR`'));
    if (before?.spec.podCIDR !== undefined && !sameJson(before.spec.podCIDRs, next.spec.podCIDRs))
      errors.push(
        forbiddenField('spec.podCIDRs', 'node updates may not change podCIDR except from "" to valid'),
      );
    if (before?.spec.providerID !== undefined && before.spec.providerID !== next.spec.providerID)
      errors.push(
        forbiddenField('spec.providerID', 'node updates may not change providerID except from "" to valid'),
      );
    return errors;
  },
});

// The Node objects of the lab's nodes.
import { arch, release } from 'node:os';
import { type Address, type Cidr, cidrText } from '../../model/address.ts';
import type { ApiObject } from '../api/api-object.ts';
import type { JsonObject } from '../api/json.ts';
import { timestamp } from '../api/time.ts';

export interface Node extends ApiObject {
  readonly spec: JsonObject & { readonly podCIDRs?: readonly string[]; readonly unschedulable?: boolean };
  readonly status: JsonObject & {
    readonly addresses?: readonly (JsonObject & { readonly type: string; readonly address: string })[];
    readonly conditions?: readonly (JsonObject & { readonly type: string; readonly status: string })[];
  };
}

export const ZONE_LABEL = 'topology.kubernetes.io/zone';
export const HOSTNAME_LABEL = 'kubernetes.io/hostname';
/** The version of the API that the lab speaks. */
export const LAB_KUBERNETES_VERSION = 'v1.36.0';
const MOST_PODS = '250';
/** Kubernetes names processors as Go does. */
const ARCHITECTURE = arch() === 'x64' ? 'amd64' : arch();

/** What is known of a lab node before it is an object. */
export interface NodeFacts {
  readonly name: string;
  readonly zone: string;
  readonly addresses: readonly Address[];
  readonly podCidrs: readonly Cidr[];
}

/** A condition as a healthy node has it. */
interface Healthy {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

const HEALTHY: readonly Healthy[] = [
  {
    type: 'MemoryPressure',
    status: 'False',
    reason: 'KubeletHasSufficientMemory',
    message: 'the lab does not limit memory',
  },
  {
    type: 'DiskPressure',
    status: 'False',
    reason: 'KubeletHasNoDiskPressure',
    message: 'the lab uses no disk',
  },
  {
    type: 'PIDPressure',
    status: 'False',
    reason: 'KubeletHasSufficientPID',
    message: 'the lab does not limit processes',
  },
  { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'the namespace is up' },
];

/** The Node as it is created: labels, Pod ranges. */
export function nodeObject({ name, zone, podCidrs }: NodeFacts): Node {
  return {
    kind: 'Node',
    apiVersion: 'v1',
    metadata: {
      name,
      labels: {
        'kubernetes.io/arch': ARCHITECTURE,
        'kubernetes.io/os': 'linux',
        [HOSTNAME_LABEL]: name,
        [ZONE_LABEL]: zone,
      },
    },
    spec: { podCIDRs: podCidrs.map(cidrText) },
    status: {},
  };
}

/** The status that belongs to it. */
export function nodeStatus({ name, addresses }: NodeFacts, now: number): Node['status'] {
  const time = timestamp(now);
  const resources = { cpu: '1', memory: '1Gi', pods: MOST_PODS };
  return {
    capacity: resources,
    allocatable: resources,
    conditions: HEALTHY.map((condition) => ({
      ...condition,
      lastHeartbeatTime: time,
      lastTransitionTime: time,
    })),
    addresses: [
      ...addresses.map((address) => ({ type: 'InternalIP', address })),
      { type: 'Hostname', address: name },
    ],
    nodeInfo: {
      architecture: ARCHITECTURE,
      containerRuntimeVersion: 'pointsman-lab://1',
      kernelVersion: release(),
      kubeletVersion: LAB_KUBERNETES_VERSION,
      kubeProxyVersion: '',
      operatingSystem: 'linux',
      osImage: 'Pointsman lab (network namespace)',
    },
  };
}

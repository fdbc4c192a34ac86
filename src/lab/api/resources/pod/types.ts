// A Pod after decoding.
import type { ApiObject } from '../../api-object.ts';
import type { JsonObject } from '../../json.ts';

export interface Probe extends JsonObject {
  readonly httpGet?: JsonObject;
  readonly timeoutSeconds?: number;
  readonly periodSeconds?: number;
  readonly successThreshold?: number;
  readonly failureThreshold?: number;
}

export interface ContainerPort extends JsonObject {
  readonly name?: string;
  readonly containerPort: number;
  readonly hostPort?: number;
  readonly protocol?: string;
}

export interface Container extends JsonObject {
  readonly name: string;
  readonly image?: string;
  readonly ports?: readonly ContainerPort[];
  readonly restartPolicy?: string;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly startupProbe?: Probe;
}

export interface PodSpec extends JsonObject {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly nodeName?: string;
  readonly hostNetwork?: boolean;
  readonly restartPolicy?: string;
  readonly terminationGracePeriodSeconds?: number;
  readonly serviceAccountName?: string;
  readonly readinessGates?: readonly { readonly conditionType: string }[];
}

export interface Terminated extends JsonObject {
  readonly exitCode: number;
  readonly signal?: number;
  readonly reason?: string;
  readonly finishedAt?: string;
}

export interface ContainerState extends JsonObject {
  readonly waiting?: JsonObject & { readonly reason?: string };
  readonly running?: JsonObject;
  readonly terminated?: Terminated;
}

export interface ContainerStatus extends JsonObject {
  readonly name: string;
  readonly ready: boolean;
  readonly restartCount: number;
  readonly started?: boolean;
  readonly state?: ContainerState;
  readonly lastState?: ContainerState;
}

export interface PodCondition extends JsonObject {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
}

export interface PodStatus extends JsonObject {
  readonly phase?: string;
  readonly reason?: string;
  readonly conditions?: readonly PodCondition[];
  readonly podIP?: string;
  readonly podIPs?: readonly { readonly ip: string }[];
  readonly nominatedNodeName?: string;
  readonly initContainerStatuses?: readonly ContainerStatus[];
  readonly containerStatuses?: readonly ContainerStatus[];
}

export interface Pod extends ApiObject {
  readonly spec: PodSpec;
  readonly status: PodStatus;
}

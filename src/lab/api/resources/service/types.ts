// A Service after decoding, and its fields as data.
import type { ApiObject } from '../../api-object.ts';
import type { JsonObject } from '../../json.ts';
import { CONDITION, resourceSchema } from '../../schema/meta.ts';
import {
  flag,
  flagKept,
  int32,
  int32Kept,
  intOrString,
  keyed,
  list,
  map,
  type ObjectSchema,
  object,
  type Schema,
  text,
  textKept,
} from '../../schema/schema.ts';

export interface ServicePort extends JsonObject {
  readonly name?: string;
  readonly protocol: string;
  readonly port: number;
  readonly targetPort: number | string;
  readonly nodePort?: number;
  readonly appProtocol?: string;
}

export interface ServiceSpec extends JsonObject {
  readonly ports?: readonly ServicePort[];
  readonly selector?: Readonly<Record<string, string>>;
  /** `None` for a headless Service. */
  readonly clusterIP?: string;
  readonly clusterIPs?: readonly string[];
  readonly type: string;
  readonly externalIPs?: readonly string[];
  readonly sessionAffinity: string;
  readonly loadBalancerIP?: string;
  readonly loadBalancerSourceRanges?: readonly string[];
  readonly externalName?: string;
  readonly externalTrafficPolicy?: string;
  readonly healthCheckNodePort?: number;
  readonly publishNotReadyAddresses?: boolean;
  readonly sessionAffinityConfig?: JsonObject & {
    readonly clientIP?: JsonObject & { readonly timeoutSeconds?: number };
  };
  readonly ipFamilies?: readonly string[];
  readonly ipFamilyPolicy?: string;
  readonly allocateLoadBalancerNodePorts?: boolean;
  readonly loadBalancerClass?: string;
  readonly internalTrafficPolicy?: string;
  readonly trafficDistribution?: string;
}

export interface Ingress extends JsonObject {
  readonly ip?: string;
  readonly hostname?: string;
  readonly ipMode?: string;
}

export interface Service extends ApiObject {
  readonly spec: ServiceSpec;
  readonly status: JsonObject & {
    readonly loadBalancer: JsonObject & { readonly ingress?: readonly Ingress[] };
  };
}

export const HEADLESS = 'None';

export const isHeadless = ({ clusterIP, clusterIPs }: ServiceSpec): boolean =>
  clusterIP === HEADLESS || clusterIPs?.[0] === HEADLESS;
/** Whether the type gives the Service addresses inside the cluster. */
export const needsClusterIp = ({ type }: ServiceSpec): boolean =>
  type === 'ClusterIP' || type === 'NodePort' || type === 'LoadBalancer';
export const needsNodePort = ({ type, allocateLoadBalancerNodePorts }: ServiceSpec): boolean =>
  type === 'NodePort' || (type === 'LoadBalancer' && allocateLoadBalancerNodePorts !== false);
/** Whether node ports may be asked for, though they need not be given. */
export const mayHaveNodePort = ({ type }: ServiceSpec): boolean =>
  type === 'NodePort' || type === 'LoadBalancer';
export const needsHealthCheckPort = ({ type, externalTrafficPolicy }: ServiceSpec): boolean =>
  type === 'LoadBalancer' && externalTrafficPolicy === 'Local';
/** Whether traffic from outside the cluster can reach it by its own fields. */
export const isExternallyAccessible = (spec: ServiceSpec): boolean =>
  spec.type === 'LoadBalancer' ||
  spec.type === 'NodePort' ||
  (spec.type === 'ClusterIP' && (spec.externalIPs ?? []).length > 0);

const CORE = 'io.k8s.api.core.v1';

const PORT: Schema = object(`${CORE}.ServicePort`, {
  name: text,
  protocol: text,
  appProtocol: textKept,
  port: int32Kept,
  targetPort: intOrString,
  nodePort: int32,
});

const SPEC: Schema = object(`${CORE}.ServiceSpec`, {
  ports: keyed(PORT, 'port', 'protocol'),
  selector: map(text, { atomic: true }),
  clusterIP: text,
  clusterIPs: list(text),
  type: text,
  externalIPs: list(text),
  sessionAffinity: text,
  loadBalancerIP: text,
  loadBalancerSourceRanges: list(text),
  externalName: text,
  externalTrafficPolicy: text,
  healthCheckNodePort: int32,
  publishNotReadyAddresses: flag,
  sessionAffinityConfig: object(`${CORE}.SessionAffinityConfig`, {
    clientIP: object(`${CORE}.ClientIPConfig`, { timeoutSeconds: int32Kept }),
  }),
  ipFamilies: list(text),
  ipFamilyPolicy: textKept,
  allocateLoadBalancerNodePorts: flagKept,
  loadBalancerClass: textKept,
  internalTrafficPolicy: textKept,
  trafficDistribution: textKept,
});

const INGRESS: Schema = object(`${CORE}.LoadBalancerIngress`, {
  ip: text,
  hostname: text,
  ipMode: textKept,
  ports: list(object(`${CORE}.PortStatus`, { port: int32Kept, protocol: textKept, error: textKept })),
});

export const SERVICE_SCHEMA: ObjectSchema = resourceSchema(`${CORE}.Service`, {
  spec: SPEC,
  status: object(`${CORE}.ServiceStatus`, {
    loadBalancer: object(`${CORE}.LoadBalancerStatus`, { ingress: list(INGRESS) }),
    conditions: keyed(CONDITION, 'type'),
  }),
});

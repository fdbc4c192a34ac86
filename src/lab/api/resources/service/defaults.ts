// What the server fills in in a Service before it looks at anything else.
import { withFields } from '../../json.ts';
import { isExternallyAccessible, type Service, type ServicePort, type ServiceSpec } from './types.ts';

const AFFINITY_TIMEOUT_SECONDS = 10800;

function portDefaults(port: ServicePort): ServicePort {
  const target = port.targetPort === undefined || port.targetPort === '' || port.targetPort === 0;
  return withFields(port, {
    protocol: port.protocol ?? 'TCP',
    port: port.port ?? 0,
    targetPort: target ? (port.port ?? 0) : port.targetPort,
  });
}

function affinityConfig(affinity: string, spec: ServiceSpec): ServiceSpec['sessionAffinityConfig'] {
  if (affinity !== 'ClientIP') return affinity === 'None' ? undefined : spec.sessionAffinityConfig;
  const timeoutSeconds = spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? AFFINITY_TIMEOUT_SECONDS;
  return { clientIP: { timeoutSeconds } };
}

export function serviceDefaults(service: Service): Service {
  const given: ServiceSpec = service.spec ?? {};
  const type = given.type ?? 'ClusterIP';
  const affinity = given.sessionAffinity ?? 'None';
  const spec = withFields(given, {
    ports: given.ports?.map(portDefaults),
    type,
    sessionAffinity: affinity,
    sessionAffinityConfig: affinityConfig(affinity, given),
    externalTrafficPolicy:
      given.externalTrafficPolicy ?? (isExternallyAccessible({ ...given, type }) ? 'Cluster' : undefined),
    internalTrafficPolicy: given.internalTrafficPolicy ?? (type === 'ExternalName' ? undefined : 'Cluster'),
    allocateLoadBalancerNodePorts:
      given.allocateLoadBalancerNodePorts ?? (type === 'LoadBalancer' ? true : undefined),
  });
  const loadBalancer = service.status?.loadBalancer ?? {};
  const ingress = loadBalancer.ingress?.map((one) =>
    withFields(one, { ipMode: one.ipMode ?? (one.ip === undefined ? undefined : 'VIP') }),
  );
  return withFields(service, {
    spec,
    status: { ...service.status, loadBalancer: withFields(loadBalancer, { ingress }) },
  });
}

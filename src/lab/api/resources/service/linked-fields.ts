// Fields of a Service that belong together: what a client left out in an update is taken over, what a change of type
// makes meaningless is dropped.
import { sameJson, withFields } from '../../json.ts';
import {
  isExternallyAccessible,
  mayHaveNodePort,
  needsClusterIp,
  needsHealthCheckPort,
  type Service,
  type ServicePort,
  type ServiceSpec,
} from './types.ts';

/** clusterIP and clusterIPs[0] are the same thing; a client that knows only the first need not say the second. */
function linkClusterIps(next: ServiceSpec, before: ServiceSpec | undefined): ServiceSpec {
  const given = next.clusterIPs ?? [];
  if (before === undefined)
    return next.clusterIP !== undefined && given.length === 0
      ? withFields(next, { clusterIPs: [next.clusterIP] })
      : next;
  const same = sameJson(given, before.clusterIPs ?? []);
  if (next.clusterIP === before.clusterIP)
    return given.length === 0 && before.clusterIPs !== undefined
      ? withFields(next, { clusterIPs: before.clusterIPs })
      : next;
  // Only the singular field was touched: it speaks for both.
  if (!same && given.length > 0) return next;
  return withFields(next, { clusterIPs: next.clusterIP === undefined ? undefined : [next.clusterIP] });
}

/** An update that leaves out what the server once chose keeps it. */
function keepAllocated(next: ServiceSpec, before: ServiceSpec): ServiceSpec {
  let spec = next;
  if (needsClusterIp(before) && needsClusterIp(next)) {
    if (spec.clusterIP === undefined) spec = withFields(spec, { clusterIP: before.clusterIP });
    if ((spec.clusterIPs ?? []).length === 0 && spec.clusterIP === before.clusterIP)
      spec = withFields(spec, { clusterIPs: before.clusterIPs });
  }
  if (mayHaveNodePort(before) && mayHaveNodePort(next)) {
    const old = new Map((before.ports ?? []).map((port) => [portKey(port), port.nodePort]));
    const asked = new Set((spec.ports ?? []).map(({ nodePort }) => nodePort));
    const ports = spec.ports?.map((port) => {
      const kept = port.nodePort ?? old.get(portKey(port));
      return port.nodePort === undefined && kept !== undefined && !asked.has(kept)
        ? withFields(port, { nodePort: kept })
        : port;
    });
    spec = withFields(spec, { ports });
  }
  if (needsHealthCheckPort(before) && needsHealthCheckPort(next))
    spec = withFields(spec, { healthCheckNodePort: spec.healthCheckNodePort ?? before.healthCheckNodePort });
  return spec;
}

const portKey = ({ protocol, port }: ServicePort): string => `${protocol}/${port}`;

/** A change of type drops fields of the old type, unless the same update also changed them: then validation speaks. */
function dropForeign(next: ServiceSpec, before: ServiceSpec): ServiceSpec {
  let spec = next;
  const dropWhenSame = (field: keyof ServiceSpec & string): void => {
    if (sameJson(spec[field], before[field])) spec = withFields(spec, { [field]: undefined });
  };
  if (needsClusterIp(before) && !needsClusterIp(next))
    for (const field of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy', 'internalTrafficPolicy'])
      dropWhenSame(field);
  if (mayHaveNodePort(before) && !mayHaveNodePort(next)) {
    const old = (before.ports ?? []).map(({ nodePort }) => nodePort ?? 0);
    const same = (spec.ports ?? []).every(({ nodePort }) => nodePort === undefined || old.includes(nodePort));
    if (same)
      spec = withFields(spec, {
        ports: spec.ports?.map((port) => withFields(port, { nodePort: undefined })),
      });
  }
  if (needsHealthCheckPort(before) && !needsHealthCheckPort(next)) dropWhenSame('healthCheckNodePort');
  if (before.type === 'LoadBalancer' && next.type !== 'LoadBalancer')
    for (const field of ['allocateLoadBalancerNodePorts', 'loadBalancerClass']) dropWhenSame(field);
  if (isExternallyAccessible(before) && !isExternallyAccessible(next)) dropWhenSame('externalTrafficPolicy');
  return spec;
}

export function linkNew(service: Service): Service {
  return withFields(service, { spec: linkClusterIps(service.spec, undefined) });
}

export function linkUpdated(next: Service, before: Service): Service {
  const dropped = dropForeign(next.spec, before.spec);
  const kept = keepAllocated(dropped, before.spec);
  return withFields(next, { spec: linkClusterIps(kept, before.spec) });
}

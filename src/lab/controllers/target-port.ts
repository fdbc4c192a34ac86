// Which port of a Pod a Service port means.
import type { Pod } from '../api/resources/pod/types.ts';
import type { ServicePort } from '../api/resources/service/types.ts';

/**
 * The number behind `targetPort`: itself, or the container port of that name and protocol. Without a targetPort it is
 * the Service's own port. Undefined when the Pod has no such named port: the Pod then has no endpoint for it.
 */
export function targetPortOf(pod: Pod, { port, protocol, targetPort }: ServicePort): number | undefined {
  if (targetPort === undefined || targetPort === 0 || targetPort === '') return port;
  if (typeof targetPort === 'number') return targetPort;
  // Init containers that restart live as long as the Pod: sidecars.
  const sidecars = (pod.spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  for (const container of [...pod.spec.containers, ...sidecars])
    for (const candidate of container.ports ?? [])
      if (candidate.name === targetPort && (candidate.protocol ?? 'TCP') === protocol)
        return candidate.containerPort;
  return undefined;
}

// Which EndpointSlices a Service should have: one set per address family, and within it one set per list of ports, since
// a named targetPort may be another number in another Pod.
import type { Family } from '../../model/address.ts';
import type { SliceEndpoint, SlicePort } from '../api/resources/endpoint-slice.ts';
import type { Pod } from '../api/resources/pod/types.ts';
import { isHeadless, type Service } from '../api/resources/service/types.ts';
import type { Node } from './node-object.ts';
import { podEndpoint, selects } from './pod-endpoint.ts';
import { targetPortOf } from './target-port.ts';

/** Endpoints that may share slices: same family, same ports. */
export interface EndpointGroup {
  readonly family: Family;
  readonly ports: readonly SlicePort[];
  readonly endpoints: readonly SliceEndpoint[];
}

/** The Services that the controller looks after: those with a selector that are more than a DNS name. */
export function isSelected({ spec }: Service): boolean {
  return spec.type !== 'ExternalName' && Object.keys(spec.selector ?? {}).length > 0;
}

/** Two lists of ports are the same when their texts are: the order is that of the Service. */
export const portsText = (ports: readonly SlicePort[]): string =>
  JSON.stringify(
    ports.map(({ name, protocol, port, appProtocol }) => [name, protocol, port, appProtocol ?? null]),
  );

/**
 * The endpoints of a Service by family and ports. Every family of the Service has at least one group, an empty one when
 * there are no endpoints: a Service without endpoints still has an (empty) slice per family.
 *
 * @param pods the Pods of the Service's namespace
 */
export function endpointGroups(
  service: Service,
  pods: readonly Pod[],
  nodeOf: (name: string) => Node | undefined,
): readonly EndpointGroup[] {
  const chosen = pods.filter((pod) => selects(service.spec.selector, pod));
  return familiesOf(service).flatMap((family) => {
    const groups = new Map<string, { ports: readonly SlicePort[]; endpoints: SliceEndpoint[] }>();
    for (const pod of chosen) {
      const node = pod.spec.nodeName === undefined ? undefined : nodeOf(pod.spec.nodeName);
      const endpoint = podEndpoint(service, pod, family, node);
      if (endpoint === undefined) continue;
      const ports = portsFor(service, pod);
      // A Pod that has none of the ports can only be an endpoint of a Service that has none: a headless one.
      if (ports.length === 0 && (service.spec.ports ?? []).length > 0) continue;
      const key = portsText(ports);
      const group = groups.get(key) ?? { ports, endpoints: [] };
      groups.set(key, group);
      group.endpoints.push(endpoint);
    }
    const filled = [...groups.values()].map(({ ports, endpoints }) => ({ family, ports, endpoints }));
    return filled.length > 0 ? filled : [{ family, ports: [], endpoints: [] }];
  });
}

function portsFor(service: Service, pod: Pod): readonly SlicePort[] {
  return (service.spec.ports ?? []).flatMap((servicePort) => {
    const port = targetPortOf(pod, servicePort);
    const { name = '', protocol, appProtocol } = servicePort;
    if (port === undefined) return [];
    return [{ name, protocol, port, ...(appProtocol === undefined ? {} : { appProtocol }) }];
  });
}

/** spec.ipFamilies; a Service that has none yet (an old headless one) counts as IPv4. */
function familiesOf({ spec }: Service): readonly Family[] {
  const given = (spec.ipFamilies ?? []).filter(
    (family): family is Family => family === 'IPv4' || family === 'IPv6',
  );
  return given.length > 0 ? given : ['IPv4'];
}

export const SERVICE_NAME_LABEL = 'kubernetes.io/service-name';
export const MANAGED_BY_LABEL = 'endpointslice.kubernetes.io/managed-by';
export const MANAGER = 'endpointslice-controller.k8s.io';
const HEADLESS_LABEL = 'service.kubernetes.io/headless';

/** The labels of a Service's slices: its own, and those that say whose they are. */
export function sliceLabels(service: Service): Readonly<Record<string, string>> {
  const { [HEADLESS_LABEL]: _, ...own } = service.metadata.labels ?? {};
  return {
    ...own,
    [SERVICE_NAME_LABEL]: service.metadata.name ?? '',
    [MANAGED_BY_LABEL]: MANAGER,
    ...(isHeadless(service.spec) ? { [HEADLESS_LABEL]: '' } : {}),
  };
}

// The endpoint that a Pod is for a Service.
import { type Family, familyOf } from '../../model/address.ts';
import type { SliceEndpoint } from '../api/resources/endpoint-slice.ts';
import type { Pod } from '../api/resources/pod/types.ts';
import type { Service } from '../api/resources/service/types.ts';
import { type Node, ZONE_LABEL } from './node-object.ts';
import { hintsFor } from './topology-hints.ts';

const ENDED: readonly (string | undefined)[] = ['Succeeded', 'Failed'];

export function isPodReady({ status }: Pod): boolean {
  return status.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false;
}

/** Whether the Pod's labels carry all that the selector asks for. An empty selector selects nothing here. */
export function selects(selector: Readonly<Record<string, string>> | undefined, pod: Pod): boolean {
  const wanted = Object.entries(selector ?? {});
  const labels = pod.metadata.labels ?? {};
  return wanted.length > 0 && wanted.every(([label, value]) => labels[label] === value);
}

/**
 * The endpoint of a Pod in one family, undefined when it has none: no address yet, run to its end, or bound to a node
 * that is not there (unless the Service publishes what is not ready).
 *
 * `serving` is the Pod's readiness, `ready` is that of a Pod which is not terminating (KEP-1672); with
 * publishNotReadyAddresses all are ready.
 */
export function podEndpoint(
  service: Service,
  pod: Pod,
  family: Family,
  node: Node | undefined,
): SliceEndpoint | undefined {
  const address = pod.status.podIPs?.find(({ ip }) => familyOf(ip) === family)?.ip;
  if (address === undefined || ENDED.includes(pod.status.phase)) return undefined;
  const { nodeName, hostname, subdomain } = pod.spec;
  const published = service.spec.publishNotReadyAddresses === true;
  if (nodeName !== undefined && node === undefined && !published) return undefined;
  const serving = isPodReady(pod);
  const terminating = pod.metadata.deletionTimestamp !== undefined;
  const ready = published || (serving && !terminating);
  const zone = node?.metadata.labels?.[ZONE_LABEL];
  const hints = hintsFor(service.spec.trafficDistribution, { ready, nodeName, zone });
  return {
    addresses: [address],
    conditions: { ready, serving, terminating },
    ...(typeof hostname === 'string' && hostname !== '' && subdomain === service.metadata.name
      ? { hostname }
      : {}),
    targetRef: {
      kind: 'Pod',
      namespace: pod.metadata.namespace,
      name: pod.metadata.name,
      uid: pod.metadata.uid,
    },
    ...(nodeName === undefined ? {} : { nodeName }),
    ...(zone === undefined ? {} : { zone }),
    ...(hints === undefined ? {} : { hints }),
  };
}

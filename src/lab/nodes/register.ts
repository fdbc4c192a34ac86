// The objects of what was there before any controller: the nodes, and the API server as a Service's endpoint.
import { PointsmanError } from '../../base/errors.ts';
import { parseCidr } from '../../model/address.ts';
import type { ClusterApi } from '../api/cluster-api.ts';
import type { Answer } from '../api/status.ts';
import { microTimestamp } from '../api/time.ts';
import { type NodeFacts, nodeObject, nodeStatus } from '../controllers/node-object.ts';
import type { NodePlace } from '../network/topology.ts';

const ZONES = ['zone-a', 'zone-b', 'zone-c'];

/** Nodes go round the zones. */
export const zoneOf = ({ number }: NodePlace): string => ZONES[(number - 1) % ZONES.length] ?? '';

function checked(what: string, answer: Answer): void {
  if (!answer.ok)
    throw new PointsmanError('E_LAB', `cannot register ${what}: ${answer.status.message ?? ''}`);
}

/** Makes the Node objects, ready, and their Leases, which nobody renews: a lab's node ends with the lab. */
export function registerNodes(api: ClusterApi, nodes: readonly NodePlace[], now: number): void {
  for (const place of nodes) {
    const facts: NodeFacts = {
      name: place.name,
      zone: zoneOf(place),
      addresses: [place.addresses.IPv4, place.addresses.IPv6],
      podCidrs: [place.podRanges.IPv4, place.podRanges.IPv6].flatMap((text) => parseCidr(text) ?? []),
    };
    const writer = { manager: 'kubelet' };
    const object = nodeObject(facts);
    checked(`node ${place.name}`, api.create('nodes', object, writer));
    const status = nodeStatus(facts, now);
    checked(`node ${place.name}`, api.updateStatus('nodes', { ...object, status }, writer));
    const lease = {
      metadata: { name: place.name, namespace: 'kube-node-lease' },
      spec: { holderIdentity: place.name, leaseDurationSeconds: 40, renewTime: microTimestamp(now) },
    };
    checked(`node ${place.name}`, api.create('leases', lease, writer));
  }
}

/** Makes the EndpointSlice of the Service `kubernetes`, which no selector fills. */
export function registerServer(api: ClusterApi, address: string, port: number): void {
  const slice = {
    metadata: {
      name: 'kubernetes',
      namespace: 'default',
      labels: { 'kubernetes.io/service-name': 'kubernetes' },
    },
    addressType: 'IPv4',
    endpoints: [{ addresses: [address], conditions: { ready: true } }],
    ports: [{ name: 'https', protocol: 'TCP', port }],
  };
  checked('the API server', api.create('endpointslices', slice, { manager: 'kube-apiserver' }));
}

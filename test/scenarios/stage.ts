// Names of the scenario tables and what they stand for (the catalogue's fixture).
import type { Family } from '../../src/model/address.ts';
import type { JsonObject } from '../../src/model/decode.ts';
import { PROTOCOLS } from '../../src/model/service.ts';
import type { Place } from '../packets/small-net.ts';
import { objectIn } from './family.ts';
import type { ServiceGiven } from './scenario.ts';

export const NODE_NAME = 'n1';
export const ZONE = 'za';
/** The node's addresses. Clients on the node use the second, so that masquerading shows. */
export const NODE_ADDRESSES: readonly string[] = ['192.0.2.11', '192.0.3.11'];
export const POD_RANGE = '10.50.1.0/24';
export const CLUSTER_CIDR = '10.50.0.0/16';

export const SENDERS: Readonly<Record<string, { readonly place: Place; readonly address: string }>> = {
  P: { place: 'askers', address: '10.50.1.20' },
  n1: { place: 'node', address: '192.0.3.11' },
  X: { place: 'outside', address: '198.51.100.7' },
  B: { place: 'outside', address: '203.0.113.200' },
  EL: { place: 'pods', address: '10.50.1.7' },
  R: { place: 'outside', address: '10.50.9.9' },
};

/** Endpoints: those of this node are 10.50.1.x, and the node itself is h1. */
export const ENDPOINTS: Readonly<Record<string, { readonly address: string; readonly node: string }>> = {
  EL: { address: '10.50.1.7', node: 'n1' },
  ER: { address: '10.50.2.7', node: 'n2' },
  e2: { address: '10.50.1.8', node: 'n1' },
  a: { address: '10.50.1.1', node: 'n1' },
  b: { address: '10.50.1.2', node: 'n1' },
  c: { address: '10.50.2.1', node: 'n2' },
  d: { address: '10.50.2.2', node: 'n2' },
  h1: { address: '192.0.2.11', node: 'n1' },
  h2: { address: '192.0.2.12', node: 'n2' },
};
export const ENDPOINT_PORT = 8080;
export const OTHER_PORTS: readonly number[] = [9090];

export function serviceObject(name: string, given: ServiceGiven, family: Family): JsonObject {
  const { clusterIP, port, nodePort, vips, externalIPs, spec, created } = given;
  const ingress = (vips ?? []).map((vip) => (typeof vip === 'string' ? { ip: vip } : vip));
  return objectIn(family, {
    metadata: {
      namespace: 'shop',
      name: name.toLowerCase(),
      uid: name,
      creationTimestamp: created ?? '2026-01-01T00:00:00Z',
    },
    spec: {
      type: vips ? 'LoadBalancer' : nodePort ? 'NodePort' : 'ClusterIP',
      clusterIP,
      ports: PROTOCOLS.map((protocol) => ({
        name: protocol.toLowerCase(),
        protocol,
        port,
        ...(nodePort ? { nodePort } : {}),
      })),
      ...(externalIPs ? { externalIPs } : {}),
      ...spec,
    },
    status: { loadBalancer: { ingress } },
  });
}

export function sliceObjects(name: string, given: ServiceGiven, family: Family): readonly JsonObject[] {
  const of = (slice: JsonObject, index: number): JsonObject => ({
    addressType: 'IPv4',
    ports: PROTOCOLS.map((protocol) => ({
      name: protocol.toLowerCase(),
      protocol,
      port: ENDPOINT_PORT,
    })),
    ...slice,
    metadata: {
      namespace: 'shop',
      name: `${name.toLowerCase()}-${index}`,
      labels: { 'kubernetes.io/service-name': name.toLowerCase() },
    },
  });
  return (given.slices ?? [{ endpoints: endpointObjects(given.endpoints) }]).map((slice, index) =>
    objectIn(family, of(slice, index)),
  );
}

/** Reads the notation of `ServiceGiven.endpoints`. */
export function endpointObjects(text: string): readonly JsonObject[] {
  return text
    .split(' ')
    .filter(Boolean)
    .map((word) => {
      const [, name = '', mark = '', zones, nodes] =
        /^([A-Za-z0-9]+)([!~-]?)(?::([^@]+))?(?:@(.+))?$/.exec(word) ?? [];
      const endpoint = ENDPOINTS[name];
      if (endpoint === undefined) throw new Error(`no endpoint is called ${name} in '${text}'`);
      const named = (list: string | undefined): readonly JsonObject[] =>
        (list ?? '')
          .split(',')
          .filter(Boolean)
          .map((item) => ({ name: item }));
      return {
        addresses: [endpoint.address],
        nodeName: endpoint.node,
        conditions: {
          ready: mark === '' || mark === '~',
          serving: mark !== '-',
          terminating: mark === '!' || mark === '~',
        },
        hints: { forZones: named(zones), forNodes: named(nodes) },
      };
    });
}

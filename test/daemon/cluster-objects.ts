// Objects as an API server sends them.
import type { Json } from './small-api.ts';

export function serviceObject(name: string, clusterIP: string, more: Json = {}): Json {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'shop', creationTimestamp: '2026-12-01T00:00:00Z' },
    spec: {
      type: 'ClusterIP',
      clusterIP,
      clusterIPs: [clusterIP],
      ipFamilies: [clusterIP.includes(':') ? 'IPv6' : 'IPv4'],
      ports: [{ name: 'http', protocol: 'TCP', port: 80 }],
      ...more,
    },
  };
}

export function sliceObject(service: string, addresses: readonly string[], triggeredAt?: Date): Json {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: `${service}-1`,
      namespace: 'shop',
      labels: { 'kubernetes.io/service-name': service },
      ...(triggeredAt === undefined
        ? {}
        : {
            annotations: {
              'endpoints.kubernetes.io/last-change-trigger-time': triggeredAt.toISOString(),
            },
          }),
    },
    addressType: addresses[0]?.includes(':') ? 'IPv6' : 'IPv4',
    ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
    endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
  };
}

export function nodeObject(name: string, more: Json = {}): Json {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name },
    spec: {},
    status: { addresses: [{ type: 'InternalIP', address: '192.0.2.11' }] },
    ...more,
  };
}

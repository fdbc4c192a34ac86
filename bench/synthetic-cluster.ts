// A made-up cluster of any size: API objects as the server would list them, the same for the same arguments.
import type { JsonObject } from '../src/model/decode.ts';

export interface SyntheticCluster {
  readonly services: readonly JsonObject[];
  readonly slices: readonly JsonObject[];
}

const dotted = (base: number, index: number): string => {
  const value = base + index;
  return `${(value >>> 24) & 255}.${(value >>> 16) & 255}.${(value >>> 8) & 255}.${value & 255}`;
};
/** 10.96.0.0 and 10.128.0.0: Services and pods far apart, room for a million of each. */
const SERVICES = 0x0a60_0001;
const PODS = 0x0a80_0001;
const NODES = 100;

/** The `version` makes another set of pod addresses for the same Service: one changed endpoint. */
export function sliceObject(index: number, endpoints: number, version = 0): JsonObject {
  return {
    metadata: {
      namespace: `ns-${index % 50}`,
      name: `service-${index}-abcde`,
      labels: {
        'kubernetes.io/service-name': `service-${index}`,
        'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
      },
      resourceVersion: String(1000 + index + version),
    },
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
    endpoints: Array.from({ length: endpoints }, (_, number) => ({
      addresses: [
        dotted(PODS, index * (endpoints + 1) + number + (number === 0 ? (version % 2) * endpoints : 0)),
      ],
      conditions: { ready: true, serving: true, terminating: false },
      nodeName: `node-${(index + number) % NODES}`,
      zone: `zone-${number % 3}`,
    })),
  };
}

export function serviceObject(index: number): JsonObject {
  const clusterIP = dotted(SERVICES, index);
  return {
    metadata: {
      namespace: `ns-${index % 50}`,
      name: `service-${index}`,
      uid: `uid-${index}`,
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    spec: {
      type: 'ClusterIP',
      clusterIP,
      clusterIPs: [clusterIP],
      ipFamilies: ['IPv4'],
      ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 }],
      selector: { app: `app-${index}` },
      sessionAffinity: 'None',
      internalTrafficPolicy: 'Cluster',
    },
    status: { loadBalancer: {} },
  };
}

export function syntheticCluster(services: number, endpoints: number): SyntheticCluster {
  return {
    services: Array.from({ length: services }, (_, index) => serviceObject(index)),
    slices: Array.from({ length: services }, (_, index) => sliceObject(index, endpoints)),
  };
}

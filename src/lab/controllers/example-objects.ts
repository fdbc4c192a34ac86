// Objects for the controllers' tests: each is whole, a test changes what it is about.
import type { EndpointSlice } from '../api/resources/endpoint-slice.ts';
import type { Pod, PodSpec, PodStatus } from '../api/resources/pod/types.ts';
import type { Service, ServiceSpec } from '../api/resources/service/types.ts';
import { type Node, ZONE_LABEL } from './node-object.ts';

export interface PodParts {
  readonly name?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly deleted?: { readonly at: string; readonly grace: number };
  readonly ips?: readonly string[];
  readonly ready?: boolean;
  readonly spec?: Partial<PodSpec>;
  readonly status?: Partial<PodStatus>;
}

/** A ready Pod `a` of app `web` on node-1 with port 8080 named http. */
export function examplePod(parts: PodParts = {}): Pod {
  const { name = 'a', namespace = 'default', ips = ['10.244.1.7', 'fd00:10:244:1::7'], ready = true } = parts;
  const { deleted, annotations } = parts;
  return {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: {
      name,
      namespace,
      uid: parts.uid ?? `uid-${name}`,
      labels: parts.labels ?? { app: 'web' },
      ...(annotations === undefined ? {} : { annotations }),
      ...(deleted === undefined
        ? {}
        : { deletionTimestamp: deleted.at, deletionGracePeriodSeconds: deleted.grace }),
    },
    spec: {
      nodeName: 'node-1',
      containers: [{ name: 'main', ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }] }],
      ...parts.spec,
    },
    status: {
      phase: 'Running',
      podIPs: ips.map((ip) => ({ ip })),
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
      ...parts.status,
    },
  };
}

/** A Service `web` that selects app `web`, port 80 to the port named http. */
export function exampleService(spec: Partial<ServiceSpec> = {}, metadata: Service['metadata'] = {}): Service {
  return {
    kind: 'Service',
    apiVersion: 'v1',
    metadata: { name: 'web', namespace: 'default', uid: 'uid-web', ...metadata },
    spec: {
      type: 'ClusterIP',
      selector: { app: 'web' },
      sessionAffinity: 'None',
      clusterIP: '10.96.0.9',
      clusterIPs: ['10.96.0.9'],
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
      ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 'http' }],
      ...spec,
    },
    status: { loadBalancer: {} },
  };
}

export function exampleNode(name = 'node-1', zone = 'zone-a'): Node {
  return {
    kind: 'Node',
    apiVersion: 'v1',
    metadata: { name, labels: { [ZONE_LABEL]: zone } },
    spec: {},
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  };
}

/** The slice as a server would keep it: named. */
export function named(slice: EndpointSlice, name: string): EndpointSlice {
  return { ...slice, metadata: { ...slice.metadata, name } };
}

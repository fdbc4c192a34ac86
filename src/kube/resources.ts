// What a kube-proxy watches, as data (spec section 2). Each becomes one reflector.

export interface WatchedResource {
  /** What logs and status call it. */
  readonly name: string;
  readonly path: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Servers before 1.33 do not have it. */
  readonly optional?: boolean;
}

/** Services of other proxies, and headless ones, are never seen. */
export const SERVICES: WatchedResource = {
  name: 'services',
  path: '/api/v1/services',
  labelSelector: '!service.kubernetes.io/service-proxy-name',
  fieldSelector: 'spec.clusterIP!=None',
};

/** Those of headless Services are left out by the label that the controller gives them. */
export const ENDPOINT_SLICES: WatchedResource = {
  name: 'endpointslices',
  path: '/apis/discovery.k8s.io/v1/endpointslices',
  labelSelector: '!service.kubernetes.io/headless',
};

export const SERVICE_CIDRS: WatchedResource = {
  name: 'servicecidrs',
  path: '/apis/networking.k8s.io/v1/servicecidrs',
  optional: true,
};

/** The one node of this name: its zone, addresses, pod CIDRs and taints matter. */
export function ownNode(name: string): WatchedResource {
  return { name: 'node', path: '/api/v1/nodes', fieldSelector: `metadata.name=${name}` };
}

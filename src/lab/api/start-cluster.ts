// A cluster as it is when its API server has just started: system namespaces, the ServiceCIDR, the `kubernetes` Service.

import { PointsmanError } from '../../base/errors.ts';
import { type Cidr, cidrText } from '../../model/address.ts';
import { type ClusterApi, createClusterApi, type Draft, type ResourceName } from './cluster-api.ts';
import type { Registry } from './registry/context.ts';
import { createDependents } from './registry/dependents.ts';
import { RESOURCES } from './resources/all.ts';
import type { Cluster, PortRange } from './resources/cluster.ts';
import { firstAddress } from './resources/service/address-range.ts';
import { createStore } from './store/store.ts';
import { timestamp } from './time.ts';

export interface ClusterOptions {
  /** The Services' ranges, primary family first, at most one per family. */
  readonly serviceCidrs: readonly Cidr[];
  readonly nodePorts?: PortRange;
  /** How many events of each resource are kept for watches and lists of older versions. */
  readonly historyLimit?: number;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** Numbers in [0, 1). */
  readonly random?: () => number;
}

export interface StartedCluster {
  readonly registry: Registry;
  readonly api: ClusterApi;
}

const NAMESPACES = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];
const HISTORY_LIMIT = 20_000;
const MANAGER = 'kube-apiserver';

export function startCluster(options: ClusterOptions): StartedCluster {
  const { serviceCidrs } = options;
  const families = new Set(serviceCidrs.map(({ family }) => family));
  if (serviceCidrs.length === 0 || families.size !== serviceCidrs.length)
    throw new PointsmanError('E_LAB', 'the lab needs one range of Service addresses per IP family', {
      facts: { ranges: serviceCidrs.map(cidrText).join(',') },
    });
  const cluster: Cluster = {
    store: createStore({ historyLimit: options.historyLimit ?? HISTORY_LIMIT }),
    serviceCidrs,
    nodePorts: options.nodePorts ?? { first: 30000, last: 32767 },
    takenNodePorts: new Map(),
    now: options.now ?? Date.now,
    random: options.random ?? Math.random,
  };
  const registry: Registry = {
    cluster,
    resources: RESOURCES,
    dependents: createDependents(),
    awaitingDependents: new Map(),
  };
  const api = createClusterApi(registry);
  const make = (resource: ResourceName, draft: Draft): void => {
    const answer = api.create(resource, draft, { manager: MANAGER });
    if (!answer.ok) throw new PointsmanError('E_LAB', `the lab's API cannot start: ${answer.status.message}`);
  };
  for (const name of NAMESPACES) make('namespaces', { metadata: { name } });
  make('servicecidrs', { metadata: { name: 'kubernetes' }, spec: { cidrs: serviceCidrs.map(cidrText) } });
  const ready = {
    type: 'Ready',
    status: 'True',
    lastTransitionTime: timestamp(cluster.now()),
    reason: '',
    message: 'Kubernetes Service CIDR is ready',
  };
  api.patch(
    { resource: 'servicecidrs', name: 'kubernetes' },
    'merge',
    { status: { conditions: [ready] } },
    { subresource: 'status' },
  );
  const [primary] = serviceCidrs;
  make('services', {
    metadata: {
      name: 'kubernetes',
      namespace: 'default',
      labels: { component: 'apiserver', provider: 'kubernetes' },
    },
    spec: {
      ...(primary === undefined ? {} : { clusterIP: firstAddress(primary) }),
      ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: 6443 }],
      sessionAffinity: 'None',
      type: 'ClusterIP',
    },
  });
  return { registry, api };
}

// From one Service and its slices to the entries of its frontends. All rules of Service semantics meet here, once.
import {
  type Address,
  type Cidr,
  cidrContains,
  cidrCovers,
  type Family,
  familyOf,
  widthOf,
} from '../model/address.ts';
import type { EndpointSlice } from '../model/endpoint-slice.ts';
import type { PortOfService, Service } from '../model/service.ts';
import type { Endpoint, Frontend, ServicePort } from '../model/service-port.ts';
import {
  anyUsable,
  type Choice,
  type ChoiceFacts,
  chooseAnywhere,
  chooseOnNode,
} from './choose-endpoints.ts';
import type { Entry, Route } from './forwarding-table.ts';
import { type Candidate, mergeSlices } from './merge-slices.ts';

/** What a plan depends on beside the cluster's objects. */
export interface PlanFacts extends ChoiceFacts {
  /** The node's own addresses as its Node object tells. */
  readonly nodeAddresses: readonly Address[];
}

/**
 * The entries of all ServicePorts of a Service, for the given families. Pure: equal input gives equal entries,
 * whatever the order of `slices`.
 */
export function planService(
  service: Service,
  slices: readonly EndpointSlice[],
  families: readonly Family[],
  facts: PlanFacts,
): readonly Entry[] {
  const entries: Entry[] = [];
  for (const clusterIP of service.clusterIPs) {
    const family = familyOf(clusterIP);
    if (!families.includes(family)) continue;
    for (const port of service.ports) entries.push(...planPort(service, port, clusterIP, slices, facts));
  }
  return entries;
}

function planPort(
  service: Service,
  port: PortOfService,
  clusterIP: Address,
  slices: readonly EndpointSlice[],
  facts: PlanFacts,
): Entry[] {
  const family = familyOf(clusterIP);
  const { protocol } = port;
  const external = externalFrontends(service, port, family);
  const candidates = mergeSlices(slices, family, port.name, protocol);
  const routes = routesOf(service, candidates, external.length > 0, facts);
  const servicePort: ServicePort = {
    family,
    namespace: service.namespace,
    name: service.name,
    portName: port.name,
    protocol,
  };
  const common = { servicePort, affinitySeconds: service.affinitySeconds };
  const localOnly = external.length > 0 && externalPolicyIsLocal(service);
  const allowedSources = allowedSourcesOf(service, family, facts);
  return [
    {
      ...common,
      frontend: { kind: 'cluster-ip', family, address: clusterIP, protocol, port: port.port },
      route: routes.internal,
      masquerade: 'unless-pod',
      allowedSources: undefined,
      ...(service.healthCheckNodePort === 0 ? {} : { healthCheckNodePort: service.healthCheckNodePort }),
    },
    ...external.map(
      (frontend): Entry => ({
        ...common,
        frontend,
        route: routes.external,
        masquerade: localOnly ? 'own' : 'always',
        allowedSources: frontend.kind === 'load-balancer-ip' ? allowedSources : undefined,
      }),
    ),
  ];
}

/** Behaviour spec 2: the type is not asked; what is there is served. */
function externalFrontends(service: Service, port: PortOfService, family: Family): Frontend[] {
  const at = (kind: 'external-ip' | 'load-balancer-ip', addresses: readonly Address[]): Frontend[] =>
    addresses
      .filter((address) => familyOf(address) === family)
      .map((address) => ({ kind, family, address, protocol: port.protocol, port: port.port }));
  const nodePort: Frontend[] =
    port.nodePort === 0 ? [] : [{ kind: 'node-port', family, protocol: port.protocol, port: port.nodePort }];
  return [
    ...nodePort,
    ...at('external-ip', service.externalIPs),
    ...at('load-balancer-ip', service.loadBalancerIPs),
  ];
}

/** externalTrafficPolicy counts only where the API gives it a meaning (behaviour spec 2). */
function externalPolicyIsLocal(service: Service): boolean {
  if (service.externalTrafficPolicy !== 'Local') return false;
  return service.type === 'LoadBalancer' || service.type === 'NodePort' || service.externalIPs.length > 0;
}

/** Behaviour spec 3.1 and 3.2: what ClusterIP and what the external frontends do. */
function routesOf(
  service: Service,
  candidates: readonly Candidate[],
  isExternal: boolean,
  facts: PlanFacts,
): { readonly internal: Route; readonly external: Route } {
  const internalLocal = service.internalTrafficPolicy === 'Local';
  const externalLocal = isExternal && externalPolicyIsLocal(service);
  if (!anyUsable(candidates)) {
    const because =
      candidates.length === 0
        ? 'the Service port has no endpoints'
        : 'no endpoint is ready, and none is terminating but still serving';
    return { internal: { kind: 'reject', because }, external: { kind: 'reject', because } };
  }
  const anywhere = asList(chooseAnywhere(candidates, facts), facts);
  const onNode = internalLocal || externalLocal ? asList(chooseOnNode(candidates, facts), facts) : undefined;
  const balance: Route = { kind: 'balance', from: 'cluster', ...anywhere };
  let internal: Route = balance;
  if (internalLocal && onNode !== undefined) {
    internal =
      onNode.endpoints.length > 0
        ? { kind: 'balance', from: 'node', ...onNode }
        : { kind: 'drop', because: `internalTrafficPolicy is Local, and ${onNode.because}` };
  }
  let external: Route = balance;
  if (externalLocal && onNode !== undefined) {
    external = {
      kind: 'by-source',
      all: anywhere.endpoints,
      local: onNode.endpoints,
      because: `externalTrafficPolicy is Local: pods and this node may use those ${anywhere.because}; others ${
        onNode.endpoints.length > 0 ? `those ${onNode.because}` : `are dropped, since ${onNode.because}`
      }`,
    };
  }
  return { internal, external };
}

function asList(
  choice: Choice,
  facts: PlanFacts,
): { readonly endpoints: readonly Endpoint[]; readonly because: string } {
  return {
    endpoints: choice.endpoints.map(({ traits, port }) => ({
      address: traits.address,
      port,
      local: traits.node === facts.nodeName,
    })),
    because: choice.because,
  };
}

/**
 * Behaviour spec 3.3, loadBalancerSourceRanges: those of the family; none, or a /0, is no restriction. A range that
 * holds the node's address admits the load balancer's own addresses too, since the node may dial with them as source.
 */
function allowedSourcesOf(service: Service, family: Family, facts: PlanFacts): readonly Cidr[] | undefined {
  const ranges = service.sourceRanges.filter((range) => range.family === family);
  if (ranges.length === 0 || ranges.some((range) => range.prefix === 0)) return undefined;
  const admitsNode = facts.nodeAddresses.some((address) =>
    ranges.some((range) => cidrContains(range, address)),
  );
  const vips = admitsNode ? service.loadBalancerIPs.filter((address) => familyOf(address) === family) : [];
  return withoutCovered([
    ...ranges,
    ...vips.map((address) => ({ family, address, prefix: widthOf(family) })),
  ]);
}

/** Drops ranges inside others (the kernel refuses them), in a canonical order. */
function withoutCovered(ranges: readonly Cidr[]): readonly Cidr[] {
  const kept: Cidr[] = [];
  const ordered = ranges.toSorted(
    (a, b) => a.prefix - b.prefix || (a.address < b.address ? -1 : a.address > b.address ? 1 : 0),
  );
  for (const range of ordered) if (!kept.some((outer) => cidrCovers(outer, range))) kept.push(range);
  return kept;
}

// From the entries of one Service port to its chains and its lines in the shared chains (behaviour spec 4.1).
import type { Family } from '../../model/address.ts';
import { type Endpoint, endpointText, servicePortText } from '../../model/service-port.ts';
import type { Entry, TableSettings } from '../../plan/forwarding-table.ts';
import { endpointChain, portChains } from './names.ts';
import { fromPods, host, notFromPods, probability, type Rule, reject, rule } from './rules.ts';

/** Shared chains, with their table, in which Service ports have lines. */
export const SHARED = {
  services: ['nat', 'KUBE-SERVICES'],
  nodePorts: ['nat', 'KUBE-NODEPORTS'],
  closedServices: ['filter', 'KUBE-SERVICES'],
  closedExternal: ['filter', 'KUBE-EXTERNAL-SERVICES'],
  firewall: ['filter', 'KUBE-PROXY-FIREWALL'],
  healthChecks: ['filter', 'KUBE-NODEPORTS'],
} as const;
export type SharedChain = keyof typeof SHARED;
export const SHARED_CHAINS = Object.keys(SHARED) as readonly SharedChain[];

/** What one Service port is in iptables. */
export interface PortRules {
  /** Chains of its own in the nat table. */
  readonly chains: ReadonlyMap<string, readonly Rule[]>;
  /** Lines in shared chains. */
  readonly shared: Readonly<Record<SharedChain, readonly Rule[]>>;
}

export interface PortOptions {
  readonly settings: TableSettings;
  /** No comments for single endpoints: with thousands they are most of the text. */
  readonly brief: boolean;
}

/** `entries` are those of one Service port, one or more, in the order of their frontends. */
export function portRules(entries: readonly Entry[], { settings, brief }: PortOptions): PortRules {
  const [first] = entries;
  if (first === undefined) throw new Error('a Service port without frontends has no rules');
  const { servicePort, affinitySeconds } = first;
  const { family, protocol } = servicePort;
  const name = servicePortText(servicePort);
  const chains = portChains(servicePort);
  const own = new Map<string, readonly Rule[]>();
  const shared: Record<SharedChain, Rule[]> = {
    services: [],
    nodePorts: [],
    closedServices: [],
    closedExternal: [],
    firewall: [],
    healthChecks: [],
  };

  // Two, when a Service has two ports of one name: the API refuses that, objects of old may have it.
  const clusterIps = entries.filter(({ frontend }) => frontend.kind === 'cluster-ip');
  const external = entries.filter(({ frontend }) => frontend.kind !== 'cluster-ip');
  const open = external.filter(({ route }) => route.kind === 'balance' || route.kind === 'by-source');
  const { everywhere, onNode } = endpointLists(entries);

  const lineTo = (entry: Entry, comment: string, jump: string): Rule => {
    const { frontend } = entry;
    return frontend.kind === 'node-port'
      ? rule({ protocol, comment: name, port: frontend.port, jump })
      : rule({
          destination: host(family, frontend.address),
          protocol,
          comment: `${name} ${comment}`,
          port: frontend.port,
          jump,
        });
  };
  const closed = (entry: Entry, comment: string, jump: string): Rule => {
    const { frontend } = entry;
    return rule({
      ...(frontend.kind === 'node-port'
        ? { matches: ['-m', 'addrtype', '--dst-type', 'LOCAL'] }
        : { destination: host(family, frontend.address) }),
      protocol,
      comment: `${name} ${comment}`,
      port: frontend.port,
      jump,
    });
  };

  let servesClusterIp: string | undefined;
  for (const clusterIp of clusterIps) {
    const { route } = clusterIp;
    if (route.kind === 'reject')
      shared.closedServices.push(closed(clusterIp, 'has no endpoints', reject(family)));
    else if (route.kind === 'drop')
      shared.closedServices.push(closed(clusterIp, 'has no local endpoints', 'DROP'));
    else {
      servesClusterIp = route.kind === 'balance' && route.from === 'node' ? chains.SVL : chains.SVC;
      shared.services.push(lineTo(clusterIp, 'cluster IP', servesClusterIp));
    }
  }

  for (const entry of external) {
    const { frontend, route, allowedSources } = entry;
    if (route.kind === 'reject') {
      shared.closedExternal.push(closed(entry, 'has no endpoints', reject(family)));
      continue;
    }
    if (route.kind === 'by-source' && route.local.length === 0)
      shared.closedExternal.push(closed(entry, 'has no local endpoints', 'DROP'));
    if (route.kind === 'drop') {
      shared.closedExternal.push(closed(entry, 'has no local endpoints', 'DROP'));
      continue;
    }
    if (frontend.kind === 'node-port') shared.nodePorts.push(lineTo(entry, '', chains.EXT));
    else if (frontend.kind === 'external-ip') shared.services.push(lineTo(entry, 'external IP', chains.EXT));
    else {
      const guarded = allowedSources !== undefined;
      shared.services.push(lineTo(entry, 'loadbalancer IP', guarded ? chains.FW : chains.EXT));
      if (guarded) shared.firewall.push(closed(entry, `traffic not accepted by ${chains.FW}`, 'DROP'));
    }
  }
  const healthPort = clusterIps[0]?.healthCheckNodePort ?? 0;
  if (healthPort !== 0)
    shared.healthChecks.push(
      rule({ protocol: 'TCP', comment: `${name} health check node port`, port: healthPort, jump: 'ACCEPT' }),
    );

  const guarded = open.find(({ allowedSources }) => allowedSources !== undefined);
  if (guarded?.allowedSources !== undefined)
    own.set(chains.FW, [
      ...guarded.allowedSources.map((source) =>
        rule({ source, comment: `${name} loadbalancer IP`, jump: chains.EXT }),
      ),
      rule({ comment: `other traffic to ${name} will be dropped by KUBE-PROXY-FIREWALL` }),
    ]);
  const [outside] = open;
  if (outside !== undefined) own.set(chains.EXT, externalChain(outside, name, chains, settings));

  const balance = (endpoints: readonly Endpoint[], chain: string): void => {
    const masquerade =
      chain === servesClusterIp
        ? clusterIps.flatMap((entry) => masqueradeRule(entry, name, settings) ?? [])
        : [];
    own.set(chain, [...masquerade, ...balanceRules(endpoints)]);
  };
  const balanceRules = (endpoints: readonly Endpoint[]): Rule[] => {
    const targets = endpoints.map((endpoint) => ({
      chain: endpointChain(servicePort, endpoint),
      ...(brief ? {} : { comment: `${name} -> ${endpointText(endpoint)}` }),
    }));
    const sticky = targets.map(({ chain, ...comment }) =>
      rule({
        ...comment,
        matches: [
          ...['-m', 'recent', '--rcheck', '--seconds', String(affinitySeconds), '--reap'],
          ...['--name', chain, '--mask', fullMask(family), '--rsource'],
        ],
        jump: chain,
      }),
    );
    const drawn = targets.map(({ chain, ...comment }, index) => {
      const left = targets.length - index;
      const matches = ['-m', 'statistic', '--mode', 'random', '--probability', probability(left)];
      return rule({ ...comment, ...(left === 1 ? {} : { matches }), jump: chain });
    });
    return [...(affinitySeconds > 0 ? sticky : []), ...drawn];
  };
  if (everywhere !== undefined) balance(everywhere, chains.SVC);
  if (onNode !== undefined) balance(onNode, chains.SVL);

  for (const endpoint of [...(everywhere ?? []), ...(onNode ?? [])]) {
    const chain = endpointChain(servicePort, endpoint);
    const comment = brief ? {} : { comment: name };
    const set = ['-m', 'recent', '--set', '--name', chain, '--mask', fullMask(family), '--rsource'];
    own.set(chain, [
      rule({ source: host(family, endpoint.address), ...comment, jump: 'KUBE-MARK-MASQ' }),
      rule({
        protocol,
        ...comment,
        ...(affinitySeconds > 0 ? { matches: set } : {}),
        protocolMatch: true,
        jump: `DNAT --to-destination ${endpointText(endpoint)}`,
      }),
    ]);
  }
  return { chains: own, shared };
}

/** The cluster-wide list and this node's, as the routes have them; undefined where no route uses one. */
function endpointLists(entries: readonly Entry[]): {
  readonly everywhere: readonly Endpoint[] | undefined;
  readonly onNode: readonly Endpoint[] | undefined;
} {
  let everywhere: readonly Endpoint[] | undefined;
  let onNode: readonly Endpoint[] | undefined;
  for (const { route } of entries) {
    if (route.kind === 'balance' && route.from === 'cluster') everywhere = route.endpoints;
    else if (route.kind === 'balance') onNode = route.endpoints;
    else if (route.kind === 'by-source') {
      everywhere = route.all;
      if (route.local.length > 0) onNode = route.local;
    }
  }
  return { everywhere, onNode };
}

/** Masquerading is decided here for all that comes from outside; with policy Local only the node's own is. */
function externalChain(
  { route, masquerade }: Entry,
  name: string,
  chains: ReturnType<typeof portChains>,
  settings: TableSettings,
): readonly Rule[] {
  const external = (what: string): string => `${what} for ${name} external destinations`;
  if (masquerade === 'always')
    return [
      rule({ comment: external('masquerade traffic'), jump: 'KUBE-MARK-MASQ' }),
      rule({ jump: chains.SVC }),
    ];
  const pods = fromPods(settings.localDetector);
  const fromNode = ['-m', 'addrtype', '--src-type', 'LOCAL'];
  return [
    ...(pods === undefined ? [] : [rule({ ...pods, comment: external('pod traffic'), jump: chains.SVC })]),
    rule({ comment: external('masquerade LOCAL traffic'), matches: fromNode, jump: 'KUBE-MARK-MASQ' }),
    rule({ comment: external('route LOCAL traffic'), matches: fromNode, jump: chains.SVC }),
    ...(route.kind === 'by-source' && route.local.length > 0 ? [rule({ jump: chains.SVL })] : []),
  ];
}

/** Who is masqueraded when calling the ClusterIP: all, or all but local pods; undefined: nobody. */
function masqueradeRule({ frontend }: Entry, name: string, settings: TableSettings): Rule | undefined {
  const others = settings.masqueradeAll ? {} : notFromPods(settings.localDetector);
  if (others === undefined || frontend.kind === 'node-port') return undefined;
  return rule({
    ...others,
    destination: host(frontend.family, frontend.address),
    protocol: frontend.protocol,
    comment: `${name} cluster IP`,
    port: frontend.port,
    jump: 'KUBE-MARK-MASQ',
  });
}

function fullMask(family: Family): string {
  return family === 'IPv4' ? '255.255.255.255' : 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff';
}

// The lab's network as data: lines for `ip -batch`, per namespace. No line names a device of the host.
import {
  hardwareAddress,
  LOAD_BALANCER_RANGE,
  nodeAddresses,
  OUTSIDE,
  OUTSIDE_ROUTER,
  type PerFamily,
  podGateways,
  podRanges,
  ROUTER,
  SERVICE_RANGE,
} from './address-plan.ts';

/** Commands to run in one namespace, in this order. `part` is as `namespaceName` takes it. */
export interface Inside {
  readonly part: string;
  readonly lines: readonly string[];
}

/** A veth pair, each end made directly in its namespace. */
export interface Cable {
  readonly part: string;
  readonly device: string;
  readonly peerPart: string;
  readonly peerDevice: string;
  /** The Ethernet address of the first end. */
  readonly hardware: string;
}

/** Something that is built: first the namespaces, then the cables, then the rest, each namespace by itself. */
export interface Build {
  readonly routers: readonly string[];
  readonly hosts: readonly string[];
  readonly cables: readonly Cable[];
  readonly inside: readonly Inside[];
}

export interface PlannedNode {
  readonly name: string;
  readonly number: number;
}

export interface PlannedPod {
  /** `namespace/name`. */
  readonly name: string;
  readonly node: PlannedNode;
  /** Unique among the node's present Pods; names its cable. */
  readonly number: number;
  readonly addresses: readonly string[];
}

/** The bridge of a node's Pods. */
export const POD_BRIDGE = 'cbr0';
/** The only device of a Pod and of the outside client, and a node's way to the others. */
export const UPLINK = 'eth0';
const NODE_BRIDGE = 'nodes';

const FAMILIES = ['IPv4', 'IPv6'] as const;

/** `fixed` so that the bridge does not take its ports' addresses one after the other; no waiting, no snooping. */
const bridge = (name: string, fixed: string): readonly string[] => [
  `link add ${name} address ${fixed} type bridge forward_delay 0 stp_state 0 mcast_snooping 0`,
  `link set ${name} up`,
];
/** Without duplicate address detection an IPv6 address works at once. */
const addresses = (
  device: string,
  pair: PerFamily,
  lengths: readonly [number, number],
): readonly string[] => [
  `addr add ${pair.IPv4}/${lengths[0]} dev ${device}`,
  `addr add ${pair.IPv6}/${lengths[1]} dev ${device} nodad`,
];
const routes = (ranges: PerFamily, via: PerFamily): readonly string[] =>
  FAMILIES.map((family) => `route replace ${ranges[family]} via ${via[family]}`);
const EVERYTHING: PerFamily = { IPv4: '0.0.0.0/0', IPv6: '::/0' };

/** The switch, which routes between the nodes' network and the outside, and the outside client. */
export function backboneBuild(): Build {
  return {
    routers: ['switch'],
    hosts: ['outside'],
    cables: [
      {
        part: 'outside',
        device: UPLINK,
        peerPart: 'switch',
        peerDevice: 'outside',
        hardware: hardwareAddress('switch', 2),
      },
    ],
    inside: [
      {
        part: 'switch',
        lines: [
          'link set lo up',
          ...bridge(NODE_BRIDGE, hardwareAddress('switch', 1)),
          ...addresses(NODE_BRIDGE, ROUTER, [24, 64]),
          'link set outside up',
          ...addresses('outside', OUTSIDE_ROUTER, [24, 64]),
        ],
      },
      {
        part: 'outside',
        lines: [
          'link set lo up',
          `link set ${UPLINK} up`,
          ...addresses(UPLINK, OUTSIDE, [24, 64]),
          ...routes(EVERYTHING, OUTSIDE_ROUTER),
        ],
      },
    ],
  };
}

/** New nodes, with the routes between them and the `present` ones. */
export function nodesBuild(added: readonly PlannedNode[], present: readonly PlannedNode[]): Build {
  const podRoutes = (nodes: readonly PlannedNode[]): readonly string[] =>
    nodes.flatMap(({ number }) => routes(podRanges(number), nodeAddresses(number)));
  return {
    routers: added.map(({ name }) => name),
    hosts: [],
    cables: added.map(({ name, number }) => ({
      part: name,
      device: UPLINK,
      peerPart: 'switch',
      peerDevice: `node${number}`,
      hardware: hardwareAddress('node', number),
    })),
    inside: [
      {
        part: 'switch',
        lines: [
          ...added.map(({ number }) => `link set node${number} master ${NODE_BRIDGE} up`),
          ...podRoutes(added),
          ...serviceRoutes([...present, ...added]),
        ],
      },
      ...added.map((node) => ({
        part: node.name,
        lines: [
          'link set lo up',
          `link set ${UPLINK} up`,
          ...addresses(UPLINK, nodeAddresses(node.number), [24, 64]),
          ...bridge(POD_BRIDGE, hardwareAddress('bridge', node.number)),
          ...addresses(POD_BRIDGE, podGateways(node.number), [24, 64]),
          ...routes(EVERYTHING, ROUTER),
          ...podRoutes([...present, ...added].filter(({ number }) => number !== node.number)),
        ],
      })),
      ...present.map(({ name }) => ({ part: name, lines: podRoutes(added) })),
    ],
  };
}

/** What the others are told when a node leaves; its cable and namespace go by themselves. */
export function nodeFarewell(leaving: PlannedNode, staying: readonly PlannedNode[]): readonly Inside[] {
  const forget = FAMILIES.map((family) => `route del ${podRanges(leaving.number)[family]}`);
  return [
    {
      part: 'switch',
      lines: [...forget, ...serviceRoutes(staying), `link del node${leaving.number}`],
    },
    ...staying.map(({ name }) => ({ part: name, lines: forget })),
  ];
}

/**
 * The outside reaches Service addresses by way of the first node, as a router beyond a real cluster would be told to.
 * Without any node there is nobody to send them to.
 */
function serviceRoutes(nodes: readonly PlannedNode[]): readonly string[] {
  const [entry] = [...nodes].sort((one, other) => one.number - other.number);
  if (entry === undefined) return [];
  return [SERVICE_RANGE, LOAD_BALANCER_RANGE].flatMap((range) => routes(range, nodeAddresses(entry.number)));
}

const podDevice = (pod: PlannedPod): string => `pod${pod.number}`;

/**
 * New Pods. A Pod's address has no network around it: its neighbours on the same bridge are reached by way of the
 * node as well. Otherwise the answer of a Pod that a Service led to would go to the Pod that asked past the node's
 * connection tracking, and come from the wrong address (other clusters need br_netfilter for that, see below).
 */
export function podsBuild(pods: readonly PlannedPod[]): Build {
  const nodes = new Map(
    pods.map(({ node }) => [node.name, pods.filter((pod) => pod.node.name === node.name)]),
  );
  return {
    routers: [],
    hosts: pods.map(({ name }) => name),
    cables: pods.map((pod) => ({
      part: pod.name,
      device: UPLINK,
      peerPart: pod.node.name,
      peerDevice: podDevice(pod),
      hardware: hardwareAddress('pod', pod.node.number, pod.number),
    })),
    inside: [
      ...[...nodes].map(([part, own]) => ({
        part,
        lines: own.flatMap((pod) => [
          `link set ${podDevice(pod)} master ${POD_BRIDGE} up`,
          `link set ${podDevice(pod)} type bridge_slave hairpin on`,
        ]),
      })),
      ...pods.map((pod) => ({
        part: pod.name,
        lines: [
          'link set lo up',
          `link set ${UPLINK} up`,
          ...pod.addresses.flatMap((address) => {
            const family = address.includes(':') ? 'IPv6' : 'IPv4';
            const gateway = podGateways(pod.node.number)[family];
            return [
              family === 'IPv6'
                ? `addr add ${address}/128 dev ${UPLINK} nodad`
                : `addr add ${address}/32 dev ${UPLINK}`,
              `route add ${gateway} dev ${UPLINK}`,
              `route add ${EVERYTHING[family]} via ${gateway} dev ${UPLINK}`,
            ];
          }),
        ],
      })),
    ],
  };
}

/** Unplugs Pods at once; without this a cable lives until the last socket in the Pod's namespace is closed. */
export function podsFarewell(pods: readonly PlannedPod[]): readonly Inside[] {
  const nodes = new Map(
    pods.map(({ node }) => [node.name, pods.filter((pod) => pod.node.name === node.name)]),
  );
  return [...nodes].map(([part, own]) => ({ part, lines: own.map((pod) => `link del ${podDevice(pod)}`) }));
}

/** Settings of every namespace before it has any device, as files below /proc/sys/net and their values. */
const SETTINGS = {
  'ipv6/conf/all/disable_ipv6': '0',
  'ipv6/conf/default/disable_ipv6': '0',
  'ipv6/conf/default/accept_dad': '0',
  'ipv4/conf/all/rp_filter': '0',
  'ipv4/conf/default/rp_filter': '0',
  // All Pods of a node share a link, so the node would tell them to talk past it.
  'ipv4/conf/all/send_redirects': '0',
  'ipv4/conf/default/send_redirects': '0',
  // A refusal by ICMP must come each time.
  'ipv4/icmp_ratelimit': '0',
  'ipv4/icmp_ratemask': '0',
  'ipv6/icmp/ratelimit': '0',
};

/**
 * Kernels with br_netfilter show bridged packets to the node's rules a second time; without it, which is the common
 * case, they see each packet once. All labs are like that.
 */
export const BRIDGE_SETTINGS: Readonly<Record<string, string>> = {
  'bridge/bridge-nf-call-iptables': '0',
  'bridge/bridge-nf-call-ip6tables': '0',
  'bridge/bridge-nf-call-arptables': '0',
};

/** Nodes and the switch. IPv4's `ip_forward` sets some of the others anew, so it comes first. */
export const ROUTER_SETTINGS: Readonly<Record<string, string>> = {
  'ipv4/ip_forward': '1',
  'ipv6/conf/all/forwarding': '1',
  'ipv6/conf/default/forwarding': '1',
  ...SETTINGS,
};

/** Pods and the outside client. */
export const HOST_SETTINGS: Readonly<Record<string, string>> = {
  'ipv4/ip_forward': '0',
  ...SETTINGS,
  // IPv6 routers always send them (see above).
  'ipv4/conf/all/accept_redirects': '0',
  'ipv4/conf/default/accept_redirects': '0',
  'ipv6/conf/all/accept_redirects': '0',
  'ipv6/conf/default/accept_redirects': '0',
};

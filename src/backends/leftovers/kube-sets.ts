// The names of kube-proxy's ipsets (behaviour spec 4.3).

const IPPROTO_TCP = 6;
const IPPROTO_UDP = 17;
const IPPROTO_SCTP = 132;
/** The kernel's limit less its NUL. */
const LONGEST_NAME = 31;

const NODE_PORT_SETS: ReadonlyMap<string, number> = new Map([
  ['KUBE-NODE-PORT-TCP', IPPROTO_TCP],
  ['KUBE-NODE-PORT-LOCAL-TCP', IPPROTO_TCP],
  ['KUBE-NODE-PORT-UDP', IPPROTO_UDP],
  ['KUBE-NODE-PORT-LOCAL-UDP', IPPROTO_UDP],
  ['KUBE-NODE-PORT-SCTP-HASH', IPPROTO_SCTP],
  ['KUBE-NODE-PORT-LOCAL-SCTP-HASH', IPPROTO_SCTP],
]);

const OTHER_SETS = [
  'KUBE-LOOP-BACK',
  'KUBE-CLUSTER-IP',
  'KUBE-EXTERNAL-IP',
  'KUBE-EXTERNAL-IP-LOCAL',
  'KUBE-LOAD-BALANCER',
  'KUBE-LOAD-BALANCER-LOCAL',
  'KUBE-LOAD-BALANCER-FW',
  'KUBE-LOAD-BALANCER-SOURCE-IP',
  'KUBE-LOAD-BALANCER-SOURCE-CIDR',
  'KUBE-HEALTH-CHECK-NODE-PORT',
  'KUBE-IPVS-IPS',
] as const;

const nameIn6 = (name: string): string => name.replace('KUBE-', 'KUBE-6-').slice(0, LONGEST_NAME);

export interface KubeSet {
  readonly name: string;
  /** Of a set of node ports: IPPROTO_*. */
  readonly nodePortsOf?: { readonly family: 4 | 6; readonly protocol: number };
}

const SETS: ReadonlyMap<string, KubeSet> = new Map(
  [
    ...OTHER_SETS.flatMap((name): KubeSet[] => [{ name }, { name: nameIn6(name) }]),
    ...[...NODE_PORT_SETS].flatMap(([name, protocol]): KubeSet[] => [
      { name, nodePortsOf: { family: 4, protocol } },
      { name: nameIn6(name), nodePortsOf: { family: 6, protocol } },
    ]),
  ].map((set) => [set.name, set]),
);

/** Those of `names` that are kube-proxy's. */
export function kubeSetsOf(names: readonly string[]): readonly KubeSet[] {
  return names.flatMap((name) => SETS.get(name) ?? []);
}

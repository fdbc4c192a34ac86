// The ruleset as people write it for `nft`, by hand, to hold against what the program commits.
import type { ListPlan } from '../../src/backends/nftables/plans.ts';
import type { TableFamily } from '../../src/backends/nftables/ruleset-statements.ts';
import type { TableSettings } from '../../src/plan/forwarding-table.ts';

export interface PlanInUse {
  readonly plan: ListPlan;
  readonly nodePort: boolean;
}

/** Settings with a condition of each kind, as the text below has them. */
export const SETTINGS: Readonly<Record<TableFamily, TableSettings>> = {
  ip: {
    masqueradeAll: false,
    localDetector: { kind: 'cidr', cidr: { family: 'IPv4', address: '10.128.0.0', prefix: 14 } },
    serviceCidrs: [{ family: 'IPv4', address: '10.96.0.0', prefix: 12 }],
    nodePortAddresses: 'all',
  },
  ip6: {
    masqueradeAll: false,
    localDetector: { kind: 'cidr', cidr: { family: 'IPv6', address: 'fd00:128::', prefix: 32 } },
    serviceCidrs: [{ family: 'IPv6', address: 'fd00:96::', prefix: 108 }],
    nodePortAddresses: 'all',
  },
};

/** One rung of each shape: every draw that a chain may or may not have, local and sticky ones, and node ports. */
export const PLANS: readonly PlanInUse[] = [
  ...[1, 2, 3, 4, 12].map((rung) => ({
    plan: { local: false, affinitySeconds: 0, rung },
    nodePort: false,
  })),
  { plan: { local: true, affinitySeconds: 0, rung: 3 }, nodePort: false },
  { plan: { local: false, affinitySeconds: 0, rung: 3 }, nodePort: true },
  { plan: { local: true, affinitySeconds: 0, rung: 3 }, nodePort: true },
  { plan: { local: false, affinitySeconds: 10800, rung: 1 }, nodePort: false },
  { plan: { local: false, affinitySeconds: 10800, rung: 3 }, nodePort: false },
  { plan: { local: true, affinitySeconds: 60, rung: 3 }, nodePort: false },
  { plan: { local: false, affinitySeconds: 10800, rung: 3 }, nodePort: true },
];

const PORT = 'meta l4proto . th dport';

/** Chain → rules. `nft` prints them so, but for what `normalised` evens out. */
export function rulesetText(family: TableFamily): Readonly<Record<string, readonly string[]>> {
  const pods = family === 'ip' ? '10.128.0.0/14' : 'fd00:128::/32';
  const services = family === 'ip' ? '10.96.0.0/12' : 'fd00:96::/108';
  const loopback = family === 'ip' ? '127.0.0.0/8' : '::1';
  const vip = `${family} daddr . ${PORT}`;
  const original = `ct original ${family} daddr . meta l4proto . ct original proto-dst`;
  const bySource = (frontend: string, prefix: string): string[] => {
    const from = (map: string): string =>
      `meta priority set ${frontend} map @${prefix}${map} meta priority vmap @${prefix}list-plans`;
    return [
      `${family} saddr ${pods} ${from('any-endpoint')}`,
      `fib saddr type local ${from('any-endpoint')}`,
      from('local-endpoint'),
      'drop',
    ];
  };
  return {
    prerouting: ['jump dispatch'],
    output: ['jump dispatch'],
    postrouting: ['ct status dnat goto masquerading'],
    'no-endpoints': ['meta l4proto tcp reject with tcp reset', 'reject'],
    dispatch: [
      `${vip} @source-checked ${family} saddr . ${vip} != @allowed-sources drop`,
      `meta priority set ${vip} map @services meta priority vmap @plans`,
      `${family} daddr @cluster-ips goto no-endpoints`,
      `${family} daddr ${services} drop`,
      `meta priority set ${PORT} map @node-ports goto node-port-dispatch`,
    ],
    'node-port-dispatch': [
      `fib daddr type local ${family} daddr != ${loopback} meta priority vmap @node-port-plans`,
      'meta priority set 0',
    ],
    'by-source': bySource(vip, ''),
    'node-port-by-source': bySource(PORT, 'node-port-'),
    masquerading: [
      `${family} saddr . ${family} daddr @hairpin-pods masquerade fully-random`,
      `ct original ${family} daddr @cluster-ips ${family} saddr != ${pods} masquerade fully-random`,
      `${original} @masquerade-vips masquerade fully-random`,
      `${original} @masquerade-own-vips fib saddr type local masquerade fully-random`,
      'meta l4proto . ct original proto-dst @masquerade-node-ports masquerade fully-random',
      'meta l4proto . ct original proto-dst @masquerade-own-node-ports fib saddr type local masquerade fully-random',
    ],
    'pick-1': ['meta priority set 0', draw(family, vip, 1, 'endpoints'), 'drop'],
    'pick-2': [
      'meta priority set 0',
      draw(family, vip, 2, 'endpoints'),
      draw(family, vip, 1, 'endpoints'),
      'drop',
    ],
    'pick-3': pick3(family, vip, 'endpoints'),
    'pick-4': picks(family, vip, [4, 4, 4, 3, 1]),
    'pick-12': picks(family, vip, [12, 12, 12, 7, 1]),
    'local-pick-3': pick3(family, vip, 'local-endpoints'),
    'node-port-pick-3': pick3(family, PORT, 'node-port-endpoints'),
    'node-port-local-pick-3': pick3(family, PORT, 'node-port-local-endpoints'),
    'sticky-10800-pick-1': [
      ...sticky(family, vip, '', '3h', 'numgen random mod 1'),
      `meta priority set numgen random mod 1 ${go(family, vip, '')}`,
      'drop',
    ],
    'sticky-10800-pick-3': [
      ...sticky(family, vip, '', '3h', 'numgen random mod 3'),
      `meta priority set numgen random mod 3 ${go(family, vip, '')}`,
      `meta priority set numgen random mod 1 ${go(family, vip, '')}`,
      'drop',
    ],
    'local-sticky-60-pick-3': [
      ...sticky(family, vip, 'local-', '1m', 'numgen random mod 3 offset 65536'),
      `meta priority set numgen random mod 3 offset 65536 ${go(family, vip, '')}`,
      `meta priority set numgen random mod 1 offset 65536 ${go(family, vip, '')}`,
      'drop',
    ],
    'node-port-sticky-10800-pick-3': [
      ...sticky(family, PORT, 'node-port-', '3h', 'numgen random mod 3'),
      `meta priority set numgen random mod 3 ${go(family, PORT, 'node-port-')}`,
      `meta priority set numgen random mod 1 ${go(family, PORT, 'node-port-')}`,
      'drop',
    ],
  };
}

const draw = (family: TableFamily, frontend: string, slots: number, map: string): string =>
  `dnat ${family} addr . port to ${frontend} . numgen random mod ${slots} map @${map}`;

const picks = (family: TableFamily, frontend: string, slots: readonly number[]): string[] => [
  'meta priority set 0',
  ...slots.map((count) => draw(family, frontend, count, 'endpoints')),
  'drop',
];

const pick3 = (family: TableFamily, frontend: string, map: string): string[] => [
  'meta priority set 0',
  ...[3, 3, 3, 1].map((count) => draw(family, frontend, count, map)),
  'drop',
];

const go = (family: TableFamily, frontend: string, prefix: string): string =>
  `dnat ${family} addr . port to ${frontend} . meta priority map @${prefix}sticky-endpoints`;

function sticky(
  family: TableFamily,
  frontend: string,
  prefix: string,
  timeout: string,
  slot: string,
): string[] {
  const identify = `meta priority set ${frontend} map @${prefix}affinity-ids`;
  const remember = (one: string): string =>
    `${identify} update @sticky-clients { ${family} saddr . meta priority timeout ${timeout} : ${one} }`;
  const recall = `meta priority set ${family} saddr . meta priority map @sticky-clients ${go(family, frontend, prefix.replace('local-', ''))}`;
  const once = [
    remember(slot),
    recall,
    `${identify} delete @sticky-clients { ${family} saddr . meta priority : meta priority }`,
  ];
  return [...once, ...once, ...once, remember(slot.replace(/mod \d+/, 'mod 1')), recall];
}

// What iptables mode has whatever Services there are: jumps out of the kernel's chains, and shared chains
// (behaviour spec 4.1).
import type { Cidr, Family } from '../../model/address.ts';
import type { TableSettings } from '../../plan/forwarding-table.ts';
import { host, type Rule, rule } from './rules.ts';

export type Table = 'mangle' | 'filter' | 'nat';
export const TABLES: readonly Table[] = ['mangle', 'filter', 'nat'];

export interface StaticOptions {
  readonly family: Family;
  readonly settings: TableSettings;
  /** Which bit of the packet mark asks for masquerading, 0 to 31. */
  readonly masqueradeBit: number;
  /** Node ports are served on 127.0.0.1 too. */
  readonly localhostNodePorts: boolean;
  /** Packets that conntrack cannot place are dropped on their way through. */
  readonly dropInvalid: boolean;
  /** The kernel can masquerade with fully random ports. */
  readonly randomFully: boolean;
}

/** A rule in a chain that is not ours. */
export interface Jump {
  readonly table: Table;
  readonly chain: string;
  readonly rule: Rule;
}

export const CANARY = 'KUBE-PROXY-CANARY';

const NEW = ['-m', 'conntrack', '--ctstate', 'NEW'];

/** In the order in which they are inserted at the head, so that the last stands first in the end. */
export function jumps(family: Family, localhostNodePorts: boolean): readonly Jump[] {
  const made = (
    table: Table,
    chain: string,
    target: string,
    comment: string,
    matches: readonly string[] = [],
  ) => ({
    table,
    chain,
    // The conntrack match stands before the comment, as upstream writes it.
    rule: [...matches, rule({ comment, jump: target })].join(' '),
  });
  const external = 'kubernetes externally-visible service portals';
  const portals = 'kubernetes service portals';
  const balancer = 'kubernetes load balancer firewall';
  return [
    made('filter', 'INPUT', 'KUBE-EXTERNAL-SERVICES', external, NEW),
    made('filter', 'FORWARD', 'KUBE-EXTERNAL-SERVICES', external, NEW),
    made('filter', 'INPUT', 'KUBE-NODEPORTS', 'kubernetes health check service ports'),
    made('filter', 'FORWARD', 'KUBE-SERVICES', portals, NEW),
    made('filter', 'OUTPUT', 'KUBE-SERVICES', portals, NEW),
    made('filter', 'FORWARD', 'KUBE-FORWARD', 'kubernetes forwarding rules'),
    made('filter', 'INPUT', 'KUBE-PROXY-FIREWALL', balancer, NEW),
    made('filter', 'OUTPUT', 'KUBE-PROXY-FIREWALL', balancer, NEW),
    made('filter', 'FORWARD', 'KUBE-PROXY-FIREWALL', balancer, NEW),
    made('nat', 'OUTPUT', 'KUBE-SERVICES', portals),
    made('nat', 'PREROUTING', 'KUBE-SERVICES', portals),
    made('nat', 'POSTROUTING', 'KUBE-POSTROUTING', 'kubernetes postrouting rules'),
    ...(localhostNodePorts && family === 'IPv4'
      ? (['INPUT', 'OUTPUT'] as const).map(
          (chain): Jump => ({ table: 'filter', chain, rule: rule({ jump: 'KUBE-FIREWALL' }) }),
        )
      : []),
  ];
}

/** Chains that are wholly ours and hold no lines of Services. */
export function staticChains(
  options: StaticOptions,
): ReadonlyMap<Table, ReadonlyMap<string, readonly Rule[]>> {
  const mark = `0x${(2 ** options.masqueradeBit).toString(16)}`;
  const marked = ['-m', 'mark', '--mark', `${mark}/${mark}`];
  const forward = 'kubernetes forwarding rules';
  return new Map([
    ['mangle', new Map([[CANARY, []]])],
    [
      'filter',
      new Map<string, readonly Rule[]>([
        [CANARY, []],
        [
          'KUBE-FORWARD',
          [
            ...(options.dropInvalid ? ['-m conntrack --ctstate INVALID -j DROP'] : []),
            rule({ comment: forward, matches: marked, jump: 'ACCEPT' }),
            rule({
              comment: 'kubernetes forwarding conntrack rule',
              matches: ['-m', 'conntrack', '--ctstate', 'RELATED,ESTABLISHED'],
              jump: 'ACCEPT',
            }),
          ],
        ],
      ]),
    ],
    [
      'nat',
      new Map<string, readonly Rule[]>([
        [CANARY, []],
        ['KUBE-MARK-MASQ', [`-j MARK --set-xmark ${mark}/${mark}`]],
        [
          'KUBE-POSTROUTING',
          [
            `-m mark ! --mark ${mark}/${mark} -j RETURN`,
            `-j MARK --set-xmark ${mark}/0x0`,
            rule({
              comment: 'kubernetes service traffic requiring SNAT',
              jump: options.randomFully ? 'MASQUERADE --random-fully' : 'MASQUERADE',
            }),
          ],
        ],
      ]),
    ],
  ]);
}

/** KUBE-FIREWALL is the kubelet's too, which writes the same: the rule is added where it is missing, and never taken. */
export const LOCALNET_RULE: Rule = rule({
  source: { not: { family: 'IPv4', address: '127.0.0.0', prefix: 8 } },
  destination: { family: 'IPv4', address: '127.0.0.0', prefix: 8 },
  comment: 'block incoming localnet connections',
  matches: ['-m', 'conntrack', '!', '--ctstate', 'RELATED,ESTABLISHED,DNAT'],
  jump: 'DROP',
});

const LOOPBACK: Readonly<Record<Family, Cidr>> = {
  IPv4: { family: 'IPv4', address: '127.0.0.0', prefix: 8 },
  IPv6: { family: 'IPv6', address: '::1', prefix: 128 },
};

/** The last lines of nat KUBE-SERVICES: packets to this node's addresses go on to the node ports. */
export function nodePortDispatch({ family, settings, localhostNodePorts }: StaticOptions): readonly Rule[] {
  const comment = 'kubernetes service nodeports; NOTE: this must be the last rule in this chain';
  const jump = 'KUBE-NODEPORTS';
  const { nodePortAddresses } = settings;
  if (nodePortAddresses !== 'all')
    return nodePortAddresses.map((address) => rule({ destination: host(family, address), comment, jump }));
  return [
    rule({
      ...(family === 'IPv4' && localhostNodePorts ? {} : { destination: { not: LOOPBACK[family] } }),
      comment,
      matches: ['-m', 'addrtype', '--dst-type', 'LOCAL'],
      jump,
    }),
  ];
}

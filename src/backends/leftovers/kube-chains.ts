// Which iptables chains and jumps are a kube-proxy's, of its modes iptables and ipvs (behaviour spec 4.1, 4.3). The
// kubelet's are not: KUBE-FIREWALL and the jumps to it, KUBE-IPTABLES-HINT, KUBE-KUBELET-CANARY.
import type { Table } from '../iptables/static-rules.ts';

const CANARY = 'KUBE-PROXY-CANARY';

const CHAINS: Readonly<Record<Table, ReadonlySet<string>>> = {
  mangle: new Set([CANARY]),
  filter: new Set([
    CANARY,
    'KUBE-SERVICES',
    'KUBE-EXTERNAL-SERVICES',
    'KUBE-NODEPORTS',
    'KUBE-PROXY-FIREWALL',
    'KUBE-FORWARD',
    // The ipvs mode's.
    'KUBE-NODE-PORT',
    'KUBE-SOURCE-RANGES-FIREWALL',
    'KUBE-IPVS-FILTER',
    'KUBE-IPVS-OUT-FILTER',
  ]),
  nat: new Set([
    CANARY,
    'KUBE-SERVICES',
    'KUBE-NODEPORTS',
    'KUBE-POSTROUTING',
    'KUBE-MARK-MASQ',
    // The ipvs mode's.
    'KUBE-NODE-PORT',
    'KUBE-LOAD-BALANCER',
  ]),
};

/** Names with a hash: 16 letters of base32. */
const HASHED = /^KUBE-(SVC|SVL|EXT|FW|SEP|XLB)-[A-Z2-7]{16}$/;

export function isKubeProxyChain(table: Table, chain: string): boolean {
  return CHAINS[table].has(chain) || (table === 'nat' && HASHED.test(chain));
}

const EXTERNAL = ['KUBE-EXTERNAL-SERVICES', 'kubernetes externally-visible service portals'] as const;
const SERVICES = ['KUBE-SERVICES', 'kubernetes service portals'] as const;
const FIREWALL = ['KUBE-PROXY-FIREWALL', 'kubernetes load balancer firewall'] as const;
const IPVS_FIREWALL = ['KUBE-PROXY-FIREWALL', 'kube-proxy firewall rules'] as const;

/** By table and the kernel's chain: what is jumped to, and the comment. */
const JUMPS: Readonly<Record<Table, Readonly<Record<string, readonly (readonly [string, string])[]>>>> = {
  mangle: {},
  filter: {
    INPUT: [
      EXTERNAL,
      SERVICES,
      FIREWALL,
      IPVS_FIREWALL,
      ['KUBE-NODEPORTS', 'kubernetes health check service ports'],
      ['KUBE-NODE-PORT', 'kubernetes health check rules'],
      ['KUBE-IPVS-FILTER', 'kubernetes ipvs access filter'],
    ],
    FORWARD: [EXTERNAL, SERVICES, FIREWALL, IPVS_FIREWALL, ['KUBE-FORWARD', 'kubernetes forwarding rules']],
    OUTPUT: [SERVICES, FIREWALL, ['KUBE-IPVS-OUT-FILTER', 'kubernetes ipvs access filter']],
  },
  nat: {
    PREROUTING: [SERVICES],
    OUTPUT: [SERVICES],
    POSTROUTING: [['KUBE-POSTROUTING', 'kubernetes postrouting rules']],
  },
};

/** Of some versions only packets of new connections jump; in some the match stands behind the comment. */
const NEW = '-m conntrack --ctstate NEW';

const JUMP_RULES: ReadonlySet<string> = new Set(
  Object.entries(JUMPS).flatMap(([table, chains]) =>
    Object.entries(chains).flatMap(([chain, jumps]) =>
      jumps.flatMap(([target, text]) => {
        const comment = `-m comment --comment "${text}"`;
        return [comment, `${NEW} ${comment}`, `${comment} ${NEW}`].map(
          (matches) => `${table} ${chain} ${matches} -j ${target}`,
        );
      }),
    ),
  ),
);

/** Whether a rule of one of the kernel's own chains is a jump that a kube-proxy wrote; `rule` as iptables-save prints it. */
export function isKubeProxyJump(table: Table, chain: string, rule: string): boolean {
  return JUMP_RULES.has(`${table} ${chain} ${rule}`);
}

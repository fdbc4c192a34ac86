// The ruleset of nftables mode as data: the parts that are there before any Service is. `nft list table ip pointsman`
// prints it. Service traffic is decided in three NAT chains, on the first packet of each connection.
import type { Hook, NftCommand, SetElement, TableRef } from '../../kernel/nft/commands.ts';
import { IPS_DST_NAT } from '../../kernel/nft/expressions/conntrack.ts';
import { PORT_UNREACHABLE } from '../../kernel/nft/expressions/reject.ts';
import type { Expression } from '../../kernel/nft/expressions.ts';
import { type Cidr, familyOf, widthOf } from '../../model/address.ts';
import type { LocalDetector, TableSettings } from '../../plan/forwarding-table.ts';
import { BY_SOURCE_WORD, DROP_WORD, type ListPlan, type PlanWord, REFUSE_WORD } from './plans.ts';
import { rungCommands as rungCommandsIn } from './ruleset-rungs.ts';
import { setDefinitions } from './ruleset-sets.ts';
import {
  CLEAR_PRIORITY,
  DROP,
  destination,
  fromInterface,
  hasStatus,
  hostWord,
  inCidr,
  inSet,
  isLocal,
  isProtocol,
  MASQUERADE,
  type Operand,
  ORIGINAL_PORT,
  originalDestination,
  PORT,
  PROTOCOL,
  priorityVerdict,
  setPriorityFrom,
  source,
  type TableFamily,
  toChain,
} from './ruleset-statements.ts';

export type { RungChain } from './ruleset-rungs.ts';
export { rungOfChain } from './ruleset-rungs.ts';

/** The table's name in both families. */
export const TABLE_NAME = 'pointsman';

const IPPROTO_TCP = 6;

/** linux/netfilter_ipv4.h: NF_IP_PRI_NAT_DST and NF_IP_PRI_NAT_SRC, where others translate addresses as well. */
const DSTNAT = -100;
const SRCNAT = 100;
const BASE_CHAINS: Readonly<Record<string, Hook>> = {
  prerouting: { type: 'nat', hook: 'prerouting', priority: DSTNAT },
  output: { type: 'nat', hook: 'output', priority: DSTNAT },
  postrouting: { type: 'nat', hook: 'postrouting', priority: SRCNAT },
};
/** What links belong to loopback; node ports are not served there. */
const LOOPBACK: Readonly<Record<TableFamily, Cidr>> = {
  ip: { family: 'IPv4', address: '127.0.0.0', prefix: 8 },
  ip6: { family: 'IPv6', address: '::1', prefix: 128 },
};

/** Chain → rules. */
type Chains = Readonly<Record<string, readonly (readonly Expression[])[]>>;

/** Everything that an empty table needs: table, chains, sets, rules, and the plans that are no lists. */
export function baseCommands(family: TableFamily, settings: TableSettings): readonly NftCommand[] {
  const table: TableRef = { family, table: TABLE_NAME };
  const chains = { ...fixedChains(family), ...settingsChains(family, settings) };
  return [
    { op: 'add-table', ...table },
    ...Object.keys(chains).map((chain): NftCommand => {
      const hook = BASE_CHAINS[chain];
      return { op: 'add-chain', ...table, chain, ...(hook && { hook }) };
    }),
    ...setDefinitions(family).map((definition): NftCommand => ({ op: 'add-set', ...table, definition })),
    ...ruleCommands(table, chains),
    { op: 'add-elements', ...table, set: 'plans', elements: fixedPlans('by-source') },
    { op: 'add-elements', ...table, set: 'node-port-plans', elements: fixedPlans('node-port-by-source') },
  ];
}

/** Brings a table that `baseCommands` made to other settings, in one transaction. No base chain is touched. */
export function settingsCommands(family: TableFamily, settings: TableSettings): readonly NftCommand[] {
  const table: TableRef = { family, table: TABLE_NAME };
  const chains = settingsChains(family, settings);
  return [
    ...Object.keys(chains).map((chain): NftCommand => ({ op: 'flush-chain', ...table, chain })),
    ...ruleCommands(table, chains),
  ];
}

/** Adds the chain that draws from lists of a plan, and leads `word` to it; to be used once for each plan. */
export function rungCommands(
  family: TableFamily,
  plan: ListPlan,
  nodePort: boolean,
  word: PlanWord,
): readonly NftCommand[] {
  return rungCommandsIn(family, TABLE_NAME, plan, nodePort, word);
}

function ruleCommands(table: TableRef, chains: Chains): readonly NftCommand[] {
  return Object.entries(chains).flatMap(([chain, rules]) =>
    rules.map((expressions): NftCommand => ({ op: 'add-rule', ...table, chain, expressions })),
  );
}

function fixedPlans(bySource: string): readonly SetElement[] {
  return [
    { key: hostWord(REFUSE_WORD), data: { kind: 'goto', chain: 'no-endpoints' } },
    { key: hostWord(DROP_WORD), data: { kind: 'drop' } },
    { key: hostWord(BY_SOURCE_WORD), data: { kind: 'goto', chain: bySource } },
  ];
}

/** Chains that are the same with all settings. */
function fixedChains(family: TableFamily): Chains {
  return {
    prerouting: [toChain('jump', 'dispatch')],
    output: [toChain('jump', 'dispatch')],
    postrouting: [[...hasStatus(IPS_DST_NAT), ...toChain('goto', 'masquerading')]],
    'no-endpoints': [
      // An ICMP error alone would let a client on this node wait for a second: connect() still holds its socket.
      [...isProtocol(IPPROTO_TCP), { kind: 'reject', with: 'tcp-reset' }],
      [{ kind: 'reject', with: 'icmp', code: PORT_UNREACHABLE[family] }],
    ],
  };
}

/** Chains that depend on settings. */
function settingsChains(family: TableFamily, settings: TableSettings): Chains {
  const frontend = [destination(family), PROTOCOL, PORT];
  const nodePort = [PROTOCOL, PORT];
  return {
    dispatch: [
      [
        ...inSet('source-checked', frontend),
        ...inSet('allowed-sources', [source(family), ...frontend], true),
        ...DROP,
      ],
      [...setPriorityFrom('services', frontend), ...priorityVerdict('plans')],
      // A ClusterIP, but none of its ports; then an address that no Service has.
      [...inSet('cluster-ips', [destination(family)]), ...toChain('goto', 'no-endpoints')],
      ...settings.serviceCidrs.flatMap((cidr) => {
        const match = inCidr(destination(family), cidr);
        return match === undefined ? [] : [[...match, ...DROP]];
      }),
      [...setPriorityFrom('node-ports', nodePort), ...toChain('goto', 'node-port-dispatch')],
    ],
    'node-port-dispatch': [
      ...nodePortAddresses(family, settings).map((match) => [
        ...match,
        ...priorityVerdict('node-port-plans'),
      ]),
      CLEAR_PRIORITY,
    ],
    'by-source': bySource(family, settings.localDetector, '', frontend),
    'node-port-by-source': bySource(family, settings.localDetector, 'node-port-', nodePort),
    masquerading: masquerading(family, settings),
  };
}

/** The conditions under which a packet is to an address that serves node ports; one of them suffices. */
function nodePortAddresses(
  family: TableFamily,
  { nodePortAddresses: addresses }: TableSettings,
): readonly (readonly Expression[])[] {
  if (addresses === 'all') {
    return [[...isLocal('daddr'), ...(inCidr(destination(family), LOOPBACK[family], true) ?? [])]];
  }
  return addresses.map((address) => {
    const of = familyOf(address);
    return inCidr(destination(family), { family: of, address, prefix: widthOf(of) }) ?? [];
  });
}

/** externalTrafficPolicy Local: pods of this node, and the node itself, go anywhere, all others to local endpoints. */
function bySource(
  family: TableFamily,
  detector: LocalDetector,
  prefix: string,
  frontend: readonly Operand[],
): readonly (readonly Expression[])[] {
  const from = (map: string): readonly Expression[] => [
    ...setPriorityFrom(`${prefix}${map}`, frontend),
    ...priorityVerdict(`${prefix}list-plans`),
  ];
  const pods = fromPods(family, detector);
  return [
    ...(pods === undefined ? [] : [[...pods, ...from('any-endpoint')]]),
    [...isLocal('saddr'), ...from('any-endpoint')],
    from('local-endpoint'),
    DROP,
  ];
}

/** Whose source addresses are replaced. Only packets whose destination was translated come here. */
function masquerading(
  family: TableFamily,
  { masqueradeAll, localDetector }: TableSettings,
): readonly (readonly Expression[])[] {
  const frontend = [originalDestination(family), PROTOCOL, ORIGINAL_PORT];
  const nodePort = [PROTOCOL, ORIGINAL_PORT];
  const outsiders = masqueradeAll ? [] : notFromPods(family, localDetector);
  const own = isLocal('saddr');
  return [
    [...inSet('hairpin-pods', [source(family), destination(family)]), ...MASQUERADE],
    ...(outsiders === undefined
      ? []
      : [[...inSet('cluster-ips', [originalDestination(family)]), ...outsiders, ...MASQUERADE]]),
    [...inSet('masquerade-vips', frontend), ...MASQUERADE],
    [...inSet('masquerade-own-vips', frontend), ...own, ...MASQUERADE],
    [...inSet('masquerade-node-ports', nodePort), ...MASQUERADE],
    [...inSet('masquerade-own-node-ports', nodePort), ...own, ...MASQUERADE],
  ];
}

/** The source is a pod of this node; undefined if that is never known. */
function fromPods(family: TableFamily, detector: LocalDetector): readonly Expression[] | undefined {
  switch (detector.kind) {
    case 'none':
      return undefined;
    case 'cidr':
      return inCidr(source(family), detector.cidr);
    case 'interface':
      return fromInterface(detector.name, true);
    case 'interface-prefix':
      return fromInterface(detector.prefix, false);
  }
}

/** The source is no pod of this node; undefined if that is never known. */
function notFromPods(family: TableFamily, detector: LocalDetector): readonly Expression[] | undefined {
  switch (detector.kind) {
    case 'none':
      return undefined;
    case 'cidr':
      return inCidr(source(family), detector.cidr, true);
    case 'interface':
      return fromInterface(detector.name, true, true);
    case 'interface-prefix':
      return fromInterface(detector.prefix, false, true);
  }
}

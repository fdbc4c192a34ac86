// All that is to be in the kernel for one family, and how to come there from what is.

import type { Family } from '../../model/address.ts';
import { emptySection, type Section } from './edits.ts';
import { isPortChain } from './names.ts';
import type { PortRules, SharedChain } from './port-rules.ts';
import { SHARED, SHARED_CHAINS } from './port-rules.ts';
import type { Rule } from './rules.ts';
import type { Saved } from './saved.ts';
import {
  CANARY,
  jumps,
  LOCALNET_RULE,
  nodePortDispatch,
  type StaticOptions,
  staticChains,
  TABLES,
  type Table,
} from './static-rules.ts';

const FIREWALL = 'KUBE-FIREWALL';

/**
 * From what iptables-save printed to what is wanted. What is as it should be is not touched; rules and chains of
 * others never are, but for a rule that is missing in KUBE-FIREWALL.
 */
export function reconcileSections(
  saved: Saved,
  ports: Iterable<PortRules>,
  options: StaticOptions,
): readonly Section[] {
  const sections = {
    mangle: emptySection('mangle'),
    filter: emptySection('filter'),
    nat: emptySection('nat'),
  };
  const chainOf = (table: Table, chain: string): readonly Rule[] | undefined => saved.get(table)?.get(chain);
  const rewrite = (table: Table, chain: string, rules: readonly Rule[]): void => {
    const present = chainOf(table, chain);
    if (present === undefined || !sameRules(present, rules)) sections[table].rewritten.set(chain, rules);
  };

  for (const [table, chains] of staticChains(options))
    for (const [chain, rules] of chains) rewrite(table, chain, rules);

  const shared = new Map<SharedChain, Rule[]>(SHARED_CHAINS.map((name) => [name, []]));
  const wantedChains = new Set<string>();
  for (const port of ports) {
    for (const name of SHARED_CHAINS) shared.get(name)?.push(...port.shared[name]);
    for (const [chain, rules] of port.chains) {
      wantedChains.add(chain);
      rewrite('nat', chain, rules);
    }
  }
  for (const [name, lines] of shared) {
    const [table, chain] = SHARED[name];
    const tail = name === 'services' ? nodePortDispatch(options) : [];
    const present = chainOf(table, chain);
    if (present === undefined || !sameLines(present, lines, tail))
      sections[table].rewritten.set(chain, [...lines, ...tail]);
  }
  for (const chain of saved.get('nat')?.keys() ?? [])
    if (isPortChain(chain) && !wantedChains.has(chain)) sections.nat.removed.push(chain);

  for (const { table, chain, rule } of jumps(options.family, options.localhostNodePorts)) {
    if (!(chainOf(table, chain) ?? []).includes(rule)) sections[table].inserted.unshift({ chain, rule });
  }
  if (options.localhostNodePorts && options.family === 'IPv4') {
    const present = chainOf('filter', FIREWALL);
    if (present === undefined) sections.filter.rewritten.set(FIREWALL, [LOCALNET_RULE]);
    else if (!present.includes(LOCALNET_RULE))
      sections.filter.appended.push({ chain: FIREWALL, rule: LOCALNET_RULE });
  }
  return [sections.mangle, sections.filter, sections.nat];
}

/**
 * From one state of some Service ports to another, each undefined where the port is not there. Only their own chains and
 * lines are in it. What closes is added before what it stands for goes, and taken away after: a connection meets the
 * old state or the new.
 */
export function changeSections(
  changes: Iterable<{ readonly before: PortRules | undefined; readonly after: PortRules | undefined }>,
): readonly Section[] {
  const closing = emptySection('filter');
  const nat = emptySection('nat');
  const opening = emptySection('filter');
  for (const { before, after } of changes) {
    for (const [chain, rules] of after?.chains ?? []) {
      const present = before?.chains.get(chain);
      if (present === undefined || !sameRules(present, rules)) nat.rewritten.set(chain, rules);
    }
    for (const chain of before?.chains.keys() ?? [])
      if (after?.chains.has(chain) !== true) nat.removed.push(chain);
    for (const name of SHARED_CHAINS) {
      const [table, chain] = SHARED[name];
      const was = before?.shared[name] ?? [];
      const is = after?.shared[name] ?? [];
      const gone = was.filter((rule) => !is.includes(rule)).map((rule) => ({ chain, rule }));
      const fresh = is.filter((rule) => !was.includes(rule)).map((rule) => ({ chain, rule }));
      if (table === 'nat') {
        nat.deleted.push(...gone);
        nat.inserted.push(...fresh);
      } else {
        closing.inserted.push(...fresh);
        opening.deleted.push(...gone);
      }
    }
  }
  // A chain that one port leaves and another takes, as when a Service is made anew, is not removed.
  const removed = nat.removed.filter((chain) => !nat.rewritten.has(chain));
  return [closing, { ...nat, removed }, opening];
}

/** From what iptables-save printed to nothing of ours. KUBE-FIREWALL is the kubelet's too, and stays. */
export function removalSections(saved: Saved, family: Family): readonly Section[] {
  return TABLES.map((table) => {
    const section = emptySection(table);
    const chains = saved.get(table) ?? new Map<string, readonly Rule[]>();
    const own = OWN_CHAINS[table];
    for (const { table: of, chain, rule } of jumps(family, false))
      if (of === table && chains.get(chain)?.includes(rule) === true) section.deleted.push({ chain, rule });
    for (const chain of chains.keys())
      if (own.includes(chain) || (table === 'nat' && isPortChain(chain))) section.removed.push(chain);
    return section;
  });
}

const OWN_CHAINS: Readonly<Record<Table, readonly string[]>> = {
  mangle: [CANARY],
  filter: [
    CANARY,
    'KUBE-FORWARD',
    ...SHARED_CHAINS.map((name) => SHARED[name]).flatMap(([table, chain]) =>
      table === 'filter' ? [chain] : [],
    ),
  ],
  nat: [CANARY, 'KUBE-SERVICES', 'KUBE-NODEPORTS', 'KUBE-POSTROUTING', 'KUBE-MARK-MASQ'],
};

function sameRules(a: readonly Rule[], b: readonly Rule[]): boolean {
  return a.length === b.length && a.every((rule, index) => rule === b[index]);
}

/** The order of lines of different Services says nothing; the tail has its place at the end. */
function sameLines(present: readonly Rule[], lines: readonly Rule[], tail: readonly Rule[]): boolean {
  if (present.length !== lines.length + tail.length) return false;
  if (!sameRules(present.slice(lines.length), tail)) return false;
  const wanted = new Set(lines);
  return wanted.size === lines.length && present.slice(0, lines.length).every((rule) => wanted.has(rule));
}

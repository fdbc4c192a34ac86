// What to remove of a kube-proxy's iptables rules: decided from iptables-save's text alone.
import type { Saved, SavedTable } from '../iptables/saved.ts';
import type { Table } from '../iptables/static-rules.ts';
import { isKubeProxyChain, isKubeProxyJump } from './kube-chains.ts';

/** The removal of one table. */
export interface TableRemoval {
  readonly table: Table;
  /** For `iptables-restore --noflush`. */
  readonly restore: string;
  readonly chains: number;
  /** Jumps, and rules in the removed chains. */
  readonly rules: number;
}

/** A kube-proxy's chain that stays. */
export interface KeptChain {
  readonly table: Table;
  readonly chain: string;
  readonly because: string;
}

export interface Removal {
  readonly tables: readonly TableRemoval[];
  readonly kept: readonly KeptChain[];
}

export function planRemoval(saved: Saved): Removal {
  const plans = [...saved].map(([table, chains]) => planTable(table, chains));
  return {
    tables: plans.flatMap(({ removal }) => (removal === undefined ? [] : [removal])),
    kept: plans.flatMap(({ kept }) => kept),
  };
}

function planTable(
  table: Table,
  chains: SavedTable,
): { readonly removal?: TableRemoval; readonly kept: readonly KeptChain[] } {
  const own = new Set([...chains.keys()].filter((chain) => isKubeProxyChain(table, chain)));
  const jumps: string[] = [];
  const kept = new Map<string, string>();
  for (const [chain, rules] of chains) {
    if (own.has(chain)) continue;
    for (const rule of rules) {
      if (isKubeProxyJump(table, chain, rule)) jumps.push(`-D ${chain} ${rule}`);
      else
        for (const target of targetsOf(rule))
          if (own.has(target)) kept.set(target, `a rule in ${chain} that is not kube-proxy's uses it`);
    }
  }
  // What stays works as before only with all that it leads to. A Map also gives what is added on the way.
  for (const chain of kept.keys())
    for (const target of (chains.get(chain) ?? []).flatMap(targetsOf))
      if (own.has(target) && !kept.has(target)) kept.set(target, `${chain}, which stays, uses it`);
  const gone = [...own].filter((chain) => !kept.has(chain));
  const reasons = [...kept].map(([chain, because]) => ({ table, chain, because }));
  if (gone.length + jumps.length === 0) return { kept: reasons };
  const inside = gone.reduce((sum, chain) => sum + (chains.get(chain)?.length ?? 0), 0);
  return {
    kept: reasons,
    removal: {
      table,
      // A chain that is declared is emptied first, so that no chain is in use when it goes.
      restore: [
        `*${table}`,
        ...gone.map((chain) => `:${chain} - [0:0]`),
        ...jumps,
        ...gone.map((chain) => `-X ${chain}`),
        'COMMIT',
        '',
      ].join('\n'),
      chains: gone.length,
      rules: jumps.length + inside,
    },
  };
}

/** What a rule jumps or goes to. In doubt a word too many, for what is named here stays. */
function targetsOf(rule: string): readonly string[] {
  const words = rule.match(/"(?:\\.|[^"\\])*"|\S+/g) ?? [];
  return words.filter((_, index) => {
    const before = words[index - 1];
    const option = before === '-j' || before === '-g';
    return option && words[index - 2] !== '--comment';
  });
}

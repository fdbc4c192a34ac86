// Chains that draw an endpoint, one for each list size ("rung") in use, shared by all Services. Made at first use.
import type { NftCommand } from '../../kernel/nft/commands.ts';
import type { Expression } from '../../kernel/nft/expressions.ts';
import type { ListPlan, PlanWord } from './plans.ts';
import { STICKY_LOCAL_SLOT } from './programmed.ts';
import {
  CLEAR_PRIORITY,
  DROP,
  destination,
  dnatTo,
  hostWord,
  inDynamicMap,
  type Operand,
  PORT,
  PRIORITY,
  PROTOCOL,
  random,
  setPriority,
  setPriorityFrom,
  source,
  type TableFamily,
} from './ruleset-statements.ts';

/** A rung's chain and what it is for. */
export interface RungChain {
  readonly chain: string;
  readonly plan: ListPlan;
  readonly nodePort: boolean;
}

/** So often a slot is drawn before the chain falls back to slots that are sure to be full. */
const DRAWS = 3;

/** `pick-12`, `node-port-local-sticky-10800-pick-3`. */
export function rungChain({ local, affinitySeconds, rung }: ListPlan, nodePort: boolean): string {
  const sticky = affinitySeconds > 0 ? `sticky-${affinitySeconds}-` : '';
  return `${nodePort ? 'node-port-' : ''}${local ? 'local-' : ''}${sticky}pick-${rung}`;
}

/** What a chain of that name is for; undefined if it is no rung. */
export function rungOfChain(chain: string): RungChain | undefined {
  const parts = /^(node-port-)?(local-)?(?:sticky-([1-9]\d*)-)?pick-([1-9]\d*)$/.exec(chain);
  if (parts === null) return undefined;
  const [, nodePort, local, seconds, rung] = parts;
  return {
    chain,
    plan: { local: local !== undefined, affinitySeconds: Number(seconds ?? 0), rung: Number(rung) },
    nodePort: nodePort !== undefined,
  };
}

/** Adds a rung: its chain, its rules, and the elements that lead to it from `word`. */
export function rungCommands(
  family: TableFamily,
  table: string,
  plan: ListPlan,
  nodePort: boolean,
  word: PlanWord,
): readonly NftCommand[] {
  const ref = { family, table };
  const chain = rungChain(plan, nodePort);
  const rules =
    plan.affinitySeconds > 0 ? stickyRules(family, plan, nodePort) : plainRules(family, plan, nodePort);
  const elements = [{ key: hostWord(word), data: { kind: 'goto', chain } }] as const;
  const prefix = nodePort ? 'node-port-' : '';
  return [
    { op: 'add-chain', ...ref, chain },
    ...rules.map((expressions): NftCommand => ({ op: 'add-rule', ...ref, chain, expressions })),
    { op: 'add-elements', ...ref, set: `${prefix}plans`, elements },
    { op: 'add-elements', ...ref, set: `${prefix}list-plans`, elements },
  ];
}

type Rules = readonly (readonly Expression[])[];

const frontendOf = (family: TableFamily, nodePort: boolean): readonly Operand[] =>
  nodePort ? [PROTOCOL, PORT] : [destination(family), PROTOCOL, PORT];

const times = (count: number, rules: Rules): Rules => Array.from({ length: count }, () => rules).flat();

/**
 * Draws a slot, and again if it was empty: between half and all of a rung's slots are full, except while a packet reads
 * its plan before a commit and its list after it. Slot 0 is full as long as the list is not empty. A packet that finds
 * nothing at all is dropped, never forwarded untranslated; it is not tracked, so the client's next try starts anew.
 */
function plainRules(family: TableFamily, { local, rung }: ListPlan, nodePort: boolean): Rules {
  const map = `${nodePort ? 'node-port-' : ''}${local ? 'local-' : ''}endpoints`;
  const frontend = frontendOf(family, nodePort);
  const draw = (slots: number): readonly Expression[] => dnatTo(family, map, [...frontend, random(slots)]);
  const draws = rung === 1 ? 0 : rung === 2 ? 1 : DRAWS;
  return [
    CLEAR_PRIORITY,
    ...times(draws, [draw(rung)]),
    ...(rung > 3 ? [draw((rung >> 1) + 1)] : []),
    draw(1),
    DROP,
  ];
}

/**
 * Sends a client to the slot that is remembered of it, or remembers a new one. If that slot is empty by now, the
 * memory is deleted and it starts again, in the end with slot 0. Each rule stands for itself: one that cannot go on
 * (the frontend has no id, the memory is full) leaves it to the next, and the last ones draw without memory.
 */
function stickyRules(family: TableFamily, plan: ListPlan, nodePort: boolean): Rules {
  const { local, affinitySeconds, rung } = plan;
  const prefix = nodePort ? 'node-port-' : '';
  const frontend = frontendOf(family, nodePort);
  const offset = local ? STICKY_LOCAL_SLOT : 0;
  const client = [source(family), PRIORITY];
  const identify = setPriorityFrom(`${prefix}${local ? 'local-' : ''}affinity-ids`, frontend);
  const go = dnatTo(family, `${prefix}sticky-endpoints`, [...frontend, PRIORITY]);
  const remember = (slots: number): readonly Expression[] => [
    ...identify,
    ...inDynamicMap('update', 'sticky-clients', client, random(slots, offset), affinitySeconds * 1000),
  ];
  const recall = [...setPriorityFrom('sticky-clients', client), ...go];
  const forget = [...identify, ...inDynamicMap('delete', 'sticky-clients', client, PRIORITY, 0)];
  const draw = (slots: number): readonly Expression[] => [...setPriority(random(slots, offset)), ...go];
  return [
    ...times(DRAWS, [remember(rung), recall, forget]),
    remember(1),
    recall,
    ...(rung > 1 ? [draw(rung)] : []),
    draw(1),
    DROP,
  ];
}

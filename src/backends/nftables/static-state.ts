// The parts of the ruleset that no Service is named in: chains, rules, sets, verdicts. Wanted against found.
import { isDeepStrictEqual } from 'node:util';
import type {
  Hook,
  NftCommand,
  SetDefinition,
  SetElement,
  TableRef,
  Verdict,
} from '../../kernel/nft/commands.ts';
import type { Expression } from '../../kernel/nft/expressions.ts';

export interface ChainState {
  readonly hook?: Hook;
  readonly rules: readonly (readonly Expression[])[];
}

/** What a table holds beside rows. */
export interface StaticState {
  readonly sets: ReadonlyMap<string, SetDefinition>;
  readonly chains: ReadonlyMap<string, ChainState>;
  /** Set name → key in hex → verdict. */
  readonly verdicts: ReadonlyMap<
    string,
    ReadonlyMap<string, { readonly element: SetElement; readonly verdict: Verdict }>
  >;
}

const hex = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');

/** The state that commands make in an empty table. */
export function stateOf(commands: readonly NftCommand[]): StaticState {
  const sets = new Map<string, SetDefinition>();
  const chains = new Map<string, { hook?: Hook; rules: (readonly Expression[])[] }>();
  const verdicts = new Map<string, Map<string, { element: SetElement; verdict: Verdict }>>();
  for (const command of commands) {
    switch (command.op) {
      case 'add-set':
        sets.set(command.definition.name, command.definition);
        break;
      case 'add-chain':
        if (!chains.has(command.chain))
          chains.set(command.chain, { ...(command.hook ? { hook: command.hook } : {}), rules: [] });
        break;
      case 'flush-chain': {
        const chain = chains.get(command.chain);
        if (chain) chain.rules = [];
        break;
      }
      case 'add-rule':
        chains.get(command.chain)?.rules.push(command.expressions);
        break;
      case 'add-elements':
        addVerdicts(verdicts, command.set, command.elements);
        break;
    }
  }
  return { sets, chains, verdicts };
}

/** Enters those elements that carry verdicts. */
export function addVerdicts(
  into: Map<string, Map<string, { element: SetElement; verdict: Verdict }>>,
  set: string,
  elements: Iterable<SetElement>,
): void {
  for (const element of elements) {
    if (element.data === undefined || element.data instanceof Uint8Array) continue;
    const known = into.get(set) ?? new Map<string, { element: SetElement; verdict: Verdict }>();
    known.set(hex(element.key), { element, verdict: element.data });
    into.set(set, known);
  }
}

export type Repair =
  | { readonly kind: 'none' }
  /** Commands that bring the found state to the wanted one; `because` names what differed. */
  | { readonly kind: 'mend'; readonly commands: readonly NftCommand[]; readonly because: string }
  /** A set has another shape, as an older or newer Pointsman made it: only a new table helps. */
  | { readonly kind: 'rebuild'; readonly because: string };

/**
 * What to do about the difference. Chains and sets that are there beyond the wanted ones stay: a base chain is never
 * deleted, so that no packet passes between two states.
 */
export function repairOf(table: TableRef, wanted: StaticState, found: StaticState): Repair {
  const commands: NftCommand[] = [];
  const because: string[] = [];
  for (const [name, definition] of wanted.sets) {
    const other = found.sets.get(name);
    if (other === undefined) {
      commands.push({ op: 'add-set', ...table, definition });
      because.push(`set ${name} is missing`);
    } else if (!sameSet(definition, other))
      return { kind: 'rebuild', because: `set ${name} has another shape` };
  }
  const missing = [...wanted.chains].filter(([name]) => !found.chains.has(name));
  for (const [chain, { hook }] of missing) {
    commands.push({ op: 'add-chain', ...table, chain, ...(hook ? { hook } : {}) });
    because.push(`chain ${chain} is missing`);
  }
  for (const [chain, { rules, hook }] of wanted.chains) {
    const other = found.chains.get(chain);
    if (other !== undefined && !isDeepStrictEqual(hook, other.hook)) {
      return { kind: 'rebuild', because: `chain ${chain} hangs on another hook` };
    }
    if (other !== undefined && isDeepStrictEqual(rules, other.rules)) continue;
    if (other !== undefined) {
      commands.push({ op: 'flush-chain', ...table, chain });
      because.push(`chain ${chain} has other rules`);
    }
    for (const expressions of rules) commands.push({ op: 'add-rule', ...table, chain, expressions });
  }
  for (const [set, wantedVerdicts] of wanted.verdicts) {
    const known = found.verdicts.get(set);
    for (const [key, { element, verdict }] of wantedVerdicts) {
      const other = known?.get(key);
      if (isDeepStrictEqual(verdict, other?.verdict)) continue;
      if (other !== undefined)
        commands.push({ op: 'delete-elements', ...table, set, elements: [{ key: element.key }] });
      commands.push({ op: 'add-elements', ...table, set, elements: [element] });
      because.push(`map ${set} lacks a verdict`);
    }
  }
  if (commands.length === 0) return { kind: 'none' };
  return { kind: 'mend', commands, because: [...new Set(because)].slice(0, 5).join(', ') };
}

function sameSet(a: SetDefinition, b: SetDefinition): boolean {
  return (
    isDeepStrictEqual(a.key, b.key) &&
    isDeepStrictEqual(a.data, b.data) &&
    (a.interval ?? false) === (b.interval ?? false) &&
    (a.dynamic ?? false) === (b.dynamic ?? false)
  );
}

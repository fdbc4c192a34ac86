// From differing entries to one transaction: pure, but for the books that `accept` brings up to date once it is acked.
import type { NftCommand, NftFamily, SetDefinition, SetElement } from '../../kernel/nft/commands.ts';
import type { FrontendKey } from '../../model/service-port.ts';
import type { Entry } from '../../plan/forwarding-table.ts';
import { type AffinityBook, createAffinityBook } from './affinity-book.ts';
import { createPlanWords, type ListPlan, type PlanWords } from './plans.ts';
import {
  keyOfRow,
  listsFromRows,
  type PreviousLists,
  type Programmed,
  programmedOf,
  type Rows,
  rowsOf,
  rungsOf,
  setOfRow,
  sharedRowsOf,
  stickyListsOf,
} from './programmed.ts';
import { elementOfRow } from './row-codec.ts';

/** What the kernel has acknowledged for one family. */
export interface Books {
  readonly held: Map<FrontendKey, Programmed>;
  /** Row id → how many frontends need it. A row with an entry here is in the kernel. */
  readonly shared: Map<string, number>;
  /** Names of rungs that exist: see `rungName`. */
  readonly rungs: Set<string>;
  readonly words: PlanWords;
  readonly affinity: AffinityBook;
}

export function createBooks(): Books {
  return {
    held: new Map(),
    shared: new Map(),
    rungs: new Set(),
    words: createPlanWords(),
    affinity: createAffinityBook(),
  };
}

/** The static parts that compile refers to, so that it stays free of expressions. */
export interface CompileTarget {
  readonly family: NftFamily;
  readonly table: string;
  readonly definitions: ReadonlyMap<string, SetDefinition>;
  /** Chain, rules and plan elements of a rung, for service addresses or for node ports. */
  rungCommands(plan: ListPlan, nodePort: boolean): readonly NftCommand[];
}

export interface Compiled {
  readonly commands: readonly NftCommand[];
  /** Elements to add or delete; 0 when nothing differs. */
  readonly elements: number;
  /** To be called when, and only when, the kernel has acknowledged `commands`. */
  accept(): void;
}

/** A rung's name in the books. */
export function rungName(plan: ListPlan, nodePort: boolean): string {
  return `${nodePort ? 'node-port ' : ''}${plan.local ? 'local ' : ''}${plan.affinitySeconds} ${plan.rung}`;
}

const NO_ROWS: Rows = new Map();

/** A transaction in the making. The books must not change before it is finished and accepted or forgotten. */
export interface Compilation {
  /** Adds what brings a frontend to its new entry (undefined: gone). Throws for an entry that has no form in the kernel. */
  add(key: FrontendKey, entry: Entry | undefined): void;
  /** Elements so far. */
  readonly elements: number;
  finish(): Compiled;
}

/** `found` tells what the kernel was seen to hold instead of what the books say, for reconciling. */
export function beginCompilation(
  books: Books,
  target: CompileTarget,
  found?: ReadonlyMap<FrontendKey, Rows>,
): Compilation {
  const edits = new Map<string, { readonly remove: SetElement[]; readonly add: SetElement[] }>();
  const rungs = new Map<string, readonly NftCommand[]>();
  const counts = new Map<string, number>();
  const programmed = new Map<FrontendKey, Programmed | undefined>();
  const affinity = books.affinity.begin();
  let elements = 0;

  const edit = (action: 'remove' | 'add', row: string, data: string): void => {
    const set = setOfRow(row);
    const definition = target.definitions.get(set);
    if (definition === undefined) return;
    let lists = edits.get(set);
    if (lists === undefined) {
      lists = { remove: [], add: [] };
      edits.set(set, lists);
    }
    const element = elementOfRow(definition, keyOfRow(row), data);
    // A delete goes by the key alone.
    lists[action].push(
      action === 'add'
        ? element
        : { key: element.key, ...(element.keyEnd ? { keyEnd: element.keyEnd } : {}) },
    );
    elements += 1;
  };
  const count = (rows: readonly string[], step: 1 | -1): void => {
    for (const row of rows) counts.set(row, (counts.get(row) ?? 0) + step);
  };

  const add = (key: FrontendKey, entry: Entry | undefined): void => {
    const before = books.held.get(key);
    const seen = found?.get(key);
    const after =
      entry === undefined ? undefined : programmedOf(entry, previousLists(before, seen), affinity);
    programmed.set(key, after);
    if (before !== undefined) count(sharedRowsOf(before), -1);
    if (after !== undefined) count(sharedRowsOf(after), 1);
    const oldRows =
      found === undefined
        ? before === undefined
          ? NO_ROWS
          : rowsOf(before, books.words)
        : (seen ?? NO_ROWS);
    const newRows = after === undefined ? NO_ROWS : rowsOf(after, books.words);
    for (const [row, data] of oldRows) if (newRows.get(row) !== data) edit('remove', row, data);
    for (const [row, data] of newRows) if (oldRows.get(row) !== data) edit('add', row, data);
    for (const plan of after === undefined ? [] : rungsOf(after)) {
      const nodePort = after?.frontend.kind === 'node-port';
      const name = rungName(plan, nodePort);
      if (!books.rungs.has(name) && !rungs.has(name)) rungs.set(name, target.rungCommands(plan, nodePort));
    }
  };
  const editShared = (): void => {
    for (const [row, step] of counts) {
      const now = books.shared.get(row) ?? 0;
      if (now === 0 && step > 0 && !books.shared.has(row)) edit('add', row, '');
      if (now > 0 && now + step === 0 && found === undefined) edit('remove', row, '');
    }
  };

  const finish = (): Compiled => {
    editShared();
    return {
      commands: [...[...rungs.values()].flat(), ...commandsOf(target, edits)],
      elements,
      accept() {
        affinity.accept(
          [...programmed.values()].flatMap((after) => (after === undefined ? [] : stickyListsOf(after))),
        );
        for (const [key, after] of programmed) {
          const before = books.held.get(key);
          for (const name of before === undefined ? [] : stickyListsOf(before)) books.affinity.leave(name);
          if (after === undefined) books.held.delete(key);
          else books.held.set(key, after);
        }
        for (const [row, step] of counts) {
          const total = (books.shared.get(row) ?? 0) + step;
          if (total > 0 || found !== undefined) books.shared.set(row, total);
          else books.shared.delete(row);
        }
        for (const name of rungs.keys()) books.rungs.add(name);
      },
    };
  };

  return {
    add,
    get elements() {
      return elements;
    },
    finish,
  };
}

/** The commands for some frontends at once: see `beginCompilation`. */
export function compile(
  books: Books,
  target: CompileTarget,
  changes: ReadonlyMap<FrontendKey, Entry | undefined>,
  found?: ReadonlyMap<FrontendKey, Rows>,
): Compiled {
  const compilation = beginCompilation(books, target, found);
  for (const [key, entry] of changes) compilation.add(key, entry);
  return compilation.finish();
}

/**
 * The last step of reconciling: rows of shared sets that were found in the kernel and are needed by no frontend
 * (they stand in the books with count 0).
 */
export function compileUnneeded(books: Books, target: CompileTarget): Compiled {
  const unneeded = [...books.shared].filter(([, total]) => total <= 0).map(([row]) => row);
  const edits = new Map<string, { readonly remove: SetElement[]; readonly add: SetElement[] }>();
  for (const row of unneeded) {
    const definition = target.definitions.get(setOfRow(row));
    if (definition === undefined) continue;
    const lists = edits.get(definition.name) ?? { remove: [], add: [] };
    lists.remove.push(elementOfRow(definition, keyOfRow(row), ''));
    edits.set(definition.name, lists);
  }
  return {
    commands: commandsOf(target, edits),
    elements: unneeded.length,
    accept() {
      for (const row of unneeded) books.shared.delete(row);
    },
  };
}

/** Deletes before adds: the kernel refuses to add what differs from what is there. */
function commandsOf(
  { family, table }: CompileTarget,
  edits: ReadonlyMap<string, { readonly remove: readonly SetElement[]; readonly add: readonly SetElement[] }>,
): NftCommand[] {
  const commands: NftCommand[] = [];
  for (const [set, { remove, add }] of edits) {
    if (remove.length > 0) commands.push({ op: 'delete-elements', family, table, set, elements: remove });
    if (add.length > 0) commands.push({ op: 'add-elements', family, table, set, elements: add });
  }
  return commands;
}

const NO_LISTS: PreviousLists = { any: [], local: [] };

function previousLists(before: Programmed | undefined, seen: Rows | undefined): PreviousLists {
  if (before !== undefined) {
    const dense = (list: Programmed['any']): PreviousLists['any'] =>
      list === undefined || list.sticky ? [] : list.slots;
    return { any: dense(before.any), local: dense(before.local) };
  }
  return seen === undefined ? NO_LISTS : listsFromRows(seen);
}

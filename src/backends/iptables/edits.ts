// Changes of one table, and the text that iptables-restore takes for them.
import type { Rule } from './rules.ts';
import type { Table } from './static-rules.ts';

/** What is to be done in one table, which the kernel takes as one transaction. */
export interface Section {
  readonly table: Table;
  /** Chains that are made, or emptied if they are there, with what they hold then. */
  readonly rewritten: ReadonlyMap<string, readonly Rule[]>;
  readonly deleted: readonly ChainRule[];
  /** At the head of their chains; those of one chain end up in the order given. */
  readonly inserted: readonly ChainRule[];
  readonly appended: readonly ChainRule[];
  /** Chains that go, after all that led to them. */
  readonly removed: readonly string[];
}

export interface ChainRule {
  readonly chain: string;
  readonly rule: Rule;
}

export function emptySection(table: Table): {
  readonly table: Table;
  readonly rewritten: Map<string, readonly Rule[]>;
  readonly deleted: ChainRule[];
  readonly inserted: ChainRule[];
  readonly appended: ChainRule[];
  readonly removed: string[];
} {
  return { table, rewritten: new Map(), deleted: [], inserted: [], appended: [], removed: [] };
}

export function isEmpty({ rewritten, deleted, inserted, appended, removed }: Section): boolean {
  return (
    rewritten.size === 0 &&
    deleted.length === 0 &&
    inserted.length === 0 &&
    appended.length === 0 &&
    removed.length === 0
  );
}

/** The input of `iptables-restore --noflush`, a line each; empty when there is nothing to do. */
export function restoreLines(sections: readonly Section[]): readonly string[] {
  const lines: string[] = [];
  for (const section of sections) {
    if (isEmpty(section)) continue;
    lines.push(`*${section.table}`);
    // Naming a chain makes it, or empties it.
    for (const chain of section.rewritten.keys()) lines.push(`:${chain} - [0:0]`);
    for (const chain of section.removed) lines.push(`:${chain} - [0:0]`);
    for (const { chain, rule } of section.deleted) lines.push(`-D ${chain} ${rule}`);
    for (const { chain, rule } of section.inserted.toReversed()) lines.push(`-I ${chain} 1 ${rule}`);
    for (const { chain, rule } of section.appended) lines.push(`-A ${chain} ${rule}`);
    for (const [chain, rules] of section.rewritten)
      for (const rule of rules) lines.push(`-A ${chain} ${rule}`);
    for (const chain of section.removed) lines.push(`-X ${chain}`);
    lines.push('COMMIT');
  }
  return lines;
}

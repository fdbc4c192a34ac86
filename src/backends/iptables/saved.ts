// What iptables-save prints, as chains and rules.
import { TABLES, type Table } from './static-rules.ts';

/** Rules by chain, in their order; `policy` is that of the kernel's own chains. */
export type SavedTable = ReadonlyMap<string, readonly string[]>;
export type Saved = ReadonlyMap<Table, SavedTable>;

/** Reads the tables that matter here. Rules are what stands behind `-A CHAIN `. */
export function parseSaved(text: string): Saved {
  const tables = new Map<Table, Map<string, string[]>>();
  let table: Map<string, string[]> | undefined;
  for (const line of text.split('\n')) {
    if (line.startsWith('*')) {
      const name = TABLES.find((known) => known === line.slice(1).trim());
      table = name === undefined ? undefined : new Map();
      if (name !== undefined && table !== undefined) tables.set(name, table);
    } else if (table === undefined) continue;
    else if (line.startsWith(':')) table.set(line.slice(1, line.indexOf(' ')), []);
    else if (line.startsWith('-A ')) {
      const end = line.indexOf(' ', 3);
      const chain = end === -1 ? line.slice(3) : line.slice(3, end);
      const rule = end === -1 ? '' : line.slice(end + 1).trimEnd();
      table.get(chain)?.push(rule);
    }
  }
  return tables;
}

// One family's table: the static ruleset, the rows, the books, and how they are brought to a wanted state.
import { PointsmanError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { createSlicer } from '../../base/slicer.ts';
import type { NftCommand, TableRef } from '../../kernel/nft/commands.ts';
import type { Family } from '../../model/address.ts';
import type { FrontendKey } from '../../model/service-port.ts';
import type { Entry, TableSettings } from '../../plan/forwarding-table.ts';
import type { CommitReport } from '../backend.ts';
import { type CompileTarget, compileUnneeded, createBooks, rungName } from './compile.ts';
import type { NftPort } from './nft-port.ts';
import { probeFeatures } from './probe.ts';
import { placeOf, type Rows, rowId } from './programmed.ts';
import { rowOfElement, wordOfKey } from './row-codec.ts';
import {
  baseCommands,
  type RungChain,
  rungCommands,
  rungOfChain,
  settingsCommands,
  TABLE_NAME,
} from './ruleset.ts';
import { repairOf, type StaticState, stateOf } from './static-state.ts';
import { createTransactions, type Transactions } from './transactions.ts';

export interface FamilyTable {
  probe(): Promise<void>;
  reconcile(settings: TableSettings, entries: ReadonlyMap<FrontendKey, Entry>): Promise<CommitReport>;
  /** Only after a reconcile. */
  commit(
    settings: TableSettings | undefined,
    changes: ReadonlyMap<FrontendKey, Entry | undefined>,
  ): Promise<CommitReport>;
  cleanup(): Promise<readonly string[]>;
}

export interface FamilyTableOptions {
  readonly nft: NftPort;
  readonly family: Family;
  readonly log: Logger;
}

export function createFamilyTable({ nft, family, log }: FamilyTableOptions): FamilyTable {
  const nftFamily = family === 'IPv4' ? 'ip' : 'ip6';
  const ref: TableRef = { family: nftFamily, table: TABLE_NAME };
  const name = `${nftFamily} ${TABLE_NAME}`;
  let books = createBooks();
  let target: CompileTarget | undefined;

  const targetFor = (settings: TableSettings): CompileTarget => ({
    ...ref,
    definitions: stateOf(baseCommands(nftFamily, settings)).sets,
    rungCommands: (plan, nodePort) => rungCommands(nftFamily, plan, nodePort, books.words.wordOf(plan)),
  });

  /** Brings chains, rules, sets and verdicts in order; false when the table is new, and so without rows. */
  const prepareStatic = async (settings: TableSettings, transactions: Transactions): Promise<boolean> => {
    const found = await nft.readStatic(ref);
    const base = baseCommands(nftFamily, settings);
    if (found === undefined) {
      await transactions.send(base);
      return false;
    }
    const repair = repairOf(ref, stateOf([...base, ...learnRungs(found)]), found);
    if (repair.kind === 'none') return true;
    log.info('Mending the nftables ruleset', { table: name, because: repair.because });
    if (repair.kind === 'mend') {
      await transactions.send(repair.commands);
      return true;
    }
    books = createBooks();
    await transactions.send([{ op: 'delete-table', ...ref }, ...base]);
    return false;
  };

  /** Takes over the rungs and words that were found, so that a restart changes neither; returns how to make them. */
  const learnRungs = (found: StaticState): readonly NftCommand[] => {
    const rungs = [...found.chains.keys()].flatMap((chain) => rungOfChain(chain) ?? []);
    for (const rung of rungs) {
      const word = wordOfChain(found, rung);
      if (word !== undefined && rung.plan.affinitySeconds > 0)
        books.words.learn(word, rung.plan.affinitySeconds);
    }
    return rungs.flatMap(({ plan, nodePort }) => {
      books.rungs.add(rungName(plan, nodePort));
      return rungCommands(nftFamily, plan, nodePort, books.words.wordOf(plan));
    });
  };

  /** All rows in the kernel, by frontend; shared ones go into the books with count 0. */
  const readRows = async (
    on: CompileTarget,
  ): Promise<{ found: Map<FrontendKey, Map<string, string>>; strays: NftCommand[] }> => {
    const found = new Map<FrontendKey, Map<string, string>>();
    const strays: NftCommand[] = [];
    const slicer = createSlicer();
    for (const definition of on.definitions.values()) {
      if (definition.dynamic || definition.data?.[0] === 'verdict') continue;
      for await (const elements of nft.elements(ref, definition)) {
        for (const element of elements) {
          if (element.key.length === 0) {
            // `*`, which stands for every key: no row, and never ours.
            strays.push({ op: 'delete-elements', ...ref, set: definition.name, elements: [element] });
            continue;
          }
          const { key, data } = rowOfElement(definition, element);
          const id = rowId(definition.name, key);
          const place = placeOf(id, family);
          if (place === undefined) books.shared.set(id, 0);
          else {
            let rows = found.get(place.frontend);
            if (rows === undefined) {
              rows = new Map();
              found.set(place.frontend, rows);
            }
            rows.set(id, data);
          }
          const pause = slicer.turn();
          if (pause !== undefined) await pause;
        }
      }
    }
    return { found, strays };
  };

  const tallied = async (work: (transactions: Transactions) => Promise<void>): Promise<CommitReport> => {
    const transactions = createTransactions(nft, name);
    try {
      await work(transactions);
    } catch (error) {
      transactions.fail(error);
    }
    return transactions.report();
  };

  return {
    probe: () => probeFeatures(nft, nftFamily),
    reconcile: (settings, entries) =>
      tallied(async (transactions) => {
        books = createBooks();
        const held = await prepareStatic(settings, transactions);
        const on = targetFor(settings);
        target = on;
        if (transactions.failed) return;
        const { found, strays } = held
          ? await readRows(on)
          : { found: new Map<FrontendKey, Rows>(), strays: [] };
        await transactions.send(strays);
        const changes = new Map<FrontendKey, Entry | undefined>(entries);
        for (const key of found.keys()) if (!changes.has(key)) changes.set(key, undefined);
        await transactions.commit(books, on, changes, found);
        await transactions.commitCompiled(compileUnneeded(books, on));
      }),
    commit: (settings, changes) =>
      tallied(async (transactions) => {
        if (target === undefined)
          throw new PointsmanError('E_NETLINK_LOST', 'commit before the first reconcile');
        if (settings !== undefined) await transactions.send(settingsCommands(nftFamily, settings));
        await transactions.commit(books, target, changes);
      }),
    async cleanup() {
      if ((await nft.readStatic(ref)) === undefined) return [];
      const { failed } = await tallied(async (transactions) => {
        await transactions.send([{ op: 'delete-table', ...ref }]);
      });
      if (failed !== undefined) throw failed;
      books = createBooks();
      target = undefined;
      return [`nftables table ${name}`];
    },
  };
}

/** The plan word that leads to a rung's chain, as found. */
function wordOfChain({ verdicts }: StaticState, { chain, nodePort }: RungChain): number | undefined {
  for (const { element, verdict } of verdicts.get(nodePort ? 'node-port-plans' : 'plans')?.values() ?? []) {
    if (verdict.kind === 'goto' && verdict.chain === chain) return wordOfKey(element.key);
  }
  return undefined;
}

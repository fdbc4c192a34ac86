// One family's table: the static ruleset, the rows, the books, and how they are brought to a wanted state.
import { PointsmanError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { createSlicer } from '../../base/slicer.ts';
import type { NftCommand, TableRef } from '../../kernel/nft/commands.ts';
import type { Family } from '../../model/address.ts';
import type { FrontendKey } from '../../model/service-port.ts';
import type { Entry, TableSettings } from '../../plan/forwarding-table.ts';
import type { CommitReport } from '../backend.ts';
import {
  type Compiled,
  type CompileTarget,
  compile,
  compileUnneeded,
  createBooks,
  rungName,
} from './compile.ts';
import type { NftOutcome, NftPort } from './nft-port.ts';
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

/**
 * Entries to commit in one transaction at most. At three endpoints each this is about 8,000 elements, some 8 ms in
 * the kernel: other writers and new connections wait no longer than that.
 */
const ENTRIES_PER_COMMIT = 1500;

/** The kernel's ways to say that it does not hold what the books say: ENOENT, EEXIST, ERESTART (not seen outside). */
const DRIFT_ERRNOS = new Set([2, 17, 85]);

export interface FamilyTable {
  probe(): Promise<void>;
  reconcile(settings: TableSettings, entries: ReadonlyMap<FrontendKey, Entry>): Promise<CommitReport>;
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

/** What a series of transactions came to. */
interface Tally {
  readonly refused: Map<FrontendKey, PointsmanError>;
  messages: number;
  kernelMs: number;
  failed?: PointsmanError;
}

export function createFamilyTable({ nft, family, log }: FamilyTableOptions): FamilyTable {
  const nftFamily = family === 'IPv4' ? 'ip' : 'ip6';
  const ref: TableRef = { family: nftFamily, table: TABLE_NAME };
  let books = createBooks();
  let target: CompileTarget | undefined;

  const targetFor = (settings: TableSettings): CompileTarget => {
    const { sets } = stateOf(baseCommands(nftFamily, settings));
    return {
      ...ref,
      definitions: sets,
      rungCommands: (plan, nodePort) => rungCommands(nftFamily, plan, nodePort, books.words.wordOf(plan)),
    };
  };

  /** Commits and keeps the tally; false when the transaction did not go through. */
  const send = async (commands: readonly NftCommand[], tally: Tally): Promise<NftOutcome> => {
    const outcome = await nft.commit(commands);
    tally.messages += outcome.messages;
    if (outcome.kind === 'committed') tally.kernelMs += outcome.kernelMs;
    if (outcome.kind === 'unknown') {
      tally.failed = new PointsmanError(
        'E_NETLINK_LOST',
        `the outcome of a commit to table ${nftFamily} ${TABLE_NAME} is unknown: ${outcome.because}`,
      );
    }
    return outcome;
  };

  const refusalError = (outcome: NftOutcome & { readonly kind: 'refused' }): PointsmanError => {
    const [first] = outcome.refusals;
    return new PointsmanError(
      'E_NETLINK',
      `table ${nftFamily} ${TABLE_NAME}: ${first?.text ?? 'refused without a reason'}`,
      {
        facts: { errno: first?.errno },
      },
    );
  };

  /**
   * Commits changes; when the kernel refuses, halves them until the culprit stands alone. While nothing was read back
   * (`found` is undefined), a refusal for what is or is not there means that the books are wrong, and ends it.
   */
  const commitEntries = async (
    on: CompileTarget,
    changes: ReadonlyMap<FrontendKey, Entry | undefined>,
    found: ReadonlyMap<FrontendKey, Rows> | undefined,
    tally: Tally,
  ): Promise<void> => {
    if (tally.failed !== undefined) return;
    let compiled: Compiled;
    try {
      compiled = compile(books, on, changes, found);
    } catch (error) {
      await halve(on, changes, found, tally, asError(error));
      return;
    }
    if (compiled.commands.length === 0) {
      compiled.accept();
      return;
    }
    const outcome = await send(compiled.commands, tally);
    if (outcome.kind === 'committed') compiled.accept();
    if (outcome.kind !== 'refused') return;
    const error = refusalError(outcome);
    if (found === undefined && outcome.refusals.some(({ errno }) => DRIFT_ERRNOS.has(errno)))
      tally.failed = error;
    else await halve(on, changes, found, tally, error);
  };

  const halve = async (
    on: CompileTarget,
    changes: ReadonlyMap<FrontendKey, Entry | undefined>,
    found: ReadonlyMap<FrontendKey, Rows> | undefined,
    tally: Tally,
    error: PointsmanError,
  ): Promise<void> => {
    const keys = [...changes];
    const [only] = keys;
    if (keys.length === 1 && only !== undefined) {
      tally.refused.set(only[0], error);
      return;
    }
    const middle = keys.length >> 1;
    for (const half of [keys.slice(0, middle), keys.slice(middle)])
      await commitEntries(on, new Map(half), found, tally);
  };

  const inPortions = async (
    on: CompileTarget,
    changes: ReadonlyMap<FrontendKey, Entry | undefined>,
    found: ReadonlyMap<FrontendKey, Rows> | undefined,
    tally: Tally,
  ): Promise<void> => {
    if (changes.size <= ENTRIES_PER_COMMIT) return commitEntries(on, changes, found, tally);
    const slicer = createSlicer();
    let portion = new Map<FrontendKey, Entry | undefined>();
    for (const [key, entry] of changes) {
      portion.set(key, entry);
      if (portion.size < ENTRIES_PER_COMMIT) continue;
      await commitEntries(on, portion, found, tally);
      portion = new Map();
      const pause = slicer.turn();
      if (pause !== undefined) await pause;
    }
    if (portion.size > 0) await commitEntries(on, portion, found, tally);
  };

  /** Brings chains, rules, sets and verdicts in order. Returns what the table held, undefined if it had to be new. */
  const prepareStatic = async (settings: TableSettings, tally: Tally): Promise<StaticState | undefined> => {
    const found = await nft.readStatic(ref);
    const base = baseCommands(nftFamily, settings);
    if (found === undefined) {
      await send(base, tally).then((outcome) => failUnlessCommitted(outcome, tally));
      return undefined;
    }
    const rungs: NftCommand[] = [];
    for (const name of found.chains.keys()) {
      const rung = rungOfChain(name);
      if (rung === undefined) continue;
      const word = wordOfChain(found, rung);
      if (word !== undefined && rung.plan.affinitySeconds > 0)
        books.words.learn(word, rung.plan.affinitySeconds);
    }
    for (const name of found.chains.keys()) {
      const rung = rungOfChain(name);
      if (rung === undefined) continue;
      rungs.push(...rungCommands(nftFamily, rung.plan, rung.nodePort, books.words.wordOf(rung.plan)));
      books.rungs.add(rungName(rung.plan, rung.nodePort));
    }
    const repair = repairOf(ref, stateOf([...base, ...rungs]), found);
    if (repair.kind === 'none') return found;
    log.info('Mending the nftables ruleset', {
      table: `${nftFamily} ${TABLE_NAME}`,
      because: repair.because,
    });
    if (repair.kind === 'mend') {
      await send(repair.commands, tally).then((outcome) => failUnlessCommitted(outcome, tally));
      return found;
    }
    books = createBooks();
    await send([{ op: 'delete-table', ...ref }, ...base], tally).then((outcome) =>
      failUnlessCommitted(outcome, tally),
    );
    return undefined;
  };

  const failUnlessCommitted = (outcome: NftOutcome, tally: Tally): void => {
    if (outcome.kind === 'refused') tally.failed = refusalError(outcome);
  };

  /** All rows in the kernel, by frontend; shared ones go into the books with count 0. */
  const readRows = async (on: CompileTarget): Promise<Map<FrontendKey, Map<string, string>>> => {
    const found = new Map<FrontendKey, Map<string, string>>();
    const slicer = createSlicer();
    for (const definition of on.definitions.values()) {
      if (definition.dynamic || definition.data?.[0] === 'verdict') continue;
      for await (const element of nft.elements(ref, definition)) {
        const { key, data } = rowOfElement(definition, element);
        const id = rowId(definition.name, key);
        const place = placeOf(id, family);
        if (place === undefined) books.shared.set(id, 0);
        else {
          const rows = found.get(place.frontend) ?? new Map<string, string>();
          rows.set(id, data);
          found.set(place.frontend, rows);
        }
        const pause = slicer.turn();
        if (pause !== undefined) await pause;
      }
    }
    return found;
  };

  const reportOf = ({ refused, messages, kernelMs, failed }: Tally): CommitReport => ({
    refused,
    messages,
    kernelMs,
    ...(failed ? { failed } : {}),
  });

  return {
    async probe() {
      await probeFeatures(nft, nftFamily);
    },
    async reconcile(settings, entries) {
      const tally: Tally = { refused: new Map(), messages: 0, kernelMs: 0 };
      books = createBooks();
      try {
        const held = await prepareStatic(settings, tally);
        target = targetFor(settings);
        if (tally.failed !== undefined) return reportOf(tally);
        const found =
          held === undefined ? new Map<FrontendKey, Map<string, string>>() : await readRows(target);
        const changes = new Map<FrontendKey, Entry | undefined>(entries);
        for (const key of found.keys()) if (!changes.has(key)) changes.set(key, undefined);
        await inPortions(target, changes, found, tally);
        if (tally.failed === undefined) {
          const rest = compileUnneeded(books, target);
          const outcome = rest.elements === 0 ? undefined : await send(rest.commands, tally);
          if (outcome === undefined || outcome.kind === 'committed') rest.accept();
          else failUnlessCommitted(outcome, tally);
        }
      } catch (error) {
        tally.failed = asError(error);
      }
      return reportOf(tally);
    },
    async commit(settings, changes) {
      const tally: Tally = { refused: new Map(), messages: 0, kernelMs: 0 };
      if (target === undefined) {
        tally.failed = new PointsmanError('E_NETLINK_LOST', 'commit before the first reconcile');
        return reportOf(tally);
      }
      try {
        if (settings !== undefined) {
          const outcome = await send(settingsCommands(nftFamily, settings), tally);
          failUnlessCommitted(outcome, tally);
        }
        if (changes.size > 0) await inPortions(target, changes, undefined, tally);
      } catch (error) {
        tally.failed = asError(error);
      }
      return reportOf(tally);
    },
    async cleanup() {
      if ((await nft.readStatic(ref)) === undefined) return [];
      const outcome = await nft.commit([{ op: 'delete-table', ...ref }]);
      if (outcome.kind !== 'committed') {
        throw outcome.kind === 'refused'
          ? refusalError(outcome)
          : new PointsmanError(
              'E_NETLINK_LOST',
              `deleting table ${nftFamily} ${TABLE_NAME}: ${outcome.because}`,
            );
      }
      books = createBooks();
      return [`nftables table ${nftFamily} ${TABLE_NAME}`];
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

function asError(error: unknown): PointsmanError {
  if (error instanceof PointsmanError) return error;
  return new PointsmanError('E_NETLINK', error instanceof Error ? error.message : String(error), {
    cause: error,
  });
}

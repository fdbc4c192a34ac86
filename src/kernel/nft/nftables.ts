// nf_tables as the backends use it: transactions whose failures are told in words, dumps, and who else changes things.
import { PointsmanError } from '../../base/errors.ts';
import { createSlicer } from '../../base/slicer.ts';
import type { BatchFailure, KernelClient, Subscription } from '../client.ts';
import { NFNLGRP_NFTABLES } from '../netlink/nfnetlink.ts';
import { ENOENT, ERESTART, errnoText } from '../sys/errno.ts';
import { type Chain, chainsIn, chainsRequest } from './chains.ts';
import type { AnonymousSet, NftCommand, SetElement, TableRef } from './commands.ts';
import { elementsIn, elementsRequest } from './elements.ts';
import { eventsIn } from './events.ts';
import type { Expression } from './expressions.ts';
import { type Rule, rulesIn, rulesRequest } from './rules.ts';
import { type ListedSet, setsIn, setsRequest } from './sets.ts';
import { tablesIn, tablesRequest } from './tables.ts';
import {
  type Description,
  type EncodedTransaction,
  encodeTransaction,
  type TransactionOptions,
} from './transaction.ts';

/** One message of a transaction that the kernel refused, and with it the whole transaction. */
export interface CommitFailure extends Description {
  readonly errno: number;
  readonly errnoName: string;
  /** All of it in a line: `add element 0a600001 of set ip pointsman cluster-ips: EEXIST (file exists)`. */
  readonly text: string;
}

/** What became of a transaction. `messages` were sent, BATCH_BEGIN and BATCH_END included. */
export type CommitOutcome =
  | {
      readonly kind: 'committed';
      /** The ruleset's generation afterwards; see TransactOutcome of the client. */
      readonly generation?: number;
      readonly messages: number;
      readonly kernelMs: number;
    }
  /** Nothing was applied. A stale `generation` is a single failure with ERESTART. */
  | { readonly kind: 'refused'; readonly failures: readonly CommitFailure[]; readonly messages: number }
  | { readonly kind: 'unknown'; readonly because: string; readonly messages: number };

/** All of a table but the elements of its sets, as of one generation. */
export interface TableContents {
  readonly generation: number;
  readonly chains: readonly Chain[];
  /** The named ones. */
  readonly sets: readonly ListedSet[];
  readonly rules: readonly Rule[];
}

/** What somebody else did to a table. */
export interface ForeignChange extends TableRef {
  /** `elements added, rule deleted`. */
  readonly what: string;
  readonly processId: number;
  readonly processName: string;
}

export interface WatchOptions {
  /** Called once for every table that a transaction of another process, or of another socket of ours, changed. */
  onForeignChange(change: ForeignChange): void;
  /** Events are missing: anything may have changed. */
  onLost(): void;
}

export interface Nftables {
  /**
   * Commits commands as one transaction; none is sent if there are none. Rejects only if it could not be tried, as
   * `KernelClient.transact` does, and with E_MALFORMED for commands that cannot be encoded.
   */
  commit(commands: readonly NftCommand[], options?: TransactionOptions): Promise<CommitOutcome>;
  /** Changes with every commit of anybody. */
  generation(): Promise<number>;
  /** Dumps reject as `KernelClient.dump` does: E_NETLINK with `facts.errnoName` ENOENT if there is no such table. */
  listTables(): Promise<readonly TableRef[]>;
  /** Empty if there is no such table. */
  listChains(table: TableRef): Promise<readonly Chain[]>;
  /** Those of rules included. */
  listSets(table: TableRef): Promise<readonly ListedSet[]>;
  /** In order within their chains. Empty if there is no such table. */
  listRules(table: TableRef): Promise<readonly Rule[]>;
  /** Chains, sets and rules of one generation; undefined if there is no such table. */
  readTable(table: TableRef): Promise<TableContents | undefined>;
  /** The elements of a set, those of one datagram at a time, so that the event loop can go on in between. */
  elementBatches(table: TableRef, set: string): AsyncGenerator<readonly SetElement[], void, undefined>;
  /** The elements of a set, decoded in slices between which the event loop goes on. */
  elements(table: TableRef, set: string): AsyncGenerator<SetElement, void, undefined>;
  /** Listens to changes until the subscription is closed. It makes commits of everybody twice as slow meanwhile. */
  watch(options: WatchOptions): Promise<Subscription>;
}

/** A table that changes all the time is read so often, then it is an error. */
const READ_ATTEMPTS = 8;

export function createNftables(
  client: Pick<KernelClient, 'transact' | 'dump' | 'generation' | 'subscribe' | 'portId'>,
): Nftables {
  const dump = async (what: string, request: Uint8Array): Promise<Uint8Array[]> => {
    try {
      return await client.dump('nftables', request);
    } catch (error) {
      throw readError(what, error);
    }
  };

  async function* elementBatches(
    table: TableRef,
    set: string,
  ): AsyncGenerator<readonly SetElement[], void, undefined> {
    const datagrams = await dump(`elements of set ${nameOf(table)} ${set}`, elementsRequest(table, set));
    for (const datagram of datagrams) yield [...elementsIn([datagram])];
  }
  async function* elements(table: TableRef, set: string): AsyncGenerator<SetElement, void, undefined> {
    const slicer = createSlicer();
    for await (const batch of elementBatches(table, set)) {
      for (const element of batch) {
        yield element;
        const pause = slicer.turn();
        if (pause !== undefined) await pause;
      }
    }
  }

  const listSets = async (table: TableRef): Promise<readonly ListedSet[]> => [
    ...setsIn(await dump(`sets of table ${nameOf(table)}`, setsRequest(table))),
  ];
  const listChains = async (table: TableRef): Promise<readonly Chain[]> =>
    [...chainsIn(await dump(`chains of table ${nameOf(table)}`, chainsRequest(table)))].filter(
      (chain) => chain.table === table.table,
    );

  const anonymousSets = async (
    table: TableRef,
    sets: readonly ListedSet[],
  ): Promise<ReadonlyMap<string, AnonymousSet>> => {
    const found = new Map<string, AnonymousSet>();
    for (const { name, anonymous, definition } of sets) {
      if (!anonymous || definition === undefined) continue;
      const { key, data } = definition;
      const list = (await Array.fromAsync(elements(table, name))).sort(byKey);
      found.set(name, { key, ...(data && { data }), elements: list });
    }
    return found;
  };
  const rulesWith = async (
    table: TableRef,
    sets: () => Promise<readonly ListedSet[]>,
  ): Promise<readonly Rule[]> => {
    const rules = [...rulesIn(await dump(`rules of table ${nameOf(table)}`, rulesRequest(table)))];
    if (!rules.some(({ expressions }) => expressions.some(mayBeAnonymous))) return rules;
    const own = await anonymousSets(table, await sets());
    return rules.map((rule) => ({
      ...rule,
      expressions: rule.expressions.map((one) => withOwnSet(one, own)),
    }));
  };

  return {
    async commit(commands, options) {
      if (commands.length === 0) return { kind: 'committed', messages: 0, kernelMs: 0 };
      const encoded = encodeTransaction(commands, options);
      const { messages } = encoded;
      const outcome = await client.transact(encoded.bytes);
      if (outcome.kind !== 'refused') return { ...outcome, messages };
      return { kind: 'refused', failures: outcome.failures.map((one) => inWords(one, encoded)), messages };
    },
    generation: () => client.generation(),
    listTables: async () => [...tablesIn(await dump('tables', tablesRequest()))],
    listChains,
    listSets,
    listRules: (table) => rulesWith(table, () => listSets(table)),
    async readTable(table) {
      for (let attempt = 0; attempt < READ_ATTEMPTS; attempt += 1) {
        const generation = await client.generation();
        try {
          const sets = await listSets(table);
          const contents = {
            generation,
            chains: await listChains(table),
            sets: sets.filter(({ anonymous }) => !anonymous),
            rules: await rulesWith(table, async () => sets),
          };
          if ((await client.generation()) === generation) return contents;
        } catch (error) {
          if (!isMissing(error)) throw error;
          // The table, or a set of a rule that was replaced meanwhile.
          if ((await client.generation()) === generation) return undefined;
        }
      }
      throw new PointsmanError(
        'E_NETLINK',
        `table ${table.family} ${table.table} changes too often to be read`,
        {
          hint: 'find out which other program changes the ruleset all the time',
        },
      );
    },
    elementBatches,
    elements,
    watch({ onForeignChange, onLost }) {
      let changes = new Map<string, { readonly table: TableRef; readonly what: Set<string> }>();
      return client.subscribe({
        protocol: 'nftables',
        groups: [NFNLGRP_NFTABLES],
        onEvent(datagram) {
          for (const event of eventsIn(datagram)) {
            if (event.portId === client.portId) continue;
            if (event.kind === 'change') {
              const { family, table, object, action } = event;
              const known = changes.get(`${family} ${table}`) ?? {
                table: { family, table },
                what: new Set(),
              };
              known.what.add(`${object} ${action}`);
              changes.set(`${family} ${table}`, known);
              continue;
            }
            const done = changes;
            changes = new Map();
            const { processId, processName } = event;
            for (const { table, what } of done.values()) {
              onForeignChange({ ...table, what: [...what].join(', '), processId, processName });
            }
          }
        },
        onLost() {
          changes = new Map();
          onLost();
        },
      });
    },
  };
}

function inWords(failure: BatchFailure, encoded: EncodedTransaction): CommitFailure {
  const { errno, errnoName, text: said } = failure;
  const description = encoded.describe(failure);
  const { operation, object, attribute } = description;
  const text =
    operation === 'begin' && errno === ERESTART
      ? `the ruleset was changed by someone else meanwhile: ${errnoName}`
      : [
          `${operation} ${object}: ${errnoText(errno)}`,
          said === undefined ? '' : `: ${said}`,
          attribute === undefined ? '' : `, at ${attribute}`,
        ].join('');
  return { ...description, errno, errnoName, text };
}

const nameOf = ({ family, table }: TableRef): string => `${family} ${table}`;

/** A refused dump with the words of what was asked; anything else as it is. */
function readError(what: string, error: unknown): unknown {
  if (!(error instanceof PointsmanError) || error.code !== 'E_NETLINK') return error;
  const { errno } = error.facts;
  if (typeof errno !== 'number') return error;
  return new PointsmanError('E_NETLINK', `cannot read the ${what}: ${errnoText(errno)}`, {
    facts: error.facts,
    cause: error,
  });
}

const isMissing = (error: unknown): boolean =>
  error instanceof PointsmanError && error.facts.errno === ENOENT;

const mayBeAnonymous = (expression: Expression): boolean =>
  expression.kind === 'lookup' && typeof expression.set === 'string' && expression.set.startsWith('__');

function withOwnSet(expression: Expression, sets: ReadonlyMap<string, AnonymousSet>): Expression {
  if (expression.kind !== 'lookup' || typeof expression.set !== 'string') return expression;
  return { ...expression, set: sets.get(expression.set) ?? expression.set };
}

const byKey = (a: SetElement, b: SetElement): number => Buffer.compare(a.key, b.key);

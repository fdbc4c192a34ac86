// Entries to transactions: in portions, in slices, and halved when the kernel refuses one.
import { PointsmanError } from '../../base/errors.ts';
import { createSlicer } from '../../base/slicer.ts';
import type { NftCommand } from '../../kernel/nft/commands.ts';
import type { FrontendKey } from '../../model/service-port.ts';
import type { Entry } from '../../plan/forwarding-table.ts';
import type { CommitReport } from '../backend.ts';
import { type Books, beginCompilation, type Compiled, type CompileTarget } from './compile.ts';
import type { NftOutcome, NftPort } from './nft-port.ts';
import type { Rows } from './programmed.ts';

/**
 * A transaction holds this many elements at most, and whole entries: 2 ms in the kernel, for which other writers wait.
 */
const ELEMENTS_PER_TRANSACTION = 2000;

/** The kernel's ways to say that it does not hold what the books say: ENOENT, EEXIST. */
const DRIFT_ERRNOS = new Set([2, 17]);

/** A series of transactions, and what it came to. */
export interface Transactions {
  /** Commits commands that are no entries. After a failure nothing more is sent. */
  send(commands: readonly NftCommand[]): Promise<boolean>;
  /**
   * Commits changes to entries; when the kernel refuses, halves them until the culprit stands alone. Without `found`
   * (what was just read back) a refusal for what is or is not there means that the books are wrong, and ends it.
   */
  commit(
    books: Books,
    target: CompileTarget,
    changes: ReadonlyMap<FrontendKey, Entry | undefined>,
    found?: ReadonlyMap<FrontendKey, Rows>,
  ): Promise<void>;
  /** Commits what was compiled of other things. */
  commitCompiled(compiled: Compiled): Promise<void>;
  fail(error: unknown): void;
  readonly failed: boolean;
  report(): CommitReport;
}

/** `table` names the table in errors: `ip pointsman`. */
export function createTransactions(nft: NftPort, table: string): Transactions {
  const refused = new Map<FrontendKey, PointsmanError>();
  let messages = 0;
  let kernelMs = 0;
  let failure: PointsmanError | undefined;

  const transact = async (commands: readonly NftCommand[]): Promise<NftOutcome> => {
    const outcome = await nft.commit(commands);
    messages += outcome.messages;
    if (outcome.kind === 'committed') kernelMs += outcome.kernelMs;
    if (outcome.kind === 'unknown') {
      failure = new PointsmanError(
        'E_NETLINK_LOST',
        `the outcome of a commit to table ${table} is unknown: ${outcome.because}`,
      );
    }
    return outcome;
  };
  const refusalOf = ({ refusals: [first] }: NftOutcome & { readonly kind: 'refused' }): PointsmanError =>
    new PointsmanError('E_NETLINK', `table ${table}: ${first?.text ?? 'refused without a reason'}`, {
      facts: { errno: first?.errno },
    });

  const send = async (commands: readonly NftCommand[]): Promise<boolean> => {
    if (failure !== undefined) return false;
    if (commands.length === 0) return true;
    const outcome = await transact(commands);
    if (outcome.kind === 'refused') failure = refusalOf(outcome);
    return outcome.kind === 'committed';
  };

  type Change = readonly [FrontendKey, Entry | undefined];

  const commit: Transactions['commit'] = async (books, target, changes, found) => {
    const slicer = createSlicer();
    let compilation = beginCompilation(books, target, found);
    let portion: Change[] = [];
    for (const change of changes) {
      if (failure !== undefined) return;
      try {
        compilation.add(...change);
        portion.push(change);
      } catch (error) {
        // What it added before it threw must not be committed: the portion is compiled anew without it.
        refused.set(change[0], asError(error));
        compilation = beginCompilation(books, target, found);
        for (const other of portion) compilation.add(...other);
      }
      if (compilation.elements >= ELEMENTS_PER_TRANSACTION) {
        await commitPortion(books, target, portion, found, compilation.finish());
        compilation = beginCompilation(books, target, found);
        portion = [];
      }
      const pause = slicer.turn();
      if (pause !== undefined) await pause;
    }
    if (portion.length > 0) await commitPortion(books, target, portion, found, compilation.finish());
  };

  async function commitPortion(
    books: Books,
    target: CompileTarget,
    portion: readonly Change[],
    found: ReadonlyMap<FrontendKey, Rows> | undefined,
    compiled: Compiled,
  ): Promise<void> {
    if (failure !== undefined) return;
    const outcome = compiled.commands.length === 0 ? undefined : await transact(compiled.commands);
    if (outcome === undefined || outcome.kind === 'committed') return compiled.accept();
    if (outcome.kind !== 'refused') return;
    const error = refusalOf(outcome);
    const [only, ...others] = portion;
    if (found === undefined && outcome.refusals.some(({ errno }) => DRIFT_ERRNOS.has(errno))) failure = error;
    else if (only !== undefined && others.length === 0) refused.set(only[0], error);
    else {
      const middle = portion.length >> 1;
      for (const half of [portion.slice(0, middle), portion.slice(middle)]) {
        const compilation = beginCompilation(books, target, found);
        for (const change of half) compilation.add(...change);
        await commitPortion(books, target, half, found, compilation.finish());
      }
    }
  }

  return {
    send,
    commit,
    async commitCompiled(compiled) {
      if (await send(compiled.commands)) compiled.accept();
    },
    fail(error) {
      failure ??= asError(error);
    },
    get failed() {
      return failure !== undefined;
    },
    report: () => ({ refused, messages, kernelMs, ...(failure === undefined ? {} : { failed: failure }) }),
  };
}

function asError(error: unknown): PointsmanError {
  if (error instanceof PointsmanError) return error;
  return new PointsmanError('E_NETLINK', error instanceof Error ? error.message : String(error), {
    cause: error,
  });
}

// Notices that someone flushed our rules. ip_tables tells nobody, so one rule or chain of each table is looked for now and
// then; what else was changed the hourly comparison finds.
import { sleep } from '../../base/backoff.ts';
import type { Family } from '../../model/address.ts';
import { LOCK_WAIT, type Programs, type Variant } from './programs.ts';
import { CANARY, jumps, type Table } from './static-rules.ts';

export interface LossOptions {
  readonly programs: Programs;
  readonly variant: Variant;
  readonly families: readonly Family[];
  readonly watchEveryMs: number;
  readonly tell: (because: string) => void;
}

/** A rule is not there. */
const MISSING = 1;

/** Looks until it is disposed of. */
export function watchForLoss(options: LossOptions): AsyncDisposable {
  const ending = new AbortController();
  const running = look(options, ending.signal);
  return {
    async [Symbol.asyncDispose]() {
      ending.abort();
      await running;
    },
  };
}

async function look(
  { programs, variant, families, watchEveryMs, tell }: LossOptions,
  signal: AbortSignal,
): Promise<void> {
  while (await sleep(watchEveryMs, signal)) {
    for (const family of families) {
      for (const [table, args] of looks(family)) {
        if (signal.aborted) return;
        const { code } = await programs.run(family, variant, 'check', [...LOCK_WAIT, '-t', table, ...args]);
        if (code !== MISSING) continue;
        tell(`${family} rules in the ${table} table were removed by another program`);
        break;
      }
    }
  }
}

/** In each table what a flush of rules, or of chains, takes away. */
function looks(family: Family): readonly (readonly [Table, readonly string[]])[] {
  const jump = (table: Table, chain: string, target: string): readonly string[] => {
    const found = jumps(family, false).find(
      (one) => one.table === table && one.chain === chain && one.rule.endsWith(`-j ${target}`),
    );
    return ['-C', chain, ...wordsOf(found?.rule ?? '')];
  };
  return [
    ['nat', jump('nat', 'PREROUTING', 'KUBE-SERVICES')],
    ['filter', jump('filter', 'FORWARD', 'KUBE-FORWARD')],
    ['mangle', ['-S', CANARY]],
  ];
}

/** Splits as a shell does, for the one kind of quotes that rules have. */
function wordsOf(rule: string): readonly string[] {
  return [...rule.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}

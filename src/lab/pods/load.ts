// A steady load: the same question again and again, to show what clients notice while the cluster changes.
import type { Answer } from './answer.ts';
import type { Client, Question } from './client.ts';
import type { FailureKind } from './client-failure.ts';

export interface LoadOptions {
  /** Asked each time over a new connection, so that each is balanced anew. */
  readonly question: Question;
  readonly ratePerSecond: number;
  /** So many questions may wait for their answers; what would exceed that is skipped, and counted. */
  readonly atOnce?: number;
}

export interface LoadFailure {
  /** Since the load began. */
  readonly atMs: number;
  readonly how: FailureKind;
  readonly detail: string;
}

export interface LoadReport {
  readonly answered: number;
  readonly failed: number;
  /** Not asked because too many answers were waited for. */
  readonly skipped: number;
  /** How often each Pod answered, most first. */
  readonly pods: ReadonlyMap<string, number>;
  readonly failures: ReadonlyMap<FailureKind, number>;
  /** The first few failures, to see when they were and why. */
  readonly examples: readonly LoadFailure[];
  /** How long answers took; undefined without any. */
  readonly meanMs: number | undefined;
  readonly slowestMs: number | undefined;
  /** How long the load lasted. */
  readonly durationMs: number;
}

/** Disposing stops it. */
export interface Load extends AsyncDisposable {
  /** What came back until now. */
  report(): LoadReport;
  /**
   * Asks no more, waits for the answers that are due, and gives the final report. Rejects with what the client threw
   * when the lab itself went wrong (see `Client`); the load ended then.
   */
  stop(): Promise<LoadReport>;
}

const AT_ONCE = 100;
const EXAMPLES = 10;
const SHORTEST_TICK_MS = 5;
const LONGEST_TICK_MS = 100;

export function startLoad(client: Pick<Client, 'ask'>, options: LoadOptions): Load {
  const { question, ratePerSecond, atOnce = AT_ONCE } = options;
  const begun = performance.now();
  const books = createBooks();
  const waiting = new Set<Promise<void>>();
  let due = 0;
  let endedAt: number | undefined;
  let fault: { readonly error: unknown } | undefined;

  const elapsed = (): number => (endedAt ?? performance.now()) - begun;
  const end = (): void => {
    clearInterval(timer);
    endedAt ??= performance.now();
  };
  const askOnce = async (): Promise<void> => {
    try {
      books.note(await client.ask(question), performance.now() - begun);
    } catch (error) {
      fault ??= { error };
      end();
    }
  };
  // Counted from the beginning, so that a late tick catches up and the rate holds.
  const tick = (): void => {
    const dueNow = Math.floor((elapsed() * ratePerSecond) / 1000) + 1;
    for (; due < dueNow; due += 1) {
      if (waiting.size >= atOnce) {
        books.skip();
        continue;
      }
      const asking = askOnce().finally(() => waiting.delete(asking));
      waiting.add(asking);
    }
  };
  const timer = setInterval(
    tick,
    Math.min(LONGEST_TICK_MS, Math.max(SHORTEST_TICK_MS, 1000 / ratePerSecond)),
  );
  tick();

  const report = (): LoadReport => books.report(elapsed());
  return {
    report,
    async stop() {
      end();
      await Promise.all(waiting);
      if (fault !== undefined) throw fault.error;
      return report();
    },
    async [Symbol.asyncDispose]() {
      end();
      await Promise.all(waiting);
    },
  };
}

interface Books {
  note(answer: Answer, atMs: number): void;
  skip(): void;
  report(durationMs: number): LoadReport;
}

function createBooks(): Books {
  const pods = new Map<string, number>();
  const failures = new Map<FailureKind, number>();
  const examples: LoadFailure[] = [];
  let answered = 0;
  let failed = 0;
  let skipped = 0;
  let sumMs = 0;
  let slowestMs = 0;
  return {
    note(answer, atMs) {
      if (answer.kind === 'answered') {
        answered += 1;
        sumMs += answer.ms;
        slowestMs = Math.max(slowestMs, answer.ms);
        pods.set(answer.pod, (pods.get(answer.pod) ?? 0) + 1);
        return;
      }
      const { how, detail } = answer;
      failed += 1;
      failures.set(how, (failures.get(how) ?? 0) + 1);
      if (examples.length < EXAMPLES) examples.push({ atMs, how, detail });
    },
    skip() {
      skipped += 1;
    },
    report: (durationMs) => ({
      answered,
      failed,
      skipped,
      pods: new Map([...pods].sort(([, one], [, other]) => other - one)),
      failures: new Map(failures),
      examples: [...examples],
      meanMs: answered === 0 ? undefined : sumMs / answered,
      slowestMs: answered === 0 ? undefined : slowestMs,
      durationMs,
    }),
  };
}

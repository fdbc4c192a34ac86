// A data path for tests: a kernel that holds entries, and refuses or fails as it is told.
import type { Backend, CommitReport } from '../backends/backend.ts';
import { PointsmanError } from '../base/errors.ts';
import { FAMILIES, type Family } from '../model/address.ts';
import type { FrontendKey } from '../model/service-port.ts';
import type { Entry, ForwardingTable, TableChange } from '../plan/forwarding-table.ts';

/** One call, as it was made. */
export type BackendCall =
  | { readonly kind: 'reconcile'; readonly keys: readonly FrontendKey[] }
  | { readonly kind: 'commit'; readonly keys: readonly FrontendKey[] };

export interface FakeBackend extends Backend {
  /** What the kernel holds. */
  readonly kernel: Map<FrontendKey, Entry>;
  readonly calls: BackendCall[];
  /** Entries that it refuses. */
  readonly refuses: Set<FrontendKey>;
  /** Calls that fail wholly: their reports, or an exception. */
  failNext(how: 'report' | 'exception'): void;
  /** Until `proceed`, calls do not end. */
  pause(): { proceed(): void };
  /** Someone else changed our objects. */
  disturb(because: string): void;
  disposed: boolean;
}

export interface FakeBackendOptions {
  readonly families?: readonly Family[];
  /** What `probe` rejects with. */
  readonly probeError?: PointsmanError;
}

export function createFakeBackend({ families = FAMILIES, probeError }: FakeBackendOptions = {}): FakeBackend {
  const kernel = new Map<FrontendKey, Entry>();
  const calls: BackendCall[] = [];
  const refuses = new Set<FrontendKey>();
  const failures: ('report' | 'exception')[] = [];
  let foreign: (because: string) => void = () => {};
  let gate: Promise<void> = Promise.resolve();
  let running = false;

  async function apply(entries: Iterable<readonly [FrontendKey, Entry | undefined]>): Promise<CommitReport> {
    if (running) throw new Error('calls of the backend overlap');
    running = true;
    try {
      await gate;
      const failure = failures.shift();
      if (failure === 'exception') throw new Error('a bug in the backend');
      if (failure === 'report') {
        const failed = new PointsmanError('E_NETLINK_LOST', 'the kernel did not answer');
        return { refused: new Map(), failed, messages: 1, kernelMs: 0 };
      }
      const refused = new Map<FrontendKey, PointsmanError>();
      let messages = 0;
      for (const [key, entry] of entries) {
        if (kernel.get(key) === entry) continue;
        if (entry !== undefined && refuses.has(key)) {
          refused.set(key, new PointsmanError('E_NETLINK', `the kernel does not like ${key}`));
          continue;
        }
        messages += 1;
        if (entry === undefined) kernel.delete(key);
        else kernel.set(key, entry);
      }
      return { refused, messages, kernelMs: 0.5 };
    } finally {
      running = false;
    }
  }

  return {
    mode: 'nftables',
    families,
    kernel,
    calls,
    refuses,
    disposed: false,
    async probe() {
      if (probeError !== undefined) throw probeError;
    },
    async reconcile(table: ForwardingTable) {
      calls.push({ kind: 'reconcile', keys: [...table.entries.keys()] });
      const gone = [...kernel.keys()].filter((key) => !table.entries.has(key));
      return apply([...gone.map((key) => [key, undefined] as const), ...table.entries]);
    },
    async commit(change: TableChange) {
      calls.push({ kind: 'commit', keys: [...change.entries.keys()] });
      return apply(change.entries);
    },
    async cleanup() {
      kernel.clear();
      return [];
    },
    onForeignChange(callback) {
      foreign = callback;
    },
    failNext(how) {
      failures.push(how);
    },
    pause() {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return { proceed: () => resolve() };
    },
    disturb(because) {
      foreign(because);
    },
    async [Symbol.asyncDispose]() {
      this.disposed = true;
    },
  };
}

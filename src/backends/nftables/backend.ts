// nftables mode: commits the ForwardingTable to two tables, `ip pointsman` and `ip6 pointsman`, over netlink.
import { PointsmanError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { createSlicer } from '../../base/slicer.ts';
import { type Family, familyOf } from '../../model/address.ts';
import type { FrontendKey } from '../../model/service-port.ts';
import type { Entry } from '../../plan/forwarding-table.ts';
import type { Backend, CommitReport } from '../backend.ts';
import { createFamilyTable, type FamilyTable } from './family-table.ts';
import type { NftPort } from './nft-port.ts';

export interface NftablesBackendOptions {
  readonly nft: NftPort;
  readonly families: readonly Family[];
  readonly log: Logger;
}

/** From so many entries on nobody listens for changes: our own writes are no news, and they are twice as quick then. */
const BULK_ENTRIES = 500;

/** The nftables data path for the given families. It starts knowing nothing: call `reconcile` first. */
export function createNftablesBackend({ nft, families, log }: NftablesBackendOptions): Backend {
  const tables = new Map<Family, FamilyTable>(
    families.map((family) => [family, createFamilyTable({ nft, family, log })]),
  );
  let known = false;
  let foreign: (because: string) => void = () => {};
  const stop = nft.onForeignChange((because) => {
    if (known) foreign(because);
  });

  const gather = async (
    work: (table: FamilyTable, family: Family) => Promise<CommitReport>,
  ): Promise<CommitReport> => {
    const refused = new Map<FrontendKey, PointsmanError>();
    let messages = 0;
    let kernelMs = 0;
    let failed: PointsmanError | undefined;
    for (const [family, table] of tables) {
      const report = await work(table, family);
      for (const [key, error] of report.refused) refused.set(key, error);
      messages += report.messages;
      kernelMs += report.kernelMs;
      failed ??= report.failed;
    }
    if (failed !== undefined) known = false;
    return { refused, messages, kernelMs, ...(failed ? { failed } : {}) };
  };

  return {
    mode: 'nftables',
    families,
    async probe() {
      for (const table of tables.values()) await table.probe();
    },
    async reconcile(table) {
      await nft.listen(false);
      const entries = await byFamily(table.entries);
      known = true;
      const report = await gather((own, family) => own.reconcile(table.settings[family], entries[family]));
      await nft.listen(true);
      return report;
    },
    async commit(change) {
      if (!known) {
        const failed = new PointsmanError(
          'E_NETLINK_LOST',
          'the state of the kernel is unknown until it is read back',
        );
        return { refused: new Map(), messages: 0, kernelMs: 0, failed };
      }
      const entries = await byFamily(change.entries);
      const bulk = change.entries.size > BULK_ENTRIES;
      if (bulk) await nft.listen(false);
      const report = await gather((own, family) => own.commit(change.settings?.[family], entries[family]));
      if (bulk) await nft.listen(true);
      return report;
    },
    async cleanup() {
      const removed: string[] = [];
      for (const table of tables.values()) removed.push(...(await table.cleanup()));
      known = false;
      return removed;
    },
    onForeignChange(callback) {
      foreign = callback;
    },
    async [Symbol.asyncDispose]() {
      stop();
      await nft[Symbol.asyncDispose]();
    },
  };
}

export type FamilyEntries<T> = ReadonlyMap<FrontendKey, T>;

/** Parts a change or table by family, in slices. */
async function byFamily<T extends Entry | undefined>(
  entries: ReadonlyMap<FrontendKey, T>,
): Promise<Readonly<Record<Family, FamilyEntries<T>>>> {
  const parts = { IPv4: new Map<FrontendKey, T>(), IPv6: new Map<FrontendKey, T>() };
  const slicer = createSlicer();
  for (const [key, entry] of entries) {
    parts[familyOfKey(key)].set(key, entry);
    const pause = slicer.turn();
    if (pause !== undefined) await pause;
  }
  return parts;
}

/** The family is in the key, since of a frontend that is gone nothing else is left. */
function familyOfKey(key: FrontendKey): Family {
  if (key.startsWith('nodeport/')) return key.startsWith('nodeport/IPv6/') ? 'IPv6' : 'IPv4';
  return familyOf(key);
}

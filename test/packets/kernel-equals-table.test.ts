// Whatever happened, and in whatever order: the book equals the one planned from scratch, and the kernel equals the book.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Backend } from '../../src/backends/backend.ts';
import { createTestNamespace } from '../kernel/test-namespace.ts';
import { MODES } from '../scenarios/modes.ts';
import { type ClusterEvent, emptyState, enter, histories, lastOnes } from './random-cluster.ts';

/** FC_SEED and FC_RUNS vary what is tried. */
const seed = Number(process.env.FC_SEED ?? 20_261_201);

const sorted = (entries: Iterable<readonly [string, unknown]>): unknown =>
  Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));

/** The book of a fresh start that is told only how things are in the end. */
async function fromScratch(history: readonly ClusterEvent[]): Promise<ReturnType<typeof emptyState>> {
  const state = emptyState();
  for (const event of lastOnes(history).toReversed()) enter(state, event);
  await state.take();
  return state;
}

test('after any history the table is the one planned from scratch, and the changes add up to it', async () => {
  await fc.assert(
    fc.asyncProperty(histories, async (rounds) => {
      const state = emptyState();
      const added = new Map<string, unknown>();
      for (const round of rounds) {
        for (const event of round) enter(state, event);
        for (const [key, entry] of (await state.take()).change.entries) {
          if (entry === undefined) added.delete(key);
          else added.set(key, entry);
        }
      }
      const { table } = await fromScratch(rounds.flat());
      assert.deepEqual(sorted(state.table.entries), sorted(table.entries));
      assert.deepEqual(state.table.settings, table.settings);
      assert.deepEqual(sorted(added), sorted(table.entries));
    }),
    { numRuns: Number(process.env.FC_RUNS ?? 150), seed },
  );
});

/** Restores take longer than netlink: fewer histories are tried. */
const RUNS = { nftables: 15, iptables: 8, 'iptables-legacy': 8 } as const;
for (const mode of ['nftables', 'iptables', 'iptables-legacy'] as const) {
  test(`${mode}: after any history the kernel holds what the table planned from scratch says, and nothing else`, async () => {
    const open = MODES[mode];
    let entries = 0;
    await fc.assert(
      fc.asyncProperty(histories, fc.infiniteStream(fc.integer({ min: 0, max: 9 })), async (rounds, luck) => {
        using namespace = createTestNamespace();
        const state = emptyState();
        await state.take();
        {
          await using backend = await open(namespace.path);
          await committed(backend.reconcile(state.table));
          for (const round of rounds) {
            for (const event of round) enter(state, event);
            const { change } = await state.take();
            // Now and then a commit is lost on its way, as by a kernel that does not answer.
            if (luck.next().value === 0) await committed(backend.reconcile(state.table));
            else await committed(backend.commit(change));
          }
        }
        const { table } = await fromScratch(rounds.flat());
        entries += table.entries.size;
        await using reader = await open(namespace.path);
        assert.equal(await committed(reader.reconcile(table)), 0);
        // That silence means equality: without one of its entries the table is another.
        const [lost] = table.entries.keys();
        if (lost === undefined) return;
        const without = new Map(table.entries);
        without.delete(lost);
        await using doubter = await open(namespace.path);
        assert.ok((await committed(doubter.reconcile({ ...table, entries: without }))) > 0);
      }),
      { numRuns: Number(process.env.FC_RUNS ?? RUNS[mode]), seed },
    );
    assert.ok(entries > 0);
  });
}

/** How many messages it took; every entry must be in. */
async function committed(commit: ReturnType<Backend['commit']>): Promise<number> {
  const { failed, refused, messages } = await commit;
  assert.equal(failed, undefined);
  assert.deepEqual([...refused], []);
  return messages;
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { silentLogger } from '../base/log.ts';
import type { Service } from '../model/service.ts';
import type { TableSettings } from '../plan/forwarding-table.ts';
import { type ClusterState, createClusterState } from './cluster-state.ts';
import { createFakeBackend, type FakeBackend } from './fake-backend.ts';
import { createFakeTime } from './fake-time.ts';
import { createPendingChanges, type PendingChanges } from './pending-changes.ts';
import { createQuarantine, type Quarantine } from './quarantine.ts';
import { createSyncLoop, type SyncReport } from './sync-loop.ts';

const family: TableSettings = {
  masqueradeAll: false,
  localDetector: { kind: 'none' },
  serviceCidrs: [],
  nodePortAddresses: 'all',
};
const settings = { IPv4: family, IPv6: family };
const MIN_SYNC_MS = 1_000;
const AUDIT_MS = 3_600_000;

interface Stage extends AsyncDisposable {
  readonly backend: FakeBackend;
  readonly state: ClusterState;
  readonly pending: PendingChanges;
  readonly quarantine: Quarantine;
  readonly done: SyncReport[];
  readonly failures: { count: number };
  /** A Service with this cluster IP appears. */
  add(name: string, clusterIP: string): void;
  remove(name: string): void;
  open(): void;
  advance(ms: number): Promise<void>;
  now(): number;
  stop(): Promise<void>;
}

function service(name: string, clusterIP: string): Service {
  return {
    namespace: 'shop',
    name,
    uid: name,
    createdAt: 1,
    type: 'ClusterIP',
    clusterIPs: [clusterIP],
    ports: [{ name: 'http', protocol: 'TCP', port: 80, nodePort: 0 }],
    externalIPs: [],
    loadBalancerIPs: [],
    sourceRanges: [],
    externalTrafficPolicy: 'Cluster',
    internalTrafficPolicy: 'Cluster',
    affinitySeconds: 0,
    healthCheckNodePort: 0,
  };
}

function setStage({ minSyncMs = MIN_SYNC_MS } = {}): Stage {
  const time = createFakeTime(1_000_000);
  const backend = createFakeBackend();
  const state = createClusterState({ nodeName: 'n1', families: ['IPv4', 'IPv6'], settings });
  const pending = createPendingChanges(time.now);
  const random = (): number => 1;
  const quarantine = createQuarantine({ log: silentLogger, now: time.now, clock: time.now, random });
  const done: SyncReport[] = [];
  const failures = { count: 0 };
  const loop = createSyncLoop({
    backend,
    state,
    pending,
    quarantine,
    observer: {
      queued() {},
      done: (report) => done.push(report),
      failed: () => {
        failures.count += 1;
      },
    },
    timing: { minSyncMs, longestRetryMs: 30_000, auditMs: AUDIT_MS },
    log: silentLogger,
    clock: time.now,
    sleep: time.sleep,
    settle: async () => {},
    random,
  });
  const ending = new AbortController();
  const running = loop.run(ending.signal);
  const set = (name: string, value: Service | undefined): void => {
    state.setService(`shop/${name}`, value);
    pending.service(`shop/${name}`);
    loop.changed();
  };
  const stop = async (): Promise<void> => {
    ending.abort();
    await running;
  };
  return {
    backend,
    state,
    pending,
    quarantine,
    done,
    failures,
    add: (name, clusterIP) => set(name, service(name, clusterIP)),
    remove: (name) => set(name, undefined),
    open: () => loop.open(),
    advance: time.advance,
    now: time.now,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** A stage whose first sync is over, with one Service. */
async function opened(options = {}): Promise<Stage> {
  const stage = setStage(options);
  stage.add('a', '10.0.0.1');
  stage.open();
  await stage.advance(MIN_SYNC_MS);
  assert.deepEqual(stage.backend.calls, [{ kind: 'reconcile', keys: ['10.0.0.1/TCP/80'] }]);
  stage.backend.calls.length = 0;
  stage.done.length = 0;
  return stage;
}

test('nothing is written before both listings are there, then everything at once', async () => {
  await using stage = setStage();
  stage.add('a', '10.0.0.1');
  stage.add('b', '10.0.0.2');
  await stage.advance(60_000);
  assert.deepEqual(stage.backend.calls, []);
  stage.open();
  await stage.advance(0);
  assert.deepEqual(stage.backend.calls, [
    { kind: 'reconcile', keys: ['10.0.0.1/TCP/80', '10.0.0.2/TCP/80'] },
  ]);
  assert.equal(stage.done[0]?.reconciled, 'start');
  assert.deepEqual([...(stage.done[0]?.committed.services ?? [])], ['shop/a', 'shop/b']);
});

test('a change right after the first sync does not wait', async () => {
  await using stage = setStage();
  stage.open();
  await stage.advance(0);
  stage.add('a', '10.0.0.1');
  await stage.advance(0);
  assert.equal(stage.backend.kernel.size, 1);
});

test('the first change goes at once, later ones together when the shortest period is over', async () => {
  await using stage = await opened();
  stage.add('b', '10.0.0.2');
  await stage.advance(0);
  assert.deepEqual(stage.backend.calls, [{ kind: 'commit', keys: ['10.0.0.2/TCP/80'] }]);
  stage.add('c', '10.0.0.3');
  await stage.advance(400);
  stage.add('d', '10.0.0.4');
  await stage.advance(599);
  assert.equal(stage.backend.calls.length, 1);
  await stage.advance(1);
  assert.deepEqual(stage.backend.calls[1], { kind: 'commit', keys: ['10.0.0.3/TCP/80', '10.0.0.4/TCP/80'] });
});

test('a change that comes to nothing is not sent to the kernel', async () => {
  await using stage = await opened();
  stage.add('a', '10.0.0.1');
  await stage.advance(0);
  assert.deepEqual(stage.backend.calls, []);
  assert.deepEqual([stage.done.length, stage.done[0]?.messages], [1, 0]);
  assert.deepEqual(stage.pending.counts, { services: 0, slices: 0 });
});

test('an event that the cluster state does not even note ends its wait all the same', async () => {
  await using stage = await opened();
  stage.remove('unknown');
  await stage.advance(0);
  assert.deepEqual([stage.done.length, stage.pending.counts.services], [1, 0]);
});

test('a report tells the families that were touched', async () => {
  await using stage = await opened();
  stage.add('b', 'fd00::1');
  await stage.advance(0);
  assert.deepEqual(stage.done[0]?.families, ['IPv6']);
  assert.equal(stage.done[0]?.reconciled, undefined);
});

test('an entry that the kernel refuses is tried again alone, later and later, while the rest goes on', async () => {
  await using stage = await opened();
  stage.backend.refuses.add('10.0.0.66/TCP/80');
  stage.add('bad', '10.0.0.66');
  stage.add('b', '10.0.0.2');
  await stage.advance(0);
  assert.deepEqual([...stage.backend.kernel.keys()], ['10.0.0.1/TCP/80', '10.0.0.2/TCP/80']);
  assert.equal(stage.failures.count, 0);
  const [held] = stage.quarantine.list();
  assert.deepEqual(
    [held?.kind, held?.key, held?.reason],
    ['entry', '10.0.0.66/TCP/80', 'the kernel does not like 10.0.0.66/TCP/80'],
  );
  const retry = { kind: 'commit', keys: ['10.0.0.66/TCP/80'] };
  await stage.advance(999);
  assert.equal(stage.backend.calls.length, 1);
  await stage.advance(1);
  assert.deepEqual(stage.backend.calls.slice(1), [retry]);
  await stage.advance(1_999);
  assert.equal(stage.backend.calls.length, 2);
  stage.backend.refuses.clear();
  await stage.advance(1);
  assert.deepEqual(stage.backend.calls.slice(2), [retry]);
  assert.equal(stage.backend.kernel.has('10.0.0.66/TCP/80'), true);
  assert.deepEqual(stage.quarantine.list(), []);
});

test('a refused entry whose Service goes is let go', async () => {
  await using stage = await opened();
  stage.backend.refuses.add('10.0.0.66/TCP/80');
  stage.add('bad', '10.0.0.66');
  await stage.advance(0);
  stage.remove('bad');
  await stage.advance(MIN_SYNC_MS);
  assert.deepEqual(stage.quarantine.list(), []);
  stage.backend.calls.length = 0;
  await stage.advance(60_000);
  assert.deepEqual(stage.backend.calls, []);
});

for (const how of ['report', 'exception'] as const) {
  test(`after a failure (${how}) everything is compared, again and again until it succeeds`, async () => {
    await using stage = await opened();
    stage.backend.failNext(how);
    stage.backend.failNext(how);
    stage.backend.failNext(how);
    stage.add('b', '10.0.0.2');
    await stage.advance(0);
    assert.deepEqual([stage.failures.count, stage.done.length], [1, 0]);
    assert.deepEqual(stage.pending.counts, { services: 1, slices: 0 });
    // The backoff begins below the shortest period, which holds too.
    await stage.advance(MIN_SYNC_MS);
    assert.equal(stage.failures.count, 2);
    stage.add('c', '10.0.0.3');
    await stage.advance(MIN_SYNC_MS);
    assert.equal(stage.failures.count, 3);
    await stage.advance(1_999);
    assert.equal(stage.done.length, 0);
    await stage.advance(1);
    assert.deepEqual(
      stage.backend.calls.map(({ kind }) => kind),
      ['commit', 'reconcile', 'reconcile', 'reconcile'],
    );
    assert.deepEqual([...stage.backend.kernel.keys()].length, 3);
    assert.equal(stage.done[0]?.reconciled, 'failure');
    assert.deepEqual([...(stage.done[0]?.committed.services ?? [])].sort(), ['shop/b', 'shop/c']);
  });
}

test('failures do not keep the loop waiting longer than told, and success forgets them', async () => {
  await using stage = await opened();
  for (let index = 0; index < 12; index++) stage.backend.failNext('report');
  stage.add('b', '10.0.0.2');
  await stage.advance(600_000);
  assert.equal(stage.failures.count, 12);
  assert.equal(stage.done.length, 1);
  stage.backend.failNext('report');
  stage.add('c', '10.0.0.3');
  await stage.advance(0);
  await stage.advance(MIN_SYNC_MS);
  assert.equal(stage.backend.kernel.size, 3);
});

test('a change by someone else is put right', async () => {
  await using stage = await opened();
  stage.backend.kernel.clear();
  stage.backend.disturb('someone deleted the table');
  await stage.advance(0);
  assert.deepEqual(stage.backend.calls, [{ kind: 'reconcile', keys: ['10.0.0.1/TCP/80'] }]);
  assert.equal(stage.backend.kernel.size, 1);
  assert.equal(stage.done[0]?.reconciled, 'foreign-change');
});

test('changes by someone else are put right at most once in the shortest period', async () => {
  await using stage = await opened();
  for (let index = 0; index < 20; index++) {
    stage.backend.disturb('again');
    await stage.advance(100);
  }
  assert.ok(stage.backend.calls.length <= 3, String(stage.backend.calls.length));
});

test('a change by someone else during a reconciliation is not missed', async () => {
  await using stage = await opened();
  const held = stage.backend.pause();
  stage.backend.disturb('first');
  await stage.advance(0);
  stage.backend.disturb('second');
  held.proceed();
  await stage.advance(MIN_SYNC_MS);
  assert.equal(stage.backend.calls.length, 2);
});

test('without another reason everything is compared once in an audit period', async () => {
  await using stage = await opened();
  await stage.advance(AUDIT_MS);
  assert.deepEqual(
    stage.backend.calls.map(({ kind }) => kind),
    ['reconcile'],
  );
  assert.equal(stage.done[0]?.reconciled, 'audit');
});

test('an end during a commit lets it finish and begins no other', async () => {
  const stage = await opened();
  const held = stage.backend.pause();
  stage.add('b', '10.0.0.2');
  await stage.advance(0);
  stage.add('c', '10.0.0.3');
  let ended = false;
  const stopped = stage.stop().then(() => {
    ended = true;
  });
  await stage.advance(MIN_SYNC_MS);
  assert.equal(ended, false);
  held.proceed();
  await stopped;
  assert.deepEqual([...stage.backend.kernel.keys()], ['10.0.0.1/TCP/80', '10.0.0.2/TCP/80']);
});

test('calls of the backend never overlap, and whatever happens the kernel ends up as wanted', async () => {
  const happening = fc.oneof(
    fc.record({
      kind: fc.constant('add' as const),
      name: fc.constantFrom('a', 'b', 'c'),
      ip: fc.integer({ min: 1, max: 4 }),
    }),
    fc.record({ kind: fc.constant('remove' as const), name: fc.constantFrom('a', 'b', 'c') }),
    fc.record({
      kind: fc.constant('fail' as const),
      how: fc.constantFrom('report' as const, 'exception' as const),
    }),
    fc.record({ kind: fc.constant('refuse' as const), ip: fc.integer({ min: 1, max: 4 }) }),
    fc.record({ kind: fc.constant('disturb' as const) }),
    fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 0, max: 3_000 }) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(happening, { maxLength: 25 }), async (history) => {
      await using stage = setStage();
      stage.open();
      for (const event of history) {
        if (event.kind === 'add') stage.add(event.name, `10.0.0.${event.ip}`);
        else if (event.kind === 'remove') stage.remove(event.name);
        else if (event.kind === 'fail') stage.backend.failNext(event.how);
        else if (event.kind === 'refuse') stage.backend.refuses.add(`10.0.0.${event.ip}/TCP/80`);
        else if (event.kind === 'pass') await stage.advance(event.ms);
        else {
          stage.backend.kernel.clear();
          stage.backend.disturb('cleared');
        }
      }
      stage.backend.refuses.clear();
      await stage.advance(1_000_000);
      assert.deepEqual(new Map(stage.backend.kernel), new Map(stage.state.table.entries));
      assert.deepEqual(stage.pending.counts, { services: 0, slices: 0 });
      assert.equal(stage.quarantine.counts.entry, 0);
      assert.equal(stage.state.dirty, false);
    }),
    { numRuns: 60 },
  );
});

test('a sync tells how long the oldest change waited for it, also when it failed before', async () => {
  const stage = setStage();
  stage.open();
  await stage.advance(0);
  stage.add('a', '10.96.0.1');
  await stage.advance(0);
  stage.add('b', '10.96.0.2');
  await stage.advance(400);
  stage.add('c', '10.96.0.3');
  await stage.advance(MIN_SYNC_MS - 400);
  assert.equal(stage.done.at(-1)?.stages.wait, MIN_SYNC_MS / 1000);
  assert.equal(stage.done.at(-1)?.committed.services.size, 2);
  await stage.stop();
});

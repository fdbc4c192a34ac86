import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../base/log.ts';
import { parseCidr } from '../model/address.ts';
import { decodeEndpointSlice } from '../model/endpoint-slice.ts';
import type { Node } from '../model/node.ts';
import { decodeService } from '../model/service.ts';
import { createHealth, type Health } from '../observe/health.ts';
import { type ClusterState, createClusterState } from './cluster-state.ts';
import { createIntake, type Intake, type IntakeOptions } from './intake.ts';
import { createPendingChanges, type PendingChanges } from './pending-changes.ts';
import { createQuarantine, type Quarantine } from './quarantine.ts';
import { tableSettings } from './table-settings.ts';

const START = Date.parse('2026-12-01T02:00:00Z');
const config: IntakeOptions['config'] = {
  localDetection: { kind: 'cluster-cidr', cidrs: [] },
  masqueradeAll: false,
  nodePorts: { kind: 'primary' },
  bindAddress: undefined,
  externalIps: true,
};

interface Stage {
  readonly intake: Intake;
  readonly state: ClusterState;
  readonly pending: PendingChanges;
  readonly quarantine: Quarantine;
  readonly health: Health;
  readonly counts: { wakes: number; services: number; slices: number };
}

function setStage(): Stage {
  const state = createClusterState({
    nodeName: 'n1',
    families: ['IPv4', 'IPv6'],
    settings: tableSettings(config, { node: undefined, serviceCidrs: [], localAddresses: [] }),
  });
  const pending = createPendingChanges(() => 0);
  const now = (): number => START;
  const quarantine = createQuarantine({ log: silentLogger, now, clock: now });
  const health = createHealth({ families: ['IPv4'], syncPeriodMs: 30_000, now });
  const counts = { wakes: 0, services: 0, slices: 0 };
  const intake = createIntake({
    config,
    state,
    pending,
    quarantine,
    health,
    metrics: {
      serviceChanged: () => {
        counts.services += 1;
      },
      sliceChanged: () => {
        counts.slices += 1;
      },
      pending() {},
    },
    changed: () => {
      counts.wakes += 1;
    },
    startedAt: START,
    log: silentLogger,
  });
  return { intake, state, pending, quarantine, health, counts };
}

const service = (spec: object) => ({
  kind: 'set' as const,
  key: 'shop/web',
  value: decodeService({ metadata: { namespace: 'shop', name: 'web' }, spec }),
});
const slice = (trigger: string | undefined, more: object = {}) => ({
  kind: 'set' as const,
  key: 'shop/web-1',
  value: decodeEndpointSlice({
    metadata: {
      namespace: 'shop',
      name: 'web-1',
      labels: { 'kubernetes.io/service-name': 'web' },
      ...(trigger === undefined
        ? {}
        : { annotations: { 'endpoints.kubernetes.io/last-change-trigger-time': trigger } }),
    },
    addressType: 'IPv4',
    ports: [{ name: '', port: 8080 }],
    endpoints: [{ addresses: ['10.0.0.1'] }],
    ...more,
  }),
});
const SOUND = { clusterIP: '10.96.0.1', ports: [{ port: 80 }] };

test('a change reaches the state, wakes the loop and is counted', async () => {
  const { intake, state, pending, counts } = setStage();
  intake.service(service(SOUND));
  intake.slice(slice(undefined));
  assert.deepEqual(pending.counts, { services: 1, slices: 1 });
  assert.deepEqual(counts, { wakes: 2, services: 1, slices: 1 });
  assert.equal((await state.take()).change.entries.get('10.96.0.1/TCP/80')?.route.kind, 'balance');
});

test('of an object with unusable parts the rest is used, and the parts are named until they are well', async () => {
  const { intake, state, quarantine } = setStage();
  intake.service(service({ ...SOUND, ports: [{ port: 80 }, { name: 'bad', port: 'x' }] }));
  const [held] = quarantine.list();
  assert.equal(held?.key, 'services shop/web');
  assert.match(held?.reason ?? '', /^spec\.ports\[1\]\.port is "x"/);
  assert.equal((await state.take()).change.entries.size, 1);
  intake.service(service(SOUND));
  assert.deepEqual(quarantine.list(), []);
});

test('an object that became unusable is withdrawn, and let go when it is deleted', async () => {
  const { intake, state, quarantine } = setStage();
  intake.slice(slice(undefined));
  intake.service(service(SOUND));
  await state.take();
  intake.slice(slice(undefined, { addressType: 'FQDN' }));
  assert.equal(quarantine.counts.object, 1);
  assert.equal((await state.take()).change.entries.get('10.96.0.1/TCP/80')?.route.kind, 'reject');
  intake.slice({ kind: 'delete', key: 'shop/web-1' });
  assert.equal(quarantine.counts.object, 0);
});

test('only triggers since the start count for the latency, and none of a deletion', () => {
  const { intake, pending } = setStage();
  intake.slice(slice('2026-12-01T01:59:59.999Z'));
  intake.slice(slice('2026-12-01T02:00:00.250Z'));
  intake.slice({ kind: 'delete', key: 'shop/web-1' });
  assert.deepEqual(pending.take().triggers, [{ family: 'IPv4', at: START + 250 }]);
});

const NODE: Node = {
  name: 'n1',
  uid: '',
  addresses: ['192.0.2.1', '2001:db8::1'],
  podCidrs: [],
  zone: 'za',
  deleting: false,
  taints: [],
};

test('a Node wakes the loop when it changes something for traffic, not with each heartbeat', () => {
  const { intake, counts, state } = setStage();
  intake.node({ kind: 'set', key: 'n1', value: NODE });
  assert.equal(counts.wakes, 1);
  assert.deepEqual(state.table.settings.IPv6.nodePortAddresses, ['2001:db8::1']);
});

test("a Node's heartbeat wakes nothing", async () => {
  const { intake, counts, state } = setStage();
  intake.node({ kind: 'set', key: 'n1', value: NODE });
  await state.take();
  intake.node({ kind: 'set', key: 'n1', value: { ...NODE, taints: ['x'] } });
  assert.equal(counts.wakes, 1);
});

test('a deleted Node is told by health, while its zone and addresses go on to hold', () => {
  const { intake, health, state } = setStage();
  intake.node({ kind: 'set', key: 'n1', value: NODE });
  assert.equal(health.answer('/healthz').status, 200);
  intake.node({ kind: 'delete', key: 'n1' });
  assert.equal(health.answer('/healthz').status, 503);
  assert.deepEqual(state.table.settings.IPv4.nodePortAddresses, ['192.0.2.1']);
});

test('a family has its own cluster CIDR as detector, or none', () => {
  const cidr = parseCidr('10.244.0.0/16');
  assert.ok(cidr);
  const settings = tableSettings(
    { ...config, localDetection: { kind: 'cluster-cidr', cidrs: [cidr] }, masqueradeAll: true },
    { node: { addresses: ['127.0.0.1'], podCidrs: [] }, serviceCidrs: [], localAddresses: [] },
  );
  assert.deepEqual(settings.IPv4, {
    masqueradeAll: true,
    localDetector: { kind: 'cidr', cidr },
    serviceCidrs: [],
    nodePortAddresses: 'all',
  });
  assert.deepEqual(settings.IPv6.localDetector, { kind: 'none' });
});

test('a ServiceCIDR reaches the settings of its family at once, and leaves them', () => {
  const { intake, counts, state } = setStage();
  const value = ['10.96.0.0/16', 'fd00:10:96::/112'].flatMap((text) => parseCidr(text) ?? []);
  const [four, six] = value;
  intake.serviceCidr({ kind: 'set', key: 'kubernetes', value });
  assert.equal(counts.wakes, 1);
  assert.deepEqual(state.table.settings.IPv4.serviceCidrs, [four]);
  assert.deepEqual(state.table.settings.IPv6.serviceCidrs, [six]);
  intake.node({ kind: 'set', key: 'n1', value: NODE });
  assert.deepEqual(state.table.settings.IPv4.serviceCidrs, [four]);
  intake.serviceCidr({ kind: 'delete', key: 'kubernetes' });
  assert.deepEqual(state.table.settings.IPv4.serviceCidrs, []);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { EndpointSlice } from '../model/endpoint-slice.ts';
import type { Service } from '../model/service.ts';
import type { TableSettings } from '../plan/forwarding-table.ts';
import { type ClusterState, createClusterState } from './cluster-state.ts';

const family: TableSettings = {
  masqueradeAll: false,
  localDetector: { kind: 'none' },
  serviceCidrs: [],
  nodePortAddresses: 'all',
};
const settings = { IPv4: family, IPv6: family };
const create = (): ClusterState =>
  createClusterState({ nodeName: 'n1', families: ['IPv4', 'IPv6'], settings });

function service(name: string, more: Partial<Service> = {}): Service {
  return {
    namespace: 'shop',
    name,
    uid: name,
    createdAt: 1,
    type: 'ClusterIP',
    clusterIPs: ['10.96.0.1'],
    ports: [{ name: 'http', protocol: 'TCP', port: 80, nodePort: 0 }],
    externalIPs: [],
    loadBalancerIPs: [],
    sourceRanges: [],
    externalTrafficPolicy: 'Cluster',
    internalTrafficPolicy: 'Cluster',
    affinitySeconds: 0,
    healthCheckNodePort: 0,
    ...more,
  };
}
function slice(of: string, addresses: readonly string[], more: Partial<EndpointSlice> = {}): EndpointSlice {
  return {
    namespace: 'shop',
    name: `${of}-s`,
    service: `shop/${of}`,
    family: 'IPv4',
    managedBy: '',
    ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
    endpoints: addresses.map((address) => ({
      address,
      state: 'ready',
      leaving: false,
      serving: true,
      node: 'n1',
      zone: '',
      zoneHints: [],
      nodeHints: [],
    })),
    triggeredAt: 0,
    ...more,
  };
}
const keys = async (state: ClusterState): Promise<readonly string[]> => [
  ...(await state.take()).change.entries.keys(),
];

test('only what an event can affect is part of the change', async () => {
  const state = create();
  state.setService('shop/a', service('a', { clusterIPs: ['10.96.0.1'] }));
  state.setService('shop/b', service('b', { clusterIPs: ['10.96.0.2'] }));
  assert.deepEqual(await keys(state), ['10.96.0.1/TCP/80', '10.96.0.2/TCP/80']);
  state.setSlice('shop/b-s', slice('b', ['10.0.0.1'], { triggeredAt: 5 }));
  const taken = await state.take();
  assert.deepEqual([...taken.change.entries.keys()], ['10.96.0.2/TCP/80']);
  assert.deepEqual([taken.triggers, taken.services, taken.slices], [[5], 0, 1]);
  assert.equal(state.dirty, false);
});

test('an event that changes nothing for packets makes no change', async () => {
  const state = create();
  state.setService('shop/a', service('a'));
  state.setSlice('shop/a-s', slice('a', ['10.0.0.1']));
  await state.take();
  state.setService('shop/a', service('a', { uid: 'other' }));
  state.setSlice('shop/a-s', slice('a', ['10.0.0.1'], { managedBy: 'other' }));
  state.setSlice('shop/unknown', undefined);
  assert.deepEqual(await keys(state), []);
});

test('a slice relabelled to another Service leaves the old one', async () => {
  const state = create();
  state.setService('shop/a', service('a', { clusterIPs: ['10.96.0.1'] }));
  state.setService('shop/b', service('b', { clusterIPs: ['10.96.0.2'] }));
  state.setSlice('shop/x', slice('a', ['10.0.0.1']));
  await state.take();
  state.setSlice('shop/x', slice('b', ['10.0.0.1']));
  const { change } = await state.take();
  assert.equal(change.entries.get('10.96.0.1/TCP/80')?.route.kind, 'reject');
  assert.equal(change.entries.get('10.96.0.2/TCP/80')?.route.kind, 'balance');
});

test('of two Services with one frontend the older has it, and the other takes over when it goes', async () => {
  const state = create();
  const claim = { externalIPs: ['198.51.100.9'] };
  state.setService('shop/young', service('young', { clusterIPs: ['10.96.0.2'], createdAt: 2, ...claim }));
  state.setService('shop/old', service('old', { clusterIPs: ['10.96.0.1'], createdAt: 1, ...claim }));
  await state.take();
  assert.equal(state.table.entries.get('198.51.100.9/TCP/80')?.servicePort.name, 'old');
  assert.deepEqual(state.clashes.get('198.51.100.9/TCP/80'), { holder: 'shop/old', others: ['shop/young'] });
  state.setService('shop/old', undefined);
  const { change } = await state.take();
  assert.equal(change.entries.get('198.51.100.9/TCP/80')?.servicePort.name, 'young');
  assert.equal(change.entries.get('10.96.0.1/TCP/80'), undefined);
  assert.equal(state.clashes.size, 0);
});

test('a change given back is part of the next one', async () => {
  const state = create();
  state.setService('shop/a', service('a'));
  const { change } = await state.take();
  state.putBack(change);
  assert.ok(state.dirty);
  assert.deepEqual(await keys(state), ['10.96.0.1/TCP/80']);
});

test('the zone of the node decides anew about hinted endpoints', async () => {
  const state = create();
  state.setService('shop/a', service('a'));
  const [near] = slice('a', ['10.0.0.1']).endpoints;
  const [far] = slice('a', ['10.0.0.2']).endpoints;
  assert.ok(near && far);
  state.setSlice(
    'shop/a-s',
    slice('a', [], {
      endpoints: [
        { ...near, zoneHints: ['za'] },
        { ...far, zoneHints: ['zb'] },
      ],
    }),
  );
  await state.take();
  state.setNode({
    name: 'n1',
    uid: '',
    addresses: [],
    podCidrs: [],
    zone: 'za',
    deleting: false,
    taints: [],
  });
  const route = (await state.take()).change.entries.get('10.96.0.1/TCP/80')?.route;
  assert.deepEqual(route?.kind === 'balance' && route.endpoints.map(({ address }) => address), ['10.0.0.1']);
});

test('settings that differ are part of the change, equal ones are not', async () => {
  const state = create();
  state.setSettings({ IPv4: { ...family }, IPv6: { ...family } });
  assert.equal(state.dirty, false);
  state.setSettings({ IPv4: { ...family, masqueradeAll: true }, IPv6: family });
  assert.equal((await state.take()).change.settings?.IPv4.masqueradeAll, true);
});

type Event = {
  readonly kind: 'service' | 'slice';
  readonly name: string;
  readonly remove: boolean;
  readonly seed: number;
  readonly take: boolean;
};
const events = fc.array(
  fc.record<Event>({
    kind: fc.constantFrom('service', 'slice'),
    name: fc.constantFrom('a', 'b', 'c'),
    remove: fc.boolean(),
    seed: fc.integer({ min: 0, max: 7 }),
    take: fc.boolean(),
  }),
  { maxLength: 40 },
);

/** Objects that collide on purpose: three names, two ClusterIPs, shared external IPs and node ports. */
function serviceOf(name: string, seed: number): Service {
  return service(name, {
    clusterIPs: [`10.96.0.${1 + (seed & 1)}`, ...(seed & 4 ? ['fd00::1'] : [])],
    createdAt: seed & 3,
    externalIPs: seed & 2 ? ['198.51.100.9'] : [],
    ports: [{ name: 'http', protocol: 'TCP', port: 80, nodePort: seed & 4 ? 30080 : 0 }],
  });
}
function sliceOf(name: string, seed: number): EndpointSlice {
  const owner = 'abc'['abc'.indexOf(name) === seed % 3 ? (seed >> 1) % 3 : 'abc'.indexOf(name)] ?? name;
  return slice(
    owner,
    Array.from({ length: seed % 4 }, (_, index) => `10.0.${seed}.${index}`),
    { name: `${name}-s` },
  );
}

test('whatever the order of events, the table is the one planned from scratch, and the changes add up to it', async () => {
  await fc.assert(
    fc.asyncProperty(events, async (history) => {
      const state = create();
      const objects = { service: new Map<string, Service>(), slice: new Map<string, EndpointSlice>() };
      const added = new Map<string, unknown>();
      const absorb = async (): Promise<void> => {
        for (const [key, entry] of (await state.take()).change.entries) {
          if (entry === undefined) added.delete(key);
          else added.set(key, entry);
        }
      };
      for (const { kind, name, remove, seed, take } of history) {
        if (kind === 'service') {
          const value = remove ? undefined : serviceOf(name, seed);
          state.setService(`shop/${name}`, value);
          if (value) objects.service.set(`shop/${name}`, value);
          else objects.service.delete(`shop/${name}`);
        } else {
          const value = remove ? undefined : sliceOf(name, seed);
          state.setSlice(`shop/${name}-s`, value);
          if (value) objects.slice.set(`shop/${name}-s`, value);
          else objects.slice.delete(`shop/${name}-s`);
        }
        if (take) await absorb();
      }
      await absorb();
      const fresh = create();
      for (const [key, value] of objects.slice) fresh.setSlice(key, value);
      for (const [key, value] of objects.service) fresh.setService(key, value);
      await fresh.take();
      const sorted = (entries: Iterable<readonly [string, unknown]>): unknown =>
        Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
      assert.deepEqual(sorted(state.table.entries), sorted(fresh.table.entries));
      assert.deepEqual(sorted(added), sorted(fresh.table.entries));
    }),
    { numRuns: 200 },
  );
});

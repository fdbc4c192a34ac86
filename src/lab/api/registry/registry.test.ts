import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCidr } from '../../../model/address.ts';
import type { ApiObject } from '../api-object.ts';
import type { ClusterApi, ResourceName } from '../cluster-api.ts';
import type { JsonObject } from '../json.ts';
import { startCluster } from '../start-cluster.ts';
import type { Answer } from '../status.ts';

const RANGE = parseCidr('10.96.0.0/16');
assert.ok(RANGE);
const RANGES = [RANGE];

function start(): { api: ClusterApi; clock: { ms: number } } {
  const clock = { ms: Date.UTC(2026, 0, 1) };
  const { api } = startCluster({ serviceCidrs: RANGES, now: () => clock.ms });
  api.create('namespaces', { metadata: { name: 'shop' } });
  return { api, clock };
}
const object = (answer: Answer): ApiObject => {
  assert.ok(answer.ok, answer.ok ? '' : (answer.status.message ?? ''));
  return answer.object;
};
const reason = (answer: Answer): string => {
  assert.ok(!answer.ok, 'it worked');
  return `${answer.status.code} ${answer.status.reason}`;
};
const config = (name: string, more: JsonObject = {}) => ({ metadata: { name, namespace: 'shop', ...more } });
const at = (resource: ResourceName, name: string) => ({ resource, namespace: 'shop', name });
const pod = (name: string, nodeName?: string) => ({
  metadata: { name, namespace: 'shop' },
  spec: { containers: [{ name: 'c', image: 'i' }], ...(nodeName === undefined ? {} : { nodeName }) },
});

test('only the server says an object’s uid, time and version', () => {
  const { api } = start();
  const made = object(
    api.create(
      'configmaps',
      config('a', { uid: 'mine', creationTimestamp: '2000-01-01T00:00:00Z', generation: 9 }),
    ),
  );
  assert.notEqual(made.metadata.uid, 'mine');
  assert.equal(made.metadata.creationTimestamp, '2026-01-01T00:00:00Z');
  assert.equal(made.metadata.generation, undefined);
  assert.equal(reason(api.create('configmaps', config('b', { resourceVersion: '1' }))), '500 undefined');
  assert.equal(reason(api.create('configmaps', config('a'))), '409 AlreadyExists');
});

test('an update with a stale version, or of another object of that name, is refused', () => {
  const { api } = start();
  const old = object(api.create('configmaps', config('a')));
  const now = object(api.update('configmaps', { ...old, data: { k: '1' } }));
  assert.equal(reason(api.update('configmaps', { ...old, data: { k: '2' } })), '409 Conflict');
  assert.equal(
    reason(api.update('configmaps', { ...now, metadata: { ...now.metadata, uid: 'x' } })),
    '409 Conflict',
  );
  const { resourceVersion: _version, ...metadata } = old.metadata;
  assert.ok(api.update('configmaps', { ...old, metadata, data: { k: '3' } }).ok);
});

test('an update that changes nothing writes nothing', () => {
  const { api } = start();
  const made = object(api.create('configmaps', { ...config('a'), data: { k: 'v' } }, { manager: 'me' }));
  const same = object(api.update('configmaps', made, { manager: 'me' }));
  assert.equal(same.metadata.resourceVersion, made.metadata.resourceVersion);
  const patched = object(
    api.patch(at('configmaps', 'a'), 'merge', { data: { k: 'v' } }, { manager: 'other' }),
  );
  assert.equal(patched.metadata.resourceVersion, made.metadata.resourceVersion);
});

test('names are made up where a prefix is given, and checked', () => {
  const { api } = start();
  const made = object(api.create('configmaps', { metadata: { generateName: 'c-', namespace: 'shop' } }));
  assert.match(made.metadata.name ?? '', /^c-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  assert.equal(reason(api.create('configmaps', config('A'))), '422 Invalid');
  assert.equal(reason(api.create('configmaps', { metadata: { namespace: 'shop' } })), '422 Invalid');
  assert.equal(reason(api.create('configmaps', config('l', { labels: { 'a b': 'c' } }))), '422 Invalid');
  assert.equal(
    reason(api.create('configmaps', { metadata: { name: 'a', namespace: 'nowhere' } })),
    '404 NotFound',
  );
});

test('the generation counts changes of the spec only', () => {
  const { api } = start();
  object(api.create('pods', pod('p', 'n')));
  const generation = (answer: Answer): unknown => object(answer).metadata.generation;
  assert.equal(generation(api.patch(at('pods', 'p'), 'merge', { metadata: { labels: { a: 'b' } } })), 1);
  assert.equal(
    generation(
      api.patch(at('pods', 'p'), 'merge', { status: { phase: 'Running' } }, { subresource: 'status' }),
    ),
    1,
  );
  assert.equal(generation(api.patch(at('pods', 'p'), 'merge', { spec: { activeDeadlineSeconds: 9 } })), 2);
  assert.equal(reason(api.patch(at('pods', 'p'), 'merge', { spec: { hostNetwork: true } })), '422 Invalid');
});

test('a Pod on a node stays for its grace period, any other goes at once', () => {
  const { api } = start();
  object(api.create('pods', pod('p', 'n')));
  object(api.create('pods', pod('q')));
  assert.ok(api.delete(at('pods', 'q')).ok);
  assert.equal(reason(api.get(at('pods', 'q'))), '404 NotFound');
  const marked = object(api.delete(at('pods', 'p'), { gracePeriodSeconds: 20 }));
  assert.equal(marked.metadata.deletionTimestamp, '2026-01-01T00:00:20Z');
  assert.equal(marked.metadata.deletionGracePeriodSeconds, 20);
  // Asking again for longer changes nothing, for less shortens it.
  assert.equal(object(api.delete(at('pods', 'p'))).metadata.deletionTimestamp, '2026-01-01T00:00:20Z');
  assert.equal(
    object(api.delete(at('pods', 'p'), { gracePeriodSeconds: 5 })).metadata.deletionTimestamp,
    '2026-01-01T00:00:05Z',
  );
  const gone = api.delete(at('pods', 'p'), { gracePeriodSeconds: 0 });
  assert.ok(gone.ok && gone.deleted);
});

test('finalizers hold an object until the last is taken away', () => {
  const { api } = start();
  object(api.create('configmaps', config('a', { finalizers: ['example.org/x'] })));
  const marked = api.delete(at('configmaps', 'a'));
  assert.ok(marked.ok && !marked.deleted);
  assert.equal(
    reason(
      api.patch(at('configmaps', 'a'), 'merge', {
        metadata: { finalizers: ['example.org/x', 'example.org/y'] },
      }),
    ),
    '422 Invalid',
  );
  const freed = api.patch(at('configmaps', 'a'), 'merge', { metadata: { finalizers: null } });
  assert.ok(freed.ok && freed.deleted);
  assert.equal(reason(api.get(at('configmaps', 'a'))), '404 NotFound');
});

test('what an object owned alone goes with it, in the way that was asked for', () => {
  const { api } = start();
  const own = (name: string, ...owners: ApiObject[]): void => {
    const ownerReferences = owners.map(({ metadata }) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: metadata.name ?? '',
      uid: metadata.uid ?? '',
    }));
    object(api.create('configmaps', config(name, { ownerReferences })));
  };
  const make = (name: string): ApiObject => object(api.create('configmaps', config(name)));
  const left = (): string[] => {
    const listed = api.list('configmaps', { namespace: 'shop' });
    return listed.ok ? listed.items.map(({ metadata }) => metadata.name ?? '') : [];
  };
  const [one, two] = [make('one'), make('two')];
  own('child', one);
  own('shared', one, two);
  api.delete(at('configmaps', 'one'));
  assert.deepEqual(left(), ['shared', 'two']);
  api.delete(at('configmaps', 'two'), { propagation: 'Orphan' });
  assert.deepEqual(left(), ['shared']);
  assert.equal(object(api.get(at('configmaps', 'shared'))).metadata.ownerReferences?.length, 1);
  const parent = make('parent');
  object(
    api.create(
      'configmaps',
      config('slow', {
        finalizers: ['example.org/x'],
        ownerReferences: [
          { apiVersion: 'v1', kind: 'ConfigMap', name: 'parent', uid: parent.metadata.uid ?? '' },
        ],
      }),
    ),
  );
  api.delete(at('configmaps', 'parent'), { propagation: 'Foreground' });
  assert.deepEqual(left(), ['parent', 'shared', 'slow']);
  api.patch(at('configmaps', 'slow'), 'merge', { metadata: { finalizers: null } });
  assert.deepEqual(left(), ['shared']);
});

test('a namespace goes when all that is in it is gone, and takes nothing new meanwhile', () => {
  const { api } = start();
  object(api.create('pods', pod('p', 'n')));
  object(api.create('services', { ...config('s'), spec: { ports: [{ port: 1 }] } }));
  const marked = object(api.delete({ resource: 'namespaces', name: 'shop' }));
  assert.deepEqual(marked.status, { phase: 'Terminating' });
  assert.equal(reason(api.get(at('services', 's'))), '404 NotFound');
  assert.equal(reason(api.create('configmaps', config('late'))), '403 Forbidden');
  assert.ok(api.get({ resource: 'namespaces', name: 'shop' }).ok);
  api.delete(at('pods', 'p'), { gracePeriodSeconds: 0 });
  assert.equal(reason(api.get({ resource: 'namespaces', name: 'shop' })), '404 NotFound');
  assert.equal(reason(api.delete({ resource: 'namespaces', name: 'default' })), '403 Forbidden');
});

test('a lease is made by an update, and never changed without its version', () => {
  const { api } = start();
  const lease = { ...config('l'), spec: { holderIdentity: 'a', leaseDurationSeconds: 15 } };
  const made = object(api.update('leases', lease));
  assert.equal(reason(api.update('leases', lease)), '422 Invalid');
  assert.ok(api.update('leases', { ...made, spec: { ...lease.spec, holderIdentity: 'b' } }).ok);
});

test('EndpointSlices are checked and completed', () => {
  const { api } = start();
  const slice = (more: JsonObject): Answer =>
    api.create('endpointslices', {
      metadata: { generateName: 's-', namespace: 'shop' },
      addressType: 'IPv4',
      ports: [],
      endpoints: [],
      ...more,
    });
  const made = object(slice({ ports: [{ port: 1 }], endpoints: [{ addresses: ['10.0.0.1'] }] }));
  assert.deepEqual(made.ports, [{ name: '', protocol: 'TCP', port: 1 }]);
  assert.deepEqual(made.endpoints, [{ addresses: ['10.0.0.1'], conditions: {} }]);
  const bad: readonly JsonObject[] = [
    { addressType: 'IPv5' },
    { endpoints: [{ addresses: ['fd00::1'] }] },
    { endpoints: [{ addresses: ['127.0.0.1'] }] },
    { endpoints: [{ addresses: [] }] },
    { ports: [{ name: 'a' }, { name: 'a' }] },
    { ports: [{ protocol: 'X' }] },
    { endpoints: Array.from({ length: 1001 }, () => ({ addresses: ['10.0.0.1'] })) },
  ];
  for (const more of bad) assert.equal(reason(slice(more)), '422 Invalid', JSON.stringify(more).slice(0, 80));
  const { name = '' } = made.metadata;
  assert.equal(
    reason(api.patch(at('endpointslices', name), 'merge', { addressType: 'IPv6', endpoints: [] })),
    '422 Invalid',
  );
});

test('a listener sees all changes in order, its own included', () => {
  const { api } = start();
  const seen: string[] = [];
  const watch = api.watch('configmaps', { namespace: 'shop' }, 'state', ({ type, object: { metadata } }) => {
    seen.push(`${type} ${metadata.name}`);
    if (metadata.name === 'a' && type === 'ADDED') api.create('configmaps', config('b'));
  });
  assert.ok(watch.ok);
  api.create('configmaps', config('a'));
  api.delete(at('configmaps', 'a'));
  watch[Symbol.dispose]();
  api.create('configmaps', config('c'));
  assert.deepEqual(seen, ['ADDED a', 'ADDED b', 'DELETED a']);
});

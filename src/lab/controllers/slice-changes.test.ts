import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { EndpointSlice } from '../api/resources/endpoint-slice.ts';
import { endpointGroups } from './endpoint-slices.ts';
import { exampleNode, examplePod, exampleService, named } from './example-objects.ts';
import { sliceChanges, TRIGGER_ANNOTATION } from './slice-changes.ts';

const service = exampleService();
const at = Date.UTC(2026, 11, 1, 2, 3, 4, 567);

/** The slices after the controller has seen these Pods, and what it wrote. */
function step(existing: readonly EndpointSlice[], pods: readonly string[], options: StepOptions = {}) {
  const { perSlice = 3, unready = [], of = service } = options;
  const objects = pods.map((name) =>
    examplePod({ name, ips: [`10.244.0.${name.charCodeAt(0)}`], ready: !unready.includes(name) }),
  );
  const groups = endpointGroups(of, objects, () => exampleNode());
  const changes = sliceChanges({ service: of, groups, existing, triggeredAt: at, perSlice });
  const gone = new Set(changes.remove.map(nameOf));
  const updated = new Map(changes.update.map((slice) => [nameOf(slice), slice]));
  const taken = existing.length;
  const slices = [
    ...existing
      .filter((slice) => !gone.has(nameOf(slice)))
      .map((slice) => updated.get(nameOf(slice)) ?? slice),
    ...changes.create.map((slice, index) => named(slice, `s${taken + index}-${pods.join('')}`)),
  ];
  return { changes, slices, writes: changes.create.length + changes.update.length + changes.remove.length };
}
interface StepOptions {
  readonly perSlice?: number;
  readonly unready?: readonly string[];
  readonly of?: typeof service;
}
const nameOf = (slice: EndpointSlice): string | undefined => slice.metadata.name;
const podsOf = (slice: EndpointSlice) => (slice.endpoints ?? []).map(({ targetRef }) => targetRef?.name);
const layout = (slices: readonly EndpointSlice[]) => slices.map((slice) => podsOf(slice).join(''));

test('a new slice names its Service as owner and in its labels, and says when the change happened', () => {
  const [slice] = step([], ['a']).changes.create;
  assert.deepEqual(slice?.metadata, {
    generateName: 'web-',
    namespace: 'default',
    ownerReferences: [
      {
        apiVersion: 'v1',
        kind: 'Service',
        name: 'web',
        uid: 'uid-web',
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
    labels: {
      'kubernetes.io/service-name': 'web',
      'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
    },
    annotations: { [TRIGGER_ANNOTATION]: '2026-12-01T02:03:04.567Z' },
  });
  assert.equal(slice?.addressType, 'IPv4');
});

test('nothing is written when nothing has changed', () => {
  const { slices } = step([], ['a', 'b', 'c', 'd']);
  assert.equal(step(slices, ['a', 'b', 'c', 'd']).writes, 0);
});

test('more endpoints than fit go to further slices', () => {
  assert.deepEqual(layout(step([], [...'abcdefg']).slices), ['abc', 'def', 'g']);
});

test('a new endpoint goes where there is room, and the other slices are not written', () => {
  const { slices } = step([], [...'abcd']);
  const next = step(slices, [...'abcde']);
  assert.deepEqual(layout(next.slices), ['abc', 'de']);
  assert.equal(next.writes, 1);
});

test('of several slices with room the fullest is filled', () => {
  const { slices } = step([], [...'abcdefg']);
  const gaps = step(slices, [...'abcdfg']);
  assert.deepEqual(layout(gaps.slices), ['abc', 'df', 'g']);
  assert.deepEqual(layout(step(gaps.slices, [...'abcdfgh']).slices), ['abc', 'dfh', 'g']);
});

test('an endpoint keeps its slice when others leave, and a slice that is written anyway is filled first', () => {
  const { slices } = step([], [...'abcdef']);
  const next = step(slices, [...'acdefx']);
  assert.deepEqual(layout(next.slices), ['acx', 'def']);
  assert.equal(next.writes, 1);
});

test('a slice that is written anyway is filled before one with room that would have to be written for it', () => {
  const { slices } = step(step([], [...'abcdef']).slices, [...'abdef']);
  assert.deepEqual(layout(slices), ['ab', 'def']);
  const next = step(slices, [...'abdfx']);
  assert.deepEqual(layout(next.slices), ['ab', 'dfx']);
  assert.equal(next.writes, 1);
});

test('a readiness change rewrites one slice in place', () => {
  const { slices } = step([], [...'abcdef']);
  const next = step(slices, [...'abcdef'], { unready: ['b'] });
  assert.deepEqual(layout(next.slices), ['abc', 'def']);
  assert.deepEqual(
    next.changes.update.map((slice) => slice.endpoints?.map(({ conditions }) => conditions.ready)),
    [[true, false, true]],
  );
  assert.equal(next.writes, 1);
});

test('an empty slice is removed while others hold endpoints', () => {
  const { slices } = step([], [...'abcd']);
  const next = step(slices, [...'abc']);
  assert.deepEqual(layout(next.slices), ['abc']);
  assert.equal(next.changes.remove.length, 1);
});

test('a Service without endpoints has one empty slice: the last one, written empty under its old name', () => {
  const none = step([], []);
  assert.deepEqual(layout(none.slices), ['']);
  assert.equal(step(none.slices, []).writes, 0);
  const { slices } = step([], ['a']);
  const emptied = step(slices, []);
  assert.deepEqual(emptied.slices.map(nameOf), slices.map(nameOf));
  assert.deepEqual(layout(emptied.slices), ['']);
  assert.deepEqual(layout(step(emptied.slices, ['b']).slices), ['b']);
});

test('changed labels of the Service rewrite all slices', () => {
  const { slices } = step([], [...'abcd']);
  const labelled = exampleService({}, { labels: { tier: 'front' } });
  const { changes } = step(slices, [...'abcd'], { of: labelled });
  assert.deepEqual(
    changes.update.map(({ metadata }) => metadata.labels?.tier),
    ['front', 'front'],
  );
});

test('when the ports change the slices are written anew under their old names', () => {
  const { slices } = step([], ['a']);
  const moved = exampleService({ ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 9999 }] });
  const next = step(slices, ['a'], { of: moved });
  assert.deepEqual(next.slices.map(nameOf), slices.map(nameOf));
  assert.equal(next.slices[0]?.ports?.[0]?.port, 9999);
});

test('slices of a family that the Service gave up are removed', () => {
  const dual = exampleService({ ipFamilies: ['IPv4', 'IPv6'] });
  const { slices } = step([], ['a'], { of: dual });
  assert.deepEqual(
    slices.map(({ addressType }) => addressType),
    ['IPv4', 'IPv6'],
  );
  assert.deepEqual(
    step(slices, ['a']).changes.remove.map(({ addressType }) => addressType),
    ['IPv6'],
  );
});

test('whatever the history, every Pod is in exactly one slice, none is overfull, and a second look writes nothing', () => {
  const pods = fc.uniqueArray(fc.constantFrom(...'abcdefghijklmno'), { maxLength: 15 });
  fc.assert(
    fc.property(fc.array(pods, { minLength: 1, maxLength: 8 }), (history) => {
      let slices: readonly EndpointSlice[] = [];
      for (const [index, present] of history.entries()) {
        slices = step(slices, present).slices.map((slice, at) => named(slice, `s${index}-${at}`));
        assert.deepEqual(slices.flatMap(podsOf).sort(), [...present].sort());
        for (const slice of slices) assert.ok((slice.endpoints ?? []).length <= 3);
        if (present.length > 0) for (const slice of slices) assert.ok((slice.endpoints ?? []).length > 0);
        else assert.equal(slices.length, 1);
        assert.equal(step(slices, present).writes, 0);
      }
    }),
  );
});

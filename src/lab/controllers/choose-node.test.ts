import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseNode } from './choose-node.ts';
import { exampleNode, examplePod } from './example-objects.ts';
import type { Node } from './node-object.ts';

const [one, two, three] = ['node-1', 'node-2', 'node-3'].map((name) => exampleNode(name)) as [
  Node,
  Node,
  Node,
];
const cordoned = (node: Node): Node => ({ ...node, spec: { unschedulable: true } });
const broken = (node: Node): Node => ({
  ...node,
  status: { conditions: [{ type: 'Ready', status: 'False' }] },
});
const zoned = (zone: string) => ({ nodeSelector: { 'topology.kubernetes.io/zone': zone } });
const load: Readonly<Record<string, number>> = { 'node-1': 2, 'node-2': 1, 'node-3': 1 };

const cases: readonly [string, readonly Node[], ReturnType<typeof zoned> | undefined, object][] = [
  ['the emptiest, by name among equals', [one, three, two], undefined, { kind: 'node', name: 'node-2' }],
  ['no cordoned one', [one, cordoned(two), three], undefined, { kind: 'node', name: 'node-3' }],
  ['none that is not ready', [one, broken(two), broken(three)], undefined, { kind: 'node', name: 'node-1' }],
  [
    'one with the selected label',
    [exampleNode('node-1', 'z'), two],
    zoned('z'),
    { kind: 'node', name: 'node-1' },
  ],
  [
    'nowhere without nodes',
    [],
    undefined,
    { kind: 'nowhere', because: 'no nodes available to schedule pods' },
  ],
  [
    'nowhere when each has its reason not to',
    [cordoned(one), broken(two), broken(three)],
    undefined,
    {
      kind: 'nowhere',
      because: '0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) were not ready.',
    },
  ],
];
for (const [what, nodes, spec, expected] of cases)
  test(`a Pod goes to ${what}`, () => {
    const pod = examplePod(spec === undefined ? {} : { spec });
    assert.deepEqual(
      chooseNode(pod, nodes, (name) => load[name] ?? 0),
      expected,
    );
  });

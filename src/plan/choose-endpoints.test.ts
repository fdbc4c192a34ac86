import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EndpointOfSlice } from '../model/endpoint-slice.ts';
import { anyUsable, chooseAnywhere, chooseOnNode } from './choose-endpoints.ts';
import type { Candidate } from './merge-slices.ts';

const facts = { nodeName: 'n1', zone: 'za' };
const NODES: Readonly<Record<string, string>> = { a: 'n1', b: 'n1', c: 'n2', d: 'n2' };

/**
 * `a c! d~ b-`: endpoints a and b on this node, c and d on another; `!` terminating but serving, `-` down, `~` ready
 * though terminating; `a:za,zb` zone hints, `a@n1` node hints.
 */
function endpoints(text: string): Candidate[] {
  return text
    .split(' ')
    .filter(Boolean)
    .map((word) => {
      const [, name = '', mark = '', hint = ''] = /^([a-d])([!~-]?)(.*)$/.exec(word) ?? [];
      const traits: EndpointOfSlice = {
        address: name,
        state: mark === '!' ? 'terminating' : mark === '-' ? 'down' : 'ready',
        leaving: mark === '!' || mark === '~',
        serving: mark !== '-',
        node: NODES[name] ?? '',
        zone: '',
        zoneHints: /:([^@]+)/.exec(hint)?.[1]?.split(',') ?? [],
        nodeHints: /@([^:]+)/.exec(hint)?.[1]?.split(',') ?? [],
      };
      return { text: name, port: 80, traits, slice: 's' };
    });
}
const names = (choice: { readonly endpoints: readonly Candidate[] }): string =>
  choice.endpoints.map(({ text }) => text).join('');

test('the cluster-wide list', () => {
  const table: readonly (readonly [string, string, string])[] = [
    ['S162', 'a:za c:zb d:za', 'ad'],
    ['S163 one without hint cancels all', 'a:za c d:za', 'acd'],
    ['S164 no hint for this zone', 'a:zb c:zc', 'ac'],
    ['S167 an unready endpoint neither counts nor is used', 'a:za d-:za', 'a'],
    ['S168 all of this zone unready', 'a-:za c:zb d:zc', 'cd'],
    ['S169 an unready one without hint does not matter', 'a:za b- c:zb', 'a'],
    ['S170 several zones', 'a:za,zb c:zb', 'a'],
    ['S171 node hints come first', 'a:za@n1 c:za@n2', 'a'],
    ['S172 node hints for other nodes fall back to the zone', 'a:za@n2 c:za@n3', 'ac'],
    ['S173 a missing node hint means zone mode', 'a:za@n1 c:za', 'ac'],
    ['S179 none usable', 'a- c-', ''],
    ['S180 all terminating', 'a! b! c!', 'abc'],
    ['S181 a ready one anywhere beats terminating ones', 'a! c', 'c'],
    ['S182 terminating but not serving is down', 'a- c!', 'c'],
    ['S185 hints do not count among terminating ones', 'a!:za c!:zb', 'ac'],
    ['S186 ready though terminating (publishNotReadyAddresses)', 'a~ c!', 'a'],
    ['S187 none', '', ''],
  ];
  for (const [name, given, expected] of table)
    assert.equal(names(chooseAnywhere(endpoints(given), facts)), expected, name);
});

test('a node without zone uses no zone hints, and says so', () => {
  const choice = chooseAnywhere(endpoints('a:za c:zb'), { nodeName: 'n1', zone: '' });
  assert.equal(names(choice), 'ac');
  assert.match(choice.because, /node n1 has no zone/);
});

test('the list of this node', () => {
  const table: readonly (readonly [string, string, string])[] = [
    ['S174 hints never apply', 'a:za b:zb c:za', 'ab'],
    ['S177 none here', 'c d', ''],
    ['S181 terminating here though a ready one is elsewhere', 'a! c', 'a'],
    ['S183 none here', 'c!', ''],
    ['S227 a ready one here beats a terminating one', 'a b!', 'a'],
    ['down here', 'a- c', ''],
  ];
  for (const [name, given, expected] of table)
    assert.equal(names(chooseOnNode(endpoints(given), facts)), expected, name);
});

test('whether any endpoint could take a connection', () => {
  assert.equal(anyUsable(endpoints('a- c!')), true);
  assert.equal(anyUsable(endpoints('a- c-')), false);
  assert.equal(anyUsable([]), false);
});

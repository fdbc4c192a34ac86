import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Build, backboneBuild, nodeFarewell, nodesBuild, podsBuild, podsFarewell } from './commands.ts';

const nodes = [1, 2, 3].map((number) => ({ name: `node-${number}`, number }));
const [one, two, three] = nodes as [(typeof nodes)[0], (typeof nodes)[0], (typeof nodes)[0]];
const linesOf = (build: Build, part: string): readonly string[] =>
  build.inside.filter((each) => each.part === part).flatMap(({ lines }) => lines);

test('a new node and those that are there learn the way to each other’s Pods in both families', () => {
  const build = nodesBuild([three], [one, two]);
  for (const route of [
    'route replace 10.244.1.0/24 via 192.0.2.11',
    'route replace fd00:244:2::/64 via 2001:db8::12',
  ])
    assert.ok(linesOf(build, 'node-3').includes(route), route);
  for (const { name } of [one, two]) {
    assert.deepEqual(linesOf(build, name), [
      'route replace 10.244.3.0/24 via 192.0.2.13',
      'route replace fd00:244:3::/64 via 2001:db8::13',
    ]);
  }
  assert.ok(!linesOf(build, 'node-3').some((line) => line.includes('10.244.3.0/24')));
});

test('Service addresses lead from outside to the first node, and to the next when it leaves', () => {
  const entry = (lines: readonly string[]) => lines.filter((line) => line.includes('203.0.113.0/24'));
  assert.deepEqual(entry(linesOf(nodesBuild([two, one], []), 'switch')), [
    'route replace 203.0.113.0/24 via 192.0.2.11',
  ]);
  const [farewell] = nodeFarewell(one, [two, three]);
  assert.deepEqual(entry(farewell?.lines ?? []), ['route replace 203.0.113.0/24 via 192.0.2.12']);
  assert.deepEqual(entry(nodeFarewell(one, [])[0]?.lines ?? []), []);
});

test('every device is made directly in a namespace of the lab', () => {
  const pod = { name: 'default/web', node: one, number: 7, addresses: ['10.244.1.7'] };
  for (const build of [backboneBuild(), nodesBuild(nodes, []), podsBuild([pod])]) {
    const parts = new Set([...build.routers, ...build.hosts, 'switch', 'node-1']);
    for (const { part, peerPart } of build.cables) assert.ok(parts.has(part) && parts.has(peerPart));
  }
});

test('device names fit the kernel’s 15 characters up to the last node and Pod', () => {
  const last = { name: 'node-200', number: 200 };
  const pod = { name: 'default/web', node: last, number: 254, addresses: [] };
  for (const { device, peerDevice } of [...nodesBuild([last], []).cables, ...podsBuild([pod]).cables])
    assert.ok(device.length < 16 && peerDevice.length < 16);
});

test('IPv6 addresses are usable at once, and a Pod reaches its neighbours by way of the node', () => {
  const pod = { name: 'default/web', node: one, number: 7, addresses: ['10.244.1.7', 'fd00:244:1::7'] };
  const lines = linesOf(podsBuild([pod]), 'default/web');
  assert.ok(lines.includes('addr add fd00:244:1::7/128 dev eth0 nodad'));
  assert.ok(lines.includes('addr add 10.244.1.7/32 dev eth0'));
  assert.ok(linesOf(podsBuild([pod]), 'node-1').includes('link set pod7 type bridge_slave hairpin on'));
});

test('Pods of one node are unplugged together', () => {
  const pods = [one, two, one].map((node, at) => ({
    name: `default/p${at}`,
    node,
    number: at + 2,
    addresses: [],
  }));
  assert.deepEqual(podsFarewell(pods), [
    { part: 'node-1', lines: ['link del pod2', 'link del pod4'] },
    { part: 'node-2', lines: ['link del pod3'] },
  ]);
});

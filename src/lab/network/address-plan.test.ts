import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { cidrContains, familyOf, parseAddress, parseCidr } from '../../model/address.ts';
import {
  CLUSTER_RANGE,
  checkPodAddresses,
  FIRST_POD,
  hardwareAddress,
  LAST_POD,
  LOAD_BALANCER_RANGE,
  MOST_NODES,
  NODE_NET,
  nodeAddresses,
  OUTSIDE,
  OUTSIDE_NET,
  podAddresses,
  podGateways,
  podRanges,
  ROUTER,
  SERVICE_RANGE,
} from './address-plan.ts';

const contains = (range: string, address: string): boolean => {
  const cidr = parseCidr(range);
  assert.ok(cidr, range);
  return cidrContains(cidr, address);
};
const families = ['IPv4', 'IPv6'] as const;
const nodeNumber = fc.integer({ min: 1, max: MOST_NODES });
const podNumber = fc.integer({ min: FIRST_POD, max: LAST_POD });

test('addresses show the number of the node and of the Pod in both families', () => {
  assert.deepEqual(nodeAddresses(2), { IPv4: '192.0.2.12', IPv6: '2001:db8::12' });
  assert.deepEqual(podRanges(2), { IPv4: '10.244.2.0/24', IPv6: 'fd00:244:2::/64' });
  assert.deepEqual(podGateways(2), { IPv4: '10.244.2.1', IPv6: 'fd00:244:2::1' });
  assert.deepEqual(podAddresses(2, 14), { IPv4: '10.244.2.14', IPv6: 'fd00:244:2::14' });
});

test('every address is canonical, of its family and inside its range', () => {
  fc.assert(
    fc.property(nodeNumber, podNumber, (node, pod) => {
      for (const family of families) {
        for (const [address, ...ranges] of [
          [nodeAddresses(node)[family], NODE_NET[family]],
          [podGateways(node)[family], podRanges(node)[family], CLUSTER_RANGE[family]],
          [podAddresses(node, pod)[family], podRanges(node)[family], CLUSTER_RANGE[family]],
          [ROUTER[family], NODE_NET[family]],
          [OUTSIDE[family], OUTSIDE_NET[family]],
        ] as const) {
          assert.equal(parseAddress(address), address);
          assert.equal(familyOf(address), family);
          for (const range of ranges) assert.ok(contains(range, address), `${address} in ${range}`);
        }
      }
    }),
  );
});

test('no two nodes or Pods share an address or an Ethernet address', () => {
  const key = fc.tuple(nodeNumber, podNumber);
  fc.assert(
    fc.property(key, key, ([nodeA, podA], [nodeB, podB]) => {
      fc.pre(nodeA !== nodeB || podA !== podB);
      for (const family of families) {
        assert.notEqual(podAddresses(nodeA, podA)[family], podAddresses(nodeB, podB)[family]);
        if (nodeA !== nodeB) assert.notEqual(nodeAddresses(nodeA)[family], nodeAddresses(nodeB)[family]);
      }
      assert.notEqual(hardwareAddress('pod', nodeA, podA), hardwareAddress('pod', nodeB, podB));
      assert.notEqual(hardwareAddress('pod', nodeA, podA), hardwareAddress('node', nodeA));
    }),
  );
});

test('the ranges of a lab do not overlap', () => {
  for (const family of families) {
    const ranges = [NODE_NET, OUTSIDE_NET, CLUSTER_RANGE, SERVICE_RANGE, LOAD_BALANCER_RANGE].map(
      (range) => range[family],
    );
    for (const one of ranges) {
      for (const other of ranges) {
        if (one !== other) assert.ok(!contains(one, other.replace(/\/.*/, '')), `${other} in ${one}`);
      }
    }
  }
});

test('addresses asked for a Pod become canonical, IPv4 first', () => {
  assert.deepEqual(checkPodAddresses(1, ['FD00:244:1:0::A', '10.244.1.7']), ['10.244.1.7', 'fd00:244:1::a']);
  assert.deepEqual(checkPodAddresses(1, ['10.244.1.7']), ['10.244.1.7']);
});

test('addresses that a Pod of the node cannot have are refused', () => {
  for (const wrong of [
    ['10.244.2.7'],
    ['10.244.1.1'],
    ['10.244.1.255'],
    ['fd00:244:1::1'],
    ['web'],
    ['10.244.1.5', '10.244.1.6'],
  ]) {
    assert.throws(() => checkPodAddresses(1, wrong), { code: 'E_LAB' });
  }
});

test('there is no node 0 and none above the last', () => {
  for (const wrong of [0, MOST_NODES + 1, 1.5]) assert.throws(() => nodeAddresses(wrong), { code: 'E_LAB' });
});

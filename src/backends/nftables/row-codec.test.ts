import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { SetDefinition } from '../../kernel/nft/commands.ts';
import { addressText, cidrText, parseCidr } from '../../model/address.ts';
import { elementOfRow, rowOfElement } from './row-codec.ts';

const endpoints4: SetDefinition = {
  name: 'endpoints',
  key: ['ipv4_addr', 'inet_proto', 'inet_service', 'mark'],
  data: ['ipv4_addr', 'inet_service'],
};
const endpoints6: SetDefinition = {
  name: 'endpoints',
  key: ['ipv6_addr', 'inet_proto', 'inet_service', 'mark'],
  data: ['ipv6_addr', 'inet_service'],
};
const sources: SetDefinition = {
  name: 'allowed-sources',
  key: ['ipv4_addr', 'ipv4_addr', 'inet_proto', 'inet_service'],
  interval: true,
};

test('an endpoint row has the layout that the kernel compares: parts padded to 4, port in network order', () => {
  const element = elementOfRow(endpoints4, '10.96.0.1 . tcp . 80 . 2', '10.0.0.1 . 8080');
  const slot = [...new Uint8Array(new Uint32Array([2]).buffer)];
  assert.deepEqual([...element.key], [10, 96, 0, 1, 6, 0, 0, 0, 0, 80, 0, 0, ...slot]);
  assert.deepEqual(element.data, Uint8Array.from([10, 0, 0, 1, 0x1f, 0x90, 0, 0]));
});

test('a source range becomes its first and last address', () => {
  const element = elementOfRow(sources, '198.51.100.0/25 . 203.0.113.1 . udp . 53', '');
  assert.deepEqual([...element.key].slice(0, 4), [198, 51, 100, 0]);
  assert.deepEqual([...(element.keyEnd ?? [])].slice(0, 4), [198, 51, 100, 127]);
  assert.deepEqual([...(element.keyEnd ?? [])].slice(4), [...element.key].slice(4));
});

test('a range that is no CIDR is shown as it is', () => {
  const element = elementOfRow(sources, '198.51.100.0/31 . 203.0.113.1 . udp . 53', '');
  const keyEnd = Uint8Array.from(element.keyEnd ?? []);
  keyEnd[3] = 2;
  assert.equal(
    rowOfElement(sources, { ...element, keyEnd }).key,
    '198.51.100.0-198.51.100.2 . 203.0.113.1 . udp . 53',
  );
});

test('rows come back from their elements as they were', () => {
  const v4 = fc.uint8Array({ minLength: 4, maxLength: 4 }).map(addressText);
  const v6 = fc.uint8Array({ minLength: 16, maxLength: 16 }).map(addressText);
  const port = fc.integer({ min: 1, max: 65535 });
  const protocol = fc.constantFrom('tcp', 'udp', 'sctp');
  for (const [definition, address] of [
    [endpoints4, v4],
    [endpoints6, v6],
  ] as const) {
    fc.assert(
      fc.property(
        address,
        protocol,
        port,
        fc.integer({ min: 0, max: 0x1ffff }),
        address,
        port,
        (vip, proto, at, slot, to, toPort) => {
          const row = { key: `${vip} . ${proto} . ${at} . ${slot}`, data: `${to} . ${toPort}` };
          assert.deepEqual(rowOfElement(definition, elementOfRow(definition, row.key, row.data)), row);
        },
      ),
    );
  }
  fc.assert(
    fc.property(v4, fc.integer({ min: 0, max: 32 }), v4, port, (network, prefix, vip, at) => {
      const cidr = parseCidr(`${network}/${prefix}`);
      assert.ok(cidr);
      const row = { key: `${cidrText(cidr)} . ${vip} . tcp . ${at}`, data: '' };
      assert.deepEqual(rowOfElement(sources, elementOfRow(sources, row.key, row.data)), row);
    }),
  );
});

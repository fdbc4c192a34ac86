// The stage itself: without any rule, direct connections work and see true addresses.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSmallNet, SILENCE_MS } from './small-net.ts';

test('pods, node and world reach each other directly, over both families and protocols', async () => {
  await using net = await createSmallNet({
    node: ['192.0.2.11', '2001:db8:1::11'],
    pods: ['10.50.1.7', 'fd00:50:1::7'],
    askers: ['10.50.1.20', 'fd00:50:1::20'],
    world: ['10.50.2.7', 'fd00:50:2::7'],
    outside: ['198.51.100.7', '2001:db8:51::7'],
    ports: [8080],
  });
  for (const protocol of ['TCP', 'UDP'] as const) {
    const table = [
      ['askers', '10.50.1.20', '10.50.2.7'],
      ['outside', '198.51.100.7', '10.50.1.7'],
      ['node', '192.0.2.11', '10.50.1.7'],
      ['askers', 'fd00:50:1::20', 'fd00:50:2::7'],
      ['outside', '2001:db8:51::7', 'fd00:50:1::7'],
      ['node', '2001:db8:1::11', 'fd00:50:1::7'],
    ] as const;
    for (const [from, source, address] of table) {
      const shown = address.includes(':') ? `[${address}]` : address;
      assert.deepEqual(await net.ask({ from, source, protocol, address, port: 8080 }), {
        kind: 'answered',
        server: `${shown}:8080`,
        client: source,
      });
      assert.deepEqual(await net.ask({ from, source, protocol, address, port: 81 }), { kind: 'refused' });
    }
    assert.deepEqual(
      await net.ask({
        from: 'askers',
        source: '10.50.1.20',
        protocol,
        address: '10.50.9.99',
        port: 80,
        patienceMs: SILENCE_MS,
      }),
      { kind: 'silence' },
    );
  }
});

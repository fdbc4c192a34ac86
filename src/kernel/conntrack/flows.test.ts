import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { attributesOf, messagesOf } from '../netlink/reader.ts';
import { createNetlinkWriter } from '../netlink/writer.ts';
import { type Flow, type FlowFamily, flowsOf, writeFlow, writeFlowDelete, writeFlowDump } from './flows.ts';

const flows: fc.Arbitrary<Flow> = fc.constantFrom<FlowFamily>('ip', 'ip6').chain((family) => {
  const bytes = family === 'ip' ? 4 : 16;
  const address = fc.uint8Array({ minLength: bytes, maxLength: bytes });
  const port = fc.integer({ min: 0, max: 65535 });
  const tuple = fc.record({ source: address, destination: address, sourcePort: port, destinationPort: port });
  const word = fc.integer({ min: 0, max: 0xffffffff });
  return fc.record({
    family: fc.constant(family),
    protocol: fc.constantFrom(6, 17, 132),
    original: tuple,
    reply: tuple,
    status: word,
    timeout: word,
    id: word,
    zone: port,
  });
});
const plain = (flow: Flow): unknown =>
  JSON.parse(JSON.stringify(flow, (_, value: unknown) => (value instanceof Uint8Array ? [...value] : value)));

test('a flow comes back from its message as it was', () => {
  fc.assert(
    fc.property(fc.array(flows, { maxLength: 5 }), (list) => {
      const writer = createNetlinkWriter();
      for (const [index, flow] of list.entries()) writeFlow(writer, flow, index);
      assert.deepEqual([...flowsOf(writer.finish())].map(plain), list.map(plain));
    }),
  );
});

test('a delete names the original tuple and the id, so that it can hit no later flow', () => {
  const writer = createNetlinkWriter();
  const tuple = {
    source: Uint8Array.of(10, 0, 0, 1),
    destination: Uint8Array.of(10, 96, 0, 10),
    sourcePort: 4000,
    destinationPort: 53,
  };
  writeFlowDelete(
    writer,
    {
      family: 'ip',
      protocol: 17,
      original: tuple,
      reply: tuple,
      status: 0,
      timeout: 0,
      id: 0x01020304,
      zone: 0,
    },
    9,
  );
  const [message] = messagesOf(writer.finish());
  assert.ok(message);
  assert.equal(message.type, 0x102);
  assert.deepEqual(
    [...attributesOf(message.payload, 4)].map(({ type, payload }) =>
      type === 12 ? [type, ...payload] : [type],
    ),
    [[1], [12, 1, 2, 3, 4]],
  );
});

test('a dump asks the kernel for one family and one protocol', () => {
  const writer = createNetlinkWriter();
  writeFlowDump(writer, 'ip6', 17, 3);
  const [message] = messagesOf(writer.finish());
  assert.ok(message);
  assert.equal(message.payload[0], 10);
  assert.deepEqual(
    [...attributesOf(message.payload, 4)].map(({ type }) => type),
    [1, 25],
  );
});

test('messages of other subsystems and other families are passed over', () => {
  const writer = createNetlinkWriter();
  writer.beginMessage(0x0a00, 0, 1);
  writer.raw(Uint8Array.of(2, 0, 0, 0));
  writer.endMessage();
  writer.beginMessage(0x100, 0, 2);
  writer.raw(Uint8Array.of(7, 0, 0, 0));
  writer.endMessage();
  assert.deepEqual([...flowsOf(writer.finish())], []);
});

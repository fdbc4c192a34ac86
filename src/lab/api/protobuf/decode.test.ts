import assert from 'node:assert/strict';
import { test } from 'node:test';
import { POD_SCHEMA } from '../resources/pod/schema.ts';
import { SERVICE_SCHEMA } from '../resources/service/types.ts';
import { decodeProtobuf } from './decode.ts';

function tag(number: number, wire: number): Uint8Array {
  const value = (number << 3) | wire;
  return value < 0x80 ? Uint8Array.of(value) : Uint8Array.of((value & 0x7f) | 0x80, value >>> 7);
}
const field = (number: number, ...content: readonly (Uint8Array | string)[]): Buffer => {
  const bytes = Buffer.concat(content.map((part) => Buffer.from(part)));
  return Buffer.concat([tag(number, 2), Uint8Array.of(bytes.length), bytes]);
};
const varint = (number: number, ...bytes: readonly number[]): Buffer =>
  Buffer.concat([tag(number, 0), Uint8Array.from(bytes)]);

function envelope(object: Uint8Array): Buffer {
  const type = field(1, field(1, 'v1'), field(2, 'Service'));
  return Buffer.concat([Buffer.from('k8s\0'), type, field(2, object), field(3, ''), field(4, '')]);
}

test('a Service in protobuf is the one that it would be in JSON', () => {
  const port = Buffer.concat([
    field(1, 'http'),
    varint(3, 0x90, 0x3f),
    field(4, varint(1, 1), varint(2, 0), field(3, 'web')),
  ]);
  const metadata = Buffer.concat([field(1, 'a'), field(8), field(11, field(1, 'k'), field(2, 'v'))]);
  const spec = Buffer.concat([
    field(1, port),
    field(2, field(1, 'app'), field(2, 'x')),
    field(18, '10.0.0.1'),
    field(18, 'fd00::1'),
    varint(20, 0),
  ]);
  const decoded = decodeProtobuf(
    SERVICE_SCHEMA,
    envelope(Buffer.concat([field(1, metadata), field(2, spec)])),
  );
  assert.deepEqual(decoded, {
    ok: true,
    value: {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'a', labels: { k: 'v' } },
      spec: {
        ports: [{ name: 'http', port: 8080, targetPort: 'web' }],
        selector: { app: 'x' },
        clusterIPs: ['10.0.0.1', 'fd00::1'],
        allocateLoadBalancerNodePorts: false,
      },
    },
  });
});

test('what is no protobuf, is cut off, or is of a type without numbers is refused', () => {
  const why = (schema: typeof SERVICE_SCHEMA, body: Uint8Array): string => {
    const decoded = decodeProtobuf(schema, body);
    assert.ok(!decoded.ok);
    return decoded.why;
  };
  assert.match(why(SERVICE_SCHEMA, Buffer.from('{}')), /does not appear to be a protobuf message/);
  assert.match(why(SERVICE_SCHEMA, envelope(field(1, field(1, 'a'))).subarray(0, -8)), /unexpected EOF/);
  assert.match(why(POD_SCHEMA, envelope(field(1, ''))), /reads Pod objects as JSON or YAML only/);
});

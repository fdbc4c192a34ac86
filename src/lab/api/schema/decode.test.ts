import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { POD_SCHEMA } from '../resources/pod/schema.ts';
import { SERVICE_SCHEMA } from '../resources/service/types.ts';
import { decodeObject } from './decode.ts';
import { duplicateFields } from './duplicate-fields.ts';

test('unknown fields are named by their path and dropped', () => {
  const decoded = decodeObject(SERVICE_SCHEMA, {
    spec: { ports: [{ port: 1, colour: 2 }], shape: {} },
    extra: 1,
  });
  assert.ok(decoded.ok);
  assert.deepEqual(decoded.unknown, ['spec.ports[0].colour', 'spec.shape', 'extra']);
  assert.deepEqual(decoded.value, { spec: { ports: [{ port: 1 }] } });
});

test('zero values that say nothing are dropped, those behind a pointer stay', () => {
  const decoded = decodeObject(SERVICE_SCHEMA, {
    spec: {
      type: '',
      selector: {},
      clusterIPs: [],
      publishNotReadyAddresses: false,
      allocateLoadBalancerNodePorts: false,
      ports: null,
    },
  });
  assert.deepEqual(decoded.ok && decoded.value, { spec: { allocateLoadBalancerNodePorts: false } });
});

test('fields come in the order of the type, whatever the order in the text', () => {
  const decoded = decodeObject(SERVICE_SCHEMA, {
    spec: { type: 'NodePort', ports: [] },
    metadata: { labels: { b: '1' }, name: 'a' },
  });
  assert.equal(
    JSON.stringify(decoded.ok && decoded.value),
    '{"metadata":{"name":"a","labels":{"b":"1"}},"spec":{"type":"NodePort"}}',
  );
});

test('a value of a wrong type is refused in Go’s words', () => {
  const why = (schema: typeof SERVICE_SCHEMA, value: Parameters<typeof decodeObject>[1]): string => {
    const decoded = decodeObject(schema, value);
    assert.ok(!decoded.ok);
    return decoded.message;
  };
  assert.equal(
    why(SERVICE_SCHEMA, { spec: { ports: [{ port: 'x' }] } }),
    'json: cannot unmarshal string into Go struct field ServicePort.spec.ports.port of type int32',
  );
  assert.equal(
    why(SERVICE_SCHEMA, { metadata: { labels: { a: 1 } } }),
    'json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string',
  );
  assert.equal(
    why(SERVICE_SCHEMA, { spec: [] }),
    'json: cannot unmarshal array into Go struct field Service.spec of type v1.ServiceSpec',
  );
  assert.match(
    why(SERVICE_SCHEMA, { spec: { ports: [{ port: 3e9 }] } }),
    /number 3000000000 into Go struct field/,
  );
  assert.match(why(POD_SCHEMA, { metadata: { creationTimestamp: 'soon' } }), /parsing time "soon"/);
});

test('fields that stand twice are found, also deep inside', () => {
  assert.deepEqual(duplicateFields('{"a":1,"b":{"c":[{"d":1,"d":2}]},"a":{"e":"}\\""}}'), ['b.c[0].d', 'a']);
  assert.deepEqual(duplicateFields(' [ 1 , "a{" , null ] '), []);
});

test('what JSON.stringify writes has no field twice', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) =>
      assert.deepEqual(duplicateFields(JSON.stringify(value, undefined, 1)), []),
    ),
  );
});

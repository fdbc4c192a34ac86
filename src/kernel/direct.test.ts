// Codecs that are used over the direct kernel, there and back, and what is made of the kernel's refusals.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { PointsmanError } from '../base/errors.ts';
import { createDirectKernel } from './direct.ts';
import { familyNumber } from './genl/family.ts';
import {
  IPVS_CMD_NEW_SERVICE,
  type VirtualServer,
  virtualServersIn,
  writeServerMessage,
} from './genl/ipvs.ts';
import { destroySet, listElements, listSetNames, setsIn, writeSet } from './ipset/ipset.ts';
import { encodeAnswer } from './netlink/error.ts';
import { createFakeNetlink, type FakeReceived } from './netlink/fake-netlink.ts';
import { createNetlinkWriter } from './netlink/writer.ts';
import { findLink, linksIn, writeLink } from './route/links.ts';

/** Objects as our decoders make them, for deepEqual looks at prototypes too. */
const plainRecord = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> =>
  fc.record(model, { noNullPrototype: true }) as fc.Arbitrary<T>;

const port = fc.integer({ min: 0, max: 0xffff });
const address = fc.oneof(
  fc.uint8Array({ minLength: 4, maxLength: 4 }),
  fc.uint8Array({ minLength: 16, maxLength: 16 }),
);
const server: fc.Arbitrary<VirtualServer> = fc.oneof(
  plainRecord({
    kind: fc.constant('address' as const),
    address,
    protocol: fc.constantFrom(6, 17, 132),
    port,
  }),
  plainRecord({ kind: fc.constant('mark' as const), mark: fc.integer({ min: 1, max: 0x7fffffff }) }),
);

test('virtual servers are read as they were written', () => {
  fc.assert(
    fc.property(fc.array(server), (servers) => {
      const writer = createNetlinkWriter();
      for (const one of servers) writeServerMessage(writer, 40, IPVS_CMD_NEW_SERVICE, one);
      assert.deepEqual([...virtualServersIn(writer.finish(), 40)], servers);
    }),
  );
});

const name = fc.stringMatching(/^[A-Z0-9-]{1,31}$/);

test('sets and links are read as they were written', () => {
  const element = fc.oneof(plainRecord({ port }), plainRecord({ port, protocol: fc.constantFrom(6, 132) }));
  fc.assert(
    fc.property(name, fc.array(element), (set, elements) => {
      const writer = createNetlinkWriter();
      writeSet(writer, set, elements);
      assert.deepEqual([...setsIn(writer.finish())], [{ name: set, elements }]);
    }),
  );
  const link = fc.oneof(
    plainRecord({ index: fc.nat(), name }),
    plainRecord({ index: fc.nat(), name, kind: fc.constantFrom('dummy', 'veth') }),
  );
  fc.assert(
    fc.property(link, (one) => {
      const writer = createNetlinkWriter();
      writeLink(writer, one);
      assert.deepEqual([...linksIn(writer.finish())], [one]);
    }),
  );
});

/** A kernel that refuses everything. */
function refusing(errno: number): ReturnType<typeof createDirectKernel> {
  const answer = (): readonly FakeReceived[] => {
    const writer = createNetlinkWriter();
    encodeAnswer(writer, { sequence: 1, errno, answeredType: 0 });
    return [writer.finish()];
  };
  return createDirectKernel(createFakeNetlink(answer).sys);
}

const [EPERM, ENOENT, EBUSY, ENODEV, EINVAL, IPSET_ERR_BUSY] = [1, 2, 16, 19, 22, 4100];

test('what is not there is not an error', () => {
  assert.equal(findLink(refusing(ENODEV), 'kube-ipvs0'), undefined);
  assert.equal(familyNumber(refusing(ENOENT), 'IPVS'), undefined);
  assert.deepEqual(listSetNames(refusing(EINVAL)), []);
  assert.deepEqual(listElements(refusing(ENOENT), 'A'), []);
  assert.equal(destroySet(refusing(IPSET_ERR_BUSY), 'A'), 'in use');
});

test('any other refusal is one', () => {
  for (const ask of [
    (errno: number) => findLink(refusing(errno), 'kube-ipvs0'),
    (errno: number) => familyNumber(refusing(errno), 'IPVS'),
    (errno: number) => listSetNames(refusing(errno)),
    (errno: number) => listElements(refusing(errno), 'A'),
    (errno: number) => destroySet(refusing(errno), 'A'),
  ]) {
    const code = (errno: number, wanted: string): void =>
      assert.throws(
        () => ask(errno),
        (error) => error instanceof PointsmanError && error.code === wanted,
      );
    code(EBUSY, 'E_NETLINK');
    code(EPERM, 'E_PERMISSION');
  }
});

test('every socket is closed again, after a refusal too', () => {
  const fake = createFakeNetlink(() => {
    const writer = createNetlinkWriter();
    encodeAnswer(writer, { sequence: 1, errno: EBUSY, answeredType: 0 });
    return [writer.finish()];
  });
  const kernel = createDirectKernel(fake.sys);
  assert.throws(() => kernel.dump('route', new Uint8Array(16)));
  assert.throws(() => kernel.request('generic', new Uint8Array(16)));
  assert.equal(fake.sent.length, 2);
  assert.deepEqual([...fake.open], []);
});

// Addresses of a real namespace, as they come and go.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createKernelClient } from '../../src/kernel/client.ts';
import { listAddresses, watchAddresses } from '../../src/kernel/route/addresses.ts';
import { createTestNamespace } from './test-namespace.ts';

test('addresses of both families are listed, loopback and point-to-point links with their own end', async () => {
  using namespace = createTestNamespace();
  namespace.run('ip', 'link', 'add', 'pt0', 'type', 'bridge');
  namespace.run('ip', 'addr', 'add', '192.0.2.11/24', 'dev', 'pt0');
  namespace.run('ip', 'addr', 'add', '192.0.2.77', 'peer', '192.0.2.78/32', 'dev', 'pt0');
  namespace.run('ip', 'addr', 'add', '2001:db8::11/64', 'dev', 'pt0', 'nodad');
  await using client = await createKernelClient({ namespace: namespace.path });
  const listed = (await listAddresses(client)).map(
    ({ address, prefix }) => `${Buffer.from(address).toString('hex')}/${prefix}`,
  );
  assert.deepEqual(listed.sort(), [
    '00000000000000000000000000000001/128',
    '20010db8000000000000000000000011/64',
    '7f000001/8',
    'c000020b/24',
    'c000024d/32',
  ]);
});

test('an address that comes, and one that goes, is told', async () => {
  using namespace = createTestNamespace();
  await using client = await createKernelClient({ namespace: namespace.path });
  let told = Promise.withResolvers<void>();
  await watchAddresses(client, () => told.resolve());
  for (const action of ['add', 'del']) {
    told = Promise.withResolvers<void>();
    namespace.run('ip', 'addr', action, '192.0.2.99/32', 'dev', 'lo');
    await told.promise;
  }
});

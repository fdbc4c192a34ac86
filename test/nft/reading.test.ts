// What the kernel tells back: rules with all that is theirs, what is not there, and changes by others.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Expression } from '../../src/kernel/nft/expressions.ts';
import { register } from '../../src/kernel/nft/register.ts';
import { nftPrograms } from './nft-programs.ts';
import { add, element, elementsOf, FRAME, TABLE } from './small-table.ts';
import { committed, createWorld } from './world.ts';

test('a rule with a set of its own and a comment is read back whole, and the set goes with the rule', async () => {
  await using world = await createWorld();
  const set = { key: ['inet_proto'], elements: [6, 17].map((key) => ({ key: Uint8Array.of(key) })) } as const;
  const map = {
    key: ['inet_proto'],
    data: ['verdict'],
    elements: [{ key: Uint8Array.of(6), data: { kind: 'accept' } }],
  } as const;
  const load: Expression = { kind: 'meta-load', key: 'l4proto', to: register(0) };
  const expressions: readonly Expression[] = [
    load,
    { kind: 'lookup', from: register(0), set, inverted: true },
    load,
    { kind: 'lookup', from: register(0), set: map, to: 'verdict', inverted: false },
  ];
  committed(
    await world.nft.commit([
      ...FRAME,
      { op: 'add-rule', ...TABLE, chain: 'one', expressions, comment: 'only these' },
      { op: 'add-rule', ...TABLE, chain: 'one', expressions },
    ]),
  );
  const rules = await world.nft.listRules(TABLE);
  assert.deepEqual(
    rules.map(({ comment, expressions: found }) => [comment, found]),
    [
      ['only these', expressions],
      [undefined, expressions],
    ],
  );
  const [program] = nftPrograms();
  assert.match(
    program.run(world.namespace, ['list', 'chain', 'ip', 'pt', 'one']),
    /meta l4proto != \{ tcp, udp \} meta l4proto vmap \{ tcp : accept \} comment "only these"/,
  );
  assert.equal((await world.nft.listSets(TABLE)).filter(({ anonymous }) => anonymous).length, 4);
  assert.equal((await world.nft.readTable(TABLE))?.sets.length, 2);
  committed(await world.nft.commit([{ op: 'flush-chain', ...TABLE, chain: 'one' }]));
  assert.deepEqual((await world.nft.listSets(TABLE)).map(({ name }) => name).sort(), ['addresses', 'ports']);
});

test('one transaction changes both families', async () => {
  await using world = await createWorld();
  const other = { family: 'ip6', table: 'pt' } as const;
  committed(
    await world.nft.commit([
      ...FRAME,
      { op: 'add-table', ...other },
      { op: 'add-chain', ...other, chain: 'one' },
    ]),
  );
  assert.deepEqual(await world.nft.listTables(), [TABLE, other]);
  committed(
    await world.nft.commit([
      { op: 'delete-table', ...TABLE },
      { op: 'delete-table', ...other },
    ]),
  );
  assert.deepEqual(await world.nft.listTables(), []);
});

test('what is not there is told apart from what is empty', async () => {
  await using world = await createWorld();
  assert.equal(await world.nft.readTable(TABLE), undefined);
  assert.deepEqual(await world.nft.listRules(TABLE), []);
  await assert.rejects(world.nft.listSets(TABLE), {
    code: 'E_NETLINK',
    message: 'cannot read the sets of table ip pt: ENOENT (no such file or directory)',
  });
  await assert.rejects(elementsOf(world.nft), {
    code: 'E_NETLINK',
    message: 'cannot read the elements of set ip pt ports: ENOENT (no such file or directory)',
  });
  committed(await world.nft.commit([{ op: 'add-table', ...TABLE }]));
  const { generation: _, ...contents } = (await world.nft.readTable(TABLE)) ?? {};
  assert.deepEqual(contents, { chains: [], sets: [], rules: [] });
});

test('no commands are no transaction', async () => {
  await using world = await createWorld();
  committed(await world.nft.commit(FRAME));
  const before = world.client.counters();
  assert.deepEqual(await world.nft.commit([]), { kind: 'committed', messages: 0, kernelMs: 0 });
  assert.deepEqual(world.client.counters(), before);
});

test('changes by others are told with their table and program, our own are not', async () => {
  await using world = await createWorld();
  committed(await world.nft.commit(FRAME));
  const seen: unknown[] = [];
  let arrived = (): void => {};
  const watching = await world.nft.watch({
    onForeignChange({ processId, ...change }) {
      assert.ok(processId > 0);
      seen.push(change);
      arrived();
    },
    onLost: () => assert.fail('events were lost'),
  });
  const next = (): Promise<void> =>
    new Promise((resolve) => {
      arrived = resolve;
    });
  const [program] = nftPrograms();

  committed(await world.nft.commit([add(element(1, 1))]));
  const first = next();
  program.run(world.namespace, ['delete', 'element', 'ip', 'pt', 'ports', '{ 10.0.0.1 . 80 }']);
  await first;
  committed(await world.nft.commit([add(element(2, 2))]));
  const second = next();
  program.run(world.namespace, ['add', 'table', 'inet', 'theirs']);
  await second;
  assert.deepEqual(seen, [
    { ...TABLE, what: 'elements deleted', processName: 'nft' },
    { family: 'inet', table: 'theirs', what: 'table added', processName: 'nft' },
  ]);
  await watching.close();
});

// Transactions against the kernel: all or nothing, and failures that name what was refused.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NftCommand, SetDefinition, SetElement } from '../../src/kernel/nft/commands.ts';
import type { Expression } from '../../src/kernel/nft/expressions.ts';
import { register } from '../../src/kernel/nft/register.ts';
import { EBUSY, EEXIST, ENOENT, ERESTART } from '../../src/kernel/sys/errno.ts';
import { nftPrograms } from './nft-programs.ts';
import { add, element, elementsOf, FRAME, keyOf, refused, remove, TABLE } from './small-table.ts';
import { committed, createWorld } from './world.ts';

test('adding an element with other data fails, names the element, and undoes the whole transaction', async () => {
  await using world = await createWorld();
  committed(await world.nft.commit([...FRAME, add(element(1, 1), element(2, 2))]));
  const failures = await refused(world.nft, [
    add(element(3, 3), element(4, 4)),
    add(element(5, 5), element(2, 9), element(6, 6)),
    { op: 'add-chain', ...TABLE, chain: 'two' },
  ]);
  assert.equal(failures.length, 1);
  const [failure] = failures;
  assert.deepEqual(
    { ...failure },
    {
      operation: 'add',
      object: 'element 0a000002 00500000 of set ip pt ports',
      attribute: 'NFTA_SET_ELEM_LIST_ELEMENTS NFTA_LIST_ELEM',
      commandIndex: 1,
      elementIndex: 1,
      errno: EEXIST,
      errnoName: 'EEXIST',
      text: 'add element 0a000002 00500000 of set ip pt ports: EEXIST (file already exists), at NFTA_SET_ELEM_LIST_ELEMENTS NFTA_LIST_ELEM',
    },
  );
  assert.deepEqual(await elementsOf(world.nft), [element(1, 1), element(2, 2)]);
  assert.deepEqual(
    (await world.nft.listChains(TABLE)).map(({ chain }) => chain),
    ['one'],
  );
});

test('adding what is there as it is, is no failure', async () => {
  await using world = await createWorld();
  committed(await world.nft.commit([...FRAME, add(element(1, 1))]));
  committed(await world.nft.commit([...FRAME, add(element(1, 1), element(2, 2))]));
  assert.deepEqual(await elementsOf(world.nft), [element(1, 1), element(2, 2)]);
});

test('deleting an element that is not there fails and names it; destroying it does not', async () => {
  await using world = await createWorld();
  committed(await world.nft.commit([...FRAME, add(element(1, 1))]));
  const [failure] = await refused(world.nft, [remove(element(1, 1), element(7, 0))]);
  assert.equal(failure?.errno, ENOENT);
  assert.equal(failure.object, 'element 0a000007 00500000 of set ip pt ports');
  assert.equal(failure.elementIndex, 1);
  assert.deepEqual(await elementsOf(world.nft), [element(1, 1)]);

  const destroy = {
    op: 'destroy-elements',
    ...TABLE,
    set: 'ports',
    elements: [element(1, 0), element(7, 0)].map(keyOf),
  } as const;
  committed(await world.nft.commit([destroy, add(element(1, 5))]));
  assert.deepEqual(await elementsOf(world.nft), [element(1, 5)]);
});

test('data is replaced by a delete and an add in one transaction, in this order', async () => {
  await using world = await createWorld();
  committed(await world.nft.commit([...FRAME, add(element(1, 1))]));
  committed(await world.nft.commit([remove(element(1, 1)), add(element(1, 2))]));
  assert.deepEqual(await elementsOf(world.nft), [element(1, 2)]);
  const [failure] = await refused(world.nft, [add(element(1, 3)), remove(element(1, 2))]);
  assert.equal(failure?.errno, EEXIST);
  assert.equal(failure.commandIndex, 0);
});

test('a transaction on a stale generation is refused as such, and nothing of it is applied', async () => {
  await using world = await createWorld();
  const { generation } = committed(await world.nft.commit(FRAME));
  assert.equal(generation, await world.nft.generation());
  const [program] = nftPrograms();
  program.run(world.namespace, ['add', 'table', 'ip', 'foreign']);
  const options = { generation: generation ?? 0 };
  const outcome = await world.nft.commit([add(element(1, 1))], options);
  assert.deepEqual(outcome, {
    kind: 'refused',
    messages: 3,
    failures: [
      {
        operation: 'begin',
        object: 'batch',
        errno: ERESTART,
        errnoName: 'ERESTART',
        text: 'the ruleset was changed by someone else meanwhile: ERESTART',
      },
    ],
  });
  assert.deepEqual(await elementsOf(world.nft), []);
  const present = { generation: await world.nft.generation() };
  committed(await world.nft.commit([add(element(1, 1))], present));
});

test('every refused message of a transaction is named', async () => {
  await using world = await createWorld();
  committed(await world.nft.commit([...FRAME, add(element(1, 1))]));
  const lookup: Expression = { kind: 'lookup', from: register(0), set: 'missing', inverted: false };
  const load: Expression = { kind: 'meta-load', key: 'mark', to: register(0) };
  const failures = await refused(world.nft, [
    remove(element(2, 2)),
    { op: 'add-rule', ...TABLE, chain: 'one', expressions: [load, lookup] },
    { op: 'delete-chain', ...TABLE, chain: 'nowhere' },
    { op: 'flush-set', ...TABLE, set: 'missing' },
    { op: 'add-elements', ...TABLE, set: 'addresses', elements: [{ key: Uint8Array.of(10, 0, 0, 1) }] },
    { op: 'delete-set', ...TABLE, set: 'missing' },
    { op: 'delete-table', family: 'ip6', table: 'missing' },
  ]);
  assert.deepEqual(
    failures.map(({ commandIndex, operation, object, attribute }) => [
      commandIndex,
      operation,
      object,
      attribute,
    ]),
    [
      [
        0,
        'delete',
        'element 0a000002 00500000 of set ip pt ports',
        'NFTA_SET_ELEM_LIST_ELEMENTS NFTA_LIST_ELEM',
      ],
      [1, 'add', 'rule in chain ip pt one, expression 1 (lookup)', 'NFTA_RULE_EXPRESSIONS NFTA_LIST_ELEM'],
      [2, 'delete', 'chain ip pt nowhere', 'NFTA_CHAIN_NAME'],
      [3, 'flush', 'set ip pt missing', 'NFTA_SET_ELEM_LIST_SET'],
      [5, 'delete', 'set ip pt missing', 'NFTA_SET_NAME'],
      [6, 'delete', 'table ip6 missing', 'NFTA_TABLE_NAME'],
    ],
  );
});

test('a chain in use cannot be deleted; flushed of its rules and without way in, it can', async () => {
  await using world = await createWorld();
  const jump: Expression = { kind: 'verdict', verdict: { kind: 'jump', chain: 'two' } };
  const verdicts: SetDefinition = { name: 'verdicts', key: ['mark'], data: ['verdict'] };
  const one = { key: Uint8Array.of(1, 0, 0, 0), data: { kind: 'goto', chain: 'two' } } as const;
  committed(
    await world.nft.commit([
      ...FRAME,
      { op: 'add-chain', ...TABLE, chain: 'two' },
      { op: 'add-rule', ...TABLE, chain: 'one', expressions: [jump] },
      { op: 'add-set', ...TABLE, definition: verdicts },
      { op: 'add-elements', ...TABLE, set: 'verdicts', elements: [one] },
    ]),
  );
  assert.deepEqual(await elementsOf(world.nft, 'verdicts'), [one]);
  const deleted: NftCommand = { op: 'delete-chain', ...TABLE, chain: 'two' };
  const [failure] = await refused(world.nft, [deleted]);
  assert.equal(failure?.errno, EBUSY);
  assert.equal(failure.object, 'chain ip pt two');
  const flushed: NftCommand = { op: 'flush-chain', ...TABLE, chain: 'one' };
  committed(await world.nft.commit([flushed, { op: 'flush-set', ...TABLE, set: 'verdicts' }, deleted]));
  assert.deepEqual(
    (await world.nft.listChains(TABLE)).map(({ chain }) => chain),
    ['one'],
  );
});

test('elements of more than one message are all there, and a refused one in a later message is named', async () => {
  await using world = await createWorld();
  const elements = Array.from({ length: 5000 }, (_, number) => element(number, number));
  const outcome = committed(await world.nft.commit([...FRAME, add(...elements)]));
  assert.ok(outcome.messages > FRAME.length + 3, `${outcome.messages} messages`);
  assert.deepEqual(await elementsOf(world.nft), elements);

  const changed = elements.with(4321, element(4321, 1));
  const [failure] = await refused(world.nft, [add(...changed)]);
  assert.equal(failure?.elementIndex, 4321);
  assert.equal(failure.object, 'element 0a0010e1 00500000 of set ip pt ports');
});

test('decoding many elements lets the event loop turn', async () => {
  await using world = await createWorld();
  const elements = Array.from({ length: 60_000 }, (_, number) => element(number, number));
  committed(await world.nft.commit([...FRAME, add(...elements)]));
  let turns = 0;
  let reading = true;
  const turn = (): void => {
    turns += 1;
    if (reading) setImmediate(turn);
  };
  let seen = 0;
  for await (const _ of world.nft.elements(TABLE, 'ports')) {
    if (seen === 0) setImmediate(turn);
    seen += 1;
  }
  reading = false;
  assert.equal(seen, elements.length);
  // At a few milliseconds a slice there are dozens, however quick the machine.
  assert.ok(turns > 2, `${turns} turns`);
});

test('a range that lies within another is refused after it; ranges side by side are kept', async () => {
  await using world = await createWorld();
  const definition: SetDefinition = { name: 'ranges', key: ['ipv4_addr', 'inet_service'], interval: true };
  const range = (from: readonly number[], to: readonly number[]): SetElement => ({
    key: Uint8Array.of(...from, 0, 80, 0, 0),
    keyEnd: Uint8Array.of(...to, 0, 80, 0, 0),
  });
  const wide = range([10, 0, 0, 0], [10, 0, 255, 255]);
  const narrow = range([10, 0, 7, 0], [10, 0, 7, 255]);
  const beside = range([10, 1, 0, 0], [10, 1, 0, 255]);
  const addRanges = (...elements: readonly SetElement[]): NftCommand => ({
    op: 'add-elements',
    ...TABLE,
    set: 'ranges',
    elements,
  });
  committed(
    await world.nft.commit([...FRAME, { op: 'add-set', ...TABLE, definition }, addRanges(wide, beside)]),
  );
  assert.deepEqual(await elementsOf(world.nft, 'ranges'), [wide, beside]);
  const [failure] = await refused(world.nft, [addRanges(narrow)]);
  assert.equal(failure?.errno, EEXIST);
  assert.equal(failure.object, 'element 0a000700 00500000 of set ip pt ranges');
  const listed = (await world.nft.listSets(TABLE)).find(({ name }) => name === 'ranges');
  assert.deepEqual(listed?.definition, definition);
  committed(
    await world.nft.commit([
      { op: 'delete-elements', ...TABLE, set: 'ranges', elements: [wide] },
      addRanges(narrow),
    ]),
  );
  assert.deepEqual(await elementsOf(world.nft, 'ranges'), [narrow, beside]);
});

test('elements with time-outs, and one for all other keys, are written and read', async () => {
  await using world = await createWorld();
  const definition: SetDefinition = {
    name: 'seen',
    key: ['ipv4_addr'],
    data: ['mark'],
    dynamic: true,
    timeoutMs: 60_000,
    size: 100,
  };
  const data = Uint8Array.of(5, 0, 0, 0);
  const elements: readonly SetElement[] = [
    { key: new Uint8Array(), data },
    { key: Uint8Array.of(10, 0, 0, 1), data },
    { key: Uint8Array.of(10, 0, 0, 2), data, timeoutMs: 3_600_000 },
  ];
  const commands: readonly NftCommand[] = [
    ...FRAME,
    { op: 'add-set', ...TABLE, definition },
    { op: 'add-elements', ...TABLE, set: 'seen', elements },
  ];
  committed(await world.nft.commit(commands));
  const found = await elementsOf(world.nft, 'seen');
  assert.deepEqual(
    found.map(({ expiresMs: _, ...rest }) => rest),
    elements,
  );
  const expires = found.at(-1)?.expiresMs ?? 0;
  assert.ok(expires > 0 && expires <= 3_600_000);
  const listed = (await world.nft.listSets(TABLE)).find(({ name }) => name === 'seen');
  assert.deepEqual(listed?.definition, definition);
  const [program] = nftPrograms();
  assert.match(program.run(world.namespace, ['list', 'map', 'ip', 'pt', 'seen']), /\* .*: 0x00000005/);
});

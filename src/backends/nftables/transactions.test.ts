import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NftCommand } from '../../kernel/nft/commands.ts';
import { type Frontend, frontendKey } from '../../model/service-port.ts';
import type { Entry } from '../../plan/forwarding-table.ts';
import { type CompileTarget, createBooks } from './compile.ts';
import type { NftOutcome, NftPort } from './nft-port.ts';
import { rowOfElement } from './row-codec.ts';
import { setDefinitions } from './ruleset-sets.ts';
import { createTransactions } from './transactions.ts';

const EEXIST = 17;
const EINVAL = 22;
const TARGET: CompileTarget = {
  family: 'ip',
  table: 'pointsman',
  definitions: new Map(setDefinitions('ip').map((definition) => [definition.name, definition])),
  rungCommands: () => [],
};

function entry(number: number): readonly [string, Entry] {
  const frontend: Frontend = {
    kind: 'cluster-ip',
    family: 'IPv4',
    address: `10.96.${number >> 8}.${number & 255}`,
    protocol: 'TCP',
    port: 80,
  };
  const endpoints = [{ address: '10.0.0.1', port: 8080, local: false }];
  const servicePort = {
    family: 'IPv4',
    namespace: 'a',
    name: `s${number}`,
    portName: '',
    protocol: 'TCP',
  } as const;
  return [
    frontendKey(frontend),
    {
      frontend,
      servicePort,
      route: { kind: 'balance', from: 'cluster', endpoints, because: '' },
      affinitySeconds: 0,
      masquerade: 'unless-pod',
      allowedSources: undefined,
    },
  ];
}
const change = (count: number): Map<string, Entry> =>
  new Map(Array.from({ length: count }, (_, number) => entry(number)));

/** A kernel that holds the frontends of its map `services`, and answers as it is told. */
function createPort(
  answer: (frontends: readonly string[]) => NftOutcome | undefined,
): NftPort & { readonly held: Set<string>; readonly sizes: number[] } {
  const held = new Set<string>();
  const sizes: number[] = [];
  const frontendsIn = (commands: readonly NftCommand[]): string[] =>
    commands.flatMap((command) => {
      const definition = TARGET.definitions.get('services');
      if (command.op !== 'add-elements' || command.set !== 'services' || definition === undefined) return [];
      return command.elements.map((element) => rowOfElement(definition, element).key);
    });
  return {
    held,
    sizes,
    async commit(commands) {
      const frontends = frontendsIn(commands);
      sizes.push(frontends.length);
      const refused = answer(frontends);
      if (refused !== undefined) return refused;
      for (const frontend of frontends) held.add(frontend);
      return { kind: 'committed', messages: 3, kernelMs: 1 };
    },
    readStatic: async () => undefined,
    async *elements() {},
    async listen() {},
    onForeignChange: () => () => {},
    async [Symbol.asyncDispose]() {},
  };
}
const refusal = (errno: number): NftOutcome => ({
  kind: 'refused',
  refusals: [{ command: 0, errno, text: 'add elements: no' }],
  messages: 3,
});

test('what the kernel refuses stands alone in the end, and all the rest is committed', async () => {
  const bad = new Set(['10.96.0.3 . tcp . 80', '10.96.0.77 . tcp . 80']);
  const port = createPort((frontends) =>
    frontends.some((frontend) => bad.has(frontend)) ? refusal(EINVAL) : undefined,
  );
  const transactions = createTransactions(port, 'ip pointsman');
  const books = createBooks();
  await transactions.commit(books, TARGET, change(100));
  const report = transactions.report();
  assert.equal(report.failed, undefined);
  assert.deepEqual([...report.refused.keys()].sort(), ['10.96.0.3/TCP/80', '10.96.0.77/TCP/80']);
  assert.match(
    report.refused.get('10.96.0.3/TCP/80')?.message ?? '',
    /^table ip pointsman: add elements: no$/,
  );
  assert.equal(port.held.size, 98);
  assert.equal(books.held.size, 98, 'the books know what the kernel acknowledged, and nothing else');
});

test('a refusal for what should not be there means that the books are wrong, and ends it', async () => {
  const port = createPort(() => refusal(EEXIST));
  const transactions = createTransactions(port, 'ip pointsman');
  await transactions.commit(createBooks(), TARGET, change(10));
  assert.equal(transactions.report().failed?.code, 'E_NETLINK');
  assert.equal(port.sizes.length, 1);
});

test('just after reading back such a refusal is the entry’s own', async () => {
  const port = createPort((frontends) =>
    frontends.includes('10.96.0.1 . tcp . 80') ? refusal(EEXIST) : undefined,
  );
  const transactions = createTransactions(port, 'ip pointsman');
  await transactions.commit(createBooks(), TARGET, change(10), new Map());
  assert.deepEqual([...transactions.report().refused.keys()], ['10.96.0.1/TCP/80']);
  assert.equal(port.held.size, 9);
});

test('an unknown outcome ends it, with the books as they were', async () => {
  const port = createPort(() => ({ kind: 'unknown', because: 'the thread died', messages: 3 }));
  const transactions = createTransactions(port, 'ip pointsman');
  const books = createBooks();
  await transactions.commit(books, TARGET, change(10));
  assert.equal(transactions.report().failed?.code, 'E_NETLINK_LOST');
  assert.equal(books.held.size, 0);
  assert.equal(
    await transactions.send([{ op: 'flush-set', family: 'ip', table: 'pointsman', set: 'services' }]),
    false,
    'nothing more is sent',
  );
});

test('a large change goes in portions of whole entries, a small one in one transaction', async () => {
  const port = createPort(() => undefined);
  const transactions = createTransactions(port, 'ip pointsman');
  const books = createBooks();
  await transactions.commit(books, TARGET, change(3000));
  assert.equal(port.held.size, 3000);
  // An entry is a plan, an endpoint and a cluster IP.
  assert.ok(port.sizes.length > 1 && port.sizes.every((size) => size <= 1000), `${port.sizes}`);
  const before = port.sizes.length;
  await transactions.commit(
    books,
    TARGET,
    new Map([...change(3000).keys()].slice(0, 5).map((key) => [key, undefined])),
  );
  assert.equal(port.sizes.length, before + 1);
  assert.equal(books.held.size, 2995);
});

test('an entry that has no form in the kernel is refused alone', async () => {
  const port = createPort(() => undefined);
  const transactions = createTransactions(port, 'ip pointsman');
  const changes = change(5);
  const [key, good] = entry(2);
  // Too many endpoints for a word of 16 bits would be such an entry; a broken CIDR is easier to make.
  const broken = { family: 'IPv4', address: 'nonsense', prefix: 24 } as const;
  changes.set(key, {
    ...good,
    frontend: { ...good.frontend, kind: 'load-balancer-ip' } as Frontend,
    allowedSources: [broken],
  });
  await transactions.commit(createBooks(), TARGET, changes);
  assert.deepEqual([...transactions.report().refused.keys()], [key]);
  assert.equal(port.held.size, 4);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { NftCommand } from '../../kernel/nft/commands.ts';
import { parseCidr } from '../../model/address.ts';
import { type Endpoint, endpointText, type Frontend, frontendKey } from '../../model/service-port.ts';
import type { Entry, Route } from '../../plan/forwarding-table.ts';
import { type Books, type CompileTarget, compile, compileUnneeded, createBooks } from './compile.ts';
import { placeOf, type Rows, rowId, setOfRow } from './programmed.ts';
import { rowOfElement } from './row-codec.ts';
import { setDefinitions } from './ruleset-sets.ts';

const DEFINITIONS = setDefinitions('ip');
const TARGET: CompileTarget = {
  family: 'ip',
  table: 'pointsman',
  definitions: new Map(DEFINITIONS.map((definition) => [definition.name, definition])),
  rungCommands: (plan, nodePort) => [
    {
      op: 'add-chain',
      family: 'ip',
      table: 'pointsman',
      chain: `${nodePort}-${plan.local}-${plan.affinitySeconds}-${plan.rung}`,
    },
  ],
};

/** Rows as a kernel would hold them; as strict as the kernel about adds of what is there and deletes of what is not. */
function createKernel(): {
  readonly rows: Map<string, string>;
  readonly chains: Set<string>;
  apply(commands: readonly NftCommand[]): void;
} {
  const rows = new Map<string, string>();
  const chains = new Set<string>();
  return {
    rows,
    chains,
    apply(commands) {
      for (const command of commands) {
        if (command.op === 'add-chain') {
          assert.ok(!chains.has(command.chain), `chain ${command.chain} is added once`);
          chains.add(command.chain);
        } else if (command.op === 'add-elements' || command.op === 'delete-elements') {
          const definition = TARGET.definitions.get(command.set);
          assert.ok(definition);
          for (const element of command.elements) {
            const { key, data } = rowOfElement(definition, element);
            const id = rowId(command.set, key);
            if (command.op === 'add-elements') {
              assert.ok(!rows.has(id), `EEXIST ${id}`);
              rows.set(id, data);
            } else assert.ok(rows.delete(id), `ENOENT ${id}`);
          }
        } else assert.fail(`unexpected ${command.op}`);
      }
    },
  };
}

const endpoints = (names: readonly number[]): Endpoint[] =>
  names.map((name) => ({ address: `10.0.0.${name}`, port: 8080, local: name % 3 === 0 }));
const FRONTENDS: readonly Frontend[] = [
  { kind: 'cluster-ip', family: 'IPv4', address: '10.96.0.1', protocol: 'TCP', port: 80 },
  { kind: 'cluster-ip', family: 'IPv4', address: '10.96.0.1', protocol: 'UDP', port: 53 },
  { kind: 'load-balancer-ip', family: 'IPv4', address: '203.0.113.1', protocol: 'TCP', port: 80 },
  { kind: 'node-port', family: 'IPv4', protocol: 'TCP', port: 30080 },
];
const names = fc.uniqueArray(fc.integer({ min: 1, max: 12 }), { maxLength: 9 });
const routes: fc.Arbitrary<Route> = fc.oneof(
  names.map(
    (list): Route =>
      list.length === 0
        ? { kind: 'reject', because: '' }
        : { kind: 'balance', from: 'cluster', endpoints: endpoints(list), because: '' },
  ),
  fc
    .tuple(names, names)
    .map(
      ([all, local]): Route =>
        all.length === 0
          ? { kind: 'drop', because: '' }
          : { kind: 'by-source', all: endpoints(all), local: endpoints(local), because: '' },
    ),
);
const entries: fc.Arbitrary<readonly [string, Entry | undefined]> = fc
  .record({
    frontend: fc.constantFrom(...FRONTENDS),
    route: routes,
    affinitySeconds: fc.constantFrom(0, 0, 60, 10800),
    masquerade: fc.constantFrom('always' as const, 'own' as const),
    ranges: fc.option(
      fc.uniqueArray(fc.constantFrom('192.0.2.0/24', '198.51.100.0/25', '203.0.113.0/24'), { minLength: 1 }),
      { nil: undefined },
    ),
    gone: fc.integer({ min: 0, max: 4 }).map((value) => value === 0),
  })
  .map(({ frontend, route, affinitySeconds, masquerade, ranges, gone }) => {
    const entry: Entry = {
      frontend,
      servicePort: {
        family: 'IPv4',
        namespace: 'a',
        name: frontend.kind,
        portName: '',
        protocol: frontend.protocol,
      },
      route,
      affinitySeconds,
      masquerade: frontend.kind === 'cluster-ip' ? 'unless-pod' : masquerade,
      allowedSources:
        frontend.kind === 'load-balancer-ip' ? ranges?.flatMap((text) => parseCidr(text) ?? []) : undefined,
    };
    return [frontendKey(frontend), gone ? undefined : entry] as const;
  });
const histories = fc.array(
  fc.array(entries, { minLength: 1, maxLength: 3 }).map((list) => new Map(list)),
  { minLength: 1, maxLength: 10 },
);

function commit(
  books: Books,
  kernel: ReturnType<typeof createKernel>,
  change: ReadonlyMap<string, Entry | undefined>,
  found?: ReadonlyMap<string, Rows>,
): number {
  const compiled = compile(books, TARGET, change, found);
  kernel.apply(compiled.commands);
  compiled.accept();
  return compiled.elements;
}

/** What packets meet, without slot numbers: rows of lists become the set of their endpoints. */
function meaning(rows: ReadonlyMap<string, string>): readonly string[] {
  return [
    ...new Set(
      [...rows].map(([id, data]) =>
        placeOf(id, 'IPv4')?.slot === undefined
          ? `${id} : ${data}`
          : `${id.replace(/\d+$/, (slot) => (Number(slot) >= 0x10000 ? 'local' : 'any'))} : ${data}`,
      ),
    ),
  ].sort();
}

/** Rows grouped as a reader of the kernel would, for reconciling; shared rows enter the books with count 0. */
function readBack(rows: ReadonlyMap<string, string>, books: Books): Map<string, Map<string, string>> {
  const found = new Map<string, Map<string, string>>();
  for (const [id, data] of rows) {
    const place = placeOf(id, 'IPv4');
    if (place === undefined) books.shared.set(id, 0);
    else found.set(place.frontend, (found.get(place.frontend) ?? new Map<string, string>()).set(id, data));
  }
  return found;
}

test('one replaced endpoint is one delete and one add', () => {
  const books = createBooks();
  const kernel = createKernel();
  const entry = (list: readonly number[]): ReadonlyMap<string, Entry> => {
    const [frontend] = FRONTENDS;
    assert.ok(frontend);
    const value: Entry = {
      frontend,
      servicePort: { family: 'IPv4', namespace: 'a', name: 'b', portName: '', protocol: 'TCP' },
      route: { kind: 'balance', from: 'cluster', endpoints: endpoints(list), because: '' },
      affinitySeconds: 0,
      masquerade: 'unless-pod',
      allowedSources: undefined,
    };
    return new Map([[frontendKey(frontend), value]]);
  };
  commit(books, kernel, entry([1, 2, 4, 5]));
  assert.equal(commit(books, kernel, entry([1, 7, 4, 5])), 2);
  assert.equal(commit(books, kernel, entry([1, 7, 4, 5])), 0);
});

test('after any history the kernel means what a fresh start would have written, and the books know it', () => {
  fc.assert(
    fc.property(histories, (history) => {
      const books = createBooks();
      const kernel = createKernel();
      const last = new Map<string, Entry>();
      for (const change of history) {
        commit(books, kernel, change);
        for (const [key, entry] of change) {
          if (entry === undefined) last.delete(key);
          else last.set(key, entry);
        }
      }
      const fresh = createKernel();
      const freshBooks = createBooks();
      commit(freshBooks, fresh, last);
      const sticky = [...last.values()].some(({ affinitySeconds }) => affinitySeconds > 0);
      // Ids, words of sticky plans and rungs of holed lists depend on history; endpoints and everything else must not.
      const comparable = (rows: ReadonlyMap<string, string>): readonly string[] =>
        meaning(
          sticky
            ? new Map(
                [...rows].filter(([id]) => !/^(services|node-ports|.*-endpoint|.*affinity-ids) /.test(id)),
              )
            : rows,
        );
      assert.deepEqual(comparable(kernel.rows), comparable(fresh.rows));
      assert.deepEqual([...books.held.keys()].sort(), [...last.keys()].sort());
      for (const total of books.shared.values()) assert.ok(total > 0);
    }),
    { numRuns: 300 },
  );
});

test('a restart that finds what it wants sends nothing, whatever happened before', () => {
  fc.assert(
    fc.property(histories, (history) => {
      const books = createBooks();
      const kernel = createKernel();
      const last = new Map<string, Entry>();
      for (const change of history) {
        commit(books, kernel, change);
        for (const [key, entry] of change) {
          if (entry === undefined) last.delete(key);
          else last.set(key, entry);
        }
      }
      const again: Books = { ...createBooks(), words: books.words, rungs: books.rungs };
      const found = readBack(kernel.rows, again);
      assert.equal(commit(again, kernel, last, found), 0);
      assert.equal(compileUnneeded(again, TARGET).elements, 0);
      assert.deepEqual([...again.shared].sort(), [...books.shared].sort());
    }),
    { numRuns: 300 },
  );
});

test('reconciling brings any damaged kernel to the wanted state', () => {
  const damage = fc.array(fc.tuple(fc.nat(), fc.constantFrom('lose', 'garble', 'foreign')), { maxLength: 6 });
  fc.assert(
    fc.property(histories, damage, (history, blows) => {
      const books = createBooks();
      const kernel = createKernel();
      const last = new Map<string, Entry>();
      for (const change of history) {
        commit(books, kernel, change);
        for (const [key, entry] of change) {
          if (entry === undefined) last.delete(key);
          else last.set(key, entry);
        }
      }
      for (const [index, kind] of blows) {
        const ids = [...kernel.rows.keys()];
        const id = ids[index % Math.max(1, ids.length)];
        if (kind === 'foreign')
          kernel.rows.set(`endpoints 10.96.9.9 . tcp . ${1 + (index % 9)} . 0`, '10.9.9.9 . 1');
        else if (id !== undefined && kind === 'lose') kernel.rows.delete(id);
        else if (id !== undefined && kernel.rows.get(id)?.includes(' . '))
          kernel.rows.set(id, '10.9.9.9 . 1');
      }
      const again: Books = { ...createBooks(), words: books.words, rungs: books.rungs };
      const found = readBack(kernel.rows, again);
      const change = new Map<string, Entry | undefined>([...found.keys()].map((key) => [key, undefined]));
      for (const [key, entry] of last) change.set(key, entry);
      commit(again, kernel, change, found);
      const rest = compileUnneeded(again, TARGET);
      kernel.apply(rest.commands);
      rest.accept();
      const check: Books = { ...createBooks(), words: again.words, rungs: again.rungs };
      const seen = readBack(kernel.rows, check);
      assert.deepEqual([...seen.keys()].sort(), [...last.keys()].sort());
      assert.equal(compile(check, TARGET, last, seen).elements, 0);
      assert.deepEqual(
        [...kernel.rows.keys()]
          .filter((row) => ['cluster-ips', 'hairpin-pods'].includes(setOfRow(row)))
          .sort(),
        [...again.shared.keys()].sort(),
      );
    }),
    { numRuns: 300 },
  );
});

test('of a list, every endpoint is in some slot', () => {
  fc.assert(
    fc.property(
      names.filter((list) => list.length > 0),
      fc.constantFrom(0, 60),
      (list, affinitySeconds) => {
        const kernel = createKernel();
        const [frontend] = FRONTENDS;
        assert.ok(frontend);
        const entry: Entry = {
          frontend,
          servicePort: { family: 'IPv4', namespace: 'a', name: 'b', portName: '', protocol: 'TCP' },
          route: { kind: 'balance', from: 'cluster', endpoints: endpoints(list), because: '' },
          affinitySeconds,
          masquerade: 'unless-pod',
          allowedSources: undefined,
        };
        commit(createBooks(), kernel, new Map([[frontendKey(frontend), entry]]));
        const map = affinitySeconds > 0 ? 'sticky-endpoints' : 'endpoints';
        const stored = [...kernel.rows]
          .filter(([id]) => setOfRow(id) === map)
          .map(([, data]) => data.replace(' . ', ':'));
        assert.deepEqual(stored.sort(), endpoints(list).map(endpointText).sort());
      },
    ),
  );
});

test('frontends of one Service port share the id and slots of a sticky list, also one that comes later', () => {
  const kernel = createKernel();
  const books = createBooks();
  const entryOf = (frontend: Frontend, list: readonly number[]): readonly [string, Entry] => [
    frontendKey(frontend),
    {
      frontend,
      servicePort: { family: 'IPv4', namespace: 'a', name: 'b', portName: '', protocol: 'TCP' },
      route: { kind: 'balance', from: 'cluster', endpoints: endpoints(list), because: '' },
      affinitySeconds: 60,
      masquerade: 'always',
      allowedSources: undefined,
    },
  ];
  const [clusterIP, , vip, nodePort] = FRONTENDS;
  assert.ok(clusterIP && vip && nodePort);
  commit(books, kernel, new Map([entryOf(clusterIP, [1, 2, 3, 4]), entryOf(vip, [1, 2, 3, 4])]));
  commit(books, kernel, new Map([entryOf(clusterIP, [1, 3, 4]), entryOf(vip, [1, 3, 4])]));
  commit(books, kernel, new Map([entryOf(nodePort, [1, 3, 4])]));
  const slots = (set: string): readonly string[] =>
    [...kernel.rows]
      .filter(([id]) => setOfRow(id) === set)
      .map(([id, data]) => `${id.split(' . ').at(-1)} ${data}`)
      .sort();
  assert.deepEqual(slots('node-port-sticky-endpoints'), [
    '0 10.0.0.1 . 8080',
    '2 10.0.0.3 . 8080',
    '3 10.0.0.4 . 8080',
  ]);
  assert.deepEqual([...new Set(slots('sticky-endpoints'))], slots('node-port-sticky-endpoints'));
  const ids = [...kernel.rows].filter(([id]) => setOfRow(id).endsWith('affinity-ids')).map(([, id]) => id);
  assert.deepEqual(ids, ['1', '1', '1']);
});

// What is removed, and what never: by texts, and by random mixtures of kube-proxy's rules and others'.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseSaved } from '../iptables/saved.ts';
import { planRemoval, type Removal } from './iptables-removal.ts';

const planOf = (table: string, lines: readonly string[]): Removal =>
  planRemoval(parseSaved([`*${table}`, ...lines, 'COMMIT', ''].join('\n')));
const restoreOf = (removal: Removal): readonly string[] =>
  removal.tables.flatMap(({ restore }) => restore.trimEnd().split('\n'));

const recorded = (name: string): string =>
  readFileSync(new URL(`../../../test/fixtures/upstream/${name}`, import.meta.url), 'utf8');

/**
 * What iptables-restore --noflush makes of a table: declared chains are emptied, rules deleted, chains removed. Throws
 * where the kernel would refuse: a rule that is not there, a chain that is used or not empty.
 */
function restored(before: string, restore: string): string {
  const chains = new Map<string, string[]>();
  const heads = new Map<string, string>();
  for (const line of before.split('\n')) {
    const [, name = ''] = /^:(\S+) /.exec(line) ?? [];
    if (line.startsWith(':')) {
      heads.set(name, line);
      chains.set(name, []);
    }
    const [, chain = '', rule = ''] = /^-A (\S+) ?(.*)$/.exec(line) ?? [];
    if (line.startsWith('-A')) chains.get(chain)?.push(rule);
  }
  for (const line of restore.split('\n')) {
    const [, emptied = ''] = /^:(\S+) /.exec(line) ?? [];
    if (line.startsWith(':')) chains.set(emptied, []);
    const [, chain = '', rule = ''] = /^-D (\S+) (.*)$/.exec(line) ?? [];
    if (line.startsWith('-D')) {
      const rules = chains.get(chain) ?? [];
      assert.ok(rules.includes(rule), line);
      rules.splice(rules.indexOf(rule), 1);
    }
    if (line.startsWith('-X')) {
      const gone = line.slice(3);
      assert.deepEqual(chains.get(gone), [], `${gone} is empty`);
      for (const [name, rules] of chains)
        for (const one of rules) assert.ok(!one.endsWith(`-j ${gone}`), `${name} ${one}`);
      chains.delete(gone);
    }
  }
  return [...chains]
    .map(([name, rules]) => [heads.get(name), ...rules.map((rule) => `-A ${name} ${rule}`)].join('\n'))
    .join('\n');
}

for (const name of [
  'iptables-save.txt',
  'ip6tables-save.txt',
  'ipvs-iptables-save.txt',
  'ipvs-ip6tables-save.txt',
]) {
  test(`of the recorded ${name} nothing but the kubelet's is left`, () => {
    const text = recorded(name);
    const { tables, kept } = planRemoval(parseSaved(text));
    assert.deepEqual(kept, []);
    for (const part of text.split(/^\*/m).slice(1)) {
      const table = part.slice(0, part.indexOf('\n'));
      const removal = tables.find((one) => one.table === table);
      assert.ok(removal, table);
      const left = restored(part, removal.restore)
        .split('\n')
        .filter((line) => !/^:[A-Z]+ ACCEPT /.test(line) && !line.includes('KUBE-FIREWALL'));
      assert.deepEqual(left, [], table);
      assert.equal(removal.chains, (part.match(/^:KUBE-(?!FIREWALL)/gm) ?? []).length);
      assert.equal(
        removal.rules,
        (part.match(/^-A (?!KUBE-FIREWALL)(?!.*-j KUBE-FIREWALL$)/gm) ?? []).length,
      );
    }
  });
}

const STAYS: readonly (readonly [string, string, readonly string[]])[] = [
  ["the kubelet's chains", 'mangle', [':KUBE-IPTABLES-HINT - [0:0]', ':KUBE-KUBELET-CANARY - [0:0]']],
  [
    'the firewall that the kubelet shares',
    'filter',
    [
      ':INPUT ACCEPT [0:0]',
      ':KUBE-FIREWALL - [0:0]',
      '-A INPUT -j KUBE-FIREWALL',
      '-A KUBE-FIREWALL -j DROP',
    ],
  ],
  [
    'names that only look like those of Services',
    'nat',
    [':KUBE-SVC-ABCDEFGHIJKLMNO1 - [0:0]', ':KUBE-SEP-SHORT - [0:0]', ':MY-KUBE-SERVICES - [0:0]'],
  ],
  [
    "chains of kube-proxy's names in a table where it has none",
    'mangle',
    [':KUBE-SERVICES - [0:0]', ':KUBE-SVC-ABCDEFGHIJKLMNOP - [0:0]'],
  ],
  [
    'a rule with the comment of a jump, to a chain of its own',
    'nat',
    [
      ':PREROUTING ACCEPT [0:0]',
      ':MINE - [0:0]',
      '-A PREROUTING -m comment --comment "kubernetes service portals" -j MINE',
    ],
  ],
];

for (const [what, table, lines] of STAYS) {
  test(`${what} stay${what.includes('chains') || what.includes('names') ? '' : 's'}`, () => {
    assert.deepEqual(planOf(table, lines), { tables: [], kept: [] });
  });
}

test('every copy of a jump goes, and jumps as other versions wrote them', () => {
  const comment = '-m comment --comment "kubernetes service portals"';
  const jumps = [
    `FORWARD -m conntrack --ctstate NEW ${comment} -j KUBE-SERVICES`,
    `FORWARD -m conntrack --ctstate NEW ${comment} -j KUBE-SERVICES`,
    `FORWARD ${comment} -m conntrack --ctstate NEW -j KUBE-SERVICES`,
    `OUTPUT ${comment} -j KUBE-SERVICES`,
  ];
  const removal = planOf('filter', [
    ':FORWARD ACCEPT [0:0]',
    ':OUTPUT ACCEPT [0:0]',
    ':KUBE-SERVICES - [0:0]',
    ...jumps.map((jump) => `-A ${jump}`),
  ]);
  assert.deepEqual(restoreOf(removal), [
    '*filter',
    ':KUBE-SERVICES - [0:0]',
    ...jumps.map((jump) => `-D ${jump}`),
    '-X KUBE-SERVICES',
    'COMMIT',
  ]);
  assert.deepEqual([removal.tables[0]?.chains, removal.tables[0]?.rules], [1, 4]);
});

const FOREIGN_USES: readonly (readonly [string, string])[] = [
  [
    'a narrower jump',
    '-A PREROUTING -p tcp -m comment --comment "kubernetes service portals" -j KUBE-SERVICES',
  ],
  ['a jump without comment', '-A PREROUTING -j KUBE-SERVICES'],
  ['a goto', '-A PREROUTING -g KUBE-SERVICES'],
  ['a jump with another comment', '-A PREROUTING -m comment --comment "mine" -j KUBE-SERVICES'],
  [
    'a jump from a chain of its own',
    '-A MINE -m comment --comment "kubernetes service portals" -j KUBE-SERVICES',
  ],
];

for (const [what, rule] of FOREIGN_USES) {
  test(`what ${what} of someone else leads to stays, with all that it leads to, and is named`, () => {
    const removal = planOf('nat', [
      ':PREROUTING ACCEPT [0:0]',
      ':MINE - [0:0]',
      ':KUBE-SERVICES - [0:0]',
      ':KUBE-SVC-ABCDEFGHIJKLMNOP - [0:0]',
      ':KUBE-MARK-MASQ - [0:0]',
      ':KUBE-SEP-ABCDEFGHIJKLMNOP - [0:0]',
      rule,
      '-A KUBE-SERVICES -j KUBE-SVC-ABCDEFGHIJKLMNOP',
      '-A KUBE-SVC-ABCDEFGHIJKLMNOP -j KUBE-MARK-MASQ',
      '-A KUBE-MARK-MASQ -j MARK --set-xmark 0x4000/0x4000',
    ]);
    assert.deepEqual(
      removal.kept.map(({ chain }) => chain),
      ['KUBE-SERVICES', 'KUBE-SVC-ABCDEFGHIJKLMNOP', 'KUBE-MARK-MASQ'],
    );
    assert.match(removal.kept[0]?.because ?? '', /^a rule in (PREROUTING|MINE) that is not kube-proxy's/);
    assert.deepEqual(restoreOf(removal), [
      '*nat',
      ':KUBE-SEP-ABCDEFGHIJKLMNOP - [0:0]',
      '-X KUBE-SEP-ABCDEFGHIJKLMNOP',
      'COMMIT',
    ]);
  });
}

test('a comment that speaks of a jump is none', () => {
  for (const rule of [
    '-A MINE -m comment --comment "see -j KUBE-SERVICES" -j RETURN',
    '-A MINE -m comment --comment "a \\" and -j KUBE-SERVICES" -j RETURN',
  ]) {
    const { kept, tables } = planOf('nat', [':MINE - [0:0]', ':KUBE-SERVICES - [0:0]', rule]);
    assert.deepEqual(kept, []);
    assert.equal(tables[0]?.chains, 1);
  }
});

// ---- random mixtures --------------------------------------------------------------------------

const KUBE = [
  'KUBE-SERVICES',
  'KUBE-NODEPORTS',
  'KUBE-MARK-MASQ',
  'KUBE-SVC-ABCDEFGHIJKLMNOP',
  'KUBE-POSTROUTING',
];
const FOREIGN = ['DOCKER', 'CNI-HOSTPORT', 'KUBE-KUBELET-CANARY', 'KUBE-FIREWALL', 'KUBE-ROUTER-X'];
const KERNEL = ['PREROUTING', 'OUTPUT', 'POSTROUTING'];
const JUMPS: Readonly<Record<string, string>> = {
  PREROUTING: '-m comment --comment "kubernetes service portals" -j KUBE-SERVICES',
  OUTPUT: '-m comment --comment "kubernetes service portals" -j KUBE-SERVICES',
  POSTROUTING: '-m comment --comment "kubernetes postrouting rules" -j KUBE-POSTROUTING',
};

const one = (from: readonly string[]): fc.Arbitrary<string> => fc.constantFrom(...from);
const kubeRule = fc.oneof(
  one(KERNEL).map((chain) => `-A ${chain} ${JUMPS[chain]}`),
  fc.tuple(one(KUBE), one([...KUBE, 'RETURN', 'DOCKER'])).map(([chain, to]) => `-A ${chain} -j ${to}`),
);
const foreignRule = fc
  .tuple(
    one([...KERNEL, ...FOREIGN]),
    one(['', '-p tcp ', '-m comment --comment "kubernetes service portals" -s 10.0.0.1/32 ']),
    one([...FOREIGN, 'RETURN']),
  )
  .map(([chain, matches, to]) => `-A ${chain} ${matches}-j ${to}`);
const usingRule = fc
  .tuple(one([...KERNEL, ...FOREIGN]), one(KUBE))
  .map(([chain, to]) => `-A ${chain} -p udp -j ${to}`);

const headsOf = (rules: readonly string[]): readonly string[] => [
  ...KERNEL.map((chain) => `:${chain} ACCEPT [0:0]`),
  ...[...KUBE, ...FOREIGN].map((chain) => `:${chain} - [0:0]`),
  ...rules,
];

test('whatever stands beside kube-proxy’s rules stays as it is, in order, and all of kube-proxy’s goes that nobody uses', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(kubeRule, foreignRule, { arbitrary: usingRule, weight: 1 }), { maxLength: 25 }),
      (rules) => {
        const before = headsOf(rules);
        const removal = planOf('nat', before);
        const kept = new Set(removal.kept.map(({ chain }) => chain));
        const after = restored(before.join('\n'), removal.tables[0]?.restore ?? '').split('\n');
        const isJump = (line: string): boolean =>
          KERNEL.some((chain) => line === `-A ${chain} ${JUMPS[chain]}`);
        const chainOf = (line: string): string => line.replace(/^(:|-A )(\S+) .*$/, '$2');
        const wanted = before.filter(
          (line) => !isJump(line) && (!KUBE.includes(chainOf(line)) || kept.has(chainOf(line))),
        );
        const byChain = (lines: readonly string[]): unknown => Object.groupBy(lines, chainOf);
        assert.deepEqual({ ...Object(byChain(after)) }, { ...Object(byChain(wanted)) });
        // Kept is exactly what others' rules reach.
        const reached = new Set(
          rules.filter((rule) => rule.includes('-p udp')).map((rule) => rule.split(' ').at(-1) ?? ''),
        );
        for (const chain of reached)
          for (const rule of rules)
            if (chainOf(rule) === chain && KUBE.includes(rule.split(' ').at(-1) ?? ''))
              reached.add(rule.split(' ').at(-1) ?? '');
        assert.deepEqual([...kept].toSorted(), [...reached].toSorted());
      },
    ),
    { numRuns: 500 },
  );
});

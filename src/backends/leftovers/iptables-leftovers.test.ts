// When programs are started, under which names they are found, and that one failure stops nothing else.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { PointsmanError } from '../../base/errors.ts';
import { createNetlinkWriter } from '../../kernel/netlink/writer.ts';
import { writeChain } from '../../kernel/nft/chains.ts';
import type { NftFamily } from '../../kernel/nft/commands.ts';
import { removeIptablesLeftovers } from './iptables-leftovers.ts';
import { createLeftoverPrograms, type LeftoverPrograms } from './iptables-programs.ts';
import type { ReportInWork } from './report.ts';

interface World {
  /** What /proc tells of the tables of the legacy variant. */
  readonly legacy?: string;
  /** Chains in the kernel's nf_tables. */
  readonly chains?: readonly (readonly [family: NftFamily, table: string, chain: string])[];
  /** Of the kernel's dump of them. */
  readonly refuse?: PointsmanError;
  readonly save?: string;
  readonly exitCodeOf?: (table: string) => number;
}

async function cleanUp(
  world: World,
): Promise<ReportInWork & { readonly ran: readonly (readonly string[])[]; readonly looked: number }> {
  const ran: string[][] = [];
  let looked = 0;
  const programs: LeftoverPrograms = {
    async find(family, variant) {
      looked += 1;
      return { save: `save-${variant}-${family}`, restore: `restore-${variant}-${family}` };
    },
    async run(file, args, input = '') {
      ran.push([file, ...args]);
      const table = /^\*(\w+)/.exec(input)?.[1];
      const code = table === undefined ? 0 : (world.exitCodeOf?.(table) ?? 0);
      return { code, out: table === undefined ? (world.save ?? '') : '', err: code === 0 ? '' : 'no luck' };
    },
  };
  const report: ReportInWork = { removed: [], left: [], failures: [] };
  await removeIptablesLeftovers(
    {
      programs,
      readProc: (path) => (path === '/proc/net/ip_tables_names' ? world.legacy : undefined),
      kernel: {
        dump() {
          if (world.refuse !== undefined) throw world.refuse;
          const writer = createNetlinkWriter();
          for (const [family, table, chain] of world.chains ?? [])
            writeChain(writer, 1, { op: 'add-chain', family, table, chain });
          return [writer.finish()];
        },
      },
    },
    report,
  );
  return { ...report, ran, looked };
}

const SAVED = `*mangle
:KUBE-PROXY-CANARY - [0:0]
COMMIT
*filter
:INPUT ACCEPT [0:0]
:KUBE-NODEPORTS - [0:0]
-A INPUT -m comment --comment "kubernetes health check service ports" -j KUBE-NODEPORTS
-A KUBE-NODEPORTS -j ACCEPT
COMMIT
`;

for (const [what, world] of [
  ['no tables at all', {}],
  ['only empty tables of names that iptables has not', { legacy: 'raw\nsecurity\n' }],
  [
    'only chains of others',
    {
      chains: [
        ['ip', 'nat', 'DOCKER'],
        ['ip', 'kube-proxy', 'KUBE-SERVICES'],
        ['inet', 'nat', 'KUBE-SERVICES'],
        ['ip', 'filter', 'KUBE-FIREWALL'],
      ],
    },
  ],
  [
    'a kernel without nf_tables',
    { refuse: new PointsmanError('E_NETLINK', 'refused', { facts: { errno: 22 } }) },
  ],
] satisfies readonly (readonly [string, World])[]) {
  test(`with ${what}, no program is started or looked for, and nothing is reported`, async () => {
    assert.deepEqual(await cleanUp(world), { removed: [], left: [], failures: [], ran: [], looked: 0 });
  });
}

test('only the variant and family is looked through in which something is, with one restore a table', async () => {
  const { ran, removed } = await cleanUp({ chains: [['ip6', 'mangle', 'KUBE-PROXY-CANARY']], save: SAVED });
  assert.deepEqual(ran, [
    ['save-nft-IPv6'],
    ['restore-nft-IPv6', '--noflush', '-w', '5'],
    ['restore-nft-IPv6', '--noflush', '-w', '5'],
  ]);
  assert.deepEqual(removed, [
    '1 chain and 0 rules of table mangle (iptables-nft, IPv6)',
    '1 chain and 2 rules of table filter (iptables-nft, IPv6)',
  ]);
});

test('a table that cannot be restored is a failure of its own', async () => {
  const { removed, failures } = await cleanUp({
    legacy: 'mangle\nfilter\n',
    save: SAVED,
    exitCodeOf: (table) => (table === 'mangle' ? 4 : 0),
  });
  assert.deepEqual(removed, ['1 chain and 2 rules of table filter (iptables-legacy, IPv4)']);
  assert.deepEqual(
    failures.map(({ what, error }) => `${what}: ${error.message} (${error.hint})`),
    [
      'remove 1 chain and 0 rules of table mangle (iptables-legacy, IPv4): iptables-restore refused it: no luck (another program holds the xtables lock)',
    ],
  );
});

test('a kernel that refuses to tell its chains stops only the look at them', async () => {
  const { removed, failures } = await cleanUp({
    legacy: 'filter\n',
    save: SAVED,
    refuse: new PointsmanError('E_PERMISSION', 'refused', { facts: { errno: 1 } }),
  });
  assert.equal(removed.length, 2);
  assert.deepEqual(
    failures.map(({ what }) => what),
    ['remove rules of kube-proxy (iptables-nft, IPv4)', 'remove rules of kube-proxy (iptables-nft, IPv6)'],
  );
});

for (const [version, variant] of [
  ['iptables-save v1.8.9 (nf_tables)', 'nft'],
  ['iptables-save v1.8.9 (legacy)', 'legacy'],
  ['iptables-save v1.6.1', 'legacy'],
] as const) {
  test(`programs without a variant in their name that say "${version}" serve ${variant}`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pt-leftovers-'));
    try {
      for (const name of ['iptables-save', 'iptables-restore'])
        writeFileSync(join(folder, name), `#!/bin/sh\necho '${version}'\n`, { mode: 0o755 });
      const programs = createLeftoverPrograms(folder, []);
      const pair = { save: join(folder, 'iptables-save'), restore: join(folder, 'iptables-restore') };
      assert.deepEqual(await programs.find('IPv4', variant), pair);
      assert.equal(await programs.find('IPv4', variant === 'nft' ? 'legacy' : 'nft'), undefined);
      assert.equal(await programs.find('IPv6', variant), undefined);
      for (const name of ['iptables-legacy-save', 'iptables-legacy-restore'])
        writeFileSync(join(folder, name), '#!/bin/sh\n', { mode: 0o755 });
      assert.equal((await programs.find('IPv4', 'legacy'))?.save, join(folder, 'iptables-legacy-save'));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
}

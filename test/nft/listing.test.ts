// What `nft` makes of our tables: operators read them with it, and no version may stumble over them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPlanWords } from '../../src/backends/nftables/plans.ts';
import { elementOfRow } from '../../src/backends/nftables/row-codec.ts';
import { baseCommands, rungCommands, settingsCommands } from '../../src/backends/nftables/ruleset.ts';
import { setDefinitions } from '../../src/backends/nftables/ruleset-sets.ts';
import type { TableFamily } from '../../src/backends/nftables/ruleset-statements.ts';
import type { NftCommand } from '../../src/kernel/nft/commands.ts';
import { chainsOf, nftPrograms } from './nft-programs.ts';
import { PLANS, rulesetText, SETTINGS } from './ruleset-text.ts';
import { committed, createWorld } from './world.ts';

const TABLE = 'pointsman';
const FAMILIES = ['ip', 'ip6'] as const;

function rulesetCommands(family: TableFamily): readonly NftCommand[] {
  const words = createPlanWords();
  return [
    ...baseCommands(family, SETTINGS[family]),
    ...PLANS.flatMap(({ plan, nodePort }) => rungCommands(family, plan, nodePort, words.wordOf(plan))),
  ];
}

/** Adds rows, as `set key`, or `set key : data`. */
function rowCommands(family: TableFamily, rows: readonly string[]): readonly NftCommand[] {
  return rows.map((row) => {
    const [, set = '', key = '', data = ''] = /^(\S+) (.*?)(?: : (.*))?$/.exec(row) ?? [];
    const definition = setDefinitions(family).find(({ name }) => name === set);
    assert.ok(definition, set);
    return { op: 'add-elements', family, table: TABLE, set, elements: [elementOfRow(definition, key, data)] };
  });
}

/** Versions differ in these words, and print a rule shorter where nothing is lost. */
function normalised(rule: string): string {
  return rule
    .replace(' addr . port to ', ' to ')
    .replace('meta priority set none', 'meta priority set 0')
    .replace('meta priority set 0:0', 'meta priority set 0')
    .replace(/^meta l4proto tcp reject/, 'reject')
    .replace(/^reject with icmp(v6)? (type )?port-unreachable$/, 'reject');
}

for (const program of nftPrograms()) {
  test(`nft ${program.version} prints every rule as it is written by hand`, async () => {
    await using world = await createWorld();
    for (const family of FAMILIES) committed(await world.nft.commit(rulesetCommands(family)));
    const listing = program.run(world.namespace, ['list', 'ruleset']);
    for (const family of FAMILIES) {
      const printed = chainsOf(listing, family, TABLE);
      const written = Object.entries(rulesetText(family));
      assert.deepEqual([...printed.keys()].sort(), written.map(([chain]) => chain).sort());
      for (const [chain, rules] of written) {
        assert.deepEqual(printed.get(chain)?.map(normalised), rules.map(normalised), `${family} ${chain}`);
      }
    }
  });

  test(`nft ${program.version} prints elements with their true values`, async () => {
    await using world = await createWorld();
    for (const family of FAMILIES) committed(await world.nft.commit(rulesetCommands(family)));
    const rows4 = rowsFor('10.96.0.10', '10.128.0.7', '192.0.2.0/24');
    const rows6 = rowsFor('fd00:96::a', 'fd00:128::7', '2001:db8::/48');
    committed(
      await world.nft.commit(
        rowCommands(
          'ip',
          rows4.map(([row]) => row),
        ),
      ),
    );
    committed(
      await world.nft.commit(
        rowCommands(
          'ip6',
          rows6.map(([row]) => row),
        ),
      ),
    );
    for (const [family, rows] of [
      ['ip', rows4],
      ['ip6', rows6],
    ] as const) {
      for (const [row, printed] of rows) {
        const set = row.slice(0, row.indexOf(' '));
        const isMap = setDefinitions(family).some(({ name, data }) => name === set && data !== undefined);
        const listing = program.run(world.namespace, ['list', isMap ? 'map' : 'set', family, TABLE, set]);
        const elements = /elements = \{ ([\s\S]*?) \}/
          .exec(listing)?.[1]
          ?.replace(/ (timeout|expires) \w+/g, '');
        assert.equal(elements, printed, `${family} ${set}`);
      }
      const plans = program.run(world.namespace, ['list', 'map', family, TABLE, 'plans']);
      for (const plan of [
        '0:c : goto pick-12',
        '1:1 : goto no-endpoints',
        '1:2 : drop',
        '2:0 : goto by-source',
      ]) {
        assert.ok(plans.includes(plan), plan);
      }
    }
  });

  test(`nft ${program.version} gives the ruleset as JSON with all its objects`, async () => {
    await using world = await createWorld();
    for (const family of FAMILIES) committed(await world.nft.commit(rulesetCommands(family)));
    const { nftables: objects } = JSON.parse(program.run(world.namespace, ['-j', 'list', 'ruleset']));
    const count = (kind: string): number =>
      objects.filter((object: Readonly<Record<string, unknown>>) => kind in object).length;
    const rules = FAMILIES.flatMap((family) => Object.values(rulesetText(family)).flat()).length;
    assert.equal(count('table'), 2);
    assert.equal(count('rule'), rules);
    assert.equal(count('set') + count('map'), FAMILIES.flatMap(setDefinitions).length);
  });

  test(`nft ${program.version} prints interface names, chosen node addresses, and masquerading of all`, async () => {
    await using world = await createWorld();
    committed(await world.nft.commit(rulesetCommands('ip')));
    const dispatchOf = (): ReadonlyMap<string, readonly string[]> =>
      chainsOf(program.run(world.namespace, ['list', 'ruleset']), 'ip', TABLE);
    const settings = { ...SETTINGS.ip, serviceCidrs: [], nodePortAddresses: ['192.0.2.1', '192.0.2.2'] };

    const bridge = { kind: 'interface', name: 'cbr0' } as const;
    committed(await world.nft.commit(settingsCommands('ip', { ...settings, localDetector: bridge })));
    let chains = dispatchOf();
    assert.equal(chains.get('dispatch')?.length, 4);
    assert.deepEqual(chains.get('node-port-dispatch')?.map(normalised), [
      'ip daddr 192.0.2.1 meta priority vmap @node-port-plans',
      'ip daddr 192.0.2.2 meta priority vmap @node-port-plans',
      'meta priority set 0',
    ]);
    assert.match(chains.get('by-source')?.[0] ?? '', /^iifname "cbr0" meta priority set /);
    assert.equal(
      chains.get('masquerading')?.[1],
      'ct original ip daddr @cluster-ips iifname != "cbr0" masquerade fully-random',
    );

    const prefix = { kind: 'interface-prefix', prefix: 'veth' } as const;
    committed(await world.nft.commit(settingsCommands('ip', { ...settings, localDetector: prefix })));
    chains = dispatchOf();
    assert.match(chains.get('node-port-by-source')?.[0] ?? '', /^iifname "veth\*" meta priority set /);
    assert.equal(
      chains.get('masquerading')?.[1],
      'ct original ip daddr @cluster-ips iifname != "veth*" masquerade fully-random',
    );

    const none = { kind: 'none' } as const;
    committed(await world.nft.commit(settingsCommands('ip', { ...settings, localDetector: none })));
    chains = dispatchOf();
    assert.match(chains.get('by-source')?.[0] ?? '', /^fib saddr type local /);
    assert.equal(chains.get('masquerading')?.length, 5);

    const all = { ...settings, localDetector: none, masqueradeAll: true };
    committed(await world.nft.commit(settingsCommands('ip', all)));
    assert.equal(
      dispatchOf().get('masquerading')?.[1],
      'ct original ip daddr @cluster-ips masquerade fully-random',
    );
  });
}

/** A row for each kind of set, and how its element is printed. */
function rowsFor(vip: string, pod: string, range: string): readonly (readonly [string, string])[] {
  return [
    [`services ${vip} . tcp . 80 : ${0x5_000c}`, `${vip} . tcp . 80 : 5:c`],
    [`endpoints ${vip} . udp . 53 . 258 : ${pod} . 8053`, `${vip} . udp . 53 . 0x00000102 : ${pod} . 8053`],
    [
      `sticky-endpoints ${vip} . tcp . 80 . 65537 : ${pod} . 80`,
      `${vip} . tcp . 80 . 0x00010001 : ${pod} . 80`,
    ],
    [`affinity-ids ${vip} . tcp . 80 : 131073`, `${vip} . tcp . 80 : 0x00020001`],
    [`sticky-clients ${pod} . 131073 : 2`, `${pod} . 0x00020001 : 0x00000002`],
    [`cluster-ips ${vip}`, vip],
    [`hairpin-pods ${pod} . ${pod}`, `${pod} . ${pod}`],
    [`source-checked ${vip} . tcp . 80`, `${vip} . tcp . 80`],
    [`allowed-sources ${range} . ${vip} . tcp . 80`, `${range} . ${vip} . tcp . 80`],
    ['node-ports tcp . 30080 : 3', 'tcp . 30080 : 0:3'],
    [`node-port-endpoints udp . 30053 . 1 : ${pod} . 53`, `udp . 30053 . 0x00000001 : ${pod} . 53`],
    ['masquerade-node-ports sctp . 30081', 'sctp . 30081'],
  ];
}

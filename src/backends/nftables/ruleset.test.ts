import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { SetDefinition } from '../../kernel/nft/commands.ts';
import type { Expression } from '../../kernel/nft/expressions.ts';
import { type Cidr, parseCidr } from '../../model/address.ts';
import type { LocalDetector, TableSettings } from '../../plan/forwarding-table.ts';
import { createPlanWords, type ListPlan } from './plans.ts';
import { baseCommands, rungCommands, rungOfChain, settingsCommands } from './ruleset.ts';
import { rungChain } from './ruleset-rungs.ts';
import { destination, inCidr, type TableFamily } from './ruleset-statements.ts';
import { type StaticState, stateOf } from './static-state.ts';

const FAMILIES = ['ip', 'ip6'] as const;
const cidrOf = (text: string): Cidr => {
  const cidr = parseCidr(text);
  assert.ok(cidr);
  return cidr;
};
const CIDRS = {
  ip: ['10.96.0.0/12', '10.0.0.0/8', '192.0.2.7/32'],
  ip6: ['fd00:96::/108', 'fd00::/8', '::1/128'],
};
const ADDRESSES = { ip: ['192.0.2.1', '192.0.2.2'], ip6: ['2001:db8::1', '2001:db8::2'] };

function settingsOf(family: TableFamily): fc.Arbitrary<TableSettings> {
  const cidr = fc.constantFrom(...CIDRS[family], family === 'ip' ? '0.0.0.0/0' : '::/0').map(cidrOf);
  return fc.record({
    masqueradeAll: fc.boolean(),
    localDetector: fc.oneof<fc.Arbitrary<LocalDetector>[]>(
      fc.constant({ kind: 'none' }),
      cidr.map((one) => ({ kind: 'cidr', cidr: one })),
      fc.constant({ kind: 'interface', name: 'cbr0' }),
      fc.constant({ kind: 'interface-prefix', prefix: 'veth' }),
    ),
    serviceCidrs: fc.array(cidr, { maxLength: 2 }),
    nodePortAddresses: fc.oneof(
      fc.constant('all' as const),
      fc.subarray(ADDRESSES[family]).filter(({ length }) => length > 0),
    ),
  });
}
const plans: fc.Arbitrary<ListPlan> = fc.record({
  local: fc.boolean(),
  affinitySeconds: fc.constantFrom(0, 10, 10800, 86400),
  rung: fc.integer({ min: 1, max: 57_344 }),
});
const cases = fc.constantFrom(...FAMILIES).chain((family) =>
  fc.record({
    family: fc.constant(family),
    settings: settingsOf(family),
    rungs: fc.uniqueArray(fc.record({ plan: plans, nodePort: fc.boolean() }), {
      maxLength: 3,
      selector: ({ plan, nodePort }) => rungChain(plan, nodePort),
    }),
  }),
);

/** Words of the register file that a field or operand takes. */
const FIELD_WORDS: Readonly<Record<string, number>> = { ipv6_addr: 4 };
const keyWords = ({ key }: SetDefinition): number =>
  key.reduce((sum, field) => sum + (FIELD_WORDS[field] ?? 1), 0);

/**
 * Runs over a rule as the kernel's validation does: a lookup's key must have been loaded, word for word, and exactly as
 * long as the set's key; data goes where the map says; chains and sets must exist.
 */
function check(rule: readonly Expression[], state: StaticState): void {
  /** Words that hold something, by where it begins. */
  const held = new Map<number, number>();
  const loadedFrom = (from: number): number => {
    let at = from;
    for (let words = held.get(at); words !== undefined; words = held.get(at)) at += words;
    return at - from;
  };
  for (const expression of rule) {
    switch (expression.kind) {
      case 'payload':
        held.set(expression.to, Math.ceil(expression.length / 4));
        break;
      case 'ct':
        held.set(expression.to, expression.key === 'dst_ip6' ? 4 : 1);
        break;
      case 'meta-load':
      case 'number-generator':
      case 'fib':
      case 'immediate':
        held.set(expression.to, 1);
        break;
      case 'lookup': {
        const definition = state.sets.get(String(expression.set));
        assert.ok(definition, `set ${expression.set}`);
        assert.equal(loadedFrom(expression.from), keyWords(definition), `key of ${definition.name}`);
        assert.equal(expression.to === 'verdict', definition.data?.[0] === 'verdict');
        assert.equal(expression.to === undefined, definition.data === undefined);
        held.clear();
        if (typeof expression.to === 'number' && definition.data)
          held.set(
            expression.to,
            definition.data.reduce((sum, field) => sum + (FIELD_WORDS[field] ?? 1), 0),
          );
        break;
      }
      case 'dynamic-set': {
        const definition = state.sets.get(expression.set);
        assert.ok(definition?.dynamic);
        assert.ok(loadedFrom(expression.key) >= keyWords(definition));
        assert.equal(held.get(expression.data ?? -1), 1);
        break;
      }
      case 'nat':
        assert.equal(held.get(expression.address ?? -1), (expression.port ?? 0) + 1);
        break;
      case 'verdict':
        if ('chain' in expression.verdict) assert.ok(state.chains.has(expression.verdict.chain));
    }
    if (expression.kind === 'meta-set') held.clear();
  }
}

test('whatever the settings and rungs, every rule finds its sets, with keys of their length, and its chains', () => {
  fc.assert(
    fc.property(cases, ({ family, settings, rungs }) => {
      const words = createPlanWords();
      const state = stateOf([
        ...baseCommands(family, settings),
        ...rungs.flatMap(({ plan, nodePort }) => rungCommands(family, plan, nodePort, words.wordOf(plan))),
      ]);
      for (const { rules } of state.chains.values()) for (const rule of rules) check(rule, state);
      for (const elements of state.verdicts.values()) {
        for (const { verdict } of elements.values()) {
          if ('chain' in verdict) assert.ok(state.chains.has(verdict.chain), verdict.chain);
        }
      }
    }),
  );
});

test('changing settings leads to the same state as starting with them, and leaves base chains alone', () => {
  const pairs = fc
    .constantFrom(...FAMILIES)
    .chain((family) => fc.tuple(fc.constant(family), settingsOf(family), settingsOf(family)));
  fc.assert(
    fc.property(pairs, ([family, before, after]) => {
      const change = settingsCommands(family, after);
      assert.deepEqual(
        stateOf([...baseCommands(family, before), ...change]),
        stateOf(baseCommands(family, after)),
      );
      for (const command of change) {
        assert.ok(command.op === 'flush-chain' || command.op === 'add-rule');
        assert.ok(!['prerouting', 'output', 'postrouting'].includes(command.chain));
      }
    }),
  );
});

test('a rung is known by its chain, and no other chain is taken for one', () => {
  fc.assert(
    fc.property(plans, fc.boolean(), (plan, nodePort) => {
      const chain = rungChain(plan, nodePort);
      assert.deepEqual(rungOfChain(chain), structuredClone({ chain, plan, nodePort }));
    }),
  );
  const { chains } = stateOf(
    baseCommands('ip', {
      masqueradeAll: false,
      localDetector: { kind: 'none' },
      serviceCidrs: [],
      nodePortAddresses: 'all',
    }),
  );
  for (const chain of [...chains.keys(), 'pick-', 'pick-0', 'pick-3x', 'sticky-0-pick-3', 'my-pick-3']) {
    assert.equal(rungOfChain(chain), undefined, chain);
  }
});

test('a condition on all addresses always holds, its opposite never', () => {
  assert.deepEqual(inCidr(destination('ip'), cidrOf('0.0.0.0/0')), []);
  assert.equal(inCidr(destination('ip6'), cidrOf('::/0'), true), undefined);
});

test('names are shorter than the kernel allows', () => {
  const longest = rungChain({ local: true, affinitySeconds: 86_400, rung: 57_344 }, true);
  assert.ok(longest.length < 256);
});
